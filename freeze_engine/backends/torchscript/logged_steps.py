"""Tells the passes inside ``_freeze_module`` apart, from torch's log of them.

The order is that of ``AttributePropagator::run`` in ``torch/csrc/jit/passes/freeze_module.cpp``: inline every
method, look for writes in every method, then propagate attributes and clean up method by method; the clean-up
is ``runOptimization`` in ``torch/csrc/jit/runtime/graph_executor.cpp``, which names each of its passes. Forked
subgraphs go through the same functions after the graph that holds them. Checked on torch 2.13.0.

The inliner's own log shows every function it inlines, again and again, and would cost more than all the rest. Its
result is taken from torch's inliner on a copy of the method instead, and held against the first graph that the log
does show: that has the same nodes in the same order, and gives the names.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from freeze_engine.backends.torchscript.ir_text import parse_graph
from freeze_engine.backends.torchscript.log_records import CapturedLog, LogRecord
from freeze_engine.trace import Block, GraphSnapshot, Node

INPUT = "input"
INLINE = "inline"
FREEZE_MODULE = "freeze_module"
RECORD_MUTABLE_ATTRIBUTES = "RecordMutableAttrs"
PROPAGATE_ATTRIBUTES = "PropagateAttributes"
#: What is done at the end of ``_freeze_module``, of which nothing is logged.
CLEAN_UP = "EliminateNoOps, LowerSimpleTuples, CleanupFrozenModule"

_PHASES = {
    "Analyzing function: ": INLINE,
    "Recording mutable attrs for function: ": RECORD_MUTABLE_ATTRIBUTES,
    "Propagating function: ": PROPAGATE_ATTRIBUTES,
}
FOLDING = re.compile(r"Folding GetAttr %(?P<value>.+?) with (?P<constant>.+)")
_CLEANING = "Cleaning up module"
_AFTER = re.compile(r"After (\w+)(?:\s*, before (\w+))?")
_BEGINNING = re.compile(r"Before (\w+)")


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


@dataclass(frozen=True, slots=True)
class MethodGraphs:
    """One method before the freeze.

    Attributes:
        before: its graph as it came.
        inlined: the same with everything it calls inlined.
    """

    before: GraphSnapshot
    inlined: GraphSnapshot


@dataclass(slots=True)
class _Reader:
    """Follows the log; ``graphs`` holds the latest graph of every method, ``order`` the methods by function name."""

    methods: Mapping[str, MethodGraphs]
    order: Mapping[str, Sequence[str]]
    times: Callable[[int], int | None]
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
        elif record.message == _CLEANING:
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
            self._add(INPUT, INPUT, self.methods[self.method].before, record.end)

    def _end_phase(self, record: LogRecord) -> None:
        """Closes inlining and the search for writes, which log no graph of their own."""
        if self.method and self.phase == INLINE:
            self._add(INLINE, "Inline", self.methods[self.method].inlined, record.end)
        elif self.method and self.phase == RECORD_MUTABLE_ATTRIBUTES:
            self._add(FREEZE_MODULE, RECORD_MUTABLE_ATTRIBUTES, self.graphs[self.method], record.end)

    def _optimization(self, record: LogRecord) -> None:
        graph = parse_graph(record.graph or "")
        if beginning := _BEGINNING.match(record.message):
            self.under_way = beginning[1]
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
            self.under_way = None
            return message
        announced, self.announced = self.announced, match[2]
        self.under_way = match[2]
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


def read_log(log: CapturedLog, methods: Mapping[str, MethodGraphs], started_ns: int) -> LogReading:
    """Reads the passes off a freeze's log.

    Args:
        log: of one ``_freeze_module``.
        methods: the methods that are frozen, by dotted path, in the user's order.
        started_ns: clock (``time.monotonic_ns``) when ``_freeze_module`` began.

    Returns:
        The steps; durations are ``None`` where the log carries no times. A duration includes the time torch
        took to print the graph.
    """
    order, named = _recognised(log, methods)
    reader = _Reader(named, order, _clock(log), last_ns=started_ns)
    for record in log.records:
        reader.read(record)
    where: tuple[str, str, str | None]
    if any(record.message == _CLEANING for record in log.records):
        where = (FREEZE_MODULE, "CleanupFrozenModule", None)
    elif not log.records:
        where = (FREEZE_MODULE, "CheckPreservedNames", None)
    else:
        where = (INLINE if reader.phase == INLINE else FREEZE_MODULE, _phase_name(reader), reader.method or None)
    return LogReading(tuple(reader.steps), where, tuple(reader.lines))


def _recognised(
    log: CapturedLog, methods: Mapping[str, MethodGraphs]
) -> tuple[dict[str, list[str]], dict[str, MethodGraphs]]:
    """Tells which method each function in the log is, and gives their inlined graphs the names of the log."""
    analysed = [name for record in log.records if (name := _after(record.message, INLINE)) is not None]
    shown = _first_graphs(log.records)
    order: dict[str, list[str]] = {}
    named = dict(methods)
    for number, function in enumerate(analysed):
        taken = order.setdefault(function, [])
        free = [path for path in methods if path.rpartition(".")[2] == function and path not in taken]
        if not free:
            continue
        # The phases go through the methods in one order, so the n-th that is analysed is the n-th that is propagated.
        graph, constants = shown[number] if number < len(shown) else (None, frozenset[str]())
        pairs = {path: _paired(methods[path].inlined, graph, constants) for path in free} if graph else {}
        path = next((each for each in free if pairs.get(each)), free[0])
        taken.append(path)
        if pairs.get(path):
            named[path] = replace(methods[path], inlined=_renamed(methods[path].inlined, pairs[path]))
    return order, named


def _after(message: str, phase: str) -> str | None:
    prefix = next(each for each, name in _PHASES.items() if name == phase)
    return message[len(prefix) :] if message.startswith(prefix) else None


def _first_graphs(records: Sequence[LogRecord]) -> list[tuple[GraphSnapshot | None, frozenset[str]]]:
    """Returns, for each method in turn, its graph after attributes were propagated, and the constants that made."""
    found: list[tuple[GraphSnapshot | None, frozenset[str]]] = []
    constants: set[str] = set()
    for record in records:
        if _after(record.message, PROPAGATE_ATTRIBUTES) is not None:
            constants = set()
            found.append((None, frozenset()))
        elif match := FOLDING.fullmatch(record.message):
            constants.add(match["constant"])
        elif record.graph is not None and found and found[-1][0] is None:
            found[-1] = (parse_graph(record.graph), frozenset(constants))
    return found


def _paired(inlined: GraphSnapshot, shown: GraphSnapshot, constants: frozenset[str]) -> list[tuple[Node, Node]]:
    """Pairs the nodes of an inlined graph with those of the graph propagation made of it; empty if they do not fit."""
    ours = list(inlined.walk())
    theirs = [node for node in shown.walk() if not (node.outputs and _plain(node.outputs[0].name) in constants)]
    same = [(node.op, node.attributes, node.source) for node in ours] == [
        (node.op, node.attributes, node.source) for node in theirs
    ]
    return list(zip(ours, theirs, strict=True)) if same else []


def _plain(name: str) -> str:
    return name.rpartition("/")[2]


def _renamed(graph: GraphSnapshot, pairs: Sequence[tuple[Node, Node]]) -> GraphSnapshot:
    names = {
        mine.name: theirs.name
        for ours, others in pairs
        for mine, theirs in zip(
            (*ours.outputs, *(value for block in ours.blocks for value in block.inputs)),
            (*others.outputs, *(value for block in others.blocks for value in block.inputs)),
            strict=True,
        )
    }
    if all(mine == theirs for mine, theirs in names.items()):
        return graph
    body = _with_names(Block(graph.inputs, graph.nodes, graph.outputs), lambda name: names.get(name, name))
    return GraphSnapshot(body.inputs, body.nodes, body.outputs)


def _phase_name(reader: _Reader) -> str:
    if reader.phase == INLINE:
        return "Inline"
    latest = reader.steps[-1].name if reader.steps else ""
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
    return _with_names(block, lambda name: scope + name, lambda own: scope + own)


def _with_names(block: Block, rename: Callable[[str], str], rescope: Callable[[str], str] = str) -> Block:
    return Block(
        tuple(replace(value, name=rename(value.name)) for value in block.inputs),
        tuple(
            replace(
                node,
                id=rename(node.id),
                inputs=tuple(map(rename, node.inputs)),
                outputs=tuple(replace(value, name=rename(value.name)) for value in node.outputs),
                blocks=tuple(_with_names(inner, rename, rescope) for inner in node.blocks),
            )
            for node in block.nodes
        ),
        tuple(map(rename, block.outputs)),
        block.scope and rescope(block.scope),
    )
