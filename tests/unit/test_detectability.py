"""The difference that a measurement would have found: told, and then planted."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from benchmarks.simulated import found_share
from freeze_engine.analysis import below_text, ratio_text
from freeze_engine.analysis.detectability import claim_text, detection, smallest_apart, smallest_found
from freeze_engine.trace import Claim, Contribution, Interval, Latency, Payoff
from tests.builders import empty_trace, small_trace
from viewer.views.measurements import latency_rows
from viewer.views.wording import told_ratio

RATIO = Interval(1.0, 0.97, 1.03)


@pytest.mark.parametrize("noise", ["normal", "heavy tails", "spikes"])
@pytest.mark.parametrize(("rounds", "comparisons"), [(10, 1), (20, 10), (60, 1), (60, 40)])
def test_planted_difference_of_the_stated_size_is_detected(rounds: int, comparisons: int, noise: str) -> None:
    assert found_share(rounds, comparisons, 200, noise) >= 0.9


def test_more_rounds_find_less_and_more_comparisons_need_more() -> None:
    assert smallest_found(RATIO, 60) < smallest_found(RATIO, 20) < smallest_found(RATIO, 10)
    by_family = [smallest_found(RATIO, 60, comparisons) for comparisons in (1, 5, 40)]
    assert by_family == sorted(by_family)
    assert smallest_found(Interval(1.0, 0.9, 1.03), 60) > smallest_found(RATIO, 60)
    assert smallest_found(RATIO, 60, margin=0.1) > smallest_found(RATIO, 60) > 0.03


def test_an_interval_without_width_finds_all_beyond_the_margin() -> None:
    assert smallest_found(Interval(0.8, 0.8, 0.8), 20) == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("ratio", "rounds", "comparisons"),
    [
        (RATIO, 5, 1),
        (RATIO, 8, 40),
        (RATIO, 0, 1),
        (Interval(1.0, 0.0, 2.0), 20, 1),
        (Interval(1.0, 0.5, math.inf), 20, 1),
        (Interval(1.0, 1e-30, 1e30), 20, 1),
        (RATIO, 10**12, 10**9),
    ],
)
def test_bad_or_too_few_rounds_find_nothing_and_take_no_time(ratio: Interval, rounds: int, comparisons: int) -> None:
    found = smallest_found(ratio, rounds, comparisons)
    assert found == math.inf or (rounds == 10**12 and found > 0)


def test_detectable_difference_is_rounded_up_and_stated_only_without_a_claim() -> None:
    nothing = "no measurable difference"
    assert claim_text(nothing, 0.0601) == f"{nothing} (one of 7% or more would have shown)"
    assert claim_text(nothing, 0.06) == f"{nothing} (one of 6% or more would have shown)"
    assert claim_text(nothing, 1.0) == f"{nothing} (one of 100% or more would have shown)"
    assert claim_text(nothing, math.inf) == f"{nothing} (too few rounds to show one)"
    assert claim_text(nothing, 1.01) == f"{nothing} (the rounds differ too much to tell, as on a busy machine)"
    assert claim_text("faster", 0.06) == "faster"
    assert claim_text("baseline", math.inf) == "baseline"
    assert [below_text(each) for each in (0.06, 1.01, math.inf)] == ["less than 6%", "too noisy", "too few rounds"]


def test_rounds_that_differ_too_much_to_tell_show_no_ratio() -> None:
    nothing: Claim = "no measurable difference"
    wide = Interval(1.1, 0.2, 6.0)
    assert [told_ratio(wide, nothing, smallest) for smallest in (1.01, math.inf)] == [None, None]
    assert told_ratio(None, nothing, 0.1) is None
    assert told_ratio(RATIO, nothing, 0.1) == ratio_text(RATIO)
    assert told_ratio(wide, "slower", 1.01) == ratio_text(wide)  # a claim holds, however large
    latency = Latency("cpu", 1, (), 10, Interval(5.0, 1.0, 30.0), wide, nothing, previous=wide, change=nothing)
    (row,) = latency_rows((latency,), detection(replace(empty_trace(), steps=())))
    assert (row["ratio"], row["previous"]) == (None, None)
    assert row["unseen"] == "the rounds differ too much to tell, as on a busy machine"


def test_intervals_are_apart_where_more_than_both_lie_between() -> None:
    assert smallest_apart(RATIO, RATIO) > 0.06
    assert smallest_apart(Interval(1.0, 1.0, 1.0), Interval(2.0, 2.0, 2.0)) == 0
    assert smallest_apart(RATIO, Interval(1.0, 0.0, 2.0)) == math.inf


def test_every_interval_of_a_device_is_one_comparison() -> None:
    trace = small_trace()
    intervals = {
        interval
        for step in trace.steps
        for latency in step.latency
        for interval in (latency.ratio, latency.previous)
        if interval is not None and latency.device == "cpu"
    }
    assert detection(trace).comparisons["cpu"] >= len(intervals) > 0
    assert detection(empty_trace()).comparisons == {}


def test_passes_that_were_left_out_are_a_family_of_their_own() -> None:
    payoffs = [Payoff("cpu", RATIO, "no measurable difference"), Payoff("cpu", RATIO, "faster")]
    trace = replace(
        small_trace(), ablation=tuple(Contribution("s", f"p{at}", (one,)) for at, one in enumerate(payoffs))
    )
    assert detection(trace).payoffs == {"cpu": 2}
    assert 0.03 < detection(trace).of_pass(payoffs[0]) < math.inf or detection(trace).rounds["cpu"] < 7
