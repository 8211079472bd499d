"""Runs the recorded graphs on the user's inputs, in turns with the other ways to run the model."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import torch

from freeze_engine.backends.common.active_captures import apart
from freeze_engine.backends.common.deprecation import undeprecated
from freeze_engine.backends.inductor.capture.compile import call_once
from freeze_engine.backends.inductor.capture.raw import RawCompile
from freeze_engine.backends.inductor.graph.live import LiveGraph
from freeze_engine.backends.inductor.kernels.timing import Runnable, runnable_programs, timed
from freeze_engine.backends.inductor.replay.module_state import InputState, State
from freeze_engine.backends.inductor.replay.stand_in import StandIn
from freeze_engine.backends.inductor.unfrozen_compile import compiled_unfrozen, unfrozen_programs
from freeze_engine.backends.torchscript.capture.scripting import to_script_module
from freeze_engine.measure.candidate import Candidate, CandidateError, cloned, inference, reported
from freeze_engine.measure.devices import chosen_devices
from freeze_engine.measure.distinct_steps import DistinctSteps, distinct_steps
from freeze_engine.measure.latency import failures_told, measure_latency
from freeze_engine.measure.numerics import NumericsOptions, measure_numerics, refusals
from freeze_engine.measure.rounds import LatencyOptions
from freeze_engine.measure.torch_threads import SETTING, intra_op_threads
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import InductorOptions, Measure, Progress
from freeze_engine.tensors.module_copy import replica
from freeze_engine.trace import Baseline, Latency, Notice, Numerics, Program, Trace
from freeze_engine.trace.baselines import (
    COMPILED_FROZEN,
    COMPILED_UNFROZEN,
    EAGER,
    TORCHSCRIPT_FROZEN,
    TORCHSCRIPT_OPTIMIZED,
)

_SHARE_OF_KERNELS = 0.1  # of the time to spend on latencies
_PREPARATIONS = 4


@dataclass(frozen=True, slots=True)
class RunnableCompile:
    """A recorded compile with all that is needed to run its graphs.

    Attributes:
        model: as it was before it was compiled, or an equal copy; it is copied, and stays as it is.
        source: the module that was compiled; another than ``model`` where that gave up its parameters.
        compiled: what ``torch.compile`` returned for it.
        inputs: what to run them on.
        options: how it was compiled.
        via: how the model gets into TorchScript, to compare with that.
        live: for each compiled graph, in order, its steps that can be run, by index.
        written: paths of what running the model writes.
        compiles: the captures of the compiled graphs, in the order of the trace's methods.
    """

    model: torch.nn.Module
    source: torch.nn.Module
    compiled: Any
    inputs: Inputs
    options: InductorOptions
    via: Literal["script", "trace"]
    live: Sequence[Mapping[int, LiveGraph]]
    written: frozenset[str]
    compiles: Sequence[RawCompile]


def measured(trace: Trace, subject: RunnableCompile, measure: Measure, progress: Progress) -> Trace:
    """Returns the trace with measurements of the first graph's steps.

    Args:
        trace: the recording.
        subject: the recorded compile.
        measure: what to measure.
        progress: called with the progress.
    """
    if not measure.memory:
        trace = replace(trace, steps=tuple(replace(step, constant_bytes=0) for step in trace.steps))
    if measure.threads is not None:
        where = trace.environment
        settings = (*where.settings, (SETTING, str(measure.threads)))
        trace = replace(trace, environment=replace(where, settings=settings))
    # Inductor writes the number of threads into its code, and Dynamo guards on it: with another, all is compiled anew.
    with intra_op_threads(measure.threads):
        return _Measuring(trace, subject, measure, progress).run()


@dataclass(slots=True)
class _Measuring:
    trace: Trace
    subject: RunnableCompile
    measure: Measure
    progress: Progress
    notices: list[Notice] = field(default_factory=list)
    generated: list[Runnable] = field(default_factory=list)

    def run(self) -> Trace:
        if not (self.measure.latency or self.measure.numerics):
            return self.trace
        own = self._source_state()
        try:
            candidates = [*self._steps(), *self._baselines(own)]
            latencies = self._latencies(candidates)
            own.restore()  # the reference that the others are compared with starts from this state
            numerics = self._numerics(candidates)
            self._time_kernels()
        finally:
            own.restore()
        return self._told(candidates, latencies, numerics)

    def _told(
        self,
        candidates: Sequence[Candidate],
        latencies: Mapping[Any, tuple[Latency, ...]],
        numerics: Mapping[Any, tuple[Numerics, ...]],
    ) -> Trace:
        steps = []
        shown = self._distinct()
        for step in self.trace.steps:
            if step.index in shown.first:
                found = numerics.get(shown.first[step.index], ())
                step = replace(step, latency=shown.latency(step.index, latencies), numerics=found)
            steps.append(step)
        baselines = tuple(
            Baseline(each.key, latencies.get(each.key, ()), numerics.get(each.key, ()))
            for each in candidates
            if isinstance(each.key, str)
        )
        notices = (*self.trace.notices, *dict.fromkeys(self.notices))
        return replace(self.trace, steps=tuple(steps), baselines=baselines, notices=notices)

    def _distinct(self) -> DistinctSteps:
        """Returns the steps of the first graph that can be run."""
        return distinct_steps(step for step in self.trace.steps if step.index in self.subject.live[0])

    def _steps(self) -> list[Candidate]:
        """One candidate per distinct graph: a step that changed nothing has the figures of the one before it."""
        follows = self._distinct().follows
        if not follows or not all(self.subject.live):
            self._note("No step can be run: not every graph of the model has its constants still.")
            return []
        starts = [live[min(live)] for live in self.subject.live]
        with self._told_of("the steps"):
            self.progress("preparing to run the steps", 0, _PREPARATIONS)
            model, reset = self._copy()
            stand_in = apart(StandIn, model, cloned(self.subject.inputs), self.subject.options, starts)
            graphs = self.subject.live[0]
            if len(starts) > 1:
                self._note(
                    f"Only the passes of the first of {len(starts)} graphs have figures; the other graphs ran as they "
                    "came. freezer-ui bisect puts the passes of all graphs to a check."
                )
            return [
                Candidate(index, stand_in.running(graphs[index]), reset, self.trace.steps[index].name, before)
                for index, before in follows.items()
            ]
        return []

    def _baselines(self, own: State) -> list[Candidate]:
        subject, inputs = self.subject, self.subject.inputs
        found = []
        with self._told_of(EAGER):
            found.append(Candidate(EAGER, *self._copy()))
        with self._told_of(COMPILED_UNFROZEN):
            self.progress("compiling without freezing", 1, _PREPARATIONS)
            model, reset = self._copy()
            given = cloned(inputs)
            state = InputState(given)
            compiled, seen = apart(compiled_unfrozen, model, given, subject.options)
            state.restore()
            found.append(Candidate(COMPILED_UNFROZEN, compiled, reset))
            programs = unfrozen_programs(self.trace, seen)
            self.trace = replace(self.trace, programs=(*self.trace.programs, *programs))
            self._note_generated(programs, seen, compiled, given)
        with self._told_of(COMPILED_FROZEN):
            programs = tuple(each for each in self.trace.programs if each.name == COMPILED_FROZEN)
            self._note_generated(programs, subject.compiles, subject.compiled, inputs)
            # Copies of inputs may fail a guard that the inputs themselves pass: then it is compiled anew here.
            apart(call_once, subject.compiled, cloned(inputs), subject.options)
            found.append(Candidate(COMPILED_FROZEN, subject.compiled, own.restore if subject.written else None))
        own.restore()  # the next are copies of it
        return [*found, *self._torchscript()]

    def _torchscript(self) -> Iterator[Candidate]:
        """Yields the model frozen by TorchScript; a model that it cannot freeze has no inference variant either."""
        subject = self.subject
        both = f"{TORCHSCRIPT_FROZEN} and {TORCHSCRIPT_OPTIMIZED}"
        remedy = "; tracing may do (via='trace', --via trace)" if subject.via == "script" else ""
        for done, name, for_inference, what in (
            (2, TORCHSCRIPT_FROZEN, False, both),
            (3, TORCHSCRIPT_OPTIMIZED, True, TORCHSCRIPT_OPTIMIZED),
        ):
            frozen = None
            with self._told_of(what, remedy):
                self.progress(f"making it {name}", done, _PREPARATIONS)
                model, reset = self._copy()
                frozen = apart(_script_frozen, model, subject.inputs, subject.via, for_inference)
            if frozen is None:
                return
            yield Candidate(name, frozen, reset)

    def _note_generated(
        self, programs: Iterable[Program], compiles: Sequence[RawCompile], compiled: Any, inputs: Inputs
    ) -> None:
        """Prepares programs for timing their kernels; the inputs are those that they were compiled with."""
        if not self.measure.latency or len(compiles) != len(self.trace.methods):
            return
        of_method = dict(zip(self.trace.methods, compiles, strict=True))
        pairs = [(program, of_method[program.method]) for program in programs]
        state = InputState(inputs)
        with self._told_of("the kernels"):
            run = functools.partial(apart, compiled, *inputs.args, **inputs.kwargs)
            found, reasons = runnable_programs(pairs, run)
            self.generated += found
            self.notices += (Notice("not_measured", reason) for reason in reasons)
        state.restore()

    def _time_kernels(self) -> None:
        """Times the kernels of all programs that can run on their own."""
        if not self.generated:
            return
        self.progress("timing the kernels", 0, 1)
        with self._told_of("the kernels"):
            found = timed(self.generated, self.measure.seconds * _SHARE_OF_KERNELS)
            known = {(program.name, program.method): program for program in found}
            programs = (known.get((each.name, each.method), each) for each in self.trace.programs)
            self.trace = replace(self.trace, programs=tuple(programs))

    def _source_state(self) -> State:
        """Returns the state of the module itself; a module that gave up its parameters has nothing to restore."""
        return State(
            self.subject.source, frozenset() if self.subject.options.discard_parameters else self.subject.written
        )

    def _copy(self) -> tuple[torch.nn.Module, Callable[[], None] | None]:
        """Returns a copy of the model, and a function that restores its state."""
        model = replica(self.subject.model)
        written = self.subject.written
        return model, State(model, written).restore if written else None

    @contextlib.contextmanager
    def _told_of(self, what: str, remedy: str = "") -> Iterator[None]:
        """Turns the error of a candidate that cannot run into a notice."""
        try:
            with inference(), reported():
                yield
        except CandidateError as error:
            self._note(f"{what} could not be made to run: {_shortened(error)}{remedy}")

    def _latencies(self, candidates: Sequence[Candidate]) -> dict[Any, tuple[Latency, ...]]:
        if not self.measure.latency:
            return {}
        subject = self.subject
        held = (*subject.model.parameters(), *subject.model.buffers(), *subject.inputs.args)
        devices, notices = chosen_devices(self.measure.devices, held)
        self.notices += notices
        found: dict[Any, tuple[Latency, ...]] = {}
        for number, device in enumerate(devices):
            options = LatencyOptions(seconds=self.measure.seconds)
            told = self._progress("latency", number, len(devices))
            report = measure_latency(candidates, subject.inputs.args, subject.inputs.kwargs, device, options, told)
            for key, latency in report.latencies.items():
                found[key] = (*found.get(key, ()), latency)
            self.notices += failures_told(report, device)
        return found

    def _numerics(self, candidates: Sequence[Candidate]) -> dict[Any, tuple[Numerics, ...]]:
        if not self.measure.numerics:
            return {}
        subject = self.subject
        options, told = NumericsOptions(input_sets=self.measure.input_sets), self._progress("numerics")
        report = measure_numerics(candidates, subject.model, subject.inputs.args, subject.inputs.kwargs, options, told)
        self.notices += refusals(report)
        return dict(report.numerics)

    def _progress(self, phase: str, part: int = 0, parts: int = 1) -> Callable[[float, str], None]:
        """Returns a function that reports the share of a phase that comes in equal parts, one a device."""
        return lambda share, what: self.progress(f"{phase}: {what}", round((part + share) / parts * 1000), 1000)

    def _note(self, message: str) -> None:
        self.notices.append(Notice("not_measured", message))


def _script_frozen(
    model: torch.nn.Module, inputs: Inputs, via: Literal["script", "trace"], for_inference: bool
) -> torch.jit.ScriptModule:
    with undeprecated():  # the user did not ask for TorchScript here
        frozen: torch.jit.ScriptModule = torch.jit.freeze(to_script_module(model, cloned(inputs), via).module)
        return torch.jit.optimize_for_inference(frozen) if for_inference else frozen


def _shortened(error: CandidateError) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:2])
