"""Has the Python processes that a recorded process starts recorded, and notes those that cannot be."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from freeze_engine.captures.child import STARTUP, VARIABLE, followed
from freeze_engine.captures.tool_processes import is_tool

_PYTHON: Final = re.compile(r"(python|pypy)[\d.]*(\.exe)?", re.IGNORECASE)
_FLAGS: Final = re.compile(r"-[bBdEhiIOPqRsSuvVx?]*[cm]?")
_WITH_VALUE: Final = ("-W", "-X", "--check-hash-based-pycs")
_IGNORING: Final = {
    "I": "-I ignores the environment and the folder that starts the recording",
    "E": "-E ignores the environment",
    "S": "-S does not run sitecustomize, which starts the recording",
}
_FIRST_BYTES: Final = 4096
#: How pip begins a script whose first line would be longer than a system takes.
_LONG: Final = re.compile(rb"""#!/bin/sh\n'''exec' (.*) "\$0" "\$@"\n""")


class ChildWatch:
    """The Python processes that were started and are not recorded, with the reasons.

    Args:
        on_leaving: called with the function of `os` that ends this process without its exit handlers.
        place: where child processes save their traces (`ChildPlace.text`); empty to leave their environments alone.
    """

    def __init__(self, on_leaving: Callable[[str], None] = lambda by: None, place: str = "") -> None:
        self._place = place
        self._reasons: dict[str, int] = {}
        self._on_leaving = on_leaving

    def environment(self, words: Sequence[str], given: Mapping[str, str] | None) -> Mapping[str, str] | None:
        """Returns the given environment with what recording needs; this process's own is completed where it is."""
        if not self._place or is_tool(words):
            return given
        if given is not None:
            return followed(given, self._place)
        needed = followed(os.environ, self._place)
        if needed is not os.environ:
            os.environ.update(needed)
        return None

    def started(self, program: str, words: Sequence[str], environment: Mapping[str, str] | None) -> None:
        """Notes a process that starts now, if it cannot be recorded."""
        reason = why_unrecorded(program, words, environment)
        if reason:
            self._reasons[reason] = self._reasons.get(reason, 0) + 1

    def leaving(self, by: str) -> None:
        """Passes on the end of this process."""
        self._on_leaving(by)

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
    executable, words = _interpreted(executable, words, environment)
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


def _interpreted(
    executable: str, words: Sequence[str], environment: Mapping[str, str] | None
) -> tuple[str, Sequence[str]]:
    """Returns the Python that a script's first line names, with its words; any other program as it is."""
    found = _found(executable, environment)
    first = _first_line(found) if found is not None else []
    if first and Path(first[0]).name == "env":
        first = [each for each in first[1:] if each != "-S"]
    if found is None or not first or not _PYTHON.fullmatch(Path(first[0]).name):
        return executable, words
    return first[0], [*first, found, *words[1:]]


def _first_line(path: str) -> list[str]:
    """Returns the words of the line by which the system, or the shell for pip's long names, runs a script."""
    try:
        with Path(path).open("rb") as file:
            text = file.read(_FIRST_BYTES)
    except OSError:
        return []
    long = _LONG.match(text)
    line = long[1] if long is not None else text.partition(b"\n")[0][2:] if text.startswith(b"#!") else b""
    try:
        return shlex.split(line.decode(errors="replace"))
    except ValueError:
        return []


def _found(executable: str, environment: Mapping[str, str] | None) -> str | None:
    path = (os.environ if environment is None else environment).get("PATH")
    return shutil.which(executable, path=path)


def _other_python(executable: str, environment: Mapping[str, str] | None) -> str:
    found = _found(executable, environment)
    if found is None or Path(found).parent.resolve() == Path(sys.executable).parent.resolve():
        return ""
    if _first_line(found):  # such as a shim of pyenv, which may lead to this Python
        return ""
    return (
        f"{found} is another Python than {sys.executable}. Install freezer-ui for that Python, and record with it: "
        f"{found} -m viewer.cli run -- COMMAND"
    )
