"""Tells the passes inside ``_freeze_module`` apart, from torch's log of them.

The order is that of ``AttributePropagator::run`` in ``torch/csrc/jit/passes/freeze_module.cpp``: inline every
method, look for writes in every method, then propagate attributes and clean up method by method; the clean-up
is ``runOptimization`` in ``torch/csrc/jit/runtime/graph_executor.cpp``, which names each of its passes. Forked
subgraphs go through the same functions after the graph that holds them. Checked on torch 2.13.0.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from freeze_engine.backends.torchscript.ir_text import parse_graph
from freeze_engine.backends.torchscript.log import CapturedLog, LogRecord
from freeze_engine.trace import Block, GraphSnapshot, Node

INPUT = "input"
INLINE = "inline"
FREEZE_MODULE = "freeze_module"
RECORD_MUTABLE_ATTRIBUTES = "RecordMutableAttrs"
PROPAGATE_ATTRIBUTES = "PropagateAttributes"

_PHASES = {
    "Analyzing function: ": INLINE,
    "Recording mutable attrs for function: ": RECORD_MUTABLE_ATTRIBUTES,
    "Propagating function: ": PROPAGATE_ATTRIBUTES,
}
_AFTER = re.compile(r"After (\w+)(?:\s*, before (\w+))?")
_BEGINNING = "Before EliminateDeadCode"


@dataclass(frozen=True, slots=True)
class LoggedStep:
    """One pass as torch's log shows it.

    Attributes:
        stage, name, method, duration_ns: as in `freeze_engine.trace.Step`.
        graph: the method's graph after it, node ids provisional.
        log: what torch decided in it.
    """

    stage: str
    name: str
    method: str
    graph: GraphSnapshot
    duration_ns: int | None
    log: tuple[str, ...]


@dataclass(slots=True)
class _Reader:
    """Follows the log; ``graphs`` holds the latest graph of every method."""

    methods: Sequence[str]
    known: Mapping[str, GraphSnapshot]
    times: Callable[[int], int | None]
    steps: list[LoggedStep] = field(default_factory=list)
    graphs: dict[str, GraphSnapshot] = field(default_factory=dict)
    order: dict[str, list[str]] = field(default_factory=dict)
    turns: Counter[str] = field(default_factory=Counter)
    phase: str = INLINE
    method: str = ""
    depth: int = 0
    lines: list[str] = field(default_factory=list)
    subgraph: str | None = None
    last_ns: int | None = None
    announced: str | None = None

    def read(self, record: LogRecord) -> None:
        prefix = next((each for each in _PHASES if record.message.startswith(each)), None)
        if prefix:
            self._begin_phase(_PHASES[prefix], record.message[len(prefix) :], record)
        elif record.message == "Cleaning up module":
            self.finish(record)
        elif not self.method:
            # Copying a module may inline functions of its own before the freeze proper begins.
            return
        elif record.file == "inliner":
            self._inliner(record)
        elif record.graph is not None:
            self._optimization(record)
        else:
            self.lines.append(record.message)

    def finish(self, record: LogRecord | None) -> None:
        """Closes the search for writes, which logs no graph of its own."""
        if self.phase == RECORD_MUTABLE_ATTRIBUTES and self.method in self.graphs:
            end = record.end if record else 0
            self._add(FREEZE_MODULE, RECORD_MUTABLE_ATTRIBUTES, self.graphs[self.method], end)

    def _begin_phase(self, phase: str, function: str, record: LogRecord) -> None:
        self.finish(record)
        if phase != self.phase:
            self.turns.clear()
        self.phase, self.depth, self.subgraph = phase, 0, None
        self.method = self._method(function)
        self.last_ns = self.times(record.end)
        self.lines = []

    def _method(self, function: str) -> str:
        """Returns the path of a method of which torch names only the function.

        Methods of several submodules may share a name. torch goes through them in an order of its own, the same in
        every phase; the first phase shows their graphs, by which `_recognise` tells them apart.
        """
        order = self.order.setdefault(function, [])
        turn = self.turns[function]
        self.turns[function] += 1
        if turn == len(order):
            free = (path for path in self.methods if path.rpartition(".")[2] == function and path not in order)
            order.append(next(free, function))
        return order[turn]

    def _recognise(self, graph: GraphSnapshot) -> None:
        order = self.order[self.method.rpartition(".")[2]]
        taken = order[:-1]
        for path, known in self.known.items():
            if path.rpartition(".")[2] == order[-1].rpartition(".")[2] and path not in taken and _alike(known, graph):
                self.method = order[-1] = path
                return

    def _inliner(self, record: LogRecord) -> None:
        begins = record.message.startswith("Before")
        self.depth += 1 if begins else -1
        if record.graph is None or self.depth != (1 if begins else 0):
            return
        if begins and self.method not in self.graphs:
            graph = parse_graph(record.graph)
            self._recognise(graph)
            self._add(INPUT, INPUT, graph, record.end)
        elif not begins:
            known = self.graphs[self.method]
            inlined = any(step.stage == INLINE and step.method == self.method for step in self.steps)
            graph = with_subgraph(known, parse_graph(record.graph)) if inlined else parse_graph(record.graph)
            self._add(INLINE, "Inline", graph, record.end)

    def _optimization(self, record: LogRecord) -> None:
        graph = parse_graph(record.graph or "")
        if record.message.startswith(_BEGINNING):
            if self._is_propagated():
                # A second beginning is that of a fork's own subgraph.
                self.subgraph = _scope_of(self.graphs[self.method], graph)
                return
            self._add(FREEZE_MODULE, PROPAGATE_ATTRIBUTES, graph, record.end)
            return
        name = self._pass_name(record.message)
        if self.subgraph is not None:
            graph = with_subgraph(self.graphs[self.method], graph, self.subgraph)
        self._add(FREEZE_MODULE, name, graph, record.end)

    def _pass_name(self, message: str) -> str:
        """Returns the pass that ended, with the one before it where torch logs nothing between the two."""
        match = _AFTER.match(message)
        if match is None:
            return message
        announced, self.announced = self.announced, match[2]
        return match[1] if announced in (None, match[1]) else f"{announced}, {match[1]}"

    def _is_propagated(self) -> bool:
        return any(step.name == PROPAGATE_ATTRIBUTES and step.method == self.method for step in self.steps)

    def _add(self, stage: str, name: str, graph: GraphSnapshot, end: int) -> None:
        now, before = self.times(end), self.last_ns
        duration = max(0, now - before) if now is not None and before is not None and stage != INPUT else None
        self.last_ns = now
        self.graphs[self.method] = graph
        self.steps.append(LoggedStep(stage, name, self.method, graph, duration, tuple(self.lines)))
        self.lines = []


@dataclass(frozen=True, slots=True)
class LogReading:
    """What the log of one ``_freeze_module`` told.

    Attributes:
        steps: the passes it shows, in order.
        where: stage, name and method that were under way when the log ended.
        pending: messages after the last pass.
    """

    steps: tuple[LoggedStep, ...]
    where: tuple[str, str, str | None]
    pending: tuple[str, ...]

    @property
    def inlined(self) -> dict[str, GraphSnapshot]:
        """By method, the graph with everything inlined, as the freeze itself had it."""
        return {step.method: step.graph for step in self.steps if step.stage == INLINE}


def read_log(
    log: CapturedLog, methods: Sequence[str], started_ns: int, known: Mapping[str, GraphSnapshot] | None = None
) -> LogReading:
    """Reads the passes off a freeze's log.

    Args:
        log: of one ``_freeze_module``.
        methods: dotted paths of the methods that are frozen, in the user's order.
        started_ns: clock (``time.monotonic_ns``) when ``_freeze_module`` began.
        known: their graphs as they came, by which methods of one name are told apart.

    Returns:
        The steps; durations are ``None`` where the log carries no times. A duration includes the time torch
        took to print the graph.
    """
    reader = _Reader(methods, known or {}, _clock(log), last_ns=started_ns)
    for record in log.records:
        reader.read(record)
    finished = any(record.message == "Cleaning up module" for record in log.records)
    where: tuple[str, str, str | None]
    if finished:
        where = (FREEZE_MODULE, "CleanupFrozenModule", None)
    elif not log.records:
        where = (FREEZE_MODULE, "CheckPreservedNames", None)
    else:
        where = (INLINE if reader.phase == INLINE else FREEZE_MODULE, _phase_name(reader), reader.method or None)
    return LogReading(tuple(reader.steps), where, tuple(reader.lines))


def _alike(one: GraphSnapshot, other: GraphSnapshot) -> bool:
    """Whether two graphs are the same but for names, which torch makes anew for a copied module."""
    return [(node.op, node.attributes, node.source) for node in one.walk()] == [
        (node.op, node.attributes, node.source) for node in other.walk()
    ]


def _phase_name(reader: _Reader) -> str:
    if reader.phase == INLINE:
        return "Inline"
    latest = reader.steps[-1].name if reader.steps else ""
    if reader.phase == PROPAGATE_ATTRIBUTES and reader.steps and reader.steps[-1].method == reader.method:
        return PROPAGATE_ATTRIBUTES if latest == RECORD_MUTABLE_ATTRIBUTES else f"after {latest}"
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


def with_subgraph(graph: GraphSnapshot, subgraph: GraphSnapshot, scope: str | None = None) -> GraphSnapshot:
    """Returns ``graph`` with one of its forked subgraphs replaced.

    Args:
        graph: the graph that holds the fork.
        subgraph: the new body, printed by torch as a graph of its own and so without a scope.
        scope: of the body to replace; found by the body's inputs and outputs where not given.
    """
    scope = scope or _scope_of(graph, subgraph)
    if scope is None:
        return graph
    body = _scoped(Block(subgraph.inputs, subgraph.nodes, subgraph.outputs), scope)
    return replace(graph, nodes=_replaced(graph.nodes, scope, replace(body, scope=scope)))


def _replaced(nodes: tuple[Node, ...], scope: str, body: Block) -> tuple[Node, ...]:
    return tuple(
        replace(node, blocks=tuple(_replaced_block(block, scope, body) for block in node.blocks))
        if node.blocks
        else node
        for node in nodes
    )


def _replaced_block(block: Block, scope: str, body: Block) -> Block:
    return body if block.scope == scope else replace(block, nodes=_replaced(block.nodes, scope, body))


def _scope_of(graph: GraphSnapshot, subgraph: GraphSnapshot) -> str | None:
    """Returns the scope of the fork in ``graph`` whose body shares most with ``subgraph``, if any shares anything."""
    names = {node.id for node in subgraph.walk()} | {value.name for value in subgraph.inputs}
    best, score = None, 0
    for block in _scoped_blocks(graph.nodes):
        own = {node.id.removeprefix(block.scope) for node in block.nodes} | {
            value.name.removeprefix(block.scope) for value in block.inputs
        }
        if len(own & names) > score:
            best, score = block.scope, len(own & names)
    return best


def _scoped_blocks(nodes: tuple[Node, ...]) -> Iterator[Block]:
    for node in nodes:
        for block in node.blocks:
            if block.scope:
                yield block
            yield from _scoped_blocks(block.nodes)


def _scoped(block: Block, scope: str) -> Block:
    return Block(
        tuple(replace(value, name=scope + value.name) for value in block.inputs),
        tuple(
            replace(
                node,
                id=scope + node.id,
                inputs=tuple(scope + name for name in node.inputs),
                outputs=tuple(replace(value, name=scope + value.name) for value in node.outputs),
                blocks=tuple(_scoped(inner, scope) for inner in node.blocks),
            )
            for node in block.nodes
        ),
        tuple(scope + name for name in block.outputs),
        block.scope and scope + block.scope,
    )
