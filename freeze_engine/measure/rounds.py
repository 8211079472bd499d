"""Takes the samples: warms every candidate up, then runs all of them in rounds, in random order.

A sample is the fastest of a round's few runs. On the CPU a run is wall-clock time (``time.perf_counter_ns``) of
back-to-back calls, divided by their number.
On CUDA it is the time between two events around them on the current stream, as the device saw it; the first call
and the warm-up are wall-clock time there too, since compilation happens on the host. torch's thread count, fusion
strategy and the like stay as the user set them.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import torch

from freeze_engine.analysis.detectability import MARGIN
from freeze_engine.errors import MeasureError
from freeze_engine.measure import patience, statistics
from freeze_engine.measure.candidate import Candidate, CandidateError, Progress, cloned, reported, versions
from freeze_engine.requests.inputs import Inputs


@dataclass(frozen=True, slots=True)
class LatencyOptions:
    """The time budget and the wanted precision of a measurement.

    Attributes:
        seconds: aimed at for all rounds together, warm-up apart; exceeded only to reach ``min_rounds``, and by
            ``patience``.
        min_rounds: rounds to take however slow the model is.
        max_rounds: rounds that are enough however fast it is.
        patience: how many times ``seconds`` more rounds may take if the first ones show too little
            (`freeze_engine.measure.patience`).
        sample_ns: a run repeats its call until it takes about this long.
        best_of: runs in each round, the fastest of which is the round's sample: where other programs disturb one run,
            another is likely left alone. Fewer, where there would be too few rounds.
        warmup_calls: most calls before the rounds, the very first included.
        warmup_seconds: the same as a time, per candidate.
        margin: relative difference from which on one is claimed, see `freeze_engine.measure.statistics`.
        seed: of the order within the rounds.
    """

    seconds: float = 12.0
    min_rounds: int = 10
    max_rounds: int = 600
    patience: float = 1.0
    sample_ns: int = 300_000
    best_of: int = 3
    warmup_calls: int = 30
    warmup_seconds: float = 1.0
    margin: float = MARGIN
    seed: int = 0

    def __post_init__(self) -> None:
        if not statistics.MIN_ROUNDS <= self.min_rounds <= self.max_rounds:
            raise MeasureError(
                f"min_rounds={self.min_rounds}, max_rounds={self.max_rounds}: "
                f"a 95% interval needs at least {statistics.MIN_ROUNDS} rounds, and min_rounds is the smaller one"
            )


@dataclass(slots=True)
class MeasuredCandidate:
    """A candidate while it is measured.

    Attributes:
        candidate: what is called.
        first_ns: duration of the very first call.
        warmup_ns: durations of the calls after it, until steady.
        writes_inputs: whether a call changed its inputs in place.
        samples_ns: ns per call, one entry a round.
        failure: what it raised, if it did; it is not called again then.
    """

    candidate: Candidate
    first_ns: int = 0
    warmup_ns: list[int] = field(default_factory=list)
    writes_inputs: bool = False
    samples_ns: list[float] = field(default_factory=list)
    failure: str | None = None


class Session:
    """Measures candidates on one device; to be used within `freeze_engine.measure.candidate.inference`."""

    def __init__(self, device: torch.device, inputs: Inputs, options: LatencyOptions, progress: Progress) -> None:
        self._inputs = cloned(inputs, device)
        self._options = options
        self._progress = progress
        self._timed = _timed_on_cpu if device.type == "cpu" else _timed_on_cuda
        self._finish = _nothing if device.type == "cpu" else torch.cuda.synchronize

    def warm_up(self, subjects: list[MeasuredCandidate]) -> None:
        """Calls each subject until it is steady."""
        for index, subject in enumerate(subjects):
            self._progress(_WARMUP_SHARE * index / len(subjects), f"warming up {subject.candidate}")
            try:
                self._warm_up(subject)
            except CandidateError as error:
                subject.failure = str(error)

    def run_rounds(self, subjects: list[MeasuredCandidate]) -> None:
        """Takes one sample of every warm subject per round, each turn in random order, as long as time allows."""
        subjects = [subject for subject in subjects if subject.failure is None]
        if not subjects:
            return
        plan = _plan(subjects, self._options)
        take = self._sampler(subjects, plan.repeats)
        order = np.random.default_rng(self._options.seed)
        for number, message in enumerate(self._due(subjects, plan.rounds)):
            share = min(1.0, number / plan.rounds)
            self._progress(_WARMUP_SHARE + (1 - _WARMUP_SHARE) * share, message)
            turns = [order.permutation(len(subjects)) for _ in range(plan.best_of)]
            _take_round([subjects[index] for turn in turns for index in turn], take)
            gc.collect(0)  # Collection is off meanwhile; what the calls left behind in cycles must not pile up.

    def _due(self, subjects: list[MeasuredCandidate], planned: int) -> Iterator[str]:
        """Yields a message for each round to take: those planned, then more while those so far show too little."""
        options, taken, start = self._options, 0, time.perf_counter()
        while taken < planned and (taken < options.min_rounds or time.perf_counter() - start <= options.seconds):
            taken += 1
            yield f"round {taken} of {planned}"
        end = time.perf_counter() + options.patience * options.seconds
        round_s = (time.perf_counter() - start) / taken
        while taken < options.max_rounds and time.perf_counter() + round_s <= end and not _are_enough(subjects):
            taken += 1
            yield f"round {taken}, since those so far differ too much"

    def _warm_up(self, subject: MeasuredCandidate) -> None:
        options = self._options
        deadline = time.perf_counter() + options.warmup_seconds
        subject.first_ns = self._warmup_call(subject)
        while not statistics.is_steady(subject.warmup_ns):
            spent = len(subject.warmup_ns) + 1 >= options.warmup_calls or time.perf_counter() > deadline
            if spent and len(subject.warmup_ns) >= _PROFILED_CALLS:
                break
            subject.warmup_ns.append(self._warmup_call(subject))

    def _warmup_call(self, subject: MeasuredCandidate) -> int:
        with reported():
            inputs = self._prepared(subject.candidate, copy_inputs=True)
            before = versions(inputs)
            self._finish()
            start = time.perf_counter_ns()
            subject.candidate.call(*inputs.args, **inputs.kwargs)
            self._finish()
            duration = time.perf_counter_ns() - start
        subject.writes_inputs |= versions(inputs) != before
        return duration

    def _prepared(self, candidate: Candidate, copy_inputs: bool) -> Inputs:
        if candidate.reset is not None:
            candidate.reset()
        return cloned(self._inputs) if copy_inputs else self._inputs

    def _sampler(self, subjects: list[MeasuredCandidate], repeats: int) -> Callable[[Candidate], float]:
        """Returns the function that takes a sample, in ns per call: one for all, or their ratio would be unfair."""
        copy_inputs = any(subject.writes_inputs for subject in subjects)
        one_by_one = copy_inputs or any(subject.candidate.reset is not None for subject in subjects)

        def take_one_by_one(candidate: Candidate) -> float:
            durations = [self._timed(candidate.call, self._prepared(candidate, copy_inputs), 1) for _ in range(repeats)]
            return sum(durations) / repeats

        def take(candidate: Candidate) -> float:
            return self._timed(candidate.call, self._inputs, repeats) / repeats

        return take_one_by_one if one_by_one else take


def _are_enough(subjects: list[MeasuredCandidate]) -> bool:
    """Returns whether the rounds of those that still run show enough."""
    running = [subject for subject in subjects if subject.failure is None]
    samples = np.array([subject.samples_ns for subject in running]).T
    later = (subject.candidate.follows for subject in running)
    to_previous = sum(before is not None and before != subjects[0].candidate.key for before in later)
    return patience.are_enough(samples, len(running) - 1 + to_previous)


_WARMUP_SHARE = 0.2

# The profiling executor profiles in the first call and optimises in the second (torch 2.13,
# torch/csrc/jit/runtime/profiling_graph_executor_impl.cpp, getOptimizedPlanFor): two calls are never enough.
_PROFILED_CALLS = 2


_ENOUGH_ROUNDS = 60


@dataclass(frozen=True, slots=True)
class _Plan:
    """The number of calls of each candidate.

    Attributes:
        repeats: calls in one run.
        best_of: runs in one round, per candidate.
        rounds: rounds at most.
    """

    repeats: int
    best_of: int
    rounds: int


def _plan(subjects: list[MeasuredCandidate], options: LatencyOptions) -> _Plan:
    """Decides calls per run, runs per round, and rounds, before anything is compared.

    A number of rounds that depended on the ratios would make false claims likelier; what
    `freeze_engine.measure.patience` adds depends on none. A number of calls that differed between candidates would
    weigh what the previous one left in the caches differently.
    """
    costs = [max(1, min(subject.warmup_ns[-3:])) for subject in subjects]
    repeats = max(1, math.ceil(options.sample_ns / min(costs)))
    turns = int(options.seconds * 1e9 / (repeats * sum(costs)))
    best_of = max(1, min(options.best_of, turns // _ENOUGH_ROUNDS))
    return _Plan(repeats, best_of, min(max(turns // best_of, options.min_rounds), options.max_rounds))


def _take_round(turns: list[MeasuredCandidate], take: Callable[[Candidate], float]) -> None:
    """Runs subjects as they come, and adds the fastest run of each to its samples."""
    fastest: dict[str | int, float] = {}
    for subject in turns:
        if subject.failure is not None:
            continue
        key = subject.candidate.key
        try:
            with reported():
                # A clock tick is the least a call can take; a ratio needs times above zero.
                fastest[key] = min(fastest.get(key, math.inf), max(1.0, take(subject.candidate)))
        except CandidateError as error:
            subject.failure = str(error)
    for subject in {subject.candidate.key: subject for subject in turns}.values():
        if subject.failure is None:
            subject.samples_ns.append(fastest[subject.candidate.key])


def _timed_on_cpu(call: Callable[..., object], inputs: Inputs, repeats: int) -> float:
    args, kwargs = inputs.args, inputs.kwargs
    start = time.perf_counter_ns()
    for _ in range(repeats):
        call(*args, **kwargs)
    return float(time.perf_counter_ns() - start)


def _timed_on_cuda(call: Callable[..., object], inputs: Inputs, repeats: int) -> float:
    args, kwargs = inputs.args, inputs.kwargs
    start = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
    end = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
    torch.cuda.synchronize()
    start.record()
    for _ in range(repeats):
        call(*args, **kwargs)
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) * 1e6


def _nothing() -> None:
    return None
