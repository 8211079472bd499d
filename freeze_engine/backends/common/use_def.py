"""Definitions and uses of each value of a snapshot, and the operators that torch's folding passes know."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from freeze_engine.trace import Block, Constant, GraphSnapshot, Node

#: Convolutions of frozen_conv_folding.cpp (``supportedConvNode``, torch 2.13), with the names of their arguments.
CONVS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("aten::conv1d", "aten::conv2d", "aten::conv3d"),
        ("input", "weight", "bias", "stride", "padding", "dilation", "groups"),
    ),
    "aten::_convolution": (
        *("input", "weight", "bias", "stride", "padding", "dilation", "transposed", "output_padding", "groups"),
        *("benchmark", "deterministic", "cudnn_enabled", "allow_tf32"),
    ),
}
#: These and the other convolutions; torch folds nothing into the latter.
CONV_LIKE = frozenset(
    {
        *CONVS,
        *("aten::conv_transpose1d", "aten::conv_transpose2d", "aten::conv_transpose3d"),
        *("aten::_convolution_mode", "aten::convolution"),
    }
)
LINEAR = "aten::linear"
BATCH_NORM = "aten::batch_norm"
BATCH_NORM_ARGUMENTS = (
    *("input", "weight", "bias", "running_mean", "running_var"),
    *("training", "momentum", "eps", "cudnn_enabled"),
)
ADDS = frozenset({"aten::add", "aten::sub"})
MULS = frozenset({"aten::mul", "aten::div"})
#: Dropouts that remove_dropout.cpp removes, and those that it does not know.
DROPOUTS = frozenset({"aten::dropout", "aten::dropout_", "aten::feature_dropout", "aten::feature_dropout_"})
#: Readers of a value's shape alone.
SHAPE_READERS = frozenset({"aten::dim", "aten::len", "aten::size", "aten::numel", "prim::shape", "prim::dtype"})
_PUTS: Final = frozenset(
    {"prim::SetAttr", *(f"aten::{op}" for op in ("append", "extend", "insert", "_set_item", "setdefault", "update"))}
)
_RANDOM = ("aten::rand", "aten::normal", "aten::bernoulli", "aten::multinomial")
UNREMOVABLE_DROPOUTS = frozenset(
    f"aten::{op}" for op in ("alpha_dropout", "alpha_dropout_", "feature_alpha_dropout", "feature_alpha_dropout_")
)


@dataclass(frozen=True, slots=True)
class Reader:
    """One use of a value, counted as torch's ``Value::uses()`` does.

    Attributes:
        node: id of the reading node; of the node whose block yields the value; empty if the graph returns it.
        op: the reading node's operator; empty if the graph returns the value.
        label: how to name the reader in a sentence.
    """

    node: str
    op: str
    label: str


@dataclass(frozen=True)
class UseDef:
    """Definitions and uses of one snapshot.

    Attributes:
        nodes: by id, in the order of `GraphSnapshot.walk`.
        definers: the node that defines a value, by the value's name; graph and block inputs have none.
        readers: every use of a value, by its name.
        forked: ids of the nodes inside forked subgraphs.
        owners: names of the inputs that are modules, not values.
    """

    nodes: Mapping[str, Node]
    definers: Mapping[str, Node]
    readers: Mapping[str, tuple[Reader, ...]]
    forked: frozenset[str]
    owners: frozenset[str] = frozenset()

    def is_constant(self, value: str) -> bool:
        """Returns whether a ``prim::Constant`` defines the value: the only constants that folding passes accept."""
        definer = self.definers.get(value)
        return definer is not None and definer.op == "prim::Constant"

    def is_none(self, value: str) -> bool:
        """Returns whether the value is the constant ``None``."""
        definer = self.definers.get(value)
        return definer is not None and definer.op == "prim::Constant" and definer.outputs[0].type == "NoneType"

    def constant(self, value: str) -> Constant | None:
        """Returns the summary of a constant tensor, ``None`` if the value is none."""
        definer = self.definers.get(value)
        return definer.constant if definer is not None and definer.op == "prim::Constant" else None

    def made_of(self, value: str) -> Iterator[Node]:
        """Yields the nodes that compute a value, nearest first, up to those that read a shape or an attribute."""
        waiting, seen = [value], {value}
        while waiting:
            definer = self.definers.get(waiting.pop(0))
            if definer is None:
                continue
            yield definer
            if definer.op not in SHAPE_READERS and definer.op != "prim::GetAttr":
                found = [name for name in definer.inputs if name not in seen]
                waiting += found
                seen |= set(found)

    def varies(self, value: str) -> bool:
        """Returns whether a value depends on the values of the model's inputs, or on chance; a shape does not."""
        return value in self._varying if value in self.definers else value not in self.owners

    @cached_property
    def _varying(self) -> frozenset[str]:
        """The values that vary, found from those that are given, in one way through the graph."""
        reading: dict[str, list[Node]] = {}
        waiting = [name for name in self.readers if name not in self.definers and name not in self.owners]
        for node in self.nodes.values():
            if node.op.startswith(_RANDOM):
                waiting += (value.name for value in node.outputs)
            elif node.op not in SHAPE_READERS:
                read = {*node.inputs, *(name for each in _inside(node) for name in each.inputs)}
                for name in read.union(*(block.outputs for block in node.blocks)):
                    reading.setdefault(name, []).append(node)
        found, passed = set(waiting), set[str]()
        while waiting:
            name = waiting.pop()
            nodes = [node for node in reading.get(name, ()) if node.id not in passed]
            passed.update(node.id for node in nodes)
            reached = {value.name for node in nodes for value in node.outputs}
            reached.update(node.inputs[0] for node in nodes if self._puts(node))
            waiting += reached - found
            found |= reached
        return frozenset(found)

    def _puts(self, node: Node) -> bool:
        """Returns whether a node puts something into a value: into a list, an object, or a tensor's memory."""
        is_write = node.op in _PUTS or (node.op.endswith("_") and not node.op.endswith("__"))
        return is_write and bool(node.inputs) and self._is_computed(node.inputs[0])

    def _is_computed(self, value: str) -> bool:
        definer = self.definers.get(value)
        return definer is not None and definer.op not in SHAPE_READERS

    def readers_apart(self, value: str, node: Node) -> tuple[Reader, ...]:
        """Returns the readers of a value other than a node and those of its shape."""
        found = self.readers.get(value, ())
        return tuple(reader for reader in found if reader.node != node.id and reader.op not in SHAPE_READERS)

    def flag(self, value: str) -> bool | None:
        """Returns a constant boolean (torch prints it as ``value=0`` or ``value=1``), ``None`` if it is not one."""
        if not self.is_constant(value):
            return None
        return {"0": False, "1": True}.get(self.definers[value].attribute("value") or "")


#: The latest snapshots with what was found of them, by identity; ``None`` where nothing is shared.
_shared: ContextVar[dict[int, tuple[GraphSnapshot, UseDef]] | None] = ContextVar("use_defs", default=None)
_MOST_SHARED: Final = 6


@contextlib.contextmanager
def use_defs_shared() -> Iterator[None]:
    """Lets `use_def` look at a snapshot once: the graph after one pass is the one before the next."""
    token = _shared.set({})
    try:
        yield
    finally:
        _shared.reset(token)


def use_def(graph: GraphSnapshot) -> UseDef:
    """Returns the definitions and uses of a snapshot.

    Args:
        graph: the snapshot.

    Returns:
        Them, over all nested blocks and forked subgraphs.
    """
    known = _shared.get()
    if known is None:
        return _use_def(graph)
    # An entry that is used again goes to the end.
    found = known.pop(id(graph), None) or (graph, _use_def(graph))
    known[id(graph)] = found
    if len(known) > _MOST_SHARED:
        del known[next(iter(known))]
    return found[1]


def _use_def(graph: GraphSnapshot) -> UseDef:
    nodes = {node.id: node for node in graph.walk()}
    readers: dict[str, list[Reader]] = {}
    for node in nodes.values():
        for name in node.inputs:
            readers.setdefault(name, []).append(Reader(node.id, node.op, f"{node.op} (%{node.id})"))
        for name in (name for block in node.blocks for name in block.outputs):
            readers.setdefault(name, []).append(Reader(node.id, node.op, f"a block of {node.op} (%{node.id})"))
    for name in graph.outputs:
        readers.setdefault(name, []).append(Reader("", "", "the graph's return"))
    return UseDef(
        nodes=nodes,
        definers={value.name: node for node in nodes.values() for value in node.outputs},
        readers={name: tuple(found) for name, found in readers.items()},
        forked=frozenset(_forked(graph.nodes, False)),
        owners=frozenset(_owners(graph)),
    )


def is_convolution(node: Node, graph: UseDef) -> bool:
    """Returns whether torch's conv folds accept the node: conv1d, 2d, 3d, and non-transposed ``_convolution``."""
    if node.op == "aten::_convolution":
        return graph.flag(node.inputs[6]) is False
    return node.op in CONVS


def blocks(graph: GraphSnapshot) -> Iterator[tuple[Node, ...]]:
    """Yields the nodes of the graph's body, then of every nested block."""
    yield graph.nodes
    for node in graph.walk():
        for block in node.blocks:
            yield block.nodes


def _owners(graph: GraphSnapshot) -> Iterator[str]:
    blocks = (block for node in graph.walk() for block in node.blocks)
    received = (*graph.inputs, *(value for block in blocks for value in block.inputs))
    yield from (value.name for value in received if value.type.startswith(("__torch__", "___torch_mangle")))


def _inside(node: Node) -> Iterator[Node]:
    for block in node.blocks:
        for each in block.nodes:
            yield each
            yield from _inside(each)


def _forked(nodes: tuple[Node, ...], inside: bool) -> Iterator[str]:
    for node in nodes:
        if inside:
            yield node.id
        for block in node.blocks:
            yield from _forked(block.nodes, inside or _is_fork(block))


def _is_fork(block: Block) -> bool:
    return bool(block.scope)
