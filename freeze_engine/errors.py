"""The exceptions this project raises; torch's own always pass through unchanged."""

from __future__ import annotations

import re
from typing import Final

_LONGEST_WORD: Final = 1000
"""Most characters of a word that a message quotes: a name or path that a person can use is shorter."""

_LONGEST_LINE: Final = 20_000
_LONG_WORD: Final = re.compile(rf"(?<!\S)\S{{{_LONGEST_WORD + 1},}}")
_LONG_LINE: Final = re.compile(rf"^.{{{_LONGEST_LINE + 1},}}", re.MULTILINE)


def shortened(text: str) -> str:
    """Returns a text without the middle of words and lines that are too long to read.

    Args:
        text: of a message, which may quote what a user or a file gave.
    """
    words = _LONG_WORD.sub(lambda found: _without_middle(found[0], _LONGEST_WORD), text)
    return _LONG_LINE.sub(lambda found: _without_middle(found[0], _LONGEST_LINE), words)


def _without_middle(text: str, most: int) -> str:
    return f"{text[: most // 2]}… ({len(text):,} characters) …{text[-most // 4 :]}"


class FreezerError(Exception):
    """Base of every error raised here: its message says what, where, and what to do."""

    def __str__(self) -> str:
        return shortened(super().__str__())


class TraceFileError(FreezerError):
    """A trace file is missing, truncated, corrupted, foreign, or from a newer version."""


class InvalidTraceError(FreezerError):
    """A trace breaks a rule of the data model (duplicate ids, undefined uses, broken chains)."""


class ModelSpecError(FreezerError):
    """A MODEL or ``--input`` given on the command line cannot be turned into a module or a tensor."""


class UnsupportedTorchError(FreezerError):
    """The installed torch lacks a private name that a recording needs."""


class SandboxError(FreezerError):
    """Opening somebody else's model needs a sandbox, and there is none."""


class CrashError(FreezerError):
    """A child process that isolates a task has died, or its error cannot be passed on in another way."""


class MeasureError(FreezerError):
    """The requested measurement cannot be made (no inputs, unknown device)."""
