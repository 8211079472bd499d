"""Finds the number of dimensions of a graph's values, from the graph or the model's inputs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Final

from freeze_engine.backends.common.use_def import BATCH_NORM, CONV_LIKE, LINEAR, UseDef
from freeze_engine.trace import Block, GraphSnapshot, InputSpec, Node

_SHAPED: Final = re.compile(r"^[A-Z]\w*\((?P<sizes>[^()=]*?)(, strides=|, requires_grad=|, device=|\))")
#: Operators whose output has the dimensions of their first input.
_SAME: Final = frozenset(
    {
        *CONV_LIKE,
        *(LINEAR, BATCH_NORM, "aten::layer_norm", "aten::group_norm", "aten::instance_norm", "aten::softmax"),
        *(
            "aten::transpose",
            "aten::contiguous",
            "aten::to",
            "aten::clone",
            "aten::detach",
            "aten::slice",
            "aten::roll",
        ),
        *("aten::avg_pool1d", "aten::avg_pool2d", "aten::avg_pool3d", "aten::max_pool1d", "aten::max_pool2d"),
        *("aten::adaptive_avg_pool1d", "aten::adaptive_avg_pool2d", "aten::relu", "aten::relu_", "aten::gelu"),
        *("aten::silu", "aten::sigmoid", "aten::tanh", "aten::hardtanh", "aten::leaky_relu", "aten::neg", "aten::pad"),
        *("aten::dropout", "aten::elu", "aten::hardswish", "aten::exp", "aten::constant_pad_nd"),
    }
)
#: Number of dimensions that an operator's output has more than its first input.
_MORE: Final = {"aten::unsqueeze": 1, "aten::select": -1}
_LISTED: Final = frozenset({"aten::view", "aten::reshape", "aten::permute", "aten::expand"})
_BINARY: Final = frozenset(f"aten::{op}{end}" for op in ("add", "sub", "mul", "div") for end in ("", "_"))


class Ranks:
    """Finds ranks: from a traced type, a check that raises for any other, or the inputs' and the operators between.

    Args:
        snapshot: the graph.
        graph: its uses.
        inputs: of the model, positional ones first; empty if unknown.
    """

    def __init__(self, snapshot: GraphSnapshot, graph: UseDef, inputs: tuple[InputSpec, ...]) -> None:
        self._snapshot = snapshot
        self._graph = graph
        self._given = _given(snapshot, inputs)
        self._types = {value.name: value.type for node in graph.nodes.values() for value in node.outputs}

    def of(self, value: str) -> int | None:
        """Returns how many dimensions a value has, ``None`` where that is not known."""
        return self._of(value, self._known)

    @cached_property
    def _known(self) -> Mapping[str, int | None]:
        """The rank of each value that a node computes, found in the order of the graph: each node is visited once."""
        known: dict[str, int | None] = {}
        for node in self._snapshot.walk():
            for output in node.outputs:
                seen = self._seen(output.name)
                known[output.name] = self._computed(node, known) if seen is None else seen
        return known

    def _seen(self, value: str) -> int | None:
        """Returns the rank that follows from a value's type, a check of it or the inputs of the model."""
        typed = _SHAPED.match(self._types.get(value, ""))
        if typed and typed["sizes"]:
            return typed["sizes"].count(",") + 1
        checked = self._checked(value)
        return self._given.get(value) if checked is None else checked

    def _computed(self, node: Node, known: Mapping[str, int | None]) -> int | None:
        if node.constant is not None:
            return len(node.constant.shape)
        if node.op in _LISTED:
            return self._listed(node.inputs[1])
        if node.op in _BINARY:
            ranks = [self._of(name, known) if self._is_tensor(name) else 0 for name in node.inputs[:2]]
            found = [rank for rank in ranks if rank is not None]
            return max(found) if len(found) == len(ranks) else None
        rank = self._of(node.inputs[0], known) if node.inputs else None
        if rank is None or node.op in _SAME:
            return rank if node.op in _SAME else None
        if node.op == "aten::flatten":
            return self._flat(node, rank)
        return rank + _MORE[node.op] if node.op in _MORE else None

    def _of(self, value: str, known: Mapping[str, int | None]) -> int | None:
        return known[value] if value in known else self._seen(value)

    def _is_tensor(self, name: str) -> bool:
        return self._types.get(name, "Tensor") not in ("int", "float", "Scalar", "bool")

    def _listed(self, value: str) -> int | None:
        node = self._graph.definers.get(value)
        if node is None:
            return None
        if node.op == "prim::ListConstruct":
            return len(node.inputs)
        text = node.attribute("value") if node.op == "prim::Constant" else None
        return text.count(",") + 1 if text and text.startswith("[") and text != "[]" else None

    def _flat(self, node: Node, rank: int) -> int | None:
        first, last = (self._number(name) for name in node.inputs[1:3])
        if first is None or last is None:
            return None
        return rank - (last % rank - first % rank) if rank else 1

    def _number(self, value: str) -> int | None:
        node = self._graph.definers.get(value)
        text = (node.attribute("value") or "") if node is not None and node.op == "prim::Constant" else ""
        return int(text) if re.fullmatch(r"-?\d+", text) else None

    def _checked(self, value: str) -> int | None:
        """Returns the rank that a check demands: ``if x.dim() != 4: raise``, as modules check their inputs."""
        graph = self._graph
        for dim in (reader for reader in graph.readers.get(value, ()) if reader.op == "aten::dim"):
            for compared in graph.readers.get(graph.nodes[dim.node].outputs[0].name, ()):
                wanted = self._demanded(compared.node)
                if wanted is not None:
                    return wanted
        return None

    def _demanded(self, node: str) -> int | None:
        graph = self._graph
        if not node or graph.nodes[node].op != "aten::ne":
            return None
        comparison = graph.nodes[node]
        for reader in graph.readers.get(comparison.outputs[0].name, ()):
            branch = graph.nodes.get(reader.node)
            if branch is not None and branch.op == "prim::If" and not branch.outputs and _raises(branch.blocks[0]):
                return self._number(comparison.inputs[1])
        return None


def _raises(block: Block) -> bool:
    return any(node.op == "prim::RaiseException" for node in block.nodes)


def _given(snapshot: GraphSnapshot, inputs: tuple[InputSpec, ...]) -> Mapping[str, int]:
    own = [value for value in snapshot.inputs if not value.type.startswith(("__torch__", "___torch_mangle"))]
    ranks = {}
    for place, value in enumerate(own):
        known = {spec.name: spec for spec in inputs}
        spec = known.get(str(place)) or known.get(value.name.partition(".")[0])
        if spec is not None and spec.shape is not None:
            ranks[value.name] = len(spec.shape)
    return ranks
