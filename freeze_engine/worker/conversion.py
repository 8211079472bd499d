"""Explains why a model did not become a TorchScript program, before any freeze began."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Final, Literal

Conversion = Literal["scripted", "traced"]
"""How the model was to become a TorchScript program."""

#: The messages of the recording while it converts the model, and how to call that.
CONVERSIONS: Final[dict[str, Conversion]] = {"scripting": "scripted", "tracing": "traced"}
_FRAME: Final = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+)', re.MULTILINE)
_KIND: Final = re.compile(r"^\s*(?:\w+\.)*\w*(?:Error|Exception):\s*")
_LIBRARY: Final = re.compile(r"[/\\](?:site|dist)-packages[/\\]|^<")


def conversion_text(conversion: Conversion, error: str, traceback: Sequence[str]) -> str:
    """Returns one sentence on a model that cannot be scripted or traced.

    Args:
        conversion: how it was to become a TorchScript program.
        error: type and text of what torch raised. For scripting it names the lines of the source (torch 2.6 to 2.13,
            ``torch/csrc/jit/frontend/source_range.cpp``).
        traceback: lines of the exception, without frames of this package.
    """
    place = _place(_FRAME.findall(error)) or _place(_FRAME.findall("\n".join(traceback))[::-1])
    where = f", at line {place[1]} of {PurePath(place[0]).name}" if place else ""
    return f"The model cannot be {conversion}: {_reason(error)}{where}."


def _place(frames: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    return next(((file, line) for file, line in frames if not _LIBRARY.search(file)), None)


def _reason(error: str) -> str:
    """Returns the first sentence of torch's message, without type and source."""
    lines = _KIND.sub("", error, count=1).split('\n  File "')[0].splitlines()
    first = next((line.strip() for line in lines if line.strip()), error.strip())
    return first.rstrip(":. ")
