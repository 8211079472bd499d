"""The smallest difference in time that a measurement would have found.

*No measurable difference* says little by itself: ten rounds on a busy machine show nothing, and so do six hundred on a
quiet one where there is nothing. So the difference that these rounds would have shown is worked out beside it, from
what a trace keeps: the interval of the ratio, the number of rounds, and how many comparisons were made.

The sign test claims a difference where all but a few rounds agree (`freeze_engine.measure.statistics`). How many may
disagree follows from the number of rounds and comparisons; how large a difference has to be for so many to agree
follows from how far the ratios of the rounds lie apart, of which their interval shows the middle. Beyond that the tails
of Student's t distribution are assumed, heavier where fewer rounds show less of them.
"""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from freeze_engine.trace import Interval, Latency, Payoff, Trace

LEVEL: Final = 0.05
"""Chance of even one false claim among all that one measurement makes."""

MARGIN: Final = 0.01
"""Relative difference too small to claim: identical copies of a graph differ by up to that."""

_POWER: Final = 0.95
"""Chance of finding a difference of the reported size; its noise is an estimate, so the promise is 90%."""

_UNKNOWN_ROUNDS: Final = 20
"""Rounds that a measurement is taken to have where a trace does not say."""

_MANY_ROUNDS: Final = 100
"""Rounds from which on a normal distribution stands for the binomial one, within a round or so."""

_ANY: Final = 1.0
"""Twice the time: a measurement that shows only larger differences shows nothing."""

BOUNDS_UNKNOWN: Final = "interval unknown, as on a busy machine"
"""Stands in the place of bounds that say nothing (`bounds_known`)."""

_LARGEST_LOG: Final = 100.0
_NOTHING: Final = "no measurable difference"


@dataclass(frozen=True, slots=True)
class Detection:
    """The smallest difference between times that a trace's measurements could show.

    Attributes:
        comparisons: how many the steps and baselines make, by device.
        payoffs: how many the passes that were left out make, by device.
        rounds: the fewest that a device was measured in.
    """

    comparisons: Mapping[str, int]
    payoffs: Mapping[str, int]
    rounds: Mapping[str, int]

    def to_first(self, latency: Latency) -> float:
        """Returns the smallest difference to the first step that would have been found, ``inf`` for none."""
        return self._smallest(latency.ratio, latency)

    def to_previous(self, latency: Latency) -> float:
        """Returns the smallest difference to the step before that would have been found, ``inf`` for none."""
        return self._smallest(latency.previous, latency)

    def of_pass(self, payoff: Payoff) -> float:
        """Returns the smallest difference to the freeze without a pass that would have been found."""
        rounds = min(_UNKNOWN_ROUNDS, self.rounds.get(payoff.device, _UNKNOWN_ROUNDS))
        return smallest_found(payoff.ratio, rounds, self.payoffs.get(payoff.device, 1))

    def _smallest(self, ratio: Interval | None, latency: Latency) -> float:
        if ratio is None:
            return math.inf
        return smallest_found(ratio, latency.samples, self.comparisons.get(latency.device, 1))


def detection(trace: Trace) -> Detection:
    """Returns the data needed to compute the smallest difference that a trace's times could show.

    Args:
        trace: the recording, measured or not.
    """
    latencies = [latency for step in trace.steps for latency in step.latency]
    latencies += [latency for baseline in trace.baselines for latency in baseline.latency]
    # A step whose graph is another's has that one's figures: each interval stands for one comparison.
    made: defaultdict[str, set[Interval]] = defaultdict(set)
    rounds: dict[str, int] = {}
    for latency in latencies:
        made[latency.device].update(each for each in (latency.ratio, latency.previous) if each is not None)
        rounds[latency.device] = min(latency.samples, rounds.get(latency.device, latency.samples))
    payoffs: defaultdict[str, int] = defaultdict(int)
    for contribution in trace.ablation:
        for payoff in contribution.latency:
            payoffs[payoff.device] += 1
    return Detection({device: len(found) for device, found in made.items()}, dict(payoffs), rounds)


def smallest_found(ratio: Interval, rounds: int, comparisons: int = 1, margin: float = MARGIN) -> float:
    """Returns the smallest relative difference that a comparison finds in at least 90% of such measurements.

    Args:
        ratio: of two times by round: the median, with the 95% interval of the sign test.
        rounds: that the two were measured in.
        comparisons: made in these rounds, of which not one may claim what is not there.
        margin: relative difference too small to claim.

    Returns:
        0.06 where a slowdown of 6% would have been claimed; ``inf`` where there are too few rounds to claim any.
    """
    allowed, rank = _may_disagree(rounds, max(comparisons, 1)), _may_disagree(rounds, 1)
    if allowed < 0 or not 0 < ratio.low <= ratio.value <= ratio.high < math.inf:
        return math.inf
    reach = max(math.log(ratio.high / ratio.value), math.log(ratio.value / ratio.low))
    share = _share_that_disagrees(rounds, allowed)
    quantile = _heavier_quantile if share * (rounds + 1) < 1 else _quantile
    return _relative(math.log1p(margin) + reach * quantile(share) / quantile((rank + 1) / (rounds + 1)))


def bounds_known(interval: Interval) -> bool:
    """Returns whether the interval of a time says anything: it reaches no further than to a third and to threefold.

    Args:
        interval: of a time; that of a ratio always says something.
    """
    return 3 * interval.low >= interval.value and interval.high <= 3 * interval.value


def smallest_apart(one: Interval, other: Interval) -> float:
    """Returns the smallest relative difference at which two intervals would have had nothing in common.

    Args:
        one, other: ratios to a common third time.
    """
    if not (0 < one.low <= one.high < math.inf and 0 < other.low <= other.high < math.inf):
        return math.inf
    halves = [math.log(each.high / each.low) / 2 for each in (one, other)]
    return _relative(sum(halves) + 1.645 / 1.96 * math.hypot(*halves))


def unseen_text(smallest: float) -> str:
    """Returns the detectable difference as text (``one of 6% or more would have shown``)."""
    if not math.isfinite(smallest):
        return "too few rounds to show one"
    if smallest > _ANY:
        return "the rounds differ too much to tell, as on a busy machine"
    return f"one of {_size(smallest)} or more would have shown"


def below_text(smallest: float) -> str:
    """Returns the same for a cell of a table (``less than 6%``)."""
    if not math.isfinite(smallest):
        return "too few rounds"
    return "too noisy" if smallest > _ANY else f"less than {_size(smallest)}"


def tells_nothing(claim: str | None, smallest: float) -> bool:
    """Returns whether a ratio claims nothing, and any difference might have been missed: then it says nothing at all.

    Args:
        claim: as in `freeze_engine.trace.Claim`, ``baseline``, or ``None`` for no claim.
        smallest: the smallest difference that would have been found.
    """
    return claim == _NOTHING and smallest > _ANY


def claim_text(claim: str, smallest: float) -> str:
    """Returns the claim of a ratio, or, without one, the difference that would have shown.

    Args:
        claim: as in `freeze_engine.trace.Claim`, or ``baseline``.
        smallest: the smallest difference that would have been found.
    """
    return f"{claim} ({unseen_text(smallest)})" if claim == _NOTHING else claim


def _size(smallest: float) -> str:
    """Returns a difference in whole percent, rounded up."""
    return f"{math.ceil(round(100 * smallest, 6))}%"


def _relative(log_ratio: float) -> float:
    return math.expm1(log_ratio) if log_ratio < _LARGEST_LOG else math.inf


@functools.lru_cache(maxsize=256)
def _may_disagree(rounds: int, comparisons: int) -> int:
    """Returns in how many rounds the ratio may be on the other side, with a difference still claimed; -1 for never."""
    if rounds > _MANY_ROUNDS:
        return math.floor((rounds - 1 + NormalDist().inv_cdf(LEVEL / 2 / comparisons) * math.sqrt(rounds)) / 2)
    likely, allowed = 0.0, -1
    for against in range(rounds + 1):
        likely += math.comb(rounds, against) / 2**rounds
        if 2 * likely * comparisons > LEVEL:
            break
        allowed = against
    return allowed


@functools.lru_cache(maxsize=256)
def _share_that_disagrees(rounds: int, allowed: int) -> float:
    """Returns how likely one round may be on the other side, for no more than ``allowed`` of them to be so."""
    if rounds > _MANY_ROUNDS:  # the bound of E. B. Wilson, JASA 22, 1927
        z = NormalDist().inv_cdf(_POWER)
        part = (allowed + 0.5) / rounds
        spread = z * math.sqrt(part * (1 - part) / rounds + (z / rounds) ** 2 / 4)
        return max((part + z * z / rounds / 2 - spread) / (1 + z * z / rounds), 1e-9)
    low, high = 0.0, 0.5
    for _ in range(25):
        middle = (low + high) / 2
        low, high = (middle, high) if _at_most(rounds, middle, allowed) >= _POWER else (low, middle)
    return max(low, 1e-9)


def _at_most(rounds: int, share: float, allowed: int) -> float:
    """Returns ``P(X <= allowed)`` of a binomial distribution."""
    log_yes, log_no = math.log(share), math.log1p(-share)
    terms = (
        math.lgamma(rounds + 1) - math.lgamma(hits + 1) - math.lgamma(rounds - hits + 1) + hits * log_yes
        + (rounds - hits) * log_no
        for hits in range(allowed + 1)
    )  # fmt: skip
    return math.fsum(map(math.exp, terms))


def _quantile(share: float) -> float:
    """Returns the quantile of Student's t distribution with 4 degrees of freedom, for a share below one half.

    The closed form: W. T. Shaw, "Sampling Student's T distribution", J. Comput. Finance 9, 2006.
    """
    alpha = 4 * share * (1 - share)
    return -2 * math.sqrt(math.cos(math.acos(math.sqrt(alpha)) / 3) / math.sqrt(alpha) - 1)


def _heavier_quantile(share: float) -> float:
    """Returns the same with 2 degrees of freedom."""
    return (2 * share - 1) / math.sqrt(2 * share * (1 - share))
