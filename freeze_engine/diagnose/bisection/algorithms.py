"""Search algorithms: for the place where a sequence turns bad, and for a small bad subset. Pure functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from freeze_engine.diagnose.bisection.result import Verdict

Test = Callable[[int], Verdict]
Subset = frozenset[int]


@dataclass(frozen=True, slots=True)
class Turn:
    """The place where a sequence turns bad.

    Attributes:
        good: position of the last one that is known to be good before it.
        bad: position of the first that is known to be bad; what lies between the two cannot be tested.
    """

    good: int
    bad: int


def turning_point(test: Test, good: int, bad: int) -> Turn:
    """Halves the range between a good and a bad position until no position in between can be tested any more.

    Args:
        test: returns the answer for a position; it is called at most once for each.
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
    """Reduces a set of changes that together are bad to a few that still are.

    The shortest beginning of the changes that is bad ends with one that is needed. With that one, a shorter beginning
    of the others is bad; and so on. That is ``log2(count)`` tests for each change that is needed, and all of them are
    where more changes never make good what fewer break.

    Args:
        is_bad: returns whether a subset of the changes, by position, is bad; the empty set is known to be good.
        count: how many changes there are; all of them together are known to be bad.

    Returns:
        A bad subset.
    """
    needed: Subset = frozenset()
    end = count
    while not needed or (end and not is_bad(needed)):
        good, bad = 0, end
        while bad - good > 1:
            middle = (good + bad) // 2
            if is_bad(needed | frozenset(range(middle))):
                bad = middle
            else:
                good = middle
        needed, end = needed | {bad - 1}, bad - 1
    return needed
