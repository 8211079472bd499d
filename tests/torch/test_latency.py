from __future__ import annotations

import gc
import time
from dataclasses import replace
from typing import Any

import pytest
import torch

from freeze_engine.errors import MeasureError
from freeze_engine.measure.candidate import Candidate
from freeze_engine.measure.latency import measure_latency
from freeze_engine.measure.rounds import LatencyOptions

QUICK = LatencyOptions(seconds=0.5, min_rounds=6, max_rounds=12, sample_ns=200_000, warmup_calls=6)
ONCE = LatencyOptions(seconds=0.5, min_rounds=6, max_rounds=8, sample_ns=1, warmup_calls=6, best_of=1)


class Small(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x))


class Repeated(torch.nn.Module):
    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times
        self.small = Small()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(self.times):
            x = self.small(x)
        return x


class WritesInput(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if bool((x != 1).any()):
            raise RuntimeError("the input was written before")
        return x.add_(1)


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if bool((self.count != 0).any()):
            raise RuntimeError("the state was not reset")
        self.count.add_(1)
        return x + self.count


def frozen(module: torch.nn.Module) -> Any:
    return torch.jit.freeze(torch.jit.script(module.eval()))


@pytest.mark.usefixtures("own_time")
def test_steps_are_measured_against_the_first() -> None:
    slow, fast = frozen(Repeated(40)), frozen(Repeated(1))
    report = measure_latency([Candidate(0, slow), Candidate("eager", fast)], (torch.ones(2, 16),), {}, options=QUICK)
    assert report.failures == {}
    assert list(report.latencies) == list(report.samples) == [0, "eager"]
    first, second = report.latencies.values()
    assert (first.verdict, first.ratio) == ("baseline", None)
    assert second.verdict == "faster"
    assert second.ratio is not None
    assert second.ratio.low < second.ratio.value < second.ratio.high < 1
    for latency in (first, second):
        assert latency.device == "cpu"
        assert latency.first_ns > 0
        assert len(latency.warmup_ns) >= 2
        assert latency.samples == len(report.samples[0])
        assert 6 <= latency.samples <= 12
        assert 0 < latency.median_ns.low <= latency.median_ns.value <= latency.median_ns.high


def test_every_round_runs_all_candidates_in_random_order() -> None:
    calls: list[str] = []
    names = "abcde"
    candidates = [Candidate(name, lambda x, name=name: calls.append(name)) for name in names]
    report = measure_latency(candidates, (torch.ones(1),), {}, options=ONCE)
    rounds = report.latencies["a"].samples
    warmup = sum(1 + len(latency.warmup_ns) for latency in report.latencies.values())
    timed = calls[warmup:]
    orders = {tuple(timed[start : start + 5]) for start in range(0, len(timed), 5)}
    assert len(timed) == 5 * rounds
    assert all(sorted(order) == list(names) for order in orders)
    assert len(orders) > 1


def test_the_fastest_run_of_a_round_is_its_sample_so_that_a_disturbance_is_left_out() -> None:
    calls = []

    def disturbed_in_every_third_call(x: torch.Tensor) -> None:
        calls.append(x)
        if len(calls) % 3 == 0:
            time.sleep(0.05)

    options = LatencyOptions(seconds=60.0, max_rounds=12, sample_ns=1)
    report = measure_latency([Candidate(0, disturbed_in_every_third_call)], (torch.ones(1),), {}, options=options)
    latency = report.latencies[0]
    assert len(calls) == 1 + len(latency.warmup_ns) + 3 * latency.samples
    assert latency.samples == len(report.samples[0]) == 12
    assert sorted(report.samples[0])[-3] < 0.05e9


def test_inputs_written_in_place_are_copied_for_each_call() -> None:
    kept = torch.ones(3)
    report = measure_latency([Candidate(0, torch.jit.script(WritesInput()))], (kept,), {}, options=QUICK)
    assert report.failures == {}
    assert torch.equal(kept, torch.ones(3))


def test_nested_inputs_and_keywords_are_passed() -> None:
    class Nested(torch.nn.Module):
        def forward(self, pair: tuple[torch.Tensor, list[torch.Tensor]], *, scale: float) -> torch.Tensor:
            return pair[0].mul_(scale) + pair[1][0]

    kept = torch.ones(2)
    report = measure_latency([Candidate(0, Nested())], ((kept, [kept]),), {"scale": 2.0}, options=QUICK)
    assert report.failures == {}
    assert torch.equal(kept, torch.ones(2))


def test_state_is_reset_before_each_call() -> None:
    module = torch.jit.script(Counter())
    candidate = Candidate(0, module, reset=lambda: module.count.zero_())
    assert measure_latency([candidate], (torch.ones(1),), {}, options=QUICK).failures == {}
    unreset = measure_latency([Candidate(0, module)], (torch.ones(1),), {}, options=QUICK)
    assert "the state was not reset" in unreset.failures[0]
    assert unreset.latencies == {}


def test_a_failing_candidate_does_not_end_the_others() -> None:
    def fail(x: torch.Tensor) -> None:
        raise KeyError("no such thing")

    candidates = [Candidate(0, fail), Candidate(1, frozen(Small())), Candidate(2, frozen(Small()))]
    report = measure_latency(candidates, (torch.ones(2, 16),), {}, options=QUICK)
    assert report.failures == {0: "KeyError: 'no such thing'"}
    assert list(report.latencies) == [1, 2]
    assert report.latencies[1].verdict == "baseline"
    assert "ratios are to 1, since 0 did not run" in report.latencies[2].notes


@pytest.mark.usefixtures("own_time")
def test_a_candidate_is_held_against_the_latest_it_follows_that_ran() -> None:
    def fail(x: torch.Tensor) -> None:
        raise KeyError("no such thing")

    slow, fast = frozen(Repeated(150)), frozen(Repeated(1))
    candidates = [
        Candidate(0, fast),
        Candidate(1, slow, follows=0),
        Candidate(2, fail, follows=1),
        Candidate(3, fast, follows=2),
        Candidate("eager", fast),
    ]
    enough = replace(QUICK, min_rounds=20, max_rounds=20)
    report = measure_latency(candidates, (torch.ones(2, 16),), {}, options=enough)
    assert {key: latency.change for key, latency in report.latencies.items()} == {
        0: None,
        1: "slower",
        3: "faster",
        "eager": None,
    }
    assert report.latencies[1].previous == report.latencies[1].ratio
    assert report.latencies["eager"].previous is None


def test_a_candidate_may_fail_in_the_middle_of_the_rounds() -> None:
    calls = []

    def fail_late(x: torch.Tensor) -> None:
        calls.append(x)
        if len(calls) > 8:
            raise RuntimeError("worn out")

    candidates = [Candidate(0, frozen(Small())), Candidate(1, fail_late)]
    report = measure_latency(candidates, (torch.ones(2, 16),), {}, options=ONCE)
    assert report.failures == {1: "RuntimeError: worn out"}
    assert list(report.latencies) == [0]


def test_slow_model_gets_few_rounds_and_a_remark() -> None:
    options = LatencyOptions(seconds=0.001, min_rounds=6, max_rounds=50, sample_ns=1, warmup_seconds=0.0, patience=0)
    report = measure_latency([Candidate(0, frozen(Repeated(200)))], (torch.ones(2, 16),), {}, options=options)
    assert report.latencies[0].samples == 6
    assert len(report.latencies[0].warmup_ns) == 2
    assert report.latencies[0].notes[0] == "warm-up ended after 3 calls, before a steady state was seen"
    assert any(note.startswith("too short: only 6 rounds") for note in report.latencies[0].notes)


@pytest.mark.parametrize(("enough", "patience", "rounds"), [(9, 1e9, 9), (99, 1e9, 12), (99, 0.0, 6)])
def test_rounds_that_show_too_little_are_followed_by_more_within_the_limit(
    monkeypatch: pytest.MonkeyPatch, enough: int, patience: float, rounds: int
) -> None:
    monkeypatch.setattr("freeze_engine.measure.patience.are_enough", lambda samples, _: len(samples) >= enough)
    told: list[tuple[float, str]] = []
    options = replace(ONCE, seconds=1e-6, max_rounds=12, patience=patience)
    report = measure_latency(
        [Candidate(0, frozen(Small()))], (torch.ones(2, 16),), {}, options=options, progress=lambda *at: told.append(at)
    )
    assert report.latencies[0].samples == rounds
    more = [message for share, message in told if message.endswith("since those so far differ too much")]
    assert len(more) == rounds - 6
    assert max(share for share, _ in told) <= 1


def test_measuring_runs_without_gradients_and_restores_torch() -> None:
    seen = set()

    def look(x: torch.Tensor) -> torch.Tensor:
        seen.add((torch.is_grad_enabled(), torch.is_inference_mode_enabled(), gc.isenabled()))
        return x + torch.rand(1)

    before = torch.get_rng_state(), torch.get_num_threads()
    measure_latency([Candidate(0, look)], (torch.ones(1),), {}, options=QUICK)
    assert seen == {(False, False, False)}
    assert torch.is_grad_enabled()
    assert gc.isenabled()
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1] == torch.get_num_threads()


def test_inference_tensors_can_be_inputs() -> None:
    with torch.inference_mode():
        made = torch.ones(2, 16)
        report = measure_latency([Candidate(0, frozen(Small()))], (made,), {}, options=QUICK)
    assert report.failures == {}


def test_progress_goes_from_start_to_end() -> None:
    told: list[tuple[float, str]] = []
    measure_latency(
        [Candidate(3, frozen(Small()), made_by="FoldConv"), Candidate("eager", Small())],
        (torch.ones(2, 16),),
        {},
        options=QUICK,
        progress=lambda *now: told.append(now),
    )
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions)
    assert fractions[0] == 0.0
    assert [what for _, what in told[:2]] == ["warming up step 3 (FoldConv)", "warming up eager"]
    assert fractions[-1] < 1


def test_measuring_nothing_raises_no_error() -> None:
    report = measure_latency([], (), {}, options=QUICK)
    assert (report.latencies, report.failures, report.samples) == ({}, {}, {})


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("gpu9", "device 'gpu9': torch knows no such device; use cpu, cuda or cuda:N"),
        ("meta", "device 'meta': latency can be measured on cpu and cuda, not on meta"),
        ("cuda:99", r"device 'cuda:99': torch sees \d+ CUDA devices here; use cpu, or check the driver"),
    ],
)
def test_a_device_that_is_not_there_is_an_error(device: str, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        measure_latency([Candidate(0, frozen(Small()))], (torch.ones(2, 16),), {}, device)


def test_keys_must_differ() -> None:
    with pytest.raises(MeasureError, match="several candidates are called 1: give each a key of its own"):
        measure_latency([Candidate(1, print), Candidate(1, print)], (), {})


@pytest.mark.parametrize("rounds", [(5, 10), (10, 6)])
def test_rounds_that_admit_no_interval_are_refused(rounds: tuple[int, int]) -> None:
    with pytest.raises(MeasureError, match="a 95% interval needs at least 6 rounds"):
        LatencyOptions(min_rounds=rounds[0], max_rounds=rounds[1])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="CUDA is not available: device timing is not exercised")
def test_cuda_is_timed_with_events_on_moved_inputs() -> None:
    slow, fast = frozen(Repeated(40).cuda()), frozen(Repeated(1).cuda())
    report = measure_latency([Candidate(0, slow), Candidate(1, fast)], (torch.ones(2, 16),), {}, "cuda", QUICK)
    assert report.failures == {}
    assert report.latencies[0].device == "cuda:0"
    assert report.latencies[1].verdict == "faster"
