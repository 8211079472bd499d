"""Runs a loaded package in turns with the other ways to run its model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from freeze_engine.backends.common.active_captures import apart
from freeze_engine.backends.inductor.capture.capture import capturing
from freeze_engine.backends.inductor.capture.compile import compiled_once
from freeze_engine.backends.inductor.capture.disabled_passes import disabling
from freeze_engine.backends.inductor.kernels.package_timing import NotTimedError, timed_package
from freeze_engine.measure.candidate import Candidate, CandidateError, cloned, inference, reported
from freeze_engine.measure.devices import chosen_devices
from freeze_engine.measure.latency import failures_told, measure_latency
from freeze_engine.measure.numerics import NumericsOptions, measure_numerics, refusals
from freeze_engine.measure.rounds import LatencyOptions
from freeze_engine.measure.torch_threads import SETTING, intra_op_threads
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import InductorOptions, Measure, Progress
from freeze_engine.tensors.module_copy import replica
from freeze_engine.trace import Baseline, Latency, Notice, Numerics, Program, Trace
from freeze_engine.trace.baselines import COMPILED_FROZEN, COMPILED_UNFROZEN, EAGER, PACKAGED

_SHARE_OF_KERNELS = 0.1  # of the time to spend on latencies
_WAYS = (("without", COMPILED_UNFROZEN, False), ("with", COMPILED_FROZEN, True))


@dataclass(frozen=True, slots=True)
class RunnablePackage:
    """A recorded package with all that is needed to measure it.

    Attributes:
        model: the module that it was compiled from; it is copied, and stays as it is.
        package: the loaded package.
        program: the exported program that it was compiled from.
        inputs: what to run them on.
        disabled_passes: names of the passes that the compile left out.
    """

    model: torch.nn.Module
    package: Any
    program: Any
    inputs: Inputs
    disabled_passes: tuple[str, ...]


def measured_package(trace: Trace, subject: RunnablePackage, measure: Measure, progress: Progress) -> Trace:
    """Returns the trace with measurements of the package, eager, and the model compiled in this process.

    The graphs between the passes are not run: they were compiled for inputs that were never there.

    Args:
        trace: the recording.
        subject: the package.
        measure: what to measure.
        progress: called with the progress.
    """
    if not measure.memory:
        trace = replace(trace, steps=tuple(replace(step, constant_bytes=0) for step in trace.steps))
    if not (measure.latency or measure.numerics):
        return trace
    if measure.threads is not None:
        settings = (*trace.environment.settings, (SETTING, str(measure.threads)))
        trace = replace(trace, environment=replace(trace.environment, settings=settings))
    with intra_op_threads(measure.threads):
        return _Measuring(trace, subject, measure, progress).run()


@dataclass(slots=True)
class _Measuring:
    trace: Trace
    subject: RunnablePackage
    measure: Measure
    progress: Progress
    notices: list[Notice] = field(default_factory=list)

    def run(self) -> Trace:
        candidates = tuple(self._candidates())
        latencies, numerics = self._latencies(candidates), self._numerics(candidates)
        self._time_kernels()
        baselines = tuple(
            Baseline(str(each.key), latencies.get(each.key, ()), numerics.get(each.key, ())) for each in candidates
        )
        notices = (*self.trace.notices, *dict.fromkeys(self.notices))
        return replace(self.trace, baselines=baselines, notices=notices)

    def _candidates(self) -> Iterator[Candidate]:
        yield Candidate(EAGER, replica(self.subject.model))
        for word, name, freezing in _WAYS:
            self.progress(f"compiling {word} freezing", 0, 1)
            try:
                with inference(), reported():
                    yield Candidate(name, self._compiled(freezing))
            except CandidateError as error:
                text = " ".join(str(error).split())
                self.notices.append(Notice("not_measured", f"{name} could not be made to run: {text}"))
        yield Candidate(PACKAGED, self.subject.package)

    def _compiled(self, freezing: bool) -> Any:
        passes = self.subject.disabled_passes if freezing else ()
        return apart(_compiled_without, passes, replica(self.subject.model), cloned(self.subject.inputs), freezing)

    def _time_kernels(self) -> None:
        """Adds the times of the package's kernels to the trace, or a notice with the reason why there are none."""
        if not self.measure.latency or not self.trace.programs:
            return
        self.progress("compiling with a clock around each kernel", 0, 1)
        try:
            with inference(), reported():
                programs = tuple(self._timed(program) for program in self.trace.programs)
        except CandidateError as error:
            told = error.__cause__ if isinstance(error.__cause__, NotTimedError) else error
            text = f"The kernels of the package were not timed: {' '.join(str(told).split())}."
            self.notices.append(Notice("not_measured", text))
        else:
            self.trace = replace(self.trace, programs=programs)

    def _timed(self, program: Program) -> Program:
        inputs = self.subject.inputs
        others = {each.device.type for each in self.subject.model.state_dict().values()} - {"cpu"}
        if others:
            raise NotTimedError(f"the model is on {', '.join(sorted(others))}, and torch times only calls from the CPU")

        def run(package: Any) -> None:
            given = cloned(inputs)
            package(*given.args, **given.kwargs)

        seconds = self.measure.seconds * _SHARE_OF_KERNELS
        return timed_package(program, self.subject.program, self.subject.disabled_passes, run, seconds)

    def _latencies(self, candidates: tuple[Candidate, ...]) -> Mapping[Any, tuple[Latency, ...]]:
        if not self.measure.latency:
            return {}
        model, inputs = self.subject.model, self.subject.inputs
        devices, notices = chosen_devices(self.measure.devices, (*model.parameters(), *model.buffers(), *inputs.args))
        self.notices += notices
        found: dict[Any, tuple[Latency, ...]] = {}
        for device in devices:
            options = LatencyOptions(seconds=self.measure.seconds)
            report = measure_latency(candidates, inputs.args, inputs.kwargs, device, options, self._progress("latency"))
            for key, latency in report.latencies.items():
                found[key] = (*found.get(key, ()), latency)
            self.notices += failures_told(report, device)
        return found

    def _numerics(self, candidates: tuple[Candidate, ...]) -> Mapping[Any, tuple[Numerics, ...]]:
        if not self.measure.numerics:
            return {}
        inputs, options = self.subject.inputs, NumericsOptions(input_sets=self.measure.input_sets)
        report = measure_numerics(
            candidates, self.subject.model, inputs.args, inputs.kwargs, options, self._progress("numerics")
        )
        self.notices += refusals(report)
        return dict(report.numerics)

    def _progress(self, phase: str) -> Callable[[float, str], None]:
        return lambda fraction, what: self.progress(f"{phase}: {what}", round(fraction * 1000), 1000)


def _compiled_without(passes: tuple[str, ...], model: torch.nn.Module, inputs: Inputs, freezing: bool) -> Any:
    """Compiles a module in this process without some passes."""
    if not passes:
        return compiled_once(model, inputs, InductorOptions(), freezing)
    with capturing(), disabling(passes):
        return compiled_once(model, inputs, InductorOptions(), freezing)
