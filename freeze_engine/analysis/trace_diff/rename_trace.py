"""Gives the nodes and values of one trace the names that another has for them.

Names are a run's own: torch counts them up, so one layer more renames half of a graph. Before two traces are
compared, what stands for the same thing in both must be called the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from freeze_engine.analysis.trace_diff.node_matching import NodeMatcher, Pairing, unmangled
from freeze_engine.analysis.trace_diff.rename_graph import MethodNames, fresh
from freeze_engine.trace import (
    AliasAnalysis,
    AttributeFate,
    CallPath,
    Evidence,
    GraphSnapshot,
    NearMiss,
    Program,
    Rewrite,
    Step,
    Trace,
)

_NAMED: Final = re.compile(r"%([\w./']*\w)")

StepPair = tuple[Step | None, Step | None]
"""A step of the first trace and one of the second; ``None`` where only one of them has it."""


def named_like(first: Trace, second: Trace, pairs: Sequence[StepPair]) -> Trace:
    """Returns the second trace with the first one's names for all that both have.

    A node that reads the same in both is the first trace's own object: line numbers, by which an edit further up
    moves a node, and the numbers in class names (``___torch_mangle_3``) do not count. What only the second trace has
    keeps its name, followed by ``'2``, ``'3``, … where the first one uses that for something else.

    Args:
        first: the trace whose names are used.
        second: the trace to rename.
        pairs: the steps of both that stand for each other, those of each method in order.

    Returns:
        The renamed trace, with the same steps in the same order.
    """
    matchers, storages = _matchers(first, second, pairs)
    stored = _storage_names(first, second, storages)
    methods = {
        method: MethodNames(first.method_steps(method), second.method_steps(method), matcher, stored)
        for method, matcher in matchers.items()
    }
    return _Renaming(first, second, methods, _references(pairs)).trace()


def _matchers(first: Trace, second: Trace, pairs: Sequence[StepPair]) -> tuple[dict[str, NodeMatcher], Pairing]:
    storages = Pairing()
    matchers = {method: NodeMatcher(first, second, storages) for method in second.methods}
    finals = ((first.final(method), second.final(method)) for method in second.methods)
    for old, new in [*pairs, *finals]:
        if old is not None and new is not None:
            matchers[new.method].match(old.graph, new.graph)
    return matchers, storages


def _references(pairs: Sequence[StepPair]) -> dict[int, GraphSnapshot | None]:
    """Returns for each step of the second trace what the first one has there, or had there last."""
    latest: dict[str, GraphSnapshot] = {}
    references = {}
    for old, new in pairs:
        if old is not None:
            latest[old.method] = old.graph
        if new is not None:
            references[new.index] = latest.get(new.method)
    return references


def _storage_names(first: Trace, second: Trace, storages: Pairing) -> dict[str, str]:
    taken = set(_storages(first))
    names = {}
    for name in dict.fromkeys(_storages(second)):
        names[name] = storages.firsts[name] if name in storages.firsts else fresh(name, taken)
        taken.add(names[name])
    return names


def _storages(trace: Trace) -> Iterator[str]:
    for graph in {id(step.graph): step.graph for step in trace.steps}.values():
        for node in graph.walk():
            if node.constant is not None and node.constant.storage is not None:
                yield node.constant.storage


class _Renaming:
    """Replaces the names of nodes and values throughout the second trace."""

    def __init__(
        self,
        first: Trace,
        second: Trace,
        methods: Mapping[str, MethodNames],
        references: Mapping[int, GraphSnapshot | None],
    ) -> None:
        self._second = second
        self._methods = methods
        self._graphs = [methods[step.method].snapshot(step.graph, references[step.index]) for step in second.steps]
        self._finals = {step.method: self._graphs[step.index][1] for step in second.steps}
        self._types = {fate.path: fate.type for fate in first.attributes}

    def trace(self) -> Trace:
        second = self._second
        steps: list[Step] = []
        latest: dict[str, GraphSnapshot] = {}
        for step in second.steps:
            graph, before = self._graphs[step.index][0], latest.get(step.method)
            latest[step.method] = before if before is not None and before == graph else graph
            steps.append(self._step(step, latest[step.method]))
        return replace(
            second,
            steps=tuple(steps),
            attributes=tuple(self._fate(fate) for fate in second.attributes),
            near_misses=tuple(self._near_miss(miss) for miss in second.near_misses),
            programs=tuple(self._program(program) for program in second.programs),
            call_paths=tuple(self._call_path(path) for path in second.call_paths),
        )

    def _step(self, step: Step, graph: GraphSnapshot) -> Step:
        nodes, values = self._methods[step.method].nodes, self._graphs[step.index][1]
        return replace(
            step,
            graph=graph,
            rewrites=tuple(_rewrite(rewrite, nodes) for rewrite in step.rewrites),
            aliases=step.aliases and _aliases(step.aliases, nodes, values),
        )

    def _near_miss(self, miss: NearMiss) -> NearMiss:
        nodes = self._methods[self._second.steps[miss.step].method].nodes
        values = self._graphs[miss.step][1]
        return replace(
            miss,
            node=nodes[miss.node],
            neighbour=nodes.get(miss.neighbour, miss.neighbour),
            detail=_NAMED.sub(lambda found: f"%{values.get(found[1]) or nodes.get(found[1], found[1])}", miss.detail),
        )

    def _program(self, program: Program) -> Program:
        if program.method not in self._methods:
            return program
        nodes = self._methods[program.method].nodes
        kernels = (
            replace(kernel, nodes=_called(kernel.nodes, nodes), origins=_called(kernel.origins, nodes))
            for kernel in program.kernels
        )
        idle = ((nodes.get(node, node), why) for node, why in program.no_kernel)
        return replace(program, kernels=tuple(kernels), no_kernel=tuple(idle))

    def _call_path(self, path: CallPath) -> CallPath:
        nodes = self._methods[path.method].nodes if path.method in self._methods else {}
        return replace(path, nodes=_called(path.nodes, nodes))

    def _fate(self, fate: AttributeFate) -> AttributeFate:
        first_type = self._types.get(fate.path, fate.type)
        locations = (
            replace(place, value=self._finals[place.method].get(place.value, place.value)) for place in fate.locations
        )
        return replace(
            fate,
            type=first_type if unmangled(first_type) == unmangled(fate.type) else fate.type,
            evidence=tuple(self._evidence(evidence) for evidence in fate.evidence),
            locations=tuple(locations),
        )

    def _evidence(self, evidence: Evidence) -> Evidence:
        if evidence.step is None:
            return evidence
        nodes = self._methods[self._second.steps[evidence.step].method].nodes
        values = self._graphs[evidence.step][1]
        chain = (
            replace(link, value=values.get(link.value, link.value), node=nodes[link.node]) for link in evidence.chain
        )
        return replace(evidence, node=evidence.node and nodes[evidence.node], chain=tuple(chain))


def _called(names: tuple[str, ...], nodes: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(nodes.get(name, name) for name in names)


def _rewrite(rewrite: Rewrite, nodes: Mapping[str, str]) -> Rewrite:
    consumed, produced = ([nodes[name] for name in names] for names in (rewrite.consumed, rewrite.produced))
    return replace(rewrite, consumed=tuple(consumed), produced=tuple(produced))


def _aliases(aliases: AliasAnalysis, nodes: Mapping[str, str], values: Mapping[str, str]) -> AliasAnalysis:
    def named(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(values.get(name, name) for name in names)  # a wildcard is no value

    entries = (
        replace(entry, value=values.get(entry.value, entry.value), targets=named(entry.targets))
        for entry in aliases.entries
    )
    writes = (replace(write, node=nodes[write.node], targets=named(write.targets)) for write in aliases.writes)
    return AliasAnalysis(tuple(entries), tuple(writes))
