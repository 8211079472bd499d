"""Decides whether a measurement needs more rounds, without favouring any claim.

A number of rounds that depended on the ratios of the candidates would make false claims likelier: rounds would end when
a difference happens to show. So the times of each round are sorted first. Which candidate took which time is then
unknown, and whether one of two equally fast candidates is the slower in a round remains a fair coin, whatever number of
rounds the sorted times led to: the sign test stays exact (`freeze_engine.measure.statistics`).
"""

from __future__ import annotations

import math
from statistics import median
from typing import Final

import numpy as np

from freeze_engine.analysis.detectability import bounds_known, smallest_found
from freeze_engine.measure.statistics import MIN_ROUNDS, Array, compare, median_interval

_WANTED: Final = 0.1
"""The difference that the rounds shall show."""


def are_enough(samples: Array, comparisons: int) -> bool:
    """Returns whether rounds show a difference of 10%, and the interval of the times themselves is known.

    How far the ratio of two candidates varies is estimated from the ratios of two ranks: the k-th fastest of each round
    to the one half the candidates behind it.

    Args:
        samples: ``(rounds, candidates)``, above 0, any unit.
        comparisons: that these rounds serve.
    """
    if samples.ndim != 2 or len(samples) < MIN_ROUNDS:
        return not samples.size
    ranked = np.sort(samples, axis=1)
    if not bounds_known(median_interval(np.exp(np.mean(np.log(ranked), axis=1)))):
        return False
    return _smallest(ranked, comparisons) <= _WANTED


def _smallest(ranked: Array, comparisons: int) -> float:
    rounds, candidates = ranked.shape
    half = math.ceil(candidates / 2)
    pairs = [(rank + half, rank) for rank in range(candidates - half)]
    ratios = (compare(ranked[:, slower], ranked[:, faster]).ratio for slower, faster in pairs)
    return median(smallest_found(ratio, rounds, comparisons) for ratio in ratios) if pairs else 0.0
