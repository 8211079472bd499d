"""Canonical form of what a graph computes, independent of the names of its values and the sources of its nodes.

A file keeps neither the names of values nor the submodules that nodes come from, and writes a list of constants as a
node that makes it. None of this is a difference here; nor is the order of nodes that do not depend on each other.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from freeze_engine.analysis.step_metrics import op_deltas
from freeze_engine.trace import GraphSnapshot, Node

_CONSTANTS: Final = ("prim::Constant", "prim::ConstantMKLDNNTensor")
_LIST: Final = "prim::ListConstruct"
#: What torch prints for a value that it does not spell out (``torch/csrc/jit/ir/ir.cpp``, torch 2.13); without address.
_SHOWN_BY_KIND: Final = ("<Tensor>", "object")


@dataclass(frozen=True, slots=True)
class Computation:
    """The canonical form of a graph.

    Attributes:
        nodes: how many nodes compute each thing, constants left out; its key is a digest of the node and all
            that it depends on.
        near: the same, with a key of the node, its constants, and the kinds of nodes that it reads.
        outputs: what is returned.
        unknown: constants whose values are not known, so that any two of one type count as equal: name and type.
    """

    nodes: Counter[str]
    near: Counter[tuple[str, str]]
    outputs: tuple[str, ...]
    unknown: tuple[str, ...]


def computation(graph: GraphSnapshot) -> Computation:
    """Returns the canonical form of a graph."""
    reading = _Reading()
    for number, value in enumerate(graph.inputs):
        reading.define(value.name, f"input {number}", "input")
    reading.read(graph.nodes)
    outputs = tuple(reading.whole[name] for name in graph.outputs)
    return Computation(reading.nodes, reading.near, outputs, tuple(reading.unknown))


def differing_operators(before: Computation, after: Computation) -> tuple[str, ...]:
    """Returns the differences between two computations, as operators with how many more the second one has.

    Args:
        before: the one.
        after: the other.

    Returns:
        Nothing if both compute the same. An operator whose count is the same but that does something else is named with
        how many of it do.
    """
    if (before.nodes, before.outputs) == (after.nodes, after.outputs):
        return ()
    ours, theirs = (_by_operator(each) for each in (before.near, after.near))
    deltas = op_deltas(tuple(sorted(ours.items())), tuple(sorted(theirs.items())))
    gone = _by_operator(before.near - after.near)
    more = dict(deltas)
    others = [f"{count} other {op}" for op, count in sorted(gone.items()) if op not in more]
    return (*(f"{op} {count:+}" for op, count in deltas), *others) or ("the same operators, otherwise connected",)


def _by_operator(near: Counter[tuple[str, str]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for (op, _), number in near.items():
        counts[op] += number
    return counts


@dataclass(slots=True)
class _Reading:
    """Goes through the nodes in order.

    Attributes:
        whole: value -> a digest of all it depends on; for a constant its text.
        kind: value -> the constant's text, or the operator that defines it.
        constants: the values that are constants.
        unknown: those whose value is not known, with their types.
    """

    nodes: Counter[str] = field(default_factory=Counter)
    near: Counter[tuple[str, str]] = field(default_factory=Counter)
    whole: dict[str, str] = field(default_factory=dict)
    kind: dict[str, str] = field(default_factory=dict)
    constants: set[str] = field(default_factory=set)
    unknown: list[str] = field(default_factory=list)

    def define(self, name: str, whole: str, kind: str) -> None:
        self.whole[name], self.kind[name] = whole, kind

    def read(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            text = self._constant(node)
            if text is None:
                self._computed(node)
                continue
            for value in node.outputs:
                self.define(value.name, text, text)
                self.constants.add(value.name)

    def _constant(self, node: Node) -> str | None:
        if node.op == _LIST and all(name in self.constants for name in node.inputs):
            return f"[{', '.join(self.whole[name].partition(' ')[2] for name in node.inputs)}]"
        if node.op not in _CONSTANTS:
            return None
        kept, text = node.constant, node.attribute("value")
        if text in _SHOWN_BY_KIND if kept is None else kept.digest is None:
            self.unknown.append(f"%{node.outputs[0].name} ({node.outputs[0].type})")
        if kept is not None:
            # A container's type is written as a module's attribute (List[Tensor]) or as a value's (Tensor[]).
            kind = kept.dtype if kept.dtype.isidentifier() else ""
            return f"{node.op} {kind}{list(kept.shape)} {kept.digest}"
        if text is not None and text.startswith("["):
            return text
        return f"{node.outputs[0].type} {node.attributes if text is None else text}"

    def _computed(self, node: Node) -> None:
        attributes = repr(node.attributes)
        whole = _digest([node.op, attributes, *(self.whole[name] for name in node.inputs), *self._blocks(node)])
        self.nodes[whole] += 1
        self.near[node.op, repr((attributes, [self.kind[name] for name in node.inputs]))] += 1
        for number, value in enumerate(node.outputs):
            self.define(value.name, f"{whole}.{number}", node.op)

    def _blocks(self, node: Node) -> Iterator[str]:
        for block in node.blocks:
            for number, value in enumerate(block.inputs):
                self.define(value.name, f"block input {number}", "block input")
            self.read(block.nodes)
            yield from (self.whole[name] for name in block.outputs)


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]
