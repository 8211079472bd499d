"""The rules that a trace keeps beyond its types: names that exist, uses that are defined, steps in order.

What reads a trace may rely on them; a recorder is tested against them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, pairwise

from freeze_engine.errors import InvalidTraceError
from freeze_engine.trace import AttributeFate, Block, Evidence, GraphSnapshot, Node, Program, Step, Trace, Value

_SHOWN = 20


def check_trace(trace: Trace) -> None:
    """Checks that a trace keeps the rules of the data model.

    Args:
        trace: any trace.

    Raises:
        InvalidTraceError: it does not; the message lists what is wrong, step and node named (20 at most).
    """
    found = problems(trace)
    if not found:
        return
    more = f"\n  … and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    listed = "".join(f"\n  {problem}" for problem in found[:_SHOWN])
    raise InvalidTraceError(f"trace {trace.name!r} breaks the rules of the data model:{listed}{more}")


def problems(trace: Trace) -> tuple[str, ...]:
    """Returns what is wrong with a trace, one sentence each; empty for a valid one. Takes linear time.

    - Steps are numbered from 0; a step that changed nothing has the graph of the method's step before it.
    - In a snapshot, node ids and value names are unique, nested blocks included, and every use is defined
      before it: a block sees what encloses it, a block with a scope only what it receives itself.
    - Rewrites, writes, near misses and evidence name nodes of the snapshots they speak of.
    - Attributes are sorted by path, which is unique; a reason stands with ``preserved`` and only there.
    - Locations name values of the method's final graph; step indices are in range.
    - Kernels name nodes of the last graph of their program's method, and origins of its first.

    Args:
        trace: any trace.
    """
    nodes = _NodeIds(trace)
    return tuple(chain(_steps(trace, nodes), _attributes(trace), _references(trace, nodes)))


class _NodeIds:
    """The node ids of each step's snapshot, gathered once per snapshot."""

    def __init__(self, trace: Trace) -> None:
        self._steps = trace.steps
        self._ids: dict[int, frozenset[str]] = {}

    def of(self, graph: GraphSnapshot) -> frozenset[str]:
        """Returns the ids of all nodes of ``graph``."""
        if id(graph) not in self._ids:
            self._ids[id(graph)] = frozenset(node.id for node in graph.walk())
        return self._ids[id(graph)]

    def missing(self, where: str, step: int | None, ids: Iterable[str]) -> Iterator[str]:
        """Yields a problem where ``step`` does not exist, and one for each of ``ids`` that its graph lacks."""
        if step is None:
            return
        if not 0 <= step < len(self._steps):
            yield f"{where}: step {step} does not exist"
            return
        known = self.of(self._steps[step].graph)
        yield from (f"{where}: step {step} has no node {name!r}" for name in ids if name not in known)


def _steps(trace: Trace, nodes: _NodeIds) -> Iterator[str]:
    last: dict[str, Step] = {}
    checked: set[int] = set()
    for position, step in enumerate(trace.steps):
        where = f"step {step.index} ({step.name})"
        if step.index != position:
            yield f"{where}: stands at position {position}"
        before = last.get(step.method)
        if before and not step.changed and step.graph is not before.graph and step.graph != before.graph:
            yield f"{where}: changed nothing, but its graph differs from that of step {before.index}"
        if id(step.graph) not in checked:
            checked.add(id(step.graph))
            yield from (f"{where}{problem}" for problem in _graph(step.graph))
        yield from (f"{where}{problem}" for problem in _named_nodes(step, before, nodes))
        last[step.method] = step


def _named_nodes(step: Step, before: Step | None, nodes: _NodeIds) -> Iterator[str]:
    """Yields what is wrong with the nodes that a step's rewrites and writes name."""
    for rewrite in step.rewrites:
        consumed = nodes.of(before.graph) if before else frozenset()
        for name in rewrite.consumed:
            if name not in consumed:
                yield f", node {name}: consumed by {rewrite.kind}, but not in the graph before"
        for name in rewrite.produced:
            if name not in nodes.of(step.graph):
                yield f", node {name}: produced by {rewrite.kind}, but not in the graph after"
    for write in step.aliases.writes if step.aliases else ():
        if write.node not in nodes.of(step.graph):
            yield f", node {write.node}: writes memory, but is not in the graph"


class _GraphCheck:
    """Walks one snapshot in order, knowing which names are taken and which can be seen.

    Attributes:
        found: what is wrong.
    """

    def __init__(self) -> None:
        self.found: list[str] = []
        self._ids: set[str] = set()
        self._names: set[str] = set()

    def body(self, graph: GraphSnapshot | Block, where: str, visible: set[str], scope: str) -> None:
        """Checks one graph or block; ``visible`` is as it was afterwards, the block's own values gone."""
        own: list[str] = []
        self._define(graph.inputs, where, scope, own, visible)
        for node in graph.nodes:
            self._node(node, visible, scope)
            self._define(node.outputs, f", node {node.id}", scope, own, visible)
        self._use(graph.outputs, f"{where}: yields", visible)
        visible.difference_update(own)

    def _node(self, node: Node, visible: set[str], scope: str) -> None:
        if node.id in self._ids:
            self.found.append(f", node {node.id}: its id is taken by an earlier node")
        if not node.id.startswith(scope):
            self.found.append(f", node {node.id}: its id lacks the scope {scope!r} of its block")
        self._ids.add(node.id)
        self._use(node.inputs, f", node {node.id}: reads", visible)
        for number, block in enumerate(node.blocks):
            where = f", node {node.id}, block {number}"
            self.body(block, where, set() if block.scope else visible, block.scope or scope)

    def _define(self, values: tuple[Value, ...], where: str, scope: str, own: list[str], visible: set[str]) -> None:
        for value in values:
            if value.name in self._names:
                self.found.append(f"{where}: defines %{value.name}, which is taken by an earlier value")
                continue
            if not value.name.startswith(scope):
                self.found.append(f"{where}: defines %{value.name}, which lacks the scope {scope!r} of its block")
            self._names.add(value.name)
            own.append(value.name)
            visible.add(value.name)

    def _use(self, names: tuple[str, ...], what: str, visible: set[str]) -> None:
        self.found += (f"{what} %{name}, which is not defined there" for name in names if name not in visible)


def _graph(graph: GraphSnapshot) -> list[str]:
    check = _GraphCheck()
    check.body(graph, ", graph", set(), "")
    return check.found


def _attributes(trace: Trace) -> Iterator[str]:
    for fate, following in pairwise(trace.attributes):
        if fate.path >= following.path:
            yield f"attribute {following.path!r}: stands after {fate.path!r}; paths are sorted and unique"
    finals = {step.method: step.graph for step in trace.steps}
    values: dict[str, frozenset[str]] = {}
    for fate in trace.attributes:
        if (fate.fate == "preserved") != (fate.reason is not None):
            yield f"attribute {fate.path!r}: is {fate.fate} with the reason {fate.reason}"
        for location in fate.locations:
            if location.method not in finals:
                yield f"attribute {fate.path!r}: lives in the unknown method {location.method!r}"
                continue
            if location.method not in values:
                values[location.method] = _value_names(finals[location.method])
            if location.value not in values[location.method]:
                yield f"attribute {fate.path!r}: lives in %{location.value}, which {location.method} does not end with"


def _value_names(graph: GraphSnapshot) -> frozenset[str]:
    """Returns the names of the graph's inputs and of all values that nodes define, nested ones included."""
    inputs = (value.name for value in graph.inputs)
    return frozenset(chain(inputs, (value.name for node in graph.walk() for value in node.outputs)))


def _references(trace: Trace, nodes: _NodeIds) -> Iterator[str]:
    """Yields what is wrong with the steps and nodes that the rest of the trace names."""
    for fate in trace.attributes:
        where = f"attribute {fate.path!r}"
        yield from nodes.missing(where, fate.step, ())
        for evidence in fate.evidence:
            yield from _evidence(trace, fate, evidence)
            yield from nodes.missing(where, evidence.step, _evidence_nodes(evidence))
    for miss in trace.near_misses:
        named = (miss.node, miss.neighbour) if miss.neighbour else (miss.node,)
        yield from nodes.missing(f"near miss {miss.kind}", miss.step, named)
    for notice in trace.notices:
        yield from nodes.missing(f"notice {notice.code}", notice.step, ())
    for program in trace.programs:
        yield from _program(trace, program, nodes)
    if trace.memory:
        yield from nodes.missing("memory", trace.memory.step, ())
    if trace.failure:
        yield from nodes.missing("failure", trace.failure.step, ())


def _program(trace: Trace, program: Program, nodes: _NodeIds) -> Iterator[str]:
    where = f"program {program.name!r}"
    steps = trace.method_steps(program.method)
    if not steps:
        yield f"{where}: is of the unknown method {program.method!r}"
        return
    named = [*(node for kernel in program.kernels for node in kernel.nodes), *(node for node, _ in program.no_kernel)]
    yield from nodes.missing(where, steps[-1].index, dict.fromkeys(named))
    origins = (origin for kernel in program.kernels for origin in kernel.origins)
    yield from nodes.missing(where, steps[0].index, dict.fromkeys(origins))


def _evidence_nodes(evidence: Evidence) -> tuple[str, ...]:
    chained = tuple(link.node for link in evidence.chain)
    return chained if evidence.node is None else (evidence.node, *chained)


def _evidence(trace: Trace, fate: AttributeFate, evidence: Evidence) -> Iterator[str]:
    where = f"attribute {fate.path!r}"
    if evidence.step is None and _evidence_nodes(evidence):
        yield f"{where}: its evidence names nodes, but not the step they are in"
    if evidence.step is None or evidence.method is None or not 0 <= evidence.step < len(trace.steps):
        return
    if trace.steps[evidence.step].method != evidence.method:
        yield f"{where}: its evidence is from {evidence.method}, but step {evidence.step} is another method's"
