"""Aligns two sequences in order; lineage and diffs share this.

A patience alignment: keys that occur once on both sides anchor it, the longest run of anchors in the same
order on both sides is kept, and what lies between two anchors is aligned the same way. Unlike
``difflib.SequenceMatcher`` it stays near linear where most keys are unique, as names in a graph are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import pairwise

Pair = tuple[int, int]


def align(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[Pair]:
    """Pairs the items of two sequences that have equal keys.

    Args:
        before: keys of the first sequence.
        after: keys of the second.

    Returns:
        ``(index in before, index in after)`` of equal keys, both strictly increasing.
    """
    pairs: list[Pair] = []
    gaps = [(0, len(before), 0, len(after))]
    while gaps:
        gap = gaps.pop()
        anchors = _ends(before, after, gap)
        if not anchors:
            anchors = _anchors(before, after, gap)
        pairs += anchors
        if anchors:
            gaps += _between(anchors, gap)
    return sorted(pairs)


def refine(pairs: Sequence[Pair], before: Sequence[Hashable], after: Sequence[Hashable]) -> list[Pair]:
    """Adds to an alignment the pairs that looser keys allow between those it has.

    Args:
        pairs: an alignment of the two sequences, increasing.
        before: looser keys of the first sequence.
        after: looser keys of the second.

    Returns:
        All pairs, old and new, both indices strictly increasing.
    """
    refined = list(pairs)
    for start, stop, after_start, after_stop in _between(pairs, (0, len(before), 0, len(after))):
        found = align(before[start:stop], after[after_start:after_stop])
        refined += [(start + old, after_start + new) for old, new in found]
    return sorted(refined)


def increasing(numbers: Sequence[int]) -> list[int]:
    """Returns the positions of a longest strictly increasing subsequence of ``numbers``."""
    if all(number < other for number, other in pairwise(numbers)):
        return list(range(len(numbers)))  # most of what is compared is in order already
    tails: list[int] = []
    tail_positions: list[int] = []
    links: list[int] = []
    for position, number in enumerate(numbers):
        length = bisect_left(tails, number)
        links.append(tail_positions[length - 1] if length else -1)
        tails[length : length + 1] = [number]
        tail_positions[length : length + 1] = [position]
    chain = []
    position = tail_positions[-1] if tail_positions else -1
    while position >= 0:
        chain.append(position)
        position = links[position]
    return chain[::-1]


def _ends(before: Sequence[Hashable], after: Sequence[Hashable], gap: tuple[int, int, int, int]) -> list[Pair]:
    """Pairs the equal items at the gap's start and at its end."""
    start, stop, after_start, after_stop = gap
    room = min(stop - start, after_stop - after_start)
    head = 0
    while head < room and before[start + head] == after[after_start + head]:
        head += 1
    tail = 0
    while tail < room - head and before[stop - 1 - tail] == after[after_stop - 1 - tail]:
        tail += 1
    return [(start + offset, after_start + offset) for offset in range(head)] + [
        (stop - offset, after_stop - offset) for offset in range(tail, 0, -1)
    ]


def _anchors(before: Sequence[Hashable], after: Sequence[Hashable], gap: tuple[int, int, int, int]) -> list[Pair]:
    """Pairs keys that occur once on both sides or, where there are none, the n-th occurrences of each key."""
    start, stop, after_start, after_stop = gap
    old, new = before[start:stop], after[after_start:after_stop]
    old_counts, new_counts = Counter(old), Counter(new)
    once = {key for key, count in old_counts.items() if count == 1 and new_counts[key] == 1}
    if once:
        places: dict[Hashable, int] = {key: index for index, key in enumerate(old) if key in once}
        pairs = [(places[key], index) for index, key in enumerate(new) if key in once]
    else:
        places = {key: index for index, key in enumerate(_numbered(old))}
        pairs = [(places[key], index) for index, key in enumerate(_numbered(new)) if key in places]
    kept = increasing([old_index for old_index, _ in pairs])
    return [(start + pairs[position][0], after_start + pairs[position][1]) for position in kept]


def _numbered(keys: Sequence[Hashable]) -> list[tuple[Hashable, int]]:
    seen: Counter[Hashable] = Counter()
    numbered = []
    for key in keys:
        numbered.append((key, seen[key]))
        seen[key] += 1
    return numbered


def _between(pairs: Sequence[Pair], gap: tuple[int, int, int, int]) -> list[tuple[int, int, int, int]]:
    """Returns the parts of ``gap`` between two pairs in which both sides have items."""
    start, stop, after_start, after_stop = gap
    parts = []
    for old, new in [*pairs, (stop, after_stop)]:
        if old > start and new > after_start:
            parts.append((start, old, after_start, new))
        start, after_start = old + 1, new + 1
    return parts
