"""Facts of one snapshot that the reasons ask for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from freeze_engine.trace import GraphSnapshot, Node

#: Nodes that hold a constant: TorchScript's, MKLDNN's, and Inductor's.
CONSTANTS = frozenset({"prim::Constant", "prim::ConstantMKLDNNTensor", "get_attr"})

#: What ``reorder_for_locality`` leaves where it is.
_STAYING = CONSTANTS | {"operator.getitem", "_operator.getitem"}


class GraphFacts:
    """Answers questions about a snapshot; each answer is computed once.

    An operator is named with its overload (``aten.add.Tensor``) or without it (``aten.add``).

    Args:
        snapshot: the graph.
    """

    def __init__(self, snapshot: GraphSnapshot) -> None:
        self._snapshot = snapshot

    @cached_property
    def _by_op(self) -> dict[str, list[Node]]:
        found: dict[str, list[Node]] = {}
        for node in self._snapshot.walk():
            found.setdefault(node.op, []).append(node)
            base = node.op.rpartition(".")[0]
            if "." in base:  # an overload: aten.add.Tensor; operator.getitem has none
                found.setdefault(base, []).append(node)
        return found

    @cached_property
    def _definers(self) -> dict[str, Node]:
        return {value.name: node for node in self._snapshot.walk() for value in node.outputs}

    @cached_property
    def read(self) -> frozenset[str]:
        """Names of the values that a node, a block or the graph reads."""
        nodes = tuple(self._snapshot.walk())
        found = {name for node in nodes for name in node.inputs}
        found.update(name for node in nodes for block in node.blocks for name in block.outputs)
        return frozenset(found.union(self._snapshot.outputs))

    @cached_property
    def repeats(self) -> bool:
        """Whether two nodes, constants aside, apply one operator to the same inputs."""
        seen = set()
        for node in self._snapshot.walk():
            if node.op in CONSTANTS or node.blocks:
                continue
            key = (node.op, node.inputs, node.attributes)
            if key in seen:
                return True
            seen.add(key)
        return False

    @cached_property
    def computes_from_constants(self) -> bool:
        """Whether a node, constants aside, reads constants only, or nothing."""
        return any(
            node.op not in CONSTANTS and all(self.is_constant(name) for name in node.inputs)
            for node in self._snapshot.walk()
        )

    @cached_property
    def is_ordered(self) -> bool:
        """Whether each node at the top level is after the nodes whose values it reads."""
        later = {value.name for node in self._snapshot.nodes for value in node.outputs}
        for node in self._snapshot.nodes:
            if later.intersection(node.inputs):
                return False
            later.difference_update(value.name for value in node.outputs)
        return True

    def nodes(self) -> Iterator[Node]:
        """Yields every node, nested ones included."""
        return self._snapshot.walk()

    def of(self, *ops: str) -> tuple[Node, ...]:
        """Returns the nodes of some operators."""
        return tuple(node for op in ops for node in self._by_op.get(op, ()))

    def has(self, *ops: str) -> bool:
        """Returns whether a node has one of some operators."""
        return any(op in self._by_op for op in ops)

    def has_part(self, *parts: str) -> bool:
        """Returns whether the name of an operator contains one of some texts."""
        return any(part in op for op in self._by_op for part in parts)

    def definer(self, value: str) -> Node | None:
        """Returns the node that defines a value, ``None`` for an input of the graph or of a block."""
        return self._definers.get(value)

    def type_of(self, value: str) -> str:
        """Returns torch's text of a value's type, empty for a value that the graph does not have."""
        return self._types.get(value, "")

    @cached_property
    def _types(self) -> dict[str, str]:
        found = {value.name: value.type for value in self._snapshot.inputs}
        for node in self._snapshot.walk():
            found.update((value.name, value.type) for value in node.outputs)
            found.update((value.name, value.type) for block in node.blocks for value in block.inputs)
        return found

    @cached_property
    def is_local(self) -> bool:
        """Whether each node at the top level is right before the node that reads it first.

        As ``reorder_for_locality`` goes (torch 2.13, ``torch/_inductor/fx_passes/post_grad.py``): from the last node to
        the first, each takes right before it what it reads, unless a node before it reads that as well.
        """
        nodes = self._snapshot.nodes
        makers = {value.name: node for node in nodes for value in node.outputs if node.op not in _STAYING}
        readers: dict[str, set[str]] = {}
        for node in nodes:
            for name in node.inputs:
                readers.setdefault(name, set()).add(node.id)
        seen: set[str] = set()
        for at in range(len(nodes), -1, -1):
            read = self._snapshot.outputs if at == len(nodes) else nodes[at].inputs
            if at < len(nodes):
                seen.add(nodes[at].id)
            mine = [makers[name] for name in dict.fromkeys(read) if name in makers]
            mine = [node for node in mine if all(readers.get(value.name, set()) <= seen for value in node.outputs)]
            if any(one is not other for one, other in zip(mine, nodes[at - len(mine) : at], strict=False)):
                return False
        return True

    def is_constant(self, value: str) -> bool:
        """Returns whether a constant defines a value."""
        definer = self.definer(value)
        return definer is not None and definer.op in CONSTANTS

    def readers_of(self, readers: tuple[str, ...], of: tuple[str, ...]) -> tuple[tuple[Node, int], ...]:
        """Returns the nodes of some operators that read a result of some others, with the first place where they do.

        Args:
            readers: operators of the nodes to return.
            of: operators of the nodes that they read.
        """
        makers = {value.name for node in self.of(*of) for value in node.outputs}
        places = ((node, [at for at, name in enumerate(node.inputs) if name in makers]) for node in self.of(*readers))
        return tuple((node, found[0]) for node, found in places if found)

    def weight_devices(self, *ops: str) -> frozenset[str] | None:
        """Returns the devices of some operators' constant weights (``cpu``, ``cuda``), ``None`` if one is unknown.

        A weight that is not a constant is left out: the passes that ask for the device leave its node alone.
        """
        found = set()
        for node in self.of(*ops):
            definer = self.definer(node.inputs[1]) if len(node.inputs) > 1 else None
            if definer is None or definer.op not in CONSTANTS:
                continue
            if definer.constant is None:
                return None
            found.add(definer.constant.device.partition(":")[0])
        return frozenset(found)
