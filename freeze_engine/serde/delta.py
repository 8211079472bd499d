"""Differences between two sequences as splices: a snapshot is stored as the changes of its step.

A splice is ``[start, removed, inserted]``: at position ``start`` of the base, ``removed`` items give way to
the items ``inserted``. The splices of one sequence are ascending and do not overlap, so that applying them
reads the base once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")
Splice = tuple[int, int, list[Item]]


def splices(base: Sequence[int], new: Sequence[int]) -> list[Splice[int]]:
    """Returns the splices that turn ``base`` into ``new``, in n log n time.

    Args:
        base: the sequence before.
        new: the sequence after it.

    Returns:
        As few inserted items as there can be, where no item of ``base`` occurs twice.
    """
    found: list[Splice[int]] = []
    start = position = 0
    for kept_start, kept_position in [*_kept(base, new), (len(base), len(new))]:
        if (kept_start, kept_position) != (start, position):
            found.append((start, kept_start - start, list(new[position:kept_position])))
        start, position = kept_start + 1, kept_position + 1
    return found


def spliced(base: Sequence[Item], found: Sequence[Splice[Item]]) -> list[Item]:
    """Returns ``base`` with the splices applied.

    Args:
        base: the sequence before.
        found: its splices.

    Returns:
        The sequence after, never longer than ``base`` and all inserted items together.

    Raises:
        ValueError: the splices overlap, run backwards or lie outside ``base``.
    """
    new: list[Item] = []
    position = 0
    for start, removed, inserted in found:
        if removed < 0 or not position <= start <= start + removed <= len(base):
            raise ValueError(f"the splice at {start} (removes {removed}) does not fit a base of {len(base)}")
        new += base[position:start]
        new += inserted
        position = start + removed
    new += base[position:]
    return new


def spliced_length(base: Sequence[object], found: Sequence[Splice[Item]]) -> int:
    """Returns at most how long ``base`` and what its splices insert are together."""
    return len(base) + sum(len(inserted) for _, _, inserted in found)


def _kept(base: Sequence[int], new: Sequence[int]) -> list[tuple[int, int]]:
    """Returns the positions (in ``base``, in ``new``) of the items kept, both ascending.

    They are a longest increasing subsequence of the base positions in the new order (patience sorting):
    ``tails`` holds the lowest base position at which a subsequence of each length can end.
    """
    at = {item: position for position, item in enumerate(base)}
    tails: list[int] = []
    ends: list[int] = []
    pairs: list[tuple[int, int]] = []
    previous: list[int] = []
    for position, item in enumerate(new):
        start = at.get(item, -1)
        if start < 0:
            continue
        length = bisect_left(tails, start)
        tails[length : length + 1] = [start]
        ends[length : length + 1] = [len(pairs)]
        previous.append(ends[length - 1] if length else -1)
        pairs.append((start, position))
    chosen: list[tuple[int, int]] = []
    link = ends[-1] if ends else -1
    while link >= 0:
        chosen.append(pairs[link])
        link = previous[link]
    return chosen[::-1]
