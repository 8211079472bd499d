"""Infers the shapes of a graph's values from those of the model's inputs, for the operators of most networks.

Nothing runs. A value of another operator has no shape here, unless its type has one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final

from freeze_engine.backends.common.constant_arguments import constant_floats, constant_integer, constant_integers
from freeze_engine.backends.common.shape_rules import BY_WEIGHT, RULES, Shape, convolved, elements
from freeze_engine.backends.common.use_def import CONV_LIKE, UseDef
from freeze_engine.trace import GraphSnapshot, InputSpec, Node

__all__ = ["Shape", "ShapesOnDemand", "elements", "given_shapes", "shapes", "typed_shape"]

_SHAPED: Final = re.compile(r"^[A-Z]\w*\((?P<sizes>\d+(, \d+)*)(, strides=|, requires_grad=|, device=|\))")
_UNCHANGED: Final = frozenset(
    f"aten::{op}{end}"
    for op in (
        *("batch_norm", "group_norm", "instance_norm", "layer_norm", "softmax", "dropout", "feature_dropout"),
        *("relu", "relu6", "leaky_relu", "elu", "selu", "celu", "gelu", "silu", "mish", "prelu", "sigmoid", "tanh"),
        *("hardtanh", "hardswish", "hardsigmoid", "softplus", "clamp", "neg", "exp", "sqrt", "rsqrt", "pow", "rsub"),
        *("contiguous", "to", "clone", "detach", "alias", "roll", "flip", "abs", "alpha_dropout"),
    )
    for end in ("", "_")
)
_BINARY: Final = frozenset(f"aten::{op}{end}" for op in ("add", "sub", "mul", "div") for end in ("", "_"))
_TERNARY: Final = frozenset({"aten::addcmul", "aten::addcdiv", "aten::lerp"})


def shapes(snapshot: GraphSnapshot, graph: UseDef, inputs: tuple[InputSpec, ...]) -> Mapping[str, Shape]:
    """Returns the shapes that are known, by value name.

    Args:
        snapshot: the graph.
        graph: its uses.
        inputs: what the model is called with, positional ones first; empty where unknown.
    """
    return _Shapes(graph, given_shapes(snapshot, inputs)).found


class ShapesOnDemand(Mapping[str, Shape]):
    """The shapes that are known, inferred when the first is asked for.

    Args:
        snapshot, graph, inputs: as of `shapes`.
    """

    def __init__(self, snapshot: GraphSnapshot, graph: UseDef, inputs: tuple[InputSpec, ...]) -> None:
        self._of = (snapshot, graph, inputs)

    @cached_property
    def _found(self) -> Mapping[str, Shape]:
        return shapes(*self._of)

    def __getitem__(self, value: str) -> Shape:
        return self._found[value]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def given_shapes(snapshot: GraphSnapshot, inputs: tuple[InputSpec, ...]) -> dict[str, Shape]:
    """Returns the shapes of a graph's inputs, by value name.

    Args:
        snapshot: the graph.
        inputs: what the model is called with, positional ones first; empty where unknown.
    """
    own = [value for value in snapshot.inputs if not value.type.startswith(("__torch__", "___torch_mangle"))]
    known = {spec.name: spec for spec in inputs}
    found = {}
    for place, value in enumerate(own):
        spec = known.get(str(place)) or known.get(value.name.partition(".")[0])
        if spec is not None and spec.shape is not None:
            found[value.name] = spec.shape
    return found


def typed_shape(text: str) -> Shape | None:
    """Returns the shape in a value's type, such as ``Float(2, 3, strides=[3, 1])``; ``None`` where it has none."""
    match = _SHAPED.match(text)
    return tuple(map(int, match["sizes"].split(", "))) if match else None


class _Shapes:
    def __init__(self, graph: UseDef, given: Mapping[str, Shape]) -> None:
        self._graph = graph
        self.found = dict(given)
        for node in graph.nodes.values():
            for value in node.outputs:
                shape = typed_shape(value.type) or (self._computed(node) if len(node.outputs) == 1 else None)
                if shape is not None:
                    self.found[value.name] = shape

    def _computed(self, node: Node) -> Shape | None:
        if node.constant is not None:
            return node.constant.shape
        first = self.found.get(node.inputs[0]) if node.inputs else None
        if node.op in _BINARY or node.op in _TERNARY:
            return self._broadcast(node, 2 if node.op in _BINARY else 3)
        if node.op == "aten::cat":
            return self._joined(node)
        if node.op in BY_WEIGHT:
            return BY_WEIGHT[node.op](self, node)
        if first is None:
            return None
        if node.op in _UNCHANGED:
            return first
        if node.op in CONV_LIKE:
            return convolved(self, node, first)
        rule = RULES.get(node.op)
        return rule(self, node, first) if rule is not None else None

    def numbers(self, node: Node, place: int) -> Shape | None:
        """Returns the whole numbers of an argument, one or a list of them, ``None`` where they are not known."""
        definer = self._graph.definers.get(node.inputs[place]) if place < len(node.inputs) else None
        if definer is None or definer.op == "prim::Constant":
            return constant_integers(self._graph, node, place)
        made = definer.op == "prim::ListConstruct"
        found = [self._number(name) for name in (definer.inputs if made else node.inputs[place : place + 1])]
        known = tuple(each for each in found if each is not None)
        return known if len(known) == len(found) else None

    def floats(self, node: Node, place: int) -> tuple[float, ...] | None:
        """Returns the constant numbers of an argument, one or a list of them, ``None`` where it has none."""
        return constant_floats(self._graph, node, place)

    def _number(self, value: str) -> int | None:
        """Returns a whole number that is constant, or a size of a known shape."""
        definer = self._graph.definers.get(value)
        while definer is not None and definer.op in ("prim::NumToTensor", "aten::Int", "aten::ScalarImplicit"):
            definer = self._graph.definers.get(definer.inputs[0])
        if definer is None or definer.op == "prim::Constant":
            return None if definer is None else constant_integer(self._graph, definer.outputs[0].name)
        measured = definer
        if definer.op == "prim::ListUnpack":
            measured = self._graph.definers.get(definer.inputs[0], definer)
        sizes = self.found.get(measured.inputs[0]) if measured.op == "aten::size" else None
        if sizes is None:
            return None
        if definer.op == "prim::ListUnpack":
            place: int | None = [output.name for output in definer.outputs].index(value)
        else:
            place = self._number(definer.inputs[1]) if len(definer.inputs) > 1 else None
        return None if place is None or not -len(sizes) <= place < len(sizes) else sizes[place]

    def is_none(self, value: str) -> bool:
        """Returns whether a value is the constant ``None``."""
        return self._graph.is_none(value)

    def shape(self, value: str) -> Shape | None:
        """Returns the known facts about a value."""
        return self.found.get(value)

    def _broadcast(self, node: Node, operands: int) -> Shape | None:
        """Returns the shape that the first operands have together."""
        found = [() if self._is_number(name) else self.found.get(name) for name in node.inputs[:operands]]
        known = [shape for shape in found if shape is not None]
        if len(known) < len(found):
            return None
        length = max(map(len, known))
        padded = ((1,) * (length - len(each)) + each for each in known)
        return tuple(max(sizes) if 0 not in sizes else 0 for sizes in zip(*padded, strict=True))

    def _is_number(self, value: str) -> bool:
        definer = self._graph.definers.get(value)
        return definer is not None and definer.outputs[0].type in ("int", "float", "bool", "Scalar")

    def _joined(self, node: Node) -> Shape | None:
        parts = self._graph.definers.get(node.inputs[0])
        place = self.numbers(node, 1)
        if parts is None or parts.op != "prim::ListConstruct" or not place:
            return None
        found = [self.found.get(name) for name in parts.inputs]
        known = [shape for shape in found if shape]
        if not known or len(known) < len(found) or not -len(known[0]) <= place[0] < len(known[0]):
            return None
        joined = list(known[0])
        joined[place[0]] = sum(shape[place[0]] for shape in known)
        return tuple(joined)
