"""Parses the command line, runs the subcommand, and turns errors into a line and an exit code."""

from __future__ import annotations

import argparse
import shlex
import sys
import textwrap
import traceback
from collections.abc import Sequence
from typing import Any

import freeze_engine as fe
from viewer.cli.bisect import BisectCommand
from viewer.cli.check import CheckCommand
from viewer.cli.command import FINE, WRONG_USE, Command, CommandError
from viewer.cli.dashboard import OpenCommand
from viewer.cli.diff import DiffCommand
from viewer.cli.doctor import DoctorCommand
from viewer.cli.export import ExportCommand
from viewer.cli.record import RecordCommand
from viewer.cli.report import ReportCommand
from viewer.cli.run import RunCommand
from viewer.cli.signals import SIGNALS
from viewer.cli.stats import StatsCommand
from viewer.cli.summary import SummaryCommand
from viewer.cli.sweep import SweepCommand
from viewer.cli.terminal import leave_output, remark, say, show_help, show_traceback

COMMANDS: tuple[type[Command], ...] = (
    RecordCommand,
    RunCommand,
    SweepCommand,
    ReportCommand,
    StatsCommand,
    SummaryCommand,
    DiffCommand,
    CheckCommand,
    ExportCommand,
    BisectCommand,
    DoctorCommand,
)
_EPILOG = """\
exit codes: 0 fine (also when Ctrl-C, SIGTERM or SIGHUP ends the dashboard), 1 a check failed, 2 wrong use, 3 the
freeze itself failed (what was recorded of it is still written), or the model could not be scripted or traced for it, 4
recorded, but what was to be measured could not be (latency, numeric errors, or both), 130 a command was interrupted by
Ctrl-C, 143 by SIGTERM, 129 by SIGHUP; the traces of what was recorded until then are written

examples:
  freezer-ui                                        open the dashboard
  freezer-ui resnet50.fztrace                       open a trace in it
  freezer-ui model.pt --input 1x3x224x224           record a model in it
  freezer-ui record example:resnet50 -o resnet50.fztrace --report resnet50.html"""


def run(argv: Sequence[str] | None = None) -> int:
    """Runs ``freezer-ui``, see `viewer.cli.main`.

    Args:
        argv: the arguments, by default the process's own.

    Returns:
        The exit code.
    """
    try:
        code = _answered(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        pass
    except Exception:
        # torch's imports and C++ code can turn an interrupt into another exception.
        if SIGNALS.first is None:
            raise
    else:
        # After a terminal closed, failed writes are not the cause of the end.
        if SIGNALS.first is None or code == FINE:
            return code
    remark(SIGNALS.ends())
    return SIGNALS.exit_code


def _answered(words: list[str]) -> int:
    try:
        return _run(parse_command_line(words))
    except BrokenPipeError:
        leave_output()  # the reader has closed the pipe, as `head` does
        return FINE
    except CommandError as error:  # --help or --version cannot be written
        remark(str(error))
        return error.exit_code
    except OSError as error:  # from a path: too long, in a removed folder, on a faulty disk
        if {"-v", "--traceback"} & set(words):
            show_traceback("".join(traceback.format_exception(error)))
        remark(f"{error.filename or 'the system says'}: {error.strerror or error}; check the path and its permissions")
        return WRONG_USE


def parse_command_line(words: Sequence[str]) -> argparse.Namespace:
    """Parses a command line.

    Args:
        words: of the command line, without the program. A first word that names a subcommand selects it; a file of
            that name can be given as ``./record``.

    Returns:
        The arguments; ``command`` is the subcommand's name, ``None`` for the dashboard, ``run`` executes it, and
        ``command_line`` is the whole command as typed, without the token: traces contain it.
    """
    line = argparse.Namespace(command_line=shlex.join(["freezer-ui", *_without_token(words)]))
    command = next((command for command in COMMANDS if [command.name] == list(words[:1])), None)
    if command is None:
        return build_parser().parse_intermixed_args(words, line)
    return build_parser(command).parse_args(words[1:], line)


def _without_token(words: Sequence[str]) -> list[str]:
    """Removes ``--token`` and its value in every spelling that argparse accepts."""
    kept: list[str] = []
    is_value = False
    for word in words:
        flag, glued, _ = word.partition("=")
        is_token = not is_value and flag.startswith("--t") and "--token".startswith(flag)
        if not is_token and not is_value:
            kept.append(word)
        is_value = is_token and not glued
    return kept


def build_parser(command: type[Command] = OpenCommand, **options: Any) -> argparse.ArgumentParser:
    """Builds the parser of one subcommand.

    Args:
        command: the subcommand, by default the dashboard, which has no name.
        **options: of the parser, such as ``formatter_class``.
    """
    options = {"formatter_class": argparse.RawDescriptionHelpFormatter} | options
    summary, _, details = (command.__doc__ or "").partition("\n")
    description = f"{summary}\n{textwrap.dedent(details).rstrip()}"
    is_named = command is not OpenCommand
    program = f"freezer-ui {command.name}" if is_named else "freezer-ui"
    parser = _Parser(program, description=description, **options)
    instance = command()
    if not is_named:
        parser.epilog = _EPILOG
        parser.add_argument_group("commands", "\n".join(_command_lines()))
        parser.add_argument(
            "--version", action=_Version, nargs=0, help="print the versions of freezer-ui and torch, and exit"
        )
    instance.add_arguments(parser)
    parser.add_argument("-v", "--traceback", action="store_true", help="show the full traceback of an error")
    parser.set_defaults(run=instance.run, command=command.name if is_named else None)
    return parser


def _command_lines() -> list[str]:
    lines = [f"{command.name:<8} {(command.__doc__ or '').partition('.')[0]}" for command in COMMANDS]
    return [*lines, "(freezer-ui COMMAND --help describes a command)"]


class _Parser(argparse.ArgumentParser):
    """Prints through `viewer.cli.terminal`: arguments may be file names with any characters."""

    def _print_message(self, message: str, file: Any = None) -> None:
        show_help(message, file)


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
            show_traceback(getattr(error, "details", None) or "".join(traceback.format_exception(error)))
        remark(str(error))
        return error.exit_code if isinstance(error, CommandError) else WRONG_USE
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        remark("torch is not installed here: recording needs it, looking at a trace does not")
        return WRONG_USE
    return code
