"""Reads the places in the source from torch's texts: of nodes, of the saved code of loaded files, of traced stacks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import torch

from freeze_engine.backends.common.source_text import lines_around
from freeze_engine.trace import SourceLines, SourceRef

Chain = tuple[SourceRef, ...]

_PLACE: Final = re.compile(r'^(?:Serialized)? {0,3}File "(?P<file>.*)", line (?P<line>\d+)(?:, in .*)?$', re.MULTILINE)
_FRAME: Final = re.compile(r"^(?P<file>.+)\((?P<line>\d+)\): (?P<function>\S+)$", re.MULTILINE)
#: Begins what torch says about the saved code of a loaded file.
_SERIALIZED: Final = "Serialized   File "
_TORCH: Final = str(Path(torch.__file__).parent)
#: What runs between two calls of the model's code, and around all of them.
_PLUMBING: Final = re.compile(r"[\\/]torch[\\/]nn[\\/]modules[\\/]module\.py$")
_TRACER: Final = re.compile(r"[\\/]torch[\\/]jit[\\/]_trace\.py$")


def traced_lines(ranges: Iterable[str]) -> tuple[SourceLines, ...]:
    """Reads the lines of the user's source that led to traced nodes: torch keeps the places without their text.

    No line is read for a loaded file, which may name any file of this machine as its source.

    Args:
        ranges: source ranges of nodes as torch prints them, each once.
    """
    places = {place for text in ranges if _SERIALIZED not in text for place in stack_places(text)}
    return lines_around(place for place in places if not place.file.startswith(_TORCH))


def first_place(text: str) -> Chain:
    """Returns the place that an excerpt is of: the user's, where a loaded file has both."""
    return _places(text.partition(_SERIALIZED)[0])[:1]


def saved_place(text: str) -> Chain:
    """Returns the place in the saved code of a loaded file; none for what was not loaded."""
    _, mark, saved = text.partition(_SERIALIZED)
    return _places(mark + saved)[:1] if mark else ()


def _places(text: str) -> Chain:
    return tuple(SourceRef(match["file"], int(match["line"])) for match in _PLACE.finditer(text))


def stack_places(text: str) -> Chain:
    """Returns the Python stack of a traced node from the method inwards, its own place last; empty for another."""
    frames = []
    for match in _FRAME.finditer(text.partition(_SERIALIZED)[0]):
        if _TRACER.search(match["file"]):
            break
        if not _PLUMBING.search(match["file"]):
            frames.append(SourceRef(match["file"], int(match["line"])))
    return tuple(reversed(frames))
