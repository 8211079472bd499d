"""Simulates samples with a known true value, and counts intervals that contain it and slowdowns that are found."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from freeze_engine.analysis.detectability import MARGIN, bounds_known, smallest_found
from freeze_engine.measure.statistics import compare, median_interval, verdicts

Array = npt.NDArray[np.float64]

COUNTS = (6, 10, 20, 60, 300)
"""Samples in a series: the fewest for an interval, the default minimum of rounds, and numbers of quick models."""

CORRELATIONS = (0.0, 0.5, 0.9)
"""Correlations of neighbouring samples."""

_NOISE = 0.05
_SPIKES = 0.1
_SETTLING = 60

_SHOCKS: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "normal": lambda random, count: random.standard_normal(count),
    "heavy tails": lambda random, count: random.standard_t(3, count),
    "spikes": lambda random, count: 0.2 * random.standard_normal(count) + _spikes(random, count, 10.0),
}


def _spikes(random: np.random.Generator, count: int, size: float) -> Array:
    """Returns a spike in one of ten samples, up or down: a disturbance may meet either side of a ratio."""
    signs = random.choice((-1.0, 1.0), count)
    return signs * (random.random(count) < _SPIKES) * random.exponential(size, count)


def autoregressive(random: np.random.Generator, count: int, correlation: float, shocks: str = "heavy tails") -> Array:
    """Returns a stationary series of first order, with median 0."""
    pushes = _SHOCKS[shocks](random, count + _SETTLING)
    series = np.empty_like(pushes)
    series[0] = pushes[0]
    for index in range(1, len(pushes)):
        series[index] = correlation * series[index - 1] + pushes[index]
    return series[_SETTLING:]


def noisy_rounds(random: np.random.Generator, rounds: int, speeds: tuple[float, ...], correlation: float) -> Array:
    """Returns ``(rounds, candidates)`` samples of a machine with autocorrelated speed, in random order per round."""
    pace = np.exp(_NOISE * autoregressive(random, rounds * len(speeds), correlation))
    samples = np.empty((rounds, len(speeds)))
    for number, slots in enumerate(pace.reshape(rounds, len(speeds))):
        samples[number, random.permutation(len(speeds))] = slots
    return samples * np.array(speeds)


def median_coverage(count: int, correlation: float, repetitions: int, shocks: str = "normal") -> float:
    """Returns the share of the shown intervals of a median that contain the true median."""
    random = np.random.default_rng(count)
    hits = shown = 0
    for _ in range(repetitions):
        found = median_interval(np.exp(_NOISE * autoregressive(random, count, correlation, shocks)))
        shown += bounds_known(found)
        hits += bounds_known(found) and found.low <= 1 <= found.high
    return hits / shown


def ratio_coverage(count: int, correlation: float, repetitions: int, speed: float = 1.05) -> float:
    """Returns the share of intervals of a ratio of two candidates that contain the true ratio."""
    random = np.random.default_rng(count)
    hits = 0
    for _ in range(repetitions):
        samples = noisy_rounds(random, count, (1.0, speed), correlation)
        found = compare(samples[:, 1], samples[:, 0]).ratio
        hits += math.log(found.low) <= math.log(speed) <= math.log(found.high)
    return hits / repetitions


def coverage_lines(repetitions: int, goal: float = 0.93) -> tuple[list[str], bool]:
    """Returns the coverage of both kinds of interval as a table, and whether all of it reaches the goal."""
    lines = [f"coverage of 95% intervals, {repetitions} simulated series each (goal: at least {goal:.0%})"]
    lines.append("  samples  " + "  ".join(f"ρ = {correlation:<4}" for correlation in CORRELATIONS))
    reached = True
    kinds: dict[str, Callable[[int, float], float]] = {
        "absolute median, normal shocks": lambda count, rho: median_coverage(count, rho, repetitions),
        "absolute median, heavy tails": lambda count, rho: median_coverage(count, rho, repetitions, "heavy tails"),
        "absolute median, spikes": lambda count, rho: median_coverage(count, rho, repetitions, "spikes"),
        "ratio within rounds": lambda count, rho: ratio_coverage(count, rho, repetitions),
    }
    for kind, coverage in kinds.items():
        lines.append(f"  {kind}")
        for count in COUNTS:
            found = [coverage(count, correlation) for correlation in CORRELATIONS]
            reached &= min(found) >= goal
            lines.append(f"  {count:7}  " + "  ".join(f"{share:8.1%}" for share in found))
    return lines, reached


_NOISES: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "normal": lambda random, count: _NOISE * random.standard_normal(count),
    "heavy tails": lambda random, count: _NOISE * random.standard_t(3, count),
    "spikes": lambda random, count: 0.2 * _NOISE * random.standard_normal(count) + np.abs(_spikes(random, count, 0.5)),
    "spikes on both sides": lambda random, count: (
        0.2 * _NOISE * random.standard_normal(count) + _spikes(random, count, 0.5)
    ),
}
"""Noise of one round's ratio, as the logarithm of its factor to the true ratio."""


def found_share(rounds: int, comparisons: int, repetitions: int, noise: str = "normal") -> float:
    """Returns how often a measurement claims a slowdown of the size that another one reports as detectable.

    Args:
        rounds: of each measurement.
        comparisons: of each measurement, all but one between equal candidates.
        repetitions: number of pairs of measurements.
        noise: one of `_NOISES`.
    """
    random = np.random.default_rng(rounds)
    even = np.ones(rounds)
    hits = 0
    for _ in range(repetitions):
        told = compare(np.exp(_NOISES[noise](random, rounds)), even, MARGIN).ratio
        slowdown = 1 + smallest_found(told, rounds, comparisons)
        planted = compare(slowdown * np.exp(_NOISES[noise](random, rounds)), even, MARGIN)
        others = [compare(np.exp(_NOISES[noise](random, rounds)), even, MARGIN) for _ in range(comparisons - 1)]
        hits += verdicts([planted, *others])[0] == "slower"
    return hits / repetitions


def found_lines(repetitions: int, goal: float = 0.9) -> tuple[list[str], bool]:
    """Returns the shares of detectable slowdowns that are found as lines, and whether all reach the goal."""
    lines = [f"slowdowns found of the size reported as detectable, {repetitions} each (goal: at least {goal:.0%})"]
    reached = True
    for noise in _NOISES:
        for rounds, comparisons in ((10, 1), (20, 10), (60, 1), (60, 40), (300, 40)):
            share = found_share(rounds, comparisons, repetitions, noise)
            reached &= share >= goal
            lines.append(f"  {noise}, {rounds} rounds, {comparisons} comparisons: {share:.1%}")
    return lines, reached
