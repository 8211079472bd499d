"""Texts of Python's source files for a trace: the lines around places, in runs of consecutive lines."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Iterator, Mapping

from freeze_engine.trace import SourceLines, SourceRef

_AROUND = 3


def lines_around(places: Iterable[SourceRef]) -> tuple[SourceLines, ...]:
    """Reads the lines around places, as far as Python knows the files; the cells of a notebook are files, too.

    Args:
        places: in any order.
    """
    wanted: dict[str, set[int]] = {}
    for place in places:
        near = range(max(1, place.line - _AROUND), place.line + _AROUND + 1)
        wanted.setdefault(place.file, set()).update(near)
    found = []
    for file, numbers in wanted.items():
        text = linecache.getlines(file)
        found += [SourceLines(file, each, (text[each - 1].rstrip("\n"),)) for each in numbers if each <= len(text)]
    return tuple(merged_lines(found))


def merged_lines(pieces: Iterable[SourceLines]) -> Iterator[SourceLines]:
    """Yields source lines by file and number, with overlapping or adjacent pieces joined.

    Args:
        pieces: in any order; where they show the same line, they agree.
    """
    files: dict[str, dict[int, str]] = {}
    for piece in pieces:
        numbered = enumerate(piece.lines, piece.first_line)
        files.setdefault(piece.file, {}).update(numbered)
    for file in sorted(files):
        yield from _runs(file, files[file])


def _runs(file: str, texts: Mapping[int, str]) -> Iterator[SourceLines]:
    run: list[int] = []
    for number in sorted(texts):
        if run and number != run[-1] + 1:
            yield SourceLines(file, run[0], tuple(texts[each] for each in run))
            run = []
        run.append(number)
    if run:
        yield SourceLines(file, run[0], tuple(texts[each] for each in run))
