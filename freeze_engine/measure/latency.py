"""Measures the latency of each candidate on one device, against the first candidate.

The samples come from `freeze_engine.measure.rounds`, their evaluation from `freeze_engine.measure.evaluation`.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from freeze_engine.analysis.missing_measurements import nothing_ran
from freeze_engine.errors import MeasureError
from freeze_engine.measure import evaluation, machine_load, statistics
from freeze_engine.measure.candidate import Candidate, Key, Progress, check_keys, inference, silent
from freeze_engine.measure.rounds import LatencyOptions, MeasuredCandidate, Session
from freeze_engine.requests.inputs import Inputs
from freeze_engine.trace import Latency, Notice


@dataclass(frozen=True, slots=True)
class LatencyReport:
    """The results of all candidates.

    Attributes:
        latencies: of those that ran, in the order of the candidates.
        failures: type and text of what the others raised.
        samples: ns per call of those that ran, by round; entries with one index are of one round.
    """

    latencies: Mapping[Key, Latency]
    failures: Mapping[Key, str]
    samples: Mapping[Key, tuple[float, ...]]


def failures_told(report: LatencyReport, device: str) -> tuple[Notice, ...]:
    """Reports the candidates that could not be timed; if none could, only once, with the shortest message.

    Args:
        report: the results of all candidates.
        device: where they ran.
    """
    if report.failures and not report.latencies:
        return (nothing_ran(f"timed on {device}", min(report.failures.values(), key=len)),)
    return tuple(
        Notice(
            "not_measured",
            f"{f'step {key}' if isinstance(key, int) else key} could not be timed on {device}: {failure}",
            key if isinstance(key, int) else None,
        )
        for key, failure in report.failures.items()
    )


def measure_latency(
    candidates: Sequence[Candidate],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    device: str = "cpu",
    options: LatencyOptions | None = None,
    progress: Progress | None = None,
) -> LatencyReport:
    """Measures all candidates against each other on one device.

    The first candidate that runs is the baseline. If a candidate's predecessor does not run, it is compared with what
    that follows. They run under ``no_grad``, with garbage collection held back. If any of them writes its inputs in
    place or has state to reset, all are timed call by call, the copying and resetting left out.

    Args:
        candidates: already on ``device``, the baseline first.
        args: positional inputs; copies are moved to ``device``.
        kwargs: keyword inputs, likewise.
        device: ``cpu``, ``cuda`` or ``cuda:N``.
        options: how long to measure.
        progress: called with the progress.

    Returns:
        Latencies and samples of those that ran, and the failures of the others.

    Raises:
        MeasureError: ``device`` is not there, or two candidates share a key.
    """
    place = _checked_device(device)
    check_keys(candidates)
    options = options or LatencyOptions()
    subjects = [MeasuredCandidate(candidate) for candidate in candidates]
    with inference(), _on(place), _uncollected():
        session = Session(place, Inputs(args, kwargs), options, progress or silent)
        session.warm_up(subjects)
        before = machine_load.reading()
        session.run_rounds(subjects)
        disturbed = machine_load.machine_notes(before, machine_load.reading())
    return _report(subjects, str(place), options.margin, disturbed)


def _report(subjects: list[MeasuredCandidate], device: str, margin: float, disturbed: Sequence[str]) -> LatencyReport:
    failures = {subject.candidate.key: subject.failure for subject in subjects if subject.failure is not None}
    complete = [subject for subject in subjects if subject.failure is None]
    if not complete:
        return LatencyReport({}, failures, {})
    samples = np.array([subject.samples_ns for subject in complete]).T
    follows = _followed(subjects, complete)
    results = evaluation.compared(samples, margin, follows)
    shared = [*evaluation.matrix_notes(samples, follows), *disturbed]
    if complete[0] is not subjects[0]:
        shared.append(f"ratios are to {complete[0].candidate.key}, since {subjects[0].candidate.key} did not run")
    latencies = {
        subject.candidate.key: _latency(subject, device, result, shared)
        for subject, result in zip(complete, results, strict=True)
    }
    return LatencyReport(
        latencies, failures, {subject.candidate.key: tuple(subject.samples_ns) for subject in complete}
    )


def _followed(subjects: Sequence[MeasuredCandidate], complete: Sequence[MeasuredCandidate]) -> list[int | None]:
    """Returns, for each that ran, the position of the latest that ran among those that it follows."""
    follows = {subject.candidate.key: subject.candidate.follows for subject in subjects}
    positions = {subject.candidate.key: index for index, subject in enumerate(complete)}
    found: list[int | None] = []
    for subject in complete:
        before = subject.candidate.follows
        while before is not None and before not in positions:
            before = follows[before]
        found.append(None if before is None else positions[before])
    return found


def _latency(subject: MeasuredCandidate, device: str, result: evaluation.ColumnResult, shared: list[str]) -> Latency:
    unsteady = (
        []
        if statistics.is_steady(subject.warmup_ns)
        else [f"warm-up ended after {len(subject.warmup_ns) + 1} calls, before a steady state was seen"]
    )
    return Latency(
        device=device,
        first_ns=subject.first_ns,
        warmup_ns=tuple(subject.warmup_ns),
        samples=len(subject.samples_ns),
        median_ns=result.median,
        ratio=result.ratio,
        verdict=result.verdict,
        notes=(*unsteady, *result.notes, *shared),
        previous=result.previous,
        change=result.change,
    )


def _checked_device(name: str) -> torch.device:
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise MeasureError(f"device {name!r}: torch knows no such device; use cpu, cuda or cuda:N") from error
    if device.type == "cpu":
        return torch.device("cpu")
    if device.type != "cuda":
        raise MeasureError(f"device {name!r}: latency can be measured on cpu and cuda, not on {device.type}")
    count = torch.cuda.device_count()
    if (device.index or 0) >= count:
        raise MeasureError(f"device {name!r}: torch sees {count} CUDA devices here; use cpu, or check the driver")
    return torch.device("cuda", device.index if device.index is not None else torch.cuda.current_device())


def _on(device: torch.device) -> contextlib.AbstractContextManager[object]:
    return torch.cuda.device(device) if device.type == "cuda" else contextlib.nullcontext()


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
