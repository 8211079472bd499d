"""Resolves the reads of node arguments, block results and graph results, and the origin of the values read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from freeze_engine.backends.common.use_def import SHAPE_READERS
from freeze_engine.backends.torchscript.graph.stages import CONSTANT_OPS
from freeze_engine.trace import GraphSnapshot, Node

Read = tuple[str, int, int]
"""One place that reads a value: the id of its node (empty: the graph's return), the number of the block that yields it
(-1: an argument of the node), and the position there."""


@dataclass(frozen=True, slots=True)
class Paths:
    """Attributes behind a value, by their paths.

    Attributes:
        held: those whose value it is.
        derived: those that it was computed from.
    """

    held: frozenset[str] = frozenset()
    derived: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.held or self.derived)

    @property
    def all(self) -> frozenset[str]:
        """Both kinds."""
        return self.held | self.derived

    def computed(self) -> Paths:
        """Returns the paths for a value that is computed from this one."""
        return Paths(derived=self.all)


NONE = Paths()


@dataclass(frozen=True, slots=True)
class Origins:
    """The places of attribute values in one snapshot.

    torch pools constants of equal value from all attributes. The origin of such a constant is thus kept for each place
    that reads it.

    Attributes:
        held: constants that are an attribute's value, by value name; several attributes where equal constants were
            merged.
        derived: constants that were computed from attribute values, by value name.
        reads: what one place reads, where that is less than all that its value holds.
    """

    held: Mapping[str, frozenset[str]] = field(default_factory=dict)
    derived: Mapping[str, frozenset[str]] = field(default_factory=dict)
    reads: Mapping[Read, Paths] = field(default_factory=dict)

    def attributes(self, name: str) -> tuple[str, ...]:
        """Returns the paths of the attributes whose values are in the constant called ``name``, sorted."""
        return tuple(sorted(self.held.get(name, frozenset()) | self.derived.get(name, frozenset())))

    def is_new(self, name: str) -> bool:
        """Returns whether a value is unknown."""
        return name not in self.held and name not in self.derived

    def table(self) -> dict[str, tuple[str, ...]]:
        """Returns all of it as attribute paths by value name."""
        return {name: self.attributes(name) for name in sorted({*self.held, *self.derived})}

    def arguments(self) -> dict[tuple[str, int], tuple[str, ...]]:
        """Returns what is kept for single arguments as attribute paths by node and position."""
        found = self.reads.items()
        return {(node, place): tuple(sorted(paths.all)) for (node, block, place), paths in found if block < 0}

    def value(self, name: str) -> Paths:
        """Returns all origins of a value."""
        if name not in self.held and name not in self.derived:
            return NONE
        return Paths(self.held.get(name, frozenset()), self.derived.get(name, frozenset()))

    def read(self, read: Read, name: str) -> Paths:
        """Returns the origins of what one place reads.

        Args:
            read: the place.
            name: of the value that it reads.
        """
        known = self.reads.get(read)
        return self.value(name) if known is None else known


class Reading:
    """A snapshot by the places that read values.

    Args:
        graph: the snapshot.
    """

    def __init__(self, graph: GraphSnapshot) -> None:
        self.nodes = {node.id: node for node in graph.walk()}
        self.makers = {value.name: node for node in self.nodes.values() for value in node.outputs}
        self.constants = {name: node for name, node in self.makers.items() if node.op in CONSTANT_OPS}
        self.reads = _reads(graph, self.nodes)

    def fixed(self) -> frozenset[str]:
        """Returns the values that are computed from constants alone."""
        found = set(self.constants)
        for node in self.nodes.values():
            if node.inputs and not node.blocks and found.issuperset(node.inputs):
                found.update(value.name for value in node.outputs)
        return frozenset(found)

    def content(self, name: str) -> tuple[object, ...] | None:
        """Returns a key that equal constants share, ``None`` for a value that is none."""
        node = self.constants.get(name)
        if node is None:
            return None
        constant = node.constant
        if constant is None:
            return (node.outputs[0].type, node.attributes)
        return (constant.shape, constant.dtype, constant.digest or name)

    def made_of(self, name: str, origins: Origins, value: str = "") -> Paths:
        """Returns the attributes that a value is computed from; a shape is computed from none.

        Args:
            name: of the value.
            origins: of the snapshot.
            value: a constant that stands for it later on: where it only passed through, that is still the attribute.
        """
        held, derived = set[str](), set[str]()
        pending, seen = [name], {name}
        while pending:
            for read, each in self._behind(pending.pop()):
                paths = origins.read(read, each)
                held |= paths.held if each == value else frozenset()
                derived |= paths.derived if each == value else paths.all
                if each not in seen and read not in origins.reads:
                    seen.add(each)
                    pending.append(each)
        return Paths(frozenset(held), frozenset(derived))

    def _behind(self, name: str) -> Iterator[tuple[Read, str]]:
        node = self.makers.get(name)
        if node is None or node.op in SHAPE_READERS:
            return
        for place, each in enumerate(node.inputs):
            yield (node.id, -1, place), each
        if node.op != "prim::If":
            return
        position = [value.name for value in node.outputs].index(name)
        taken = {"1": 0, "0": 1}.get(self._flag(node.inputs[0]))
        for number, block in enumerate(node.blocks):
            if taken in (None, number):
                yield (node.id, number, position), block.outputs[position]

    def _flag(self, name: str) -> str:
        node = self.constants.get(name)
        return (node.attribute("value") or "") if node is not None else ""


def _reads(graph: GraphSnapshot, nodes: Mapping[str, Node]) -> dict[Read, str]:
    found: dict[Read, str] = {}
    for id_, node in nodes.items():
        for place, name in enumerate(node.inputs):
            found[id_, -1, place] = name
        for number, block in enumerate(node.blocks):
            for place, name in enumerate(block.outputs):
                found[id_, number, place] = name
    for place, name in enumerate(graph.outputs):
        found["", -1, place] = name
    return found
