"""Builds a trace from the journal of a recording whose process died.

The traces of Inductor's compiles are built incrementally, so their journal holds a trace already. For a freeze of
TorchScript all it needs are texts: those that the recording noted before the freeze and after each pass, and torch's
log. The model no longer exists, so that trace has no attributes' fates, and describes no constants.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from freeze_engine.backends.common.observer import FreezeNotes, MethodNotes, NotedStep
from freeze_engine.backends.torchscript.graph.annotations import Annotations
from freeze_engine.backends.torchscript.graph.attribute_reads import read_paths
from freeze_engine.backends.torchscript.graph.parser import GraphTextError, parse_graph
from freeze_engine.backends.torchscript.graph.stages import CLEAN_UP, FREEZE_MODULE, INPUT, PassRun
from freeze_engine.backends.torchscript.log.method_names import MethodGraphs
from freeze_engine.backends.torchscript.log.records import CapturedLog, LogRecord
from freeze_engine.backends.torchscript.log.steps import LogReading, read_log
from freeze_engine.backends.torchscript.step_tracker import StepTracker
from freeze_engine.recorder.trace_builder import Recorder
from freeze_engine.trace import Block, GraphSnapshot, Node, Step, Trace

Place = tuple[str, str, "str | None"]
"""Stage, name and method, as in `freeze_engine.trace.Failure`."""


@dataclass(frozen=True, slots=True)
class Remains:
    """The remains of a recording.

    Attributes:
        trace: as far as it had been built.
        notes: facts from the start of ``_freeze_module``, ``None`` if it did not start.
        log: torch's log of it, ``None`` where it was not captured.
        frozen: texts of the graphs after ``_freeze_module``, by method; ``None`` if that did not end.
        steps: the passes after it.
        under_way: stage, name and method of the pass that did not end, as far as the recording itself reported it.
    """

    trace: Trace
    notes: FreezeNotes | None = None
    log: bytes | None = None
    frozen: Mapping[str, str] | None = None
    steps: tuple[NotedStep, ...] = ()
    under_way: Place | None = None


@dataclass(frozen=True, slots=True)
class Recovered:
    """The trace recovered from the remains.

    Attributes:
        trace: the steps until then; without a failure.
        died_in: the pass that was running, ``None`` if none was.
        messages: of torch's log, the last ones first to last, without graphs.
    """

    trace: Trace
    died_in: Place | None
    messages: tuple[str, ...] = field(default=(), repr=False)


def recovered(remains: Remains, on_step: Callable[[Step], None] | None = None) -> Recovered:
    """Builds a trace from the remains of a recording.

    Args:
        remains: of the recording.
        on_step: called with every step.
    """
    if remains.notes is None:
        if on_step is not None:
            deque(map(on_step, remains.trace.steps), maxlen=0)
        return Recovered(remains.trace, remains.under_way)
    return _rebuilt(remains, remains.notes, on_step)


def _rebuilt(remains: Remains, notes: FreezeNotes, on_step: Callable[[Step], None] | None) -> Recovered:
    head = remains.trace
    records = _whole(CapturedLog(remains.log or b"").records)
    recorder = Recorder(head, read_paths)
    recorder.on_step = on_step
    reading = _reading(notes, CapturedLog(remains.log or b"", (), records))
    _Rebuilding(remains, notes, recorder).add_all(reading)
    frozen_in = reading.where if remains.log is not None else (FREEZE_MODULE, FREEZE_MODULE, None)
    died_in = remains.under_way or (frozen_in if remains.frozen is None else None)
    messages = tuple(f"{record.file}: {record.message}" for record in records)
    return Recovered(recorder.finish(created=head.created), died_in, messages)


def _whole(records: tuple[LogRecord, ...]) -> tuple[LogRecord, ...]:
    """Drops the last graph if torch died while writing it."""
    if not records or records[-1].graph is None:
        return records
    try:
        parse_graph(records[-1].graph)
    except GraphTextError:
        return records[:-1]
    return records


def _reading(notes: FreezeNotes, log: CapturedLog) -> LogReading:
    methods = {each.method: _graphs(each) for each in notes.methods}
    return read_log(log, methods, 0)


def _graphs(notes: MethodNotes) -> MethodGraphs:
    """Reads a method's graphs; the modules go along through the renaming that reading the log brings."""
    inlined = parse_graph(notes.inlined)
    nodes = list(inlined.walk())
    if len(nodes) == len(notes.modules):
        modules = {node.id: module for node, module in zip(nodes, notes.modules, strict=True)}
        inlined = replace(inlined, nodes=_with_modules(inlined.nodes, lambda node: modules[node.id]))
    return MethodGraphs(parse_graph(notes.before), inlined)


class _Rebuilding:
    """Adds the steps that are known, in order."""

    def __init__(self, remains: Remains, notes: FreezeNotes, recorder: Recorder) -> None:
        self._remains = remains
        self._notes = notes
        self._tracker = StepTracker(recorder, frozenset(notes.attributes))
        self._modules: dict[str, dict[str, str]] = {}
        self._texts: dict[str, GraphSnapshot] = {}

    def add_all(self, reading: LogReading) -> None:
        if not reading.steps:
            for notes in self._notes.methods:
                self._tracker.add(PassRun(INPUT, (INPUT,), notes.method), parse_graph(notes.before))
        for method, graph in reading.inlined.items():
            named = ((node.outputs[0].name, node.module) for node in graph.walk() if node.outputs and node.module)
            self._modules[method] = dict(named)
        for step in reading.steps:
            graph = step.graph if step.stage == INPUT else self._annotated(step.method, step.graph)
            self._tracker.add(PassRun(step.stage, step.passes, step.method, log=step.log), graph)
        for method, text in (self._remains.frozen or {}).items():
            self._add_text(PassRun(FREEZE_MODULE, CLEAN_UP, method), text)
        for noted in self._remains.steps:
            run = PassRun(noted.stage, noted.passes, noted.method, noted.round, noted.duration_ns)
            self._add_text(run, noted.text)

    def _add_text(self, run: PassRun, text: str | None) -> None:
        if text is not None:
            self._texts[run.method] = self._annotated(run.method, parse_graph(text))
        if run.method in self._texts:
            self._tracker.add(run, self._texts[run.method])

    def _annotated(self, method: str, graph: GraphSnapshot) -> GraphSnapshot:
        return Annotations(self._modules.get(method, {}), {}).annotate(graph)


def _with_modules(nodes: tuple[Node, ...], module: Callable[[Node], str]) -> tuple[Node, ...]:
    return tuple(
        replace(node, module=module(node), blocks=tuple(_block_with_modules(block, module) for block in node.blocks))
        for node in nodes
    )


def _block_with_modules(block: Block, module: Callable[[Node], str]) -> Block:
    return replace(block, nodes=_with_modules(block.nodes, module))
