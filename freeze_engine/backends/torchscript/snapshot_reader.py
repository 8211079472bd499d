"""Reads the snapshots of a freeze and adds what only live objects know: modules and constants' contents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from freeze_engine.backends.torchscript.capture.raw import LiveSnapshot, RawFreeze, graph_text
from freeze_engine.backends.torchscript.graph.annotations import Annotations
from freeze_engine.backends.torchscript.graph.attribute_reads import fork_paths
from freeze_engine.backends.torchscript.graph.live import (
    Walk,
    constant_values,
    constants,
    describe,
    module_path,
    paired,
)
from freeze_engine.backends.torchscript.graph.module_slots import ModuleAttribute
from freeze_engine.tensors.constants import StorageNames
from freeze_engine.tensors.values import values_are_kept
from freeze_engine.trace import Constant, GraphSnapshot, Node


class SnapshotReader:
    """Facts about the graphs of one freeze beyond their texts.

    Args:
        freeze: its raw data.
        slots: the slots of the original module, by path.
        parse: reads the text of a graph.
        inlined: by method, the inlined graph as torch's log showed it. The freeze works on a copy of the module, whose
            values are numbered anew, so only these names are good.
        walk: returns the nodes of a live graph.
    """

    def __init__(
        self,
        freeze: RawFreeze,
        slots: dict[str, ModuleAttribute],
        parse: Callable[[str], GraphSnapshot],
        inlined: Mapping[str, GraphSnapshot],
        walk: Walk,
    ) -> None:
        self._inlined = inlined
        self._freeze = freeze
        self._storages = StorageNames(holding=True, keeping_values=values_are_kept())
        self._parse = parse
        self._walk = walk
        self._from_slots = self._describe_slots(slots)
        self._of_method: dict[str, Annotations] = {}
        self._values: dict[str, dict[str, Any]] = {}
        self._slots = slots
        self._in_forks = {method: self._fork_slots(method, graph) for method, graph in inlined.items()}

    def read(self, method: str, snapshot: LiveSnapshot) -> GraphSnapshot:
        """Returns a live snapshot as plain data, node ids provisional."""
        return self.annotate(method, self._parse(snapshot.text))

    def read_runtime(self, graph: Any) -> GraphSnapshot:
        """Returns a graph that the executor made as plain data; its constants are described by the live graph alone."""
        snapshot = self._parse(graph_text(graph))
        pairs = paired(snapshot, graph)
        modules = {value.name: module_path(live) for node, live in pairs for value in node.outputs[:1]}
        return Annotations(modules, constants(pairs, self._storages)).annotate(snapshot)

    def annotate(self, method: str, graph: GraphSnapshot) -> GraphSnapshot:
        """Returns a graph of ``method`` with modules and constants filled in."""
        if method not in self._of_method:
            self._of_method[method] = self._learn(method)
        return self._of_method[method].annotate(graph)

    def constant(self, method: str, name: str) -> Any:
        """Returns the value of a constant of one of the method's graphs.

        Raises:
            KeyError: it is in none of the live graphs.
        """
        if method not in self._of_method:
            self._of_method[method] = self._learn(method)
        if name in self._values[method]:
            return self._values[method][name]
        forked = self._in_forks.get(method, {})
        return self._slots[forked.get(name, name.removeprefix("self."))].value

    def attribute(self, path: str) -> Constant | None:
        """Returns the summary of an attribute's tensor before freezing, ``None`` where its numbers are not kept."""
        found = self._from_slots.get(f"self.{path}")
        return found if found is not None and found.values is not None else None

    def _learn(self, method: str) -> Annotations:
        modules: dict[str, str] = {}
        known: dict[str, Constant] = dict(self._from_slots)
        for name, path in self._in_forks.get(method, {}).items():
            if f"self.{path}" in self._from_slots:
                known[name] = self._from_slots[f"self.{path}"]
        values = self._values.setdefault(method, {})
        for pairs in self._pairings(method):
            for node, live in pairs:
                if node.outputs and node.outputs[0].name not in modules:
                    modules[node.outputs[0].name] = module_path(live)
            for name, value in constant_values(pairs):
                values.setdefault(name, value)
            # Objects with weights in a special layout are unpacked to describe them: once is enough.
            new = [pair for pair in pairs if pair[0].outputs and pair[0].outputs[0].name not in known]
            known.update(constants(new, self._storages))
        return Annotations(modules, known)

    def _pairings(self, method: str) -> Iterator[list[tuple[Node, Any]]]:
        if method in self._inlined:
            yield paired(self._inlined[method], self._freeze.inlined(method), self._walk)
        first = self._freeze.frozen.get(method) or self._freeze.inputs.get(method)
        driven = [step.after for step in self._freeze.steps if step.method == method]
        snapshots = {id(each): each for each in (first, *driven) if each is not None}
        for snapshot in snapshots.values():
            yield paired(self._parse(snapshot.text), snapshot.graph, self._walk)

    def _fork_slots(self, method: str, inlined: GraphSnapshot) -> dict[str, str]:
        """Returns the attribute's path for each constant's name in a fork, which starts at the fork's module."""
        found: dict[str, str] = {}
        for scope, module in fork_paths(inlined, method.rpartition(".")[0]).items():
            prefix = f"{module}." if module else ""
            found |= {
                f"{scope}self.{path.removeprefix(prefix)}": path for path in self._slots if path.startswith(prefix)
            }
        return found

    def _describe_slots(self, slots: dict[str, ModuleAttribute]) -> dict[str, Constant]:
        """torch names the constant made of an attribute after the attribute: ``self.<path>``."""
        described = {}
        for path, slot in slots.items():
            if slot.tensors and (constant := describe(slot.value, slot.type, self._storages)):
                described[f"self.{path}"] = constant
        return described
