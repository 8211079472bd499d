"""Evaluates the samples of each candidate: against the first candidate, against its predecessor, and in notes.

The statistics themselves are in `freeze_engine.measure.statistics`. All comparisons of one measurement are one family:
the chance that even one of its claims is false, of whichever kind, is at most 5%. So a summary over a whole trace
("these passes made it faster") is held to the same 5% as a single claim.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from freeze_engine.analysis.detectability import LEVEL, bounds_known
from freeze_engine.measure.statistics import Array, Comparison, compare, median_interval, verdicts
from freeze_engine.trace import Claim, Interval

_FEW_ROUNDS = 12
_OUTLIER_Z = 3.5
_OUTLIER_FACTOR = 1.25
_DRIFT = 0.05
_NOISY = 0.05


@dataclass(frozen=True, slots=True)
class ColumnResult:
    """The evaluation of one candidate's samples.

    Attributes:
        median: of its own samples, in their unit.
        ratio: to the first column, ``None`` for that column itself.
        verdict: a difference only where it holds among all comparisons.
        previous: ratio to the column it follows, ``None`` if it follows none.
        change: what ``previous`` says, by the rule of ``verdict``.
        notes: outliers and noise, in words.
    """

    median: Interval
    ratio: Interval | None
    verdict: Literal["baseline"] | Claim
    previous: Interval | None
    change: Claim | None
    notes: tuple[str, ...]


def compared(samples: Array, margin: float, follows: Sequence[int | None] = ()) -> tuple[ColumnResult, ...]:
    """Evaluates a whole measurement, the first column being the baseline.

    Args:
        samples: ``(rounds, candidates)``, any unit.
        margin: relative difference too small to claim.
        follows: for each column the earlier one that it is compared with as well, ``None`` for none; by default none
            has one.

    Returns:
        One result per column.

    Raises:
        ValueError: there are fewer rounds than `freeze_engine.measure.statistics.MIN_ROUNDS`.
    """
    columns = samples.T
    before = follows or (None,) * len(columns)
    pairs = _pairs(before)
    comparisons = [compare(columns[new], columns[old], margin) for new, old in pairs]
    told = dict(zip(pairs, zip(comparisons, verdicts(comparisons), strict=True), strict=True))
    results = []
    for index, column in enumerate(columns):
        first, last = told.get((index, 0)), told.get((index, before[index]))
        median = median_interval(column)
        notes = _outlier_notes(column) + _dependence_notes(column, median)
        if first is not None and first[1] == "no measurable difference":
            notes += _doubt_notes(first[0], len(pairs), margin)
        results.append(
            ColumnResult(
                median=median,
                ratio=first[0].ratio if first else None,
                verdict=first[1] if first else "baseline",
                previous=last[0].ratio if last else None,
                change=last[1] if last else None,
                notes=notes,
            )
        )
    return tuple(results)


def matrix_notes(samples: Array, follows: Sequence[int | None] = ()) -> tuple[str, ...]:
    """Yields notices about all candidates: a machine that changed its pace, too short a run.

    Args:
        samples: ``(rounds, candidates)``, any unit.
        follows: as in `compared`.

    Returns:
        Sentences with their remedy.
    """
    family = len(_pairs(follows or (None,) * samples.shape[1]))
    return (*_drift_notes(samples), *_too_short_notes(len(samples), family))


def _pairs(follows: Sequence[int | None]) -> list[tuple[int, int | None]]:
    """Returns the pairs to compare, each once."""
    to_first = [(index, 0) for index in range(1, len(follows))]
    return [*to_first, *((index, before) for index, before in enumerate(follows) if before)]


def _outlier_notes(column: Array) -> tuple[str, ...]:
    """Notices samples more than 3.5 robust standard deviations, and 25%, above the median.

    The modified z-score: B. Iglewicz and D. C. Hoaglin, *How to Detect and Handle Outliers*, 1993.
    """
    median = float(np.median(column))
    deviation = float(np.median(np.abs(column - median))) / 0.6745
    bound = max(median + _OUTLIER_Z * deviation, median * _OUTLIER_FACTOR)
    count = int(np.count_nonzero(column > bound))
    if count == 0:
        return ()
    return (f"outliers: {count} of {len(column)} samples, up to {np.max(column) / median:.1f} times the median",)


def _dependence_notes(column: Array, median: Interval) -> tuple[str, ...]:
    """Explains an interval that is wider than the samples lie apart."""
    if median.low >= np.min(column) or median.high / median.low <= 1 + _NOISY:
        return ()
    what = "is wide" if bounds_known(median) else "is unknown"
    return (f"the time's interval {what}: of {len(column)} samples, each may follow the one before it; give more time",)


def _doubt_notes(comparison: Comparison, family: int, margin: float) -> tuple[str, ...]:
    """Explains why nothing is claimed, where the interval alone does not."""
    ratio = comparison.ratio
    if comparison.p_value <= LEVEL:
        return (f"the interval excludes 1, but among {family} comparisons that happens by chance",)
    if not ratio.low <= 1 <= ratio.high:
        return (f"the interval excludes 1, but not by more than {margin:.0%}: identical copies differ that much",)
    unseen = max(ratio.high - 1, 1 - ratio.low)
    if unseen <= _NOISY:
        return ()
    return (f"noisy: the interval reaches {unseen:.0%} away from 1; stop other programs, or use fewer threads",)


def _too_short_notes(rounds: int, family: int) -> tuple[str, ...]:
    if family and 2 ** (1 - rounds) * family > LEVEL:
        return (f"too short: {rounds} rounds cannot prove a difference among {family} comparisons; give more time",)
    if rounds < _FEW_ROUNDS:
        return (f"too short: only {rounds} rounds fitted in, so intervals are wide; give more time",)
    return ()


def _drift_notes(samples: Array) -> tuple[str, ...]:
    """Notices a pace that differs by more than 5% between the first and the last third of the rounds."""
    pace = np.mean(np.log(samples / np.median(samples, axis=0)), axis=1)
    third = len(pace) // 3
    change = math.expm1(float(np.median(pace[-third:]) - np.median(pace[:third])))
    if abs(change) <= _DRIFT:
        return ()
    direction = "slower (throttling, or other load)" if change > 0 else "faster"
    return (f"drift: the machine became {abs(change):.0%} {direction} meanwhile; ratios are taken within rounds",)
