"""Keeps the source texts of two traces apart if a file was edited between them."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

import freeze_engine as fe
from freeze_engine.trace import SourceLines, SourceRef

EDITED: Final = " (B)"
"""What the second trace's name of a file that was edited ends with."""


def with_own_files(first: fe.Trace, second: fe.Trace) -> fe.Trace:
    """Returns the second trace with a new name for each file whose text differs from the first trace's.

    Args:
        first: the trace whose files keep their names.
        second: the other; a file with a kept line that differs gets ``(B)`` after its path.
    """
    edited = edited_files(first, second)
    if not edited:
        return second
    renamed: fe.Trace = _renamed(second, {file: f"{file}{EDITED}" for file in edited}, {})
    return renamed


def edited_files(first: fe.Trace, second: fe.Trace) -> set[str]:
    """Returns the files of which both traces have a line with another text."""
    texts = _texts(first)
    return {place[0] for place, text in _texts(second).items() if texts.get(place, text) != text}


def _texts(trace: fe.Trace) -> dict[tuple[str, int], str]:
    return {
        (source.file, source.first_line + offset): text.strip()  # torch dedents the functions that it scripts
        for source in trace.sources
        for offset, text in enumerate(source.lines)
    }


def _renamed(value: Any, files: dict[str, str], done: dict[int, Any]) -> Any:
    """Renames files in part of a trace; parts that name none of them stay the same objects."""
    if not isinstance(value, tuple) and (not is_dataclass(value) or isinstance(value, type)):
        return value
    if id(value) in done:  # the trace keeps all its parts alive, so no id() is reused
        return done[id(value)]
    result: Any
    if isinstance(value, tuple):
        parts = tuple(_renamed(part, files, done) for part in value)
        result = value if all(new is old for new, old in zip(parts, value, strict=True)) else parts
    elif isinstance(value, (SourceRef, SourceLines)):
        result = replace(value, file=files[value.file]) if value.file in files else value
    else:
        parts_of = {field.name: getattr(value, field.name) for field in fields(value)}
        news = {name: _renamed(part, files, done) for name, part in parts_of.items()}
        changed = {name: new for name, new in news.items() if new is not parts_of[name]}
        result = replace(value, **changed) if changed else value
    done[id(value)] = result
    return result
