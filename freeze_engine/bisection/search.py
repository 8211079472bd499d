"""The searches: where a sequence turns bad, and which few of many do it. Pure; what is tested is a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from freeze_engine.bisection.outcome import Verdict

Test = Callable[[int], Verdict]
Subset = frozenset[int]


@dataclass(frozen=True, slots=True)
class Turn:
    """Where a sequence turns bad.

    Attributes:
        good: position of the last one that is known to be good before it.
        bad: position of the first that is known to be bad; what lies between the two cannot be tested.
    """

    good: int
    bad: int


def turning_point(test: Test, good: int, bad: int) -> Turn:
    """Halves the range between a good and a bad position until nothing in between can be tested any more.

    Args:
        test: says what is at a position; it is asked about each at most once.
        good: a position known to be good.
        bad: a later one known to be bad.
    """
    untestable: set[int] = set()
    while True:
        middle = (good + bad) / 2
        open_ = sorted(set(range(good + 1, bad)) - untestable, key=lambda position: (abs(position - middle), position))
        if not open_:
            return Turn(good, bad)
        verdict = test(open_[0])
        if verdict == "good":
            good = open_[0]
        elif verdict == "bad":
            bad = open_[0]
        else:
            untestable.add(open_[0])


def smallest_bad(is_bad: Callable[[Subset], bool], count: int) -> Subset:
    """Reduces a set of changes that together are bad until no single one can be taken out.

    This is ``ddmin`` of A. Zeller and R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE
    Transactions on Software Engineering 28 (2), 2002. Where one change alone is to blame, it takes about
    ``2 log2(count)`` tests.

    Args:
        is_bad: says whether a subset of the changes, by position, is bad.
        count: how many changes there are; all of them together are known to be bad.

    Returns:
        A bad subset of which no part that was tested is bad.
    """
    current = list(range(count))
    parts = 2
    while len(current) > 1:
        chunks = _chunks(current, parts)
        found = next((chunk for chunk in chunks if is_bad(frozenset(chunk))), None)
        if found is not None:
            current, parts = found, 2
            continue
        rests = [[each for each in current if each not in chunk] for chunk in chunks] if parts > 2 else []
        rest = next((rest for rest in rests if is_bad(frozenset(rest))), None)
        if rest is not None:
            current, parts = rest, max(parts - 1, 2)
        elif parts < len(current):
            parts = min(2 * parts, len(current))
        else:
            break
    return frozenset(current)


def _chunks(items: Sequence[int], parts: int) -> list[list[int]]:
    bounds = [round(number * len(items) / parts) for number in range(parts + 1)]
    return [list(items[start:end]) for start, end in zip(bounds, bounds[1:], strict=False) if start < end]
