"""Rules of what speaks of steps and nodes: rewrites, writes, aliases, fates, near misses, notices, programs.

The references to nodes are gathered first and resolved step by step, method after method, so that the names of two
snapshots at most are held at a time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain

from freeze_engine.trace import AttributeFate, Evidence, GraphSnapshot, Program, Step, Trace
from freeze_engine.trace.rules.graphs import GraphNames, graph_problems


class References:
    """Checks every snapshot of a trace, and all that names its nodes and values.

    Args:
        trace: its steps are numbered, and its blocks nest as deep as they may.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._found: list[list[str]] = []
        self._nodes: defaultdict[int, list[tuple[list[str], str, tuple[str, ...]]]] = defaultdict(list)
        self._values: defaultdict[int, list[tuple[list[str], str, str]]] = defaultdict(list)
        self._graphs: set[int] = set()

    def problems(self) -> Iterator[str]:
        """Yields what is wrong: graphs first, then the rest in the order of the trace's fields."""
        self._attributes()
        self._rest()
        for program in self._trace.programs:
            self._program(program)
        unseen = self._called()
        graphs: list[list[str]] = [[] for _ in self._trace.steps]
        for method in self._trace.methods:
            before: Step | None = None
            names: GraphNames | None = None
            for step in self._trace.method_steps(method):
                same = before is not None and before.graph is step.graph
                now = names if same and names is not None else GraphNames(step.graph)
                graphs[step.index] += self._step(step, before, now, names)
                if not same and unseen.get(method):
                    unseen[method] -= now.ids
                before, names = step, now
        yield from chain.from_iterable(graphs)
        yield from chain.from_iterable(self._found)
        for method, nodes in unseen.items():
            yield from (f"call path: no step of {method} has a node {name!r}" for name in sorted(nodes))

    def _step(self, step: Step, before: Step | None, names: GraphNames, earlier: GraphNames | None) -> Iterator[str]:
        where = f"step {step.index} ({step.name})"
        if before and not step.changed and step.graph is not before.graph and step.graph != before.graph:
            yield f"{where}: changed nothing, but its graph differs from that of step {before.index}"
        if not names.is_sound and id(step.graph) not in self._graphs:
            self._graphs.add(id(step.graph))
            yield from (f"{where}{problem}" for problem in graph_problems(step.graph))
        yield from (f"{where}, {problem}" for problem in _rewritten(step, names, earlier))
        yield from (f"{where}, {problem}" for problem in _aliases(step, names))
        for found, what, ids in self._nodes.pop(step.index, ()):
            found += (f"{what}: step {step.index} has no node {name!r}" for name in ids if name not in names.ids)
        for found, what, value in self._values.pop(step.index, ()):
            if value not in names.values:
                found.append(f"{what}: lives in %{value}, which {step.method} does not end with")

    def _name(self, where: str, step: int | None, ids: Iterable[str] = ()) -> None:
        """Notes that ``where`` names a step and nodes of it."""
        found: list[str] = []
        self._found.append(found)
        if step is None:
            return
        if not 0 <= step < len(self._trace.steps):
            found.append(f"{where}: step {step} does not exist")
            return
        self._nodes[step].append((found, where, tuple(ids)))

    def _say(self, problem: str) -> None:
        self._found.append([problem])

    def _attributes(self) -> None:
        for fate in self._trace.attributes:
            where = f"attribute {fate.path!r}"
            for location in fate.locations:
                final = self._trace.final(location.method)
                if final is None:
                    self._say(f"{where}: lives in the unknown method {location.method!r}")
                    continue
                found: list[str] = []
                self._found.append(found)
                self._values[final.index].append((found, where, location.value))
            self._name(where, fate.step)
            for evidence in fate.evidence:
                self._evidence(fate, evidence)

    def _evidence(self, fate: AttributeFate, evidence: Evidence) -> None:
        where, steps = f"attribute {fate.path!r}", self._trace.steps
        nodes = tuple(link.node for link in evidence.chain)
        nodes = nodes if evidence.node is None else (evidence.node, *nodes)
        if evidence.step is None and nodes:
            self._say(f"{where}: its evidence names nodes, but not the step they are in")
        self._name(where, evidence.step, nodes)
        if evidence.step is None or evidence.method is None or not 0 <= evidence.step < len(steps):
            return
        if steps[evidence.step].method != evidence.method:
            self._say(f"{where}: its evidence is from {evidence.method}, but step {evidence.step} is another method's")

    def _rest(self) -> None:
        trace = self._trace
        for miss in trace.near_misses:
            named = (miss.node, miss.neighbour) if miss.neighbour else (miss.node,)
            self._name(f"near miss {miss.kind}", miss.step, named)
        for notice in trace.notices:
            self._name(f"notice {notice.code}", notice.step)
        if trace.memory:
            self._name("memory", trace.memory.step)
        if trace.failure:
            self._name("failure", trace.failure.step)

    def _program(self, program: Program) -> None:
        where = f"program {program.name!r}"
        steps = self._trace.method_steps(program.method)
        if not steps:
            self._say(f"{where}: is of the unknown method {program.method!r}")
            return
        nodes = chain.from_iterable(kernel.nodes for kernel in program.kernels)
        self._name(where, steps[-1].index, dict.fromkeys(chain(nodes, (node for node, _ in program.no_kernel))))
        origins = chain.from_iterable(kernel.origins for kernel in program.kernels)
        self._name(where, steps[0].index, dict.fromkeys(origins))

    def _called(self) -> dict[str, set[str]]:
        """Returns the nodes that call paths name, by method."""
        found: dict[str, set[str]] = {method: set() for method in self._trace.methods}
        for path in self._trace.call_paths:
            if path.method not in found:
                self._say(f"call path: is of the unknown method {path.method!r}")
                continue
            nodes = found[path.method]
            for name in path.nodes:
                if name in nodes:
                    self._say(f"call path: names node {name!r} twice")
                nodes.add(name)
        return found


def _rewritten(step: Step, names: GraphNames, earlier: GraphNames | None) -> Iterator[str]:
    consumable = earlier.ids if earlier else frozenset()
    for rewrite in step.rewrites:
        for name in rewrite.consumed:
            if name not in consumable:
                yield f"node {name}: consumed by {rewrite.kind}, but not in the graph before"
        for name in rewrite.produced:
            if name not in names.ids:
                yield f"node {name}: produced by {rewrite.kind}, but not in the graph after"


def _aliases(step: Step, names: GraphNames) -> Iterator[str]:
    if step.aliases is None:
        return
    for write in step.aliases.writes:
        if write.node not in names.ids:
            yield f"node {write.node}: writes memory, but is not in the graph"


def graphs_of(trace: Trace) -> Iterator[tuple[Step, GraphSnapshot]]:
    """Yields each snapshot once, with the first step that has it."""
    seen: set[int] = set()
    for step in trace.steps:
        if id(step.graph) not in seen:
            seen.add(id(step.graph))
            yield step, step.graph
