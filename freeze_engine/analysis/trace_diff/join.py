"""Rows of two traces side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

_Row = TypeVar("_Row")


def joined(
    old: Iterable[_Row], new: Iterable[_Row], key: Callable[[_Row], str]
) -> list[tuple[str, _Row | None, _Row | None]]:
    """Joins the rows of two traces by key.

    Args:
        old: rows of the first trace.
        new: of the second.
        key: what a row is known by; unique in each trace.

    Returns:
        ``(key, the first trace's row, the second's)``, in order of appearance, ``None`` where a trace has none.
    """
    ours, theirs = ({key(row): row for row in rows} for rows in (old, new))
    return [(name, ours.get(name), theirs.get(name)) for name in dict.fromkeys((*ours, *theirs))]
