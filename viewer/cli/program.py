"""Finds and runs the program of ``freezer-ui run``: in this process where it is Python's, else in a child."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from viewer.cli.command import FINE, CommandError
from viewer.cli.signals import SIGNALS

_PYTHON = re.compile(r"python(\d+(\.\d+)?)?(\.exe)?")
_SIGNALLED = 128


@dataclass(frozen=True, slots=True)
class Program:
    """A program that can be run.

    Attributes:
        stem: what the names of its traces begin with.
        run: runs it, and returns its exit code; ``SystemExit`` and ``KeyboardInterrupt`` propagate.
    """

    stem: str
    run: Callable[[], int]


def find_program(words: Sequence[str], usage: str) -> Program:
    """Returns the program of a command.

    Args:
        words: a script, a folder with ``__main__.py``, ``-`` for standard input, ``-m`` and a module, ``python`` and
            either, or another program; then its arguments.
        usage: of ``freezer-ui run``, for messages.

    Raises:
        CommandError: there is no such program.
    """
    if words[0] == "-m":
        if len(words) < 2:
            raise CommandError(f"-m needs the name of a module or package; the usage is {usage}")
        return Program(words[1].rpartition(".")[2], lambda: _run_module(words[1:]))
    if words[0] == "-":
        return Program("stdin", lambda: _run_child([sys.executable, *words]))
    if (Path(words[0]) / "__main__.py").is_file():
        return Program(Path(words[0]).resolve().name, lambda: _run_script(words))
    if Path(words[0]).is_file() and not _is_this_python(words[0]):
        return _of_file(words[0], words)
    found = shutil.which(words[0])
    if found is None:
        raise CommandError(f"{words[0]} is not a file, and no program of that name is on PATH; the usage is {usage}")
    rest = words[1:]
    if _is_this_python(found) and rest and (rest[0] == "-m" or Path(rest[0]).is_file()):
        return find_program(rest, usage)
    return _of_file(found, words)


def _of_file(path: str, words: Sequence[str]) -> Program:
    """Returns the program in a file: a script of this Python, or anything else that the system can execute."""
    stem = Path(path).stem
    if _is_python_script(path):
        return Program(stem, lambda: _run_script([path, *words[1:]]))
    return Program(stem, lambda: _run_child([path, *words[1:]]))


def _is_this_python(path: str) -> bool:
    if not _PYTHON.fullmatch(Path(path).name):
        return False
    found = shutil.which(path)
    # A virtual environment's python is a link: what counts is the environment, and not the file behind the link.
    return found is not None and Path(found).parent.resolve() == Path(sys.executable).parent.resolve()


def _is_python_script(path: str) -> bool:
    """Returns whether Python runs a file: by its name, or since its first line names this Python."""
    if not os.access(path, os.X_OK) or Path(path).suffix in (".py", ".pyw", ".pyz", ".zip"):
        return True
    with Path(path).open("rb") as file:
        first = file.readline(4096)
    words = first[2:].decode(errors="replace").split() if first.startswith(b"#!") else []
    if words and Path(words[0]).name == "env":
        words = words[1:]
    return bool(words) and _is_this_python(words[0])


def _run_child(words: Sequence[str]) -> int:
    """Runs a program that is not Python's; the children of this Python that it starts are recorded."""
    try:
        code = subprocess.run(words, check=False).returncode
    except OSError as error:
        raise CommandError(f"{words[0]} cannot be run: {error.strerror}") from error
    return code if code >= 0 else _SIGNALLED - code


def _run_script(words: Sequence[str]) -> int:
    """Runs a script as ``python script.py`` would."""
    with _main(words, str(Path(words[0]).resolve().parent)):
        return _shown(lambda: runpy.run_path(words[0], run_name="__main__"), words[0])


def _run_module(words: Sequence[str]) -> int:
    """Runs a module or package as ``python -m`` would."""
    with _main(words, str(Path.cwd())):
        return _shown(lambda: runpy.run_module(words[0], run_name="__main__", alter_sys=True), None)


def _shown(run: Callable[[], object], file: str | None) -> int:
    """Runs Python code; a traceback is shown without the frames outside of it.

    Args:
        run: runs it.
        file: the first file of the user's; ``None`` for the first one after ``runpy``.

    Returns:
        0, or 1 if an exception ended it.
    """
    try:
        run()
    except Exception as error:  # noqa: BLE001 (shown by sys.excepthook, as the interpreter does)
        frames = error.__traceback__
        while frames is not None and not _is_first(frames.tb_frame.f_code.co_filename, file):
            frames = frames.tb_next
        sys.excepthook(type(error), error.with_traceback(frames), frames)
        return 1
    return FINE


def _is_first(name: str, file: str | None) -> bool:
    if file is not None:
        return name == file
    return name != __file__ and name not in ("<frozen runpy>", runpy.__file__)


@contextmanager
def _main(words: Sequence[str], folder: str) -> Iterator[None]:
    """Sets `sys.argv` and `sys.path` as python does for its main program, which runpy leaves to the caller.

    They stay where the process ends with the program, for its threads and exit handlers.
    """
    argv, path = sys.argv, sys.path.copy()
    sys.argv = list(words)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        if not SIGNALS.ends_process:
            sys.argv, sys.path[:] = argv, path
