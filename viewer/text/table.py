"""Rows and paragraphs as lines of text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

WIDTH: Final = 96
"""Width of a paragraph in columns, so that it fits a terminal of 100 with its indent."""


_WIDEST: Final = 200
"""Most characters of a cell: one that is wider would widen its column in every row."""


def table_lines(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """Returns rows under their headings, without empty columns; a heading that starts with ``>`` aligns right."""
    rows = [{name: _fitting(text) for name, text in row.items()} for row in rows]
    headings = [name for name in dict.fromkeys(chain.from_iterable(rows)) if any(row.get(name) for row in rows)]
    widths = {name: max(len(name.lstrip(">")), *(len(row.get(name, "")) for row in rows)) for name in headings}
    lines = [{name: name.lstrip(">") for name in headings}, *rows]
    return [
        "  ".join(
            line.get(name, "").rjust(width) if name.startswith(">") else line.get(name, "").ljust(width)
            for name, width in widths.items()
        ).rstrip()
        for line in lines
        if headings
    ]


def _fitting(text: str) -> str:
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST // 2]}…{text[-_WIDEST // 4 :]}"


def paragraph(text: str, indent: str = "") -> list[str]:
    """Wraps a text to lines of `WIDTH`, all but the first indented; words longer than a line stay whole."""
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
