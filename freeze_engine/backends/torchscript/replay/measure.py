"""Runs the recorded graphs on the user's inputs: latency and numeric error of each step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from freeze_engine.analysis.missing_measurements import nothing_measured
from freeze_engine.backends.torchscript.replay.memory_ledger import Saved, memory_ledger, serialization_notice
from freeze_engine.backends.torchscript.replay.module_state import joined, restorer, written_buffers
from freeze_engine.backends.torchscript.replay.run import METHOD, graph_runner, step_function, step_runner
from freeze_engine.backends.torchscript.replay.runtime import Calls, runtime_graph
from freeze_engine.backends.torchscript.trace_builder import LiveStep
from freeze_engine.measure.candidate import Candidate, cloned, put_back
from freeze_engine.measure.devices import chosen_devices
from freeze_engine.measure.distinct_steps import distinct_steps
from freeze_engine.measure.latency import failures_told, measure_latency
from freeze_engine.measure.numerics import NumericsOptions, measure_numerics, refusals
from freeze_engine.measure.rounds import LatencyOptions
from freeze_engine.measure.torch_threads import SETTING, intra_op_threads
from freeze_engine.recorder.trace_builder import Recorder
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import Measure, Progress
from freeze_engine.tensors.module_copy import replica
from freeze_engine.trace import Baseline, GraphSnapshot, Latency, Notice, NoticeCode, Numerics, Step
from freeze_engine.trace.baselines import EAGER, SCRIPTED


@dataclass(frozen=True, slots=True)
class RunnableFreeze:
    """A recorded freeze with all that is needed to run its graphs.

    Attributes:
        eager: the module as the user gave it; a ScriptModule where there is no other.
        scripted: what was frozen.
        frozen: what became of it.
        inputs: what to run them on.
        kept: paths of the attributes that are still on the frozen module: whatever its methods set is among them.
        live: the steps that can be run, by index.
        read: reads a live graph of the executor.
        peak_bytes: of memory during the freeze, ``None`` where unknown.
    """

    eager: torch.nn.Module
    scripted: torch.jit.ScriptModule
    frozen: torch.jit.ScriptModule
    inputs: Inputs
    kept: tuple[str, ...]
    live: Mapping[int, LiveStep]
    read: Callable[[Any], GraphSnapshot]
    peak_bytes: int | None = None


def measure_steps(recorder: Recorder, subject: RunnableFreeze, measure: Measure, progress: Progress | None) -> None:
    """Measures every step of ``forward`` that can be run, and adds the results to the recorder.

    Args:
        recorder: holds the steps.
        subject: what to run.
        measure: what to measure.
        progress: called with the progress.
    """
    progress = progress or (lambda message, done, total: None)
    progress("running the model once", 0, 2)
    restore = _written(subject) if measure.latency or measure.numerics or measure.memory else None
    measuring = _Measuring(recorder, subject, measure, progress, restore)
    measuring.weigh()
    if measure.threads is not None:
        recorder.add_setting(SETTING, str(measure.threads))
    with intra_op_threads(measure.threads):
        measuring.run()
        if measure.runtime:
            measuring.look_at_runtime()


@dataclass(frozen=True, slots=True)
class _Measuring:
    recorder: Recorder
    subject: RunnableFreeze
    measure: Measure
    progress: Progress
    restore: Callable[[], None] | None

    def weigh(self) -> None:
        """Adds the effect of the freeze on memory, and updates the notices about saving."""
        if not self.measure.memory:
            for step in self.recorder.steps:
                self.recorder.update(step.index, constant_bytes=0)
            return
        self.progress("saving and loading", 1, 2)
        subject = self.subject
        live = [(step.index, subject.live[step.index]) for step in self._live_steps()]
        restore = joined(restorer(subject.frozen, subject.kept), self.restore)
        reference = step_runner(live[-1][1], subject.scripted) if live else subject.frozen
        saved = Saved(subject.scripted, subject.frozen, reference, subject.inputs, restore, live)
        self.recorder.memory = ledger = memory_ledger(saved, subject.peak_bytes)
        if ledger.saves is None:
            return
        # A real attempt counts for more than a guess from the operators.
        notices = [notice for notice in self.recorder.notices if notice.code != "not_serializable"]
        told = serialization_notice(ledger, self.recorder.steps[ledger.step].name if ledger.step is not None else "")
        self.recorder.notices = [*notices, told] if told else notices

    def run(self) -> None:
        """Adds latency and numeric errors."""
        shown = distinct_steps(self._live_steps())
        steps = [self._step(index, before) for index, before in shown.follows.items()]
        if not steps:
            if self.measure.latency or self.measure.numerics:
                self.recorder.notices.append(nothing_measured(f"no step of {METHOD} can be run on its own"))
            return
        if isinstance(self.subject.eager, torch.jit.ScriptModule):
            self._notice("reference_is_scripted", "Compared with the scripted model: no eager one is available.")
        self.progress("preparing to run the steps", 0, 1)
        baselines = self._baselines()
        candidates = [*steps, *baselines]
        candidates = [replace(each, reset=joined(each.reset, self.restore)) for each in candidates]
        latencies = self._latencies(candidates)
        # Modules share memory with the ones they were made from: the reference must not see what a run has written.
        put_back(candidates)
        numerics = self._numerics(candidates)
        put_back(candidates)
        for index, key in shown.first.items():
            found = {"latency": shown.latency(index, latencies), "numerics": numerics.get(key, ())}
            self.recorder.update(index, **found)
        self.recorder.baselines = tuple(
            Baseline(str(each.key), latencies.get(each.key, ()), numerics.get(each.key, ())) for each in baselines
        )

    def look_at_runtime(self) -> None:
        """Adds what the executor makes of the frozen ``forward``."""
        steps = self._live_steps()
        if not steps:
            return
        self.progress("looking at the executor's graph", 0, 1)
        live, inputs = self.subject.live[steps[-1].index], self.subject.inputs
        function = step_function(live)
        restore = joined(restorer(live.module, self.subject.kept), self.restore) or (lambda: None)
        calls = Calls(lambda: cloned(inputs), graph_runner(function, live, self.subject.scripted), restore)

        def read(graph: Any) -> GraphSnapshot:
            return self.recorder.aligned(METHOD, self.subject.read(graph))

        held = (*self.subject.scripted.state_dict().values(), *inputs.args)
        devices = frozenset(each.device.type for each in held if isinstance(each, torch.Tensor))
        found = runtime_graph(function, calls, read, devices or frozenset({"cpu"}), timed=self.measure.latency)
        self.recorder.runtime = (found,)

    def _live_steps(self) -> list[Step]:
        return [step for step in self.recorder.steps if step.method == METHOD and step.index in self.subject.live]

    def _step(self, index: int, before: int | None) -> Candidate:
        live = self.subject.live[index]
        reset = restorer(live.module, self.subject.kept)
        return Candidate(
            index, step_runner(live, self.subject.scripted), reset, self.recorder.steps[index].name, before
        )

    def _baselines(self) -> list[Candidate]:
        subject = self.subject
        candidates = [Candidate(SCRIPTED, subject.scripted, restorer(subject.scripted, subject.kept))]
        if not isinstance(subject.eager, torch.jit.ScriptModule):
            candidates.insert(0, Candidate(EAGER, subject.eager, restorer(subject.eager, subject.kept)))
        return candidates

    def _latencies(self, candidates: list[Candidate]) -> dict[Any, tuple[Latency, ...]]:
        found: dict[Any, tuple[Latency, ...]] = {}
        devices = self._devices() if self.measure.latency else ()
        for number, device in enumerate(devices):
            options, told = LatencyOptions(seconds=self.measure.seconds), self._told("latency", number, len(devices))
            report = measure_latency(
                candidates, self.subject.inputs.args, self.subject.inputs.kwargs, device, options, told
            )
            for key, latency in report.latencies.items():
                found[key] = (*found.get(key, ()), latency)
            self.recorder.notices += failures_told(report, device)
        return found

    def _devices(self) -> tuple[str, ...]:
        held = (*self.subject.scripted.state_dict().values(), *self.subject.inputs.args)
        devices, notices = chosen_devices(self.measure.devices, held)
        self.recorder.notices += notices
        return devices

    def _numerics(self, candidates: list[Candidate]) -> dict[Any, tuple[Numerics, ...]]:
        if not self.measure.numerics:
            return {}
        inputs = self.subject.inputs
        options = NumericsOptions(input_sets=self.measure.input_sets)
        report = measure_numerics(
            candidates, self.subject.eager, inputs.args, inputs.kwargs, options, self._told("numerics")
        )
        self.recorder.notices += refusals(report)
        return dict(report.numerics)

    def _told(self, phase: str, part: int = 0, parts: int = 1) -> Callable[[float, str], None]:
        """Returns a function that reports the share of a phase that comes in equal parts, one a device."""
        return lambda share, what: self.progress(f"{phase}: {what}", round((part + share) / parts * 1000), 1000)

    def _notice(self, code: NoticeCode, message: str) -> None:
        self.recorder.notices.append(Notice(code, message))


def _written(subject: RunnableFreeze) -> Callable[[], None] | None:
    """Returns the function that restores the buffers that running the module writes.

    Batch norm in training mode writes its statistics behind the back of alias analysis; a freeze inlines them, so the
    constants of every step are written through. A copy, if there is one, shows which: what is measured later
    has not been called before then, and what torch sets up once in a process is not in any of its first calls.
    """
    scripted_only = isinstance(subject.eager, torch.jit.ScriptModule)
    paths = written_buffers(subject.scripted if scripted_only else replica(subject.eager), subject.inputs)
    known = dict(subject.scripted.named_buffers())
    return restorer(subject.scripted, [path for path in paths if path in known])
