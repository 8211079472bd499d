from __future__ import annotations

import itertools
import math
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, strategies as st

from benchmarks.simulated import CORRELATIONS, autoregressive, median_coverage, ratio_coverage
from freeze_engine.analysis.detectability import bounds_known
from freeze_engine.measure.dependence import independent_count
from freeze_engine.measure.evaluation import ColumnResult, compared, matrix_notes
from freeze_engine.measure.statistics import (
    MIN_ROUNDS,
    Array,
    Comparison,
    compare,
    is_steady,
    median_interval,
    verdicts,
)
from freeze_engine.trace import Interval

#: Alternates around its median, so that no dependence between neighbours is seen in it.
TEN = np.array([10.0, 1.0, 9.0, 2.0, 8.0, 3.0, 7.0, 4.0, 6.0, 5.0])


def noisy_rounds(random: np.random.Generator, rounds: int, speeds: tuple[float, ...], drift: float) -> Array:
    """Samples of a machine whose pace drifts and is correlated in time; each round in random order."""
    count = len(speeds)
    pace = np.exp(0.05 * autoregressive(random, rounds * count, 0.7) + np.linspace(0, drift, rounds * count))
    samples = np.empty((rounds, count))
    for number, slots in enumerate(pace.reshape(rounds, count)):
        samples[number, random.permutation(count)] = slots
    samples *= np.array(speeds)
    return samples


def near(value: float) -> Any:
    """Equals an interval whose bounds are all close to a value."""
    return Interval(*[cast(float, pytest.approx(value))] * 3)


def test_interval_of_few_samples_reaches_beyond_them() -> None:
    """Six samples of one minute lie closer together than those of another minute would."""
    found = median_interval(np.array([1.0, 2.0, 4.0, 3.0, 5.0, 6.0]))
    assert found.value == 3.5
    assert 0 < found.low < 1.0
    assert found.high > 6.0
    assert found.low * found.high == pytest.approx(3.5**2)


def test_median_interval_uses_the_ranks_of_the_sign_test() -> None:
    assert median_interval(TEN) == Interval(5.5, 2.0, 9.0)


def test_median_interval_widens_for_dependent_samples() -> None:
    values = np.arange(1.0, 41.0)
    shuffled = np.random.default_rng(0).permutation(values)
    alone, dependent = median_interval(shuffled), median_interval(values)
    assert dependent.low < alone.low < 20.5 < alone.high < dependent.high


def test_median_of_equal_samples_has_no_width() -> None:
    assert median_interval(np.full(20, 7.0)) == Interval(7.0, 7.0, 7.0)


@pytest.mark.parametrize("shocks", ["normal", "heavy tails"])
@pytest.mark.parametrize("correlation", CORRELATIONS)
@pytest.mark.parametrize("count", [6, 10, 20, 60])
def test_median_interval_covers_the_median_of_independent_and_of_dependent_samples(count, correlation, shocks) -> None:
    assert median_coverage(count, correlation, 300, shocks) >= 0.93


@pytest.mark.parametrize("correlation", CORRELATIONS)
@pytest.mark.parametrize("count", [6, 10, 60])
def test_interval_of_a_ratio_covers_it_whatever_follows_what(count, correlation) -> None:
    assert ratio_coverage(count, correlation, 300) >= 0.93


def test_independent_samples_are_counted_as_such_and_dependent_ones_as_fewer() -> None:
    random = np.random.default_rng(4)
    counts = [independent_count(np.exp(autoregressive(random, 300, correlation))) for correlation in (0.0, 0.5, 0.9)]
    assert counts == sorted(counts, reverse=True)
    assert 150 < counts[0] <= 300
    assert 60 < counts[1] < 110  # 100 by the theory of such series; it may be taken for fewer
    assert 6 < counts[2] < 20  # 16


def test_ten_ordinary_samples_have_an_interval_that_is_shown() -> None:
    random = np.random.default_rng(6)
    series = [np.exp(0.05 * autoregressive(random, 10, 0.5, "normal")) for _ in range(100)]
    assert sum(bounds_known(median_interval(samples)) for samples in series) >= 99


def test_an_outlier_does_not_hide_the_dependence() -> None:
    series = np.exp(autoregressive(np.random.default_rng(5), 60, 0.9))
    spiked = series.copy()
    spiked[[7, 30, 44]] *= 1e6
    assert independent_count(spiked) < 12


def test_equal_samples_depend_on_nothing() -> None:
    assert independent_count(np.full(20, 7.0)) == 20
    assert independent_count(np.array([1.0, 2.0] * 10)) == 20


def test_an_interval_beyond_the_samples_is_explained() -> None:
    rising = np.linspace(100, 130, 12)
    (result,) = compared(rising[:, None], 0.01)
    assert result.notes == (
        "the time's interval is wide: of 12 samples, each may follow the one before it; give more time",
    )
    assert compared(TEN[:, None], 0.01)[0].notes == ()


def test_comparison_is_the_inverted_sign_test() -> None:
    logs = np.array([0.1, 0.9, -0.2, 0.7, 0.3, 0.8, 0.4, 0.6, 0.5])
    tosses = list(itertools.product((0, 1), repeat=9))
    found = compare(3 * np.exp(logs), np.full(9, 3.0))
    assert found.p_value == pytest.approx(2 * sum(sum(heads) <= 1 for heads in tosses) / len(tosses))
    assert found.ratio.value == pytest.approx(math.exp(0.5))
    assert (found.ratio.low, found.ratio.high) == pytest.approx((math.exp(0.1), math.exp(0.8)))


def test_identical_columns_do_not_differ() -> None:
    assert compare(TEN, TEN) == Comparison(Interval(1.0, 1.0, 1.0), 1.0)


@given(
    st.lists(st.floats(0.1, 10), min_size=MIN_ROUNDS, max_size=25),
    st.sampled_from((0.0, 0.01, 0.3)),
)
def test_p_value_and_interval_agree(ratios: list[float], margin: float) -> None:
    found = compare(np.array(ratios), np.ones(len(ratios)), margin)
    beyond = found.ratio.low > (1 + margin) * (1 + 1e-12) or found.ratio.high < 1 / ((1 + margin) * (1 + 1e-12))
    within = found.ratio.low < (1 + margin) * (1 - 1e-12) and found.ratio.high > 1 / ((1 + margin) * (1 - 1e-12))
    assert not (beyond and found.p_value > 0.05)
    assert not (within and found.p_value <= 0.05)


@pytest.mark.parametrize("speed", [1.0, 1.05, 0.5])
@pytest.mark.parametrize("drift", [0.0, 1.0, -3.0])
def test_ratio_keeps_its_coverage_under_drift_autocorrelation_and_heavy_tails(speed: float, drift: float) -> None:
    random = np.random.default_rng(1)
    hits = 0
    for _ in range(400):
        samples = noisy_rounds(random, 20, (1.0, speed), drift)
        interval = compare(samples[:, 1], samples[:, 0]).ratio
        hits += interval.low <= speed <= interval.high
    assert hits / 400 >= 0.93


def test_equal_candidates_are_rarely_told_apart_even_among_many() -> None:
    random = np.random.default_rng(2)
    wrong = 0
    for _ in range(200):
        results = compared(noisy_rounds(random, 20, (1.0,) * 12, 2.0), 0.0, (None, *range(11)))
        claims = {claim for result in results[1:] for claim in (result.verdict, result.change)}
        wrong += claims != {"no measurable difference"}
    assert wrong / 200 <= 0.06


def test_a_planted_slowdown_is_found() -> None:
    random = np.random.default_rng(3)
    found = 0
    for _ in range(100):
        samples = np.exp(0.03 * random.standard_normal((80, 6))) * np.array([1, 1, 1, 1.05, 1, 1])
        found += compared(samples, 0.01)[3].verdict == "slower"
    assert found >= 90


def test_holm_claims_the_strongest_and_stops_at_the_first_weak_one() -> None:
    faster, slower = Interval(0.5, 0.4, 0.6), Interval(2.0, 1.5, 3.0)
    comparisons = [
        Comparison(slower, 0.02),
        Comparison(faster, 0.001),
        Comparison(slower, 0.9),
        Comparison(slower, 0.024),
        Comparison(faster, 0.0124),
    ]
    nothing = "no measurable difference"
    assert verdicts(comparisons) == (nothing, "faster", nothing, nothing, "faster")
    assert verdicts([]) == ()


def test_a_column_is_held_against_the_first_and_against_the_one_it_follows() -> None:
    halved = np.full(20, 100.0) * np.where(np.arange(20) % 2, 1.001, 0.999)
    samples = np.stack([2 * halved, halved, halved * 1.2, halved * 1.2], axis=1)
    results = compared(samples, 0.01, (None, 0, 1, None))
    assert [(result.verdict, result.change) for result in results] == [
        ("baseline", None),
        ("faster", "faster"),
        ("faster", "slower"),
        ("faster", None),
    ]
    assert [result.previous for result in results] == [
        None,
        results[1].ratio,
        near(1.2),
        None,
    ]
    assert results[1].ratio == near(0.5)


def test_both_kinds_of_comparison_are_one_family() -> None:
    """Six rounds that all agree have a p-value of 1/32: enough for one comparison, not for two."""
    baseline = 1000 + TEN[:MIN_ROUNDS]
    samples = np.stack([baseline, baseline * 1.5, baseline * 2], axis=1)
    assert compared(samples[:, :2], 0.01, (None, 0))[1].change == "slower"
    results = compared(samples, 0.01, (None, 0, 1))
    assert {claim for result in results[1:] for claim in (result.verdict, result.change)} == {
        "no measurable difference"
    }


def test_a_lone_candidate_is_the_baseline() -> None:
    assert compared(TEN[:, None], 0.01) == (ColumnResult(Interval(5.5, 2.0, 9.0), None, "baseline", None, None, ()),)


def test_a_difference_within_the_margin_is_explained_and_not_claimed() -> None:
    baseline = 1000 + TEN
    result = compared(np.stack([baseline, baseline * 1.005], axis=1), 0.01)[1]
    assert result.verdict == "no measurable difference"
    assert result.notes == ("the interval excludes 1, but not by more than 1%: identical copies differ that much",)


def test_a_difference_expected_among_many_is_explained_and_not_claimed() -> None:
    baseline = 1000 + TEN[:MIN_ROUNDS]
    samples = np.stack([baseline, *([baseline] * 5), baseline * 1.5], axis=1)
    result = compared(samples, 0.01)[-1]
    assert result.verdict == "no measurable difference"
    assert result.notes == ("the interval excludes 1, but among 6 comparisons that happens by chance",)
    assert matrix_notes(samples) == (
        "too short: 6 rounds cannot prove a difference among 6 comparisons; give more time",
    )


def test_noise_and_outliers_are_noted() -> None:
    baseline = np.full(20, 100.0)
    noisy = baseline * np.where(np.arange(20) % 2, 1.3, 0.8)
    spiked = baseline.copy()
    spiked[[3, 11]] = 220.0
    results = compared(np.stack([spiked, noisy], axis=1), 0.01)
    assert results[0].notes == ("outliers: 2 of 20 samples, up to 2.2 times the median",)
    assert [note.partition(":")[0] for note in results[1].notes] == ["noisy"]


def test_drift_and_shortness_are_noted() -> None:
    steady = np.full((20, 3), 5.0)
    throttled = steady * np.linspace(1, 1.5, 20)[:, None]
    assert matrix_notes(steady) == ()
    assert [note.partition(" meanwhile")[0] for note in matrix_notes(throttled)] == [
        "drift: the machine became 35% slower (throttling, or other load)"
    ]
    assert [note.partition(" meanwhile")[0] for note in matrix_notes(throttled[::-1])] == [
        "drift: the machine became 26% faster"
    ]
    assert matrix_notes(steady[:8, :1]) == (
        "too short: only 8 rounds fitted in, so intervals are wide; give more time",
    )


def test_too_few_or_unpaired_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 6 samples"):
        median_interval(TEN[:5])
    with pytest.raises(ValueError, match="at least 6 samples"):
        compare(TEN[:5], TEN[:5])
    with pytest.raises(ValueError, match="pair them by round"):
        compare(TEN, TEN[:7])


def test_warm_up_is_over_when_calls_stop_getting_faster() -> None:
    assert not is_steady([])
    assert not is_steady([9.0, 9.0, 9.0])
    assert not is_steady([50.0, 9.0, 5.0, 5.0])
    assert not is_steady([50.0, 9.0, 9.0, 9.0])
    assert is_steady([50.0, 9.0, 9.0, 9.0, 9.1])
    assert is_steady([9.0, 9.0, 20.0, 8.9])
