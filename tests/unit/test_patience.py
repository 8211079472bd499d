"""Whether a measurement needs more rounds."""

from __future__ import annotations

import numpy as np
import pytest

from freeze_engine.measure.patience import are_enough
from freeze_engine.measure.statistics import Array


def made(rounds: int, candidates: int, noise: float, seed: int = 0) -> Array:
    """Returns times whose candidates differ in speed, disturbed by a factor of about ``noise``."""
    drawn = np.random.default_rng(seed)
    speeds = np.linspace(1, 1.5, candidates)
    return speeds * np.exp(noise * drawn.standard_normal((rounds, candidates)))


def test_quiet_rounds_are_enough_and_noisy_ones_need_more() -> None:
    assert are_enough(made(20, 8, 0.01), 10)
    assert not are_enough(made(20, 8, 0.3), 10)
    assert are_enough(made(600, 8, 0.2), 10)


def test_rounds_that_prove_nothing_among_so_many_comparisons_are_not_enough() -> None:
    assert are_enough(made(10, 8, 0.001), 7)
    assert not are_enough(made(10, 8, 0.001), 70)


def test_one_candidate_needs_a_known_interval_of_its_time() -> None:
    assert are_enough(made(10, 1, 0.01), 0)
    assert not are_enough(np.exp(np.linspace(0, 3, 10))[:, None], 0)


@pytest.mark.parametrize("shape", [(0,), (0, 0), (5, 2)])
def test_without_rounds_nothing_is_needed_and_few_are_never_enough(shape: tuple[int, ...]) -> None:
    assert are_enough(np.ones(shape), 1) == (0 in shape)


@pytest.mark.parametrize("noise", [0.02, 0.05, 0.1])
def test_order_of_candidates_within_a_round_does_not_end_the_measurement(noise: float) -> None:
    # Otherwise rounds could end just when one of two equal candidates leads, and the sign test would be wrong.
    drawn = np.random.default_rng(1)
    for seed in range(20):
        samples = made(20, 5, noise, seed)
        assert are_enough(drawn.permuted(samples, axis=1), 4) == are_enough(samples, 4)
