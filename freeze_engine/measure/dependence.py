"""Independent samples that a series of dependent ones is worth.

Neighbouring rounds are seconds or less apart, so a machine that is slow in one round is likely slow in the next. The
dependence of few samples cannot be estimated well: six samples of a series whose neighbours correlate by 0.9 look like
independent ones more often than not. So the estimate here is an upper bound, which is wide where the samples are few.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

_STRONGEST = 0.95
"""Correlation of neighbours beyond which a series says almost nothing about the time to come."""

_BOUND = 1.64
"""Standard errors from an estimate to its one-sided 95% bound."""


def independent_count(samples: Array) -> float:
    """Returns the number of independent samples that determine the median as well as these do.

    Two estimates of the dependence are made from the ranks of the samples, which outliers do not move, and the stronger
    one counts: the upper 95% bound of the neighbours' correlation in an autoregressive series of first order, and the
    sum over all lags as far as it can be seen.

    Args:
        samples: in the order in which they were taken, any unit.

    Returns:
        From about 1 to the number of samples.
    """
    scores = _ranks(samples)
    power = float(np.dot(scores, scores))
    count = len(samples)
    if power == 0:
        return float(count)
    neighbours = float(np.dot(scores[1:], scores[:-1])) / power
    return count / max(_autoregressive_effect(_upper_bound(neighbours, count), count), _summed_effect(scores, power))


def _ranks(samples: Array) -> Array:
    """Returns centred ranks; equal samples share one."""
    _, places, counts = np.unique(samples, return_inverse=True, return_counts=True)
    middles: Array = np.cumsum(counts) - (counts + 1) / 2
    return middles[places] - (len(samples) - 1) / 2


def _upper_bound(correlation: float, count: int) -> float:
    """Returns the correlation that the true one exceeds in at most 5% of all series.

    A sample's correlation is too low by ``(1 + 4 ρ) / n`` on average (F. H. C. Marriott and J. A. Pope, "Bias in the
    estimation of autocorrelations", Biometrika 41, 1954); its variance is about ``(1 - ρ²) / n`` (M. S. Bartlett,
    JRSS Suppl. 8, 1946).
    """
    unbiased = correlation + (1 + 4 * max(correlation, 0.0)) / count
    bound = unbiased + _BOUND * math.sqrt(max(1 - unbiased**2, 0.1) / count)
    return min(max(bound, 0.0), _STRONGEST)


def _autoregressive_effect(correlation: float, count: int) -> float:
    """Returns the variance of the mean of such a series, relative to that of independent samples."""
    lags = np.arange(1, count)
    return 1 + 2 * float(np.sum((1 - lags / count) * correlation**lags))


def _summed_effect(scores: Array, power: float) -> float:
    """Returns the same from the correlations at all lags, up to the first pair of lags that is not positive.

    The rule is that of C. J. Geyer, "Practical Markov chain Monte Carlo", Stat. Sci. 7, 1992 (the initial positive
    sequence).
    """
    effect = 1.0
    for lag in range(1, len(scores) // 2, 2):
        pair = sum(float(np.dot(scores[:-step], scores[step:])) / power for step in (lag, lag + 1))
        if pair <= 0:
            break
        effect += 2 * pair
    return effect
