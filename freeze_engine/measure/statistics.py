"""Statistics of timed rounds: medians, ratios, verdicts. No torch here.

The samples are a matrix with one row per round and one column per candidate; within a round the candidates
ran equally often, in random order. Two facts shape the choice of method:

* *Drift hits all candidates of a round alike.* So a ratio is taken within rounds, never between the medians
  of two columns.
* *The order in a round is drawn at random.* So if two candidates are equally fast, the slower one in each round
  is random with equal chances, independent of all other rounds, whatever the machine did: under any drift,
  autocorrelation or heavy tail. That is the condition of the sign test, which therefore is exact here (a
  randomisation test; R. A. Fisher, *The Design of Experiments*, 1935, section 21), and so is the interval for
  the median ratio that inverts it.

The signed-rank test is exact here too, but weaker where it matters. It weighs all rounds, and on a busy machine
most of them reflect other programs: as soon as these disturb a tenth of the samples, the median of the ratios has
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

import numpy as np
import numpy.typing as npt

from freeze_engine.analysis.detectability import LEVEL
from freeze_engine.measure.dependence import independent_count
from freeze_engine.trace import Claim, Interval

Array = npt.NDArray[np.float64]

MIN_ROUNDS = 6
"""Fewer rounds admit no 95% interval: all signs agree by chance in 2 of 2**5 cases."""

_ENOUGH = 8
"""Independent samples from which on the order statistics of the samples bound their median."""

_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306)
"""Quantiles of Student's t distribution at 97.5%, for 1, 2, … degrees of freedom."""

_LEAST_FREEDOM = 0.05
_FAR = 50
_WIDEST = math.log(1000)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One candidate against another of the same rounds.

    Attributes:
        ratio: time relative to the other, with its 95% interval.
        p_value: of "they differ by no more than the margin", for this comparison alone; at most 0.05 exactly
            where the whole interval lies beyond the margin, on one side.
    """

    ratio: Interval
    p_value: float


def median_interval(samples: Array) -> Interval:
    """Estimates the median of one column, with a 95% interval that allows for dependence between neighbours.

    Where the samples are worth at least `_ENOUGH` independent ones, the interval is made of order statistics. The
    ranks come from the sign test (H. A. David and H. N. Nagaraja, *Order Statistics*, 3rd ed., 2003, section 7.1),
    which assumes independent samples, so they are moved apart by the square root of the design effect (R. S. Woodruff,
    "Confidence intervals for medians and other position measures", JASA 47, 1952).

    Fewer lie closer together than the samples of another minute would. Then the interval is that of Student's t for
    the logarithms, with as many degrees of freedom as there are independent samples beyond the first. It reaches
    beyond the samples, and its coverage in series whose neighbours correlate by up to 0.9 is what
    ``python -m benchmarks.honesty`` prints.

    Args:
        samples: in the order in which they were taken, at least `MIN_ROUNDS`, above 0, any unit.

    Returns:
        The median and its interval, in the unit of ``samples``.

    Raises:
        ValueError: there are fewer samples than `MIN_ROUNDS`.
    """
    count = _checked_count(samples)
    independent = independent_count(samples)
    ordered = np.sort(samples)
    median = float(np.median(ordered))
    middle = (count - 1) / 2
    rank = math.floor(middle - (middle - _sign_test_rank(count)) * math.sqrt(count / independent))
    if independent >= _ENOUGH and rank >= 0:
        return Interval(median, float(ordered[rank]), float(ordered[count - 1 - rank]))
    width = _student_width(samples, independent)
    return Interval(median, median * math.exp(-width), median * math.exp(width))


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


def verdicts(comparisons: Sequence[Comparison]) -> tuple[Claim, ...]:
    """Finds the candidates that differ from their reference, with few false claims over all of them together.

    A difference is claimed where the p-value survives the correction of S. Holm ("A simple sequentially
    rejective multiple test procedure", Scand. J. Stat. 6, 1979): the chance of even one false claim in the
    whole family is at most 5%. It never claims one whose 95% interval includes 1.

    Args:
        comparisons: all that one measurement makes.

    Returns:
        One verdict per comparison, in their order.
    """
    by_evidence = sorted(range(len(comparisons)), key=lambda index: comparisons[index].p_value)
    claims: set[int] = set()
    for rank, index in enumerate(by_evidence):
        if comparisons[index].p_value * (len(comparisons) - rank) > LEVEL:
            break
        claims.add(index)
    return tuple(_verdict(comparison, index in claims) for index, comparison in enumerate(comparisons))


def is_steady(durations: Sequence[float]) -> bool:
    """Returns whether warm-up is over: the last three calls together are no faster than the three before.

    Args:
        durations: of all calls so far without the very first, any unit.

    Returns:
        ``True`` if the best of the last three is within 5% of the best before them.
    """
    if len(durations) < 4:
        return False
    return min(durations[-3:]) >= 0.95 * min(durations[:-3])


def _checked_count(samples: Array) -> int:
    if samples.ndim != 1 or len(samples) < MIN_ROUNDS:
        raise ValueError(f"a 95% interval needs at least {MIN_ROUNDS} samples in one column, got {samples.shape}")
    return len(samples)


def _verdict(comparison: Comparison, claimed: bool) -> Claim:
    if not claimed:
        return "no measurable difference"
    return "faster" if comparison.ratio.value < 1 else "slower"


@functools.cache
def _sign_test_cumulative(count: int) -> Array:
    """Returns ``P(heads <= h)`` for ``h = 0 … count`` among ``count`` tosses of a fair coin."""
    return np.cumsum([math.comb(count, heads) / 2**count for heads in range(count + 1)])


def _sign_test_rank(count: int) -> int:
    """Returns the 0-based rank of the order statistic below which the median lies with at most 2.5% chance."""
    return int(np.searchsorted(_sign_test_cumulative(count), LEVEL / 2, side="right")) - 1


def _student_width(samples: Array, independent: float) -> float:
    """Returns half the width of the interval for the logarithm of the median.

    The variance within a stretch of a dependent series is smaller than that of the whole series: by the part that the
    mean of the stretch has, ``1 / independent``. Where few independent samples are left, that part is itself uncertain;
    so it counts for no more than it does at a correlation of 0.9, where 1 + 50 / n standard deviations hold the median
    in at least 94% of the series of n samples (by simulation, for normal shocks and for heavy tails).
    """
    freedom = max(independent - 1, _LEAST_FREEDOM)
    quantile = float(np.interp(freedom, range(1, len(_STUDENT) + 1), _STUDENT))
    factor = min(quantile / math.sqrt(freedom), 1 + _FAR / len(samples))
    return min(factor * float(np.std(np.log(samples), ddof=1)), _WIDEST)
