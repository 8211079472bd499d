"""Separates the passes inside ``_freeze_module``, from torch's log of them.

The order is that of ``AttributePropagator::run`` in ``torch/csrc/jit/passes/freeze_module.cpp``: inline every
method, look for writes in every method, then propagate attributes and clean up method by method; the clean-up
is ``runOptimization`` in ``torch/csrc/jit/runtime/graph_executor.cpp``, which names each of its passes. Forked
subgraphs go through the same functions after the graph that holds them. Checked on torch 2.13.0.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from freeze_engine.backends.torchscript.graph.forks import scope_of, with_subgraph
from freeze_engine.backends.torchscript.graph.parser import parse_graph
from freeze_engine.backends.torchscript.graph.stages import (
    FREEZE_MODULE,
    INLINE,
    INPUT,
    PROPAGATE_ATTRIBUTES,
    RECORD_MUTABLE_ATTRIBUTES,
)
from freeze_engine.backends.torchscript.log.messages import AFTER, ANALYZING, BEFORE, CLEANING, PROPAGATING, RECORDING
from freeze_engine.backends.torchscript.log.method_names import MethodGraphs, recognised
from freeze_engine.backends.torchscript.log.records import CapturedLog, LogRecord
from freeze_engine.trace import GraphSnapshot

_PHASES = {ANALYZING: INLINE, RECORDING: RECORD_MUTABLE_ATTRIBUTES, PROPAGATING: PROPAGATE_ATTRIBUTES}


@dataclass(frozen=True, slots=True)
class LoggedStep:
    """One pass in torch's log.

    Attributes:
        stage, passes, method, duration_ns: as in `freeze_engine.trace.Step`.
        graph: the method's graph after it, node ids provisional.
        log: torch's decisions in it.
    """

    stage: str
    passes: tuple[str, ...]
    method: str
    graph: GraphSnapshot
    duration_ns: int | None
    log: tuple[str, ...]


@dataclass(slots=True)
class _Reader:
    """Follows the log; ``graphs`` holds the latest graph of every method, ``order`` the methods by function name."""

    methods: Mapping[str, MethodGraphs]
    order: Mapping[str, Sequence[str]]
    times: Callable[[int], int | None]
    parse: Callable[[str], GraphSnapshot]
    steps: list[LoggedStep] = field(default_factory=list)
    graphs: dict[str, GraphSnapshot] = field(default_factory=dict)
    turns: Counter[str] = field(default_factory=Counter)
    phase: str = ""
    method: str = ""
    lines: list[str] = field(default_factory=list)
    subgraph: str | None = None
    last_ns: int | None = None
    announced: str | None = None
    under_way: str | None = None

    def read(self, record: LogRecord) -> None:
        prefix = next((each for each in _PHASES if record.message.startswith(each)), None)
        if prefix:
            self._begin_phase(_PHASES[prefix], record.message[len(prefix) :], record)
        elif record.message == CLEANING:
            self._end_phase(record)
        elif record.graph is not None and self.method:
            self._optimization(record)
        else:
            self.lines.append(record.message)

    def _begin_phase(self, phase: str, function: str, record: LogRecord) -> None:
        self._end_phase(record)
        if phase != self.phase:
            self.turns.clear()
        # torch names the function only; methods of several submodules may share a name, in one order for all phases.
        self.method = self.order[function][self.turns[function]] if function in self.order else ""
        self.turns[function] += 1
        self.phase, self.subgraph, self.under_way, self.lines = phase, None, None, []
        self.last_ns = self.times(record.end)
        if phase == INLINE and self.method:
            self._add(INPUT, (INPUT,), self.methods[self.method].before, record.end)

    def _end_phase(self, record: LogRecord) -> None:
        """Closes inlining and the search for writes, which log no graph of their own."""
        if self.method and self.phase == INLINE:
            self._add(INLINE, ("Inline",), self.methods[self.method].inlined, record.end)
        elif self.method and self.phase == RECORD_MUTABLE_ATTRIBUTES:
            self._add(FREEZE_MODULE, (RECORD_MUTABLE_ATTRIBUTES,), self.graphs[self.method], record.end)

    def _optimization(self, record: LogRecord) -> None:
        graph = self.parse(record.graph or "")
        if beginning := BEFORE.match(record.message):
            self.under_way = beginning[1]
            if self._is_propagated():
                # A second beginning is that of a fork's own subgraph.
                self.subgraph = scope_of(self.graphs[self.method], graph)
                return
            self._add(FREEZE_MODULE, (PROPAGATE_ATTRIBUTES,), graph, record.end)
            return
        passes = self._passes(record.message)
        if self.subgraph is not None:
            graph = with_subgraph(self.graphs[self.method], graph, self.subgraph)
        self._add(FREEZE_MODULE, passes, graph, record.end)

    def _passes(self, message: str) -> tuple[str, ...]:
        """Returns the pass that ended, with the one before it where torch logs nothing between the two."""
        match = AFTER.match(message)
        if match is None:
            self.under_way = None
            return (message,)
        announced, self.announced = self.announced, match[2]
        self.under_way = match[2]
        return (match[1],) if announced in (None, match[1]) else (announced, match[1])

    def _is_propagated(self) -> bool:
        return any(PROPAGATE_ATTRIBUTES in step.passes and step.method == self.method for step in self.steps)

    def _add(self, stage: str, passes: tuple[str, ...], graph: GraphSnapshot, end: int) -> None:
        now, before = self.times(end), self.last_ns
        duration = max(0, now - before) if now is not None and before is not None and stage != INPUT else None
        self.last_ns = now
        self.graphs[self.method] = graph
        self.steps.append(LoggedStep(stage, passes, self.method, graph, duration, tuple(self.lines)))
        self.lines = []


@dataclass(frozen=True, slots=True)
class LogReading:
    """The contents of the log of one ``_freeze_module``.

    Attributes:
        steps: the passes it shows, in order.
        where: stage, name and method that were running when the log ended.
    """

    steps: tuple[LoggedStep, ...]
    where: tuple[str, str, str | None]

    @property
    def inlined(self) -> dict[str, GraphSnapshot]:
        """By method, the graph with everything inlined, as the freeze itself had it."""
        return {step.method: step.graph for step in self.steps if step.stage == INLINE}


def read_log(
    log: CapturedLog,
    methods: Mapping[str, MethodGraphs],
    started_ns: int,
    parse: Callable[[str], GraphSnapshot] = parse_graph,
) -> LogReading:
    """Reads the passes from a freeze's log.

    Args:
        log: of one ``_freeze_module``.
        methods: the methods that are frozen, by dotted path, in the user's order.
        started_ns: clock (``time.monotonic_ns``) when ``_freeze_module`` began.
        parse: reads the text of a graph.

    Returns:
        The steps; durations are ``None`` where the log carries no times. A duration includes the time torch
        took to print the graph.
    """
    order, named = recognised(log, methods, parse)
    reader = _Reader(named, order, _clock(log), parse, last_ns=started_ns)
    for record in log.records:
        reader.read(record)
    where: tuple[str, str, str | None]
    if any(record.message == CLEANING for record in log.records):
        where = (FREEZE_MODULE, "CleanupFrozenModule", None)
    elif not log.records:
        where = (FREEZE_MODULE, "CheckPreservedNames", None)
    else:
        where = (INLINE if reader.phase == INLINE else FREEZE_MODULE, _phase_name(reader), reader.method or None)
    return LogReading(tuple(reader.steps), where)


def is_cut(log: CapturedLog | None) -> bool:
    """Returns whether the log of a freeze that torch finished lacks its end, as on a full disk."""
    return log is not None and bool(log.records) and all(record.message != CLEANING for record in log.records)


def _phase_name(reader: _Reader) -> str:
    if reader.phase == INLINE:
        return "Inline"
    latest = ", ".join(reader.steps[-1].passes) if reader.steps else ""
    if reader.phase == PROPAGATE_ATTRIBUTES and reader.steps and reader.steps[-1].method == reader.method:
        if latest == RECORD_MUTABLE_ATTRIBUTES:
            return PROPAGATE_ATTRIBUTES
        return reader.under_way or f"after {latest}"
    return reader.phase


def _clock(log: CapturedLog) -> Callable[[int], int | None]:
    """Returns a function from an offset in the log to the time it was written.

    The log's growth is sampled: where one sample brought several messages, only the last one's time is known.
    """
    offsets = [offset for offset, _ in log.written]
    ends = [record.end for record in log.records]
    times: dict[int, int] = {}
    for index, (offset, clock) in enumerate(log.written):
        latest = bisect_right(ends, offset)
        newer = latest > (bisect_right(ends, offsets[index - 1]) if index else 0)
        if newer:
            times[ends[latest - 1]] = clock
    return times.get
