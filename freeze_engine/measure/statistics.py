"""What timed rounds say, and what they do not: medians, ratios, verdicts, notices. No torch here.

The samples are a matrix with one row per round and one column per candidate; within a round the candidates
ran once each, in random order. Two facts shape the choice of method:

* *Drift hits all candidates of a round alike.* So a ratio is taken within rounds, never between the medians
  of two columns.
* *The order in a round is drawn at random.* So if two candidates are equally fast, which of them is the slower
  one is a fair coin in each round, independent of all other rounds, whatever the machine did: under any drift,
  autocorrelation or heavy tail. That is the condition of the sign test, which therefore is exact here (a
  randomisation test; R. A. Fisher, *The Design of Experiments*, 1935, section 21), and so is the interval for
  the median ratio that inverts it.

The signed-rank test is exact here too, but weaker where it matters. It gives all rounds a say, and on a busy machine
most of them tell about other programs: as soon as these disturb a tenth of the samples, the median of the ratios has
the narrower interval (half as wide, in measurements on two loaded cores).

No statistics over one process can remove what is fixed within it: identical copies of a graph lie elsewhere in memory
and so really differ in speed (T. Mytkowicz et al., "Producing wrong data without doing anything obviously wrong!",
ASPLOS 2009), by up to about 1% in ``benchmarks/honesty.py``. So a difference is claimed only beyond a margin.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from freeze_engine.trace import Interval

Array = npt.NDArray[np.float64]
Verdict = Literal["baseline", "faster", "slower", "no measurable difference"]

MIN_ROUNDS = 6
"""Fewer rounds admit no 95% interval: all signs agree by chance in 2 of 2**5 cases."""

_LEVEL = 0.05
_FEW_ROUNDS = 12
_OUTLIER_Z = 3.5
_OUTLIER_FACTOR = 1.25
_DRIFT = 0.05
_NOISY = 0.05


@dataclass(frozen=True, slots=True)
class Comparison:
    """One candidate against the baseline of the same rounds.

    Attributes:
        ratio: time relative to the baseline, with its 95% interval.
        p_value: of "they differ by no more than the margin", for this comparison alone; at most 0.05 exactly
            where the whole interval lies beyond the margin, on one side.
    """

    ratio: Interval
    p_value: float


@dataclass(frozen=True, slots=True)
class ColumnResult:
    """What the samples say of one candidate.

    Attributes:
        median: of its own samples, in their unit.
        ratio: to the first column, ``None`` for that column itself.
        verdict: a difference only where it holds among all comparisons.
        notes: outliers and noise, in words.
    """

    median: Interval
    ratio: Interval | None
    verdict: Verdict
    notes: tuple[str, ...]


def compared(samples: Array, margin: float) -> tuple[ColumnResult, ...]:
    """Evaluates a whole measurement, the first column being the baseline.

    Args:
        samples: ``(rounds, candidates)``, any unit.
        margin: relative difference too small to claim.

    Returns:
        One result per column.

    Raises:
        ValueError: there are fewer rounds than `MIN_ROUNDS`.
    """
    columns = samples.T
    comparisons = [compare(column, columns[0], margin) for column in columns[1:]]
    results = [ColumnResult(median_interval(columns[0]), None, "baseline", _outlier_notes(columns[0]))]
    for column, comparison, verdict in zip(columns[1:], comparisons, verdicts(comparisons), strict=True):
        notes = _outlier_notes(column)
        if verdict == "no measurable difference":
            notes += _doubt_notes(comparison, len(comparisons), margin)
        results.append(ColumnResult(median_interval(column), comparison.ratio, verdict, notes))
    return tuple(results)


def matrix_notes(samples: Array) -> tuple[str, ...]:
    """Notices what concerns all candidates: a machine that changed its pace, too short a run.

    Args:
        samples: ``(rounds, candidates)``, any unit.

    Returns:
        Sentences with their remedy.
    """
    return (*_drift_notes(samples), *_too_short_notes(len(samples), samples.shape[1] - 1))


def median_interval(samples: Array) -> Interval:
    """Estimates the median of one column, with a 95% interval from order statistics.

    The ranks come from the sign test (H. A. David and H. N. Nagaraja, *Order Statistics*, 3rd ed., 2003,
    section 7.1), which assumes independent samples. Neighbouring rounds are not independent, so the ranks are
    moved apart by the square root of the design effect (R. S. Woodruff, "Confidence intervals for medians and
    other position measures", JASA 47, 1952).

    Args:
        samples: in the order they were taken, at least `MIN_ROUNDS`, any unit.

    Returns:
        The median and its interval, in the unit of ``samples``.

    Raises:
        ValueError: there are fewer samples than `MIN_ROUNDS`.
    """
    count = _checked_count(samples)
    ordered = np.sort(samples)
    middle = (count - 1) / 2
    spread = (middle - _sign_test_rank(count)) * math.sqrt(_design_effect(samples))
    rank = max(0, math.floor(middle - spread))
    return Interval(float(np.median(ordered)), float(ordered[rank]), float(ordered[count - 1 - rank]))


def compare(samples: Array, baseline: Array, margin: float = 0.0) -> Comparison:
    """Compares two columns of the same rounds.

    The estimate is the median of the paired ratios; its interval and p-value are those of the sign test (H. A. David
    and H. N. Nagaraja, *Order Statistics*, 3rd ed., 2003, section 7.1). It may differ a little from the ratio of the
    two medians, into which the drift enters.

    Args:
        samples: times of the candidate by round.
        baseline: times of the baseline by round.
        margin: relative difference too small to matter; 0.01 stands for ratios from 1 / 1.01 to 1.01.

    Returns:
        The ratio with its interval, and the p-value of the same test.

    Raises:
        ValueError: there are fewer rounds than `MIN_ROUNDS`, or the columns differ in length.
    """
    count = _checked_count(samples)
    if baseline.shape != samples.shape:
        raise ValueError(f"the candidate has {count} rounds, the baseline {len(baseline)}: pair them by round")
    logs = np.sort(np.log(samples) - np.log(baseline))
    rank = _sign_test_rank(count)
    bound = math.log1p(margin)
    against = min(int(np.count_nonzero(logs <= bound)), int(np.count_nonzero(logs >= -bound)))
    return Comparison(
        Interval(math.exp(np.median(logs)), math.exp(logs[rank]), math.exp(logs[count - 1 - rank])),
        min(1.0, 2 * float(_sign_test_cumulative(count)[against])),
    )


def verdicts(comparisons: Sequence[Comparison]) -> tuple[Verdict, ...]:
    """Says which candidates differ from the baseline, so that a false claim is rare over all of them together.

    A difference is claimed where the p-value survives the correction of S. Holm ("A simple sequentially
    rejective multiple test procedure", Scand. J. Stat. 6, 1979): the chance of even one false claim in the
    whole family is at most 5%. It never claims one whose 95% interval includes 1.

    Args:
        comparisons: all candidates of one measurement.

    Returns:
        One verdict per comparison, in their order.
    """
    by_evidence = sorted(range(len(comparisons)), key=lambda index: comparisons[index].p_value)
    claims: set[int] = set()
    for rank, index in enumerate(by_evidence):
        if comparisons[index].p_value * (len(comparisons) - rank) > _LEVEL:
            break
        claims.add(index)
    return tuple(_verdict(comparison, index in claims) for index, comparison in enumerate(comparisons))


def is_steady(durations: Sequence[float]) -> bool:
    """Says whether warm-up is over: the last three calls together are no faster than the three before.

    Args:
        durations: of all calls so far without the very first, any unit.

    Returns:
        ``True`` if the best of the last three is within 5% of the best before them.
    """
    if len(durations) < 4:
        return False
    return min(durations[-3:]) >= 0.95 * min(durations[:-3])


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


def _doubt_notes(comparison: Comparison, family: int, margin: float) -> tuple[str, ...]:
    """Explains why nothing is claimed, where the interval alone does not."""
    ratio = comparison.ratio
    if comparison.p_value <= _LEVEL:
        return (f"the interval excludes 1, but among {family} comparisons that happens by chance",)
    if not ratio.low <= 1 <= ratio.high:
        return (f"the interval excludes 1, but not by more than {margin:.0%}: identical copies differ that much",)
    unseen = max(ratio.high - 1, 1 - ratio.low)
    if unseen <= _NOISY:
        return ()
    return (f"noisy: a difference of {unseen:.0%} could go unseen; stop other programs, or use fewer threads",)


def _too_short_notes(rounds: int, family: int) -> tuple[str, ...]:
    if family and 2 ** (1 - rounds) * family > _LEVEL:
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


def _checked_count(samples: Array) -> int:
    if samples.ndim != 1 or len(samples) < MIN_ROUNDS:
        raise ValueError(f"a 95% interval needs at least {MIN_ROUNDS} samples in one column, got {samples.shape}")
    return len(samples)


def _verdict(comparison: Comparison, claimed: bool) -> Verdict:
    if not claimed:
        return "no measurable difference"
    return "faster" if comparison.ratio.value < 1 else "slower"


@functools.cache
def _sign_test_cumulative(count: int) -> Array:
    """Returns ``P(heads <= h)`` for ``h = 0 … count`` among ``count`` tosses of a fair coin."""
    return np.cumsum([math.comb(count, heads) / 2**count for heads in range(count + 1)])


def _sign_test_rank(count: int) -> int:
    """Returns the 0-based rank of the order statistic below which the median lies with at most 2.5% chance."""
    return int(np.searchsorted(_sign_test_cumulative(count), _LEVEL / 2, side="right")) - 1


def _design_effect(samples: Array) -> float:
    """Returns how many dependent samples are worth one independent sample, for the median.

    It is the variance of the mean of the series "above the median or not", relative to independence. The sum
    over lags ends at the first pair that is not positive (C. J. Geyer, "Practical Markov chain Monte Carlo",
    Stat. Sci. 7, 1992: the initial positive sequence).
    """
    signs = np.sign(samples - np.median(samples))
    power = float(np.dot(signs, signs))
    if power == 0:
        return 1.0
    effect = 1.0
    for lag in range(1, len(signs) // 2, 2):
        pair = sum(float(np.dot(signs[:-step], signs[step:])) / power for step in (lag, lag + 1))
        if pair <= 0:
            break
        effect += 2 * pair
    return effect
