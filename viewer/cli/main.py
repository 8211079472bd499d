"""Reads the command line, runs the subcommand, and turns what goes wrong into a line and an exit code."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import textwrap
import traceback
from collections.abc import Sequence
from typing import Any

import freeze_engine as fe
from viewer.cli.command import FINE, INTERRUPTED, WRONG_USE, Command, CommandError
from viewer.cli.record import RecordCommand
from viewer.cli.report import ReportCommand
from viewer.cli.run import RunCommand
from viewer.cli.stats import StatsCommand
from viewer.cli.terminal import remark, say

COMMANDS: tuple[type[Command], ...] = (RecordCommand, RunCommand, ReportCommand, StatsCommand)
_DESCRIPTION = "Records how PyTorch freezes a model, pass by pass, and shows what each pass did."
_EPILOG = """\
exit codes: 0 fine, 1 a check failed, 2 wrong use, 3 the freeze itself failed (what was recorded of it is still
written), 130 interrupted

example:
  freezer-ui record example:resnet50 -o resnet50.fztrace --report resnet50.html"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs ``freezer-ui``.

    Args:
        argv: the arguments, by default the process's own.

    Returns:
        The exit code; `SystemExit` is raised for ``--help``, ``--version``, wrong arguments, and by a script of
        ``freezer-ui run`` that exits.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    parser = build_parser()
    arguments = parser.parse_args(words, argparse.Namespace(command_line=shlex.join(["freezer-ui", *words])))
    if arguments.command is None:
        parser.print_help()
        return FINE
    try:
        return _run(arguments)
    except BrokenPipeError:
        # Whoever read the output has enough, as `head` does; what Python would still flush has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE
    except KeyboardInterrupt:
        remark("interrupted")
        return INTERRUPTED


def build_parser(**options: Any) -> argparse.ArgumentParser:
    """Returns the parser of the whole command line.

    Args:
        **options: for every parser, such as ``formatter_class``.
    """
    options = {"formatter_class": argparse.RawDescriptionHelpFormatter} | options
    parser = argparse.ArgumentParser("freezer-ui", description=_DESCRIPTION, epilog=_EPILOG, **options)
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="print the versions of freezer-ui and torch, and exit"
    )
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for command in COMMANDS:
        summary, _, details = (command.__doc__ or "").partition("\n")
        description = f"{summary}\n{textwrap.dedent(details).rstrip()}"
        subparser = subparsers.add_parser(command.name, help=summary.rstrip("."), description=description, **options)
        instance = command()
        instance.add_arguments(subparser)
        subparser.add_argument("-v", "--traceback", action="store_true", help="show the full traceback of an error")
        subparser.set_defaults(run=instance.run)
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        say(f"freezer-ui {_version('freezer-ui')}, torch {_version('torch')}\n")
        parser.exit()


def _version(package: str) -> str:
    """Returns a package's version without importing it."""
    from importlib.metadata import PackageNotFoundError, version  # takes as long as all the rest of --help

    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _run(arguments: argparse.Namespace) -> int:
    try:
        code: int = arguments.run(arguments)
    except (CommandError, fe.FreezerError) as error:
        if arguments.traceback:
            traceback.print_exception(error)
        remark(str(error))
        return error.exit_code if isinstance(error, CommandError) else WRONG_USE
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        remark("torch is not installed here: recording needs it, looking at a trace does not")
        return WRONG_USE
    return code
