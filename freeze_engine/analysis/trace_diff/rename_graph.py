"""Writes the snapshots of one trace with the names of another, once it is known which nodes are the same."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Final

from freeze_engine.analysis.trace_diff.node_matching import NodeMatcher, names_constant, unmangled
from freeze_engine.trace import Block, Constant, GraphSnapshot, Node, Step, Value

Names = tuple[str, ...]

#: Weights in a library's own layout (torch 2.13: aten/src/ATen/native/mkl and mkldnn), whose padding is never written:
#: two packings of one weight have other bytes there. The weight itself is compared in the graphs before it is packed.
_PACKED: Final = re.compile(r"_(mkl_)?reorder_\w+_weight")


class MethodNames:
    """The names of one method of the second trace, as the first one would give them.

    Attributes:
        nodes: the new id of every node of the method, by its own.
    """

    def __init__(
        self, first: Sequence[Step], second: Sequence[Step], matcher: NodeMatcher, storages: Mapping[str, str]
    ) -> None:
        """Args: the method's steps in both traces, what matches in them, and the new names of all storages."""
        self._known = {node.id: node for graph in _graphs(first) for node in graph.walk()}
        own = dict.fromkeys(node.id for graph in _graphs(second) for node in graph.walk())
        self._scopes = matcher.scopes.firsts
        self._scope_lengths = sorted({len(scope) for scope in self._scopes}, reverse=True)
        self._inputs = matcher.inputs.firsts
        self._storages = storages
        self._taken = {value for graph in _graphs(first) for value in _value_names(graph)}
        self.nodes = self._node_names(own, matcher.nodes.firsts)
        self._strangers: dict[str, str] = {}
        self._cache: dict[tuple[int, int], tuple[GraphSnapshot, dict[str, str]]] = {}
        self._written: dict[tuple[int, int, Names, Names], Node] = {}

    def snapshot(self, graph: GraphSnapshot, reference: GraphSnapshot | None) -> tuple[GraphSnapshot, dict[str, str]]:
        """Renames a snapshot.

        Args:
            graph: a snapshot of the method in the second trace.
            reference: what the first trace has at the same place, if it has anything.

        Returns:
            The renamed snapshot, and the new names of its values by their own.
        """
        key = (id(graph), id(reference))
        if key not in self._cache:
            self._cache[key] = _SnapshotNames(self, reference).rename(graph)
        return self._cache[key]

    def node(self, own: Node, first: Node | None, inputs: Names, outputs: Names) -> Node:
        """Returns a node without blocks with new names, the same object wherever these are the same.

        Args:
            own: the node in the second trace.
            first: the same node in the first one.
            inputs: the new names of what it reads.
            outputs: the new names of what it defines.
        """
        key = (id(own), id(first), inputs, outputs)  # both traces hold their nodes, so that an id() is never reused
        if key not in self._written:
            self._written[key] = self.written(own, first, inputs, outputs, ())
        return self._written[key]

    def written(self, own: Node, first: Node | None, inputs: Names, outputs: Names, blocks: tuple[Block, ...]) -> Node:
        """Returns a node with new names and renamed blocks, the first trace's own object if it reads the same."""
        name = self.nodes[own.id]
        values = _all_typed(outputs, own.outputs, first.outputs if first else ())
        constant = self._constant(own.constant)
        if first is None:
            return replace(own, id=name, inputs=inputs, outputs=values, blocks=blocks, constant=constant)
        attributes = first.attributes if _alike(first, own) else own.attributes
        constant = _held_alike(name, first.constant, constant)
        node = Node(name, own.op, inputs, values, attributes, blocks, own.module, first.source, constant)
        return first if node == first else replace(node, source=own.source)

    def _node_names(self, own: Iterable[str], matched: Mapping[str, str]) -> dict[str, str]:
        taken = {*self._known, *matched.values()}
        names = {}
        for name in own:
            names[name] = matched[name] if name in matched else fresh(self.scoped(name), taken)
            taken.add(names[name])
        return names

    def scoped(self, name: str) -> str:
        """Returns a name of the second trace with its scope's name in the first one, if it has such a scope."""
        scope = next((name[:length] for length in self._scope_lengths if name[:length] in self._scopes), "")
        return self._scopes[scope] + name[len(scope) :] if scope else name

    def scope(self, scope: str) -> str:
        """Returns a scope's new name."""
        return self._scopes.get(scope, scope)

    def stranger(self, name: str) -> str:
        """Returns the name of a value that the first trace does not have; it means nothing else in either trace."""
        if name not in self._strangers:
            self._strangers[name] = fresh(self.scoped(name), self._taken)
            self._taken.add(self._strangers[name])
        return self._strangers[name]

    def input(self, name: str) -> str:
        """Returns the new name of one of the graph's inputs."""
        return self._inputs[name] if name in self._inputs else self.stranger(name)

    def known(self, name: str) -> Node | None:
        """Returns a node of the first trace in its last state, by its id."""
        return self._known.get(name)

    def _constant(self, constant: Constant | None) -> Constant | None:
        if constant is None or constant.storage is None or self._storages[constant.storage] == constant.storage:
            return constant
        return replace(constant, storage=self._storages[constant.storage])


class _SnapshotNames:
    """Renames one snapshot; a value's name can mean another one in the next snapshot, so each has its own."""

    def __init__(self, method: MethodNames, reference: GraphSnapshot | None) -> None:
        self._method = method
        self._reference = {node.id: node for node in reference.walk()} if reference else {}
        self._first_inputs = {value.name: value for value in reference.inputs} if reference else {}
        self._values: dict[str, str] = {}
        self._given: set[str] = set()

    def rename(self, graph: GraphSnapshot) -> tuple[GraphSnapshot, dict[str, str]]:
        inputs = []
        for value in graph.inputs:
            name = self._name(value.name, self._method.input(value.name))
            inputs.append(_typed(name, value, self._first_inputs.get(name)))
        nodes = self._nodes(graph.nodes)
        return GraphSnapshot(tuple(inputs), nodes, self._read(graph.outputs)), self._values

    def _name(self, own: str, wanted: str) -> str:
        # Of two nodes that had one name after another in the first trace, the second one may still have both.
        self._values[own] = name = fresh(wanted, self._given)
        self._given.add(name)
        return name

    def _read(self, names: Names) -> Names:
        return tuple([self._values[name] for name in names])

    def _nodes(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple([self._node(node) for node in nodes])

    def _node(self, node: Node) -> Node:
        name = self._method.nodes[node.id]
        first = self._reference.get(name) or self._method.known(name)
        inputs = self._read(node.inputs)
        if not node.blocks:
            return self._method.node(node, first, inputs, self._defined(node.outputs, first.outputs if first else ()))
        blocks = tuple(
            self._block(block, first.blocks[number] if first and number < len(first.blocks) else None)
            for number, block in enumerate(node.blocks)
        )
        outputs = self._defined(node.outputs, first.outputs if first else ())
        return self._method.written(node, first, inputs, outputs, blocks)

    def _block(self, block: Block, first: Block | None) -> Block:
        if first is not None and self._method.scope(block.scope) != first.scope:
            first = None
        known = first.inputs if first else ()
        inputs = _all_typed(self._defined(block.inputs, known), block.inputs, known)
        nodes = self._nodes(block.nodes)
        return Block(inputs, nodes, self._read(block.outputs), self._method.scope(block.scope))

    def _defined(self, values: tuple[Value, ...], first: tuple[Value, ...]) -> Names:
        names = []
        for index, value in enumerate(values):
            wanted = first[index].name if index < len(first) else self._method.stranger(value.name)
            names.append(self._name(value.name, wanted))
        return tuple(names)


def fresh(name: str, taken: Container[str]) -> str:
    """Returns a name, or the first of ``name'2``, ``name'3``, … that is not taken."""
    if name not in taken:
        return name
    candidates = (f"{name}'{number}" for number in count(2))
    return next(candidate for candidate in candidates if candidate not in taken)


def _all_typed(names: Names, values: tuple[Value, ...], first: tuple[Value, ...]) -> tuple[Value, ...]:
    """Returns values with new names, and with the first trace's texts for types that are the same."""
    return tuple(
        _typed(name, value, first[index] if index < len(first) else None)
        for index, (name, value) in enumerate(zip(names, values, strict=True))
    )


def _typed(name: str, value: Value, first: Value | None) -> Value:
    if first is not None and unmangled(first.type) == unmangled(value.type):
        return first if first.name == name else Value(name, first.type)
    return Value(name, value.type)


def _alike(first: Node, second: Node) -> bool:
    """Returns whether the attributes of two nodes say the same, apart from names that a run gives."""
    if first.attributes == second.attributes or (names_constant(first) and names_constant(second)):
        return True
    one, other = ([(name, unmangled(text)) for name, text in node.attributes] for node in (first, second))
    return one == other


def _held_alike(node: str, first: Constant | None, second: Constant | None) -> Constant | None:
    """Returns the second of two constants, or the first one itself if they hold the same as far as the trace shows.

    Statistics are sums, and their last digits are those of a number of threads, a processor and a build of torch.

    Args:
        node: the id of the node that has them.
        first: the first trace's.
        second: the other's.
    """
    if first is None or second is None or first.digest is None:
        return second
    if first.digest != second.digest and not _PACKED.match(node):
        return second
    return first if _without_content(first) == _without_content(second) else second


def _without_content(constant: Constant) -> Constant:
    return replace(constant, digest=None, minimum=None, maximum=None, mean=None, std=None, nonfinite=0)


def _graphs(steps: Sequence[Step]) -> list[GraphSnapshot]:
    """Returns the snapshots of some steps, each object once."""
    return list({id(step.graph): step.graph for step in steps}.values())


def _value_names(graph: GraphSnapshot) -> list[str]:
    names = [value.name for value in graph.inputs]
    for node in graph.walk():
        names += [value.name for value in node.outputs]
        names += [value.name for block in node.blocks for value in block.inputs]
    return names
