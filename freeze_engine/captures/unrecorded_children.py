"""Notes the Python processes that a recorded process starts, and that cannot be recorded."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from freeze_engine.backends.common.patching import Patch, patched
from freeze_engine.captures.child import STARTUP, VARIABLE
from freeze_engine.captures.tool_processes import is_tool

_PYTHON: Final = re.compile(r"(python|pypy)[\d.]*(\.exe)?", re.IGNORECASE)
_FLAGS: Final = re.compile(r"-[bBdEhiIOPqRsSuvVx?]*[cm]?")
_WITH_VALUE: Final = ("-W", "-X", "--check-hash-based-pycs")
_IGNORING: Final = {
    "I": "-I ignores the environment and the folder that starts the recording",
    "E": "-E ignores the environment",
    "S": "-S does not run sitecustomize, which starts the recording",
}


class ChildWatch:
    """The Python processes that were started and are not recorded, with the reasons."""

    def __init__(self) -> None:
        self._reasons: dict[str, int] = {}

    def note(self, executable: str, words: Sequence[str], environment: Mapping[str, str] | None) -> None:
        """Notes a process that starts now, if it cannot be recorded."""
        reason = why_unrecorded(executable, words, environment)
        if reason:
            self._reasons[reason] = self._reasons.get(reason, 0) + 1

    def lines(self) -> tuple[str, ...]:
        """Returns a sentence for each reason."""
        return tuple(
            f"{'A Python process was' if count == 1 else f'{count} Python processes were'} started and not recorded: "
            f"{reason}."
            for reason, count in self._reasons.items()
        )


def why_unrecorded(executable: str, words: Sequence[str], environment: Mapping[str, str] | None) -> str:
    """Returns why a process is not recorded; empty if it is, or is no Python.

    Args:
        executable: what is run.
        words: of the command, the program included.
        environment: of the process, ``None`` for that of this one.
    """
    if is_tool(words) or not _PYTHON.fullmatch(Path(executable).name):
        return ""
    for word in _flags(words):
        for letter, reason in _IGNORING.items():
            if letter in word:
                return f"python {reason}"
    if environment is not None:
        paths = environment.get("PYTHONPATH", "").split(os.pathsep)
        if VARIABLE not in environment or str(STARTUP) not in paths:
            return f"its environment was given, without {VARIABLE} and PYTHONPATH of this process"
    return _other_python(executable, environment)


def _flags(words: Sequence[str]) -> Iterator[str]:
    """Yields Python's own flags of letters before the script, such as ``-Sc``."""
    rest = iter(words[1:])
    for word in rest:
        if word in _WITH_VALUE:
            next(rest, None)
        elif len(word) > 1 and _FLAGS.fullmatch(word):
            yield word
            if word[-1] in "cm":
                return
        elif not word.startswith(("-W", "-X", "--")):
            return


def _other_python(executable: str, environment: Mapping[str, str] | None) -> str:
    path = (os.environ if environment is None else environment).get("PATH")
    found = shutil.which(executable, path=path)
    if found is None or Path(found).parent.resolve() == Path(sys.executable).parent.resolve():
        return ""
    with contextlib.suppress(OSError), Path(found).open("rb") as file:
        if file.read(2) == b"#!":  # such as a shim of pyenv, which may lead to this Python
            return ""
    return f"{found} is another Python than {sys.executable}"


@contextlib.contextmanager
def watching_children() -> Iterator[ChildWatch]:
    """Notes what `subprocess` starts in the block."""
    watch = ChildWatch()
    original = subprocess.Popen.__init__

    @functools.wraps(original)
    def start(self: Any, args: Any, *more: Any, **named: Any) -> None:
        with contextlib.suppress(Exception):  # a wrong call is for Popen itself to refuse
            _note(watch, args, named)
        original(self, args, *more, **named)

    with patched((Patch(subprocess.Popen, "__init__", start),)):
        yield watch


def _note(watch: ChildWatch, args: Any, named: Mapping[str, Any]) -> None:
    if named.get("shell"):
        return
    words = [os.fsdecode(each) for each in ([args] if isinstance(args, (str, bytes, os.PathLike)) else args)]
    given = named.get("env")
    environment = None if given is None else {os.fsdecode(key): os.fsdecode(text) for key, text in given.items()}
    watch.note(os.fsdecode(named.get("executable") or words[0]), words, environment)
