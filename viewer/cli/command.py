"""Interface of the subcommands, their exit codes, and their error."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import ClassVar, Protocol

COMMAND_NAMES = (
    "record",
    "run",
    "sweep",
    "report",
    "stats",
    "summary",
    "diff",
    "check",
    "export",
    "bisect",
    "doctor",
)
FINE, CHECK_FAILED, WRONG_USE, FREEZE_FAILED, NOT_MEASURED = 0, 1, 2, 3, 4


class Command(Protocol):
    """A subcommand; its docstring is its help, and the first line the summary."""

    name: ClassVar[str]

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the subcommand's own arguments."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Executes the subcommand.

        Args:
            arguments: the parsed arguments; ``command_line`` is the whole command as typed.

        Returns:
            The exit code.
        """


class CommandError(Exception):
    """Ends the command with one line on the terminal.

    Args:
        message: what, where, and what to do.
        exit_code: of the process.
        details: the traceback if an exception of torch or of the model ended it.
    """

    def __init__(self, message: str, exit_code: int = WRONG_USE, details: str | None = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.details = details


def output_file(text: str) -> Path:
    """Validates the name of an output file, so that a wrong one is reported before the work and not after it.

    Args:
        text: the argument.

    Returns:
        The path.

    Raises:
        argparse.ArgumentTypeError: if it is a folder or a device, or its folder is missing.
    """
    path = Path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is a folder; give the name of a file in it")
    if path.exists() and not path.is_file():  # writing replaces the file, and /dev/null must stay a device
        raise argparse.ArgumentTypeError(f"{text} is a device or a pipe; give the name of an ordinary file")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}; make it first, or write elsewhere")
    return path


def output_folder(text: str) -> Path:
    """Validates the name of an output folder, which need not exist.

    Args:
        text: the argument.

    Returns:
        The path.

    Raises:
        argparse.ArgumentTypeError: if it exists and is not a folder.
    """
    path = Path(text)
    if path.exists() and not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is not a folder; give the name of a folder")
    return path
