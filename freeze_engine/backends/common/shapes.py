"""Infers the shapes of a graph's values from those of the model's inputs, for the operators of most networks.

Nothing runs. A value of another operator has no shape here, unless its type has one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from freeze_engine.backends.common.use_def import LINEAR, UseDef, is_convolution
from freeze_engine.trace import GraphSnapshot, InputSpec, Node

Shape = tuple[int, ...]

_SHAPED: Final = re.compile(r"^[A-Z]\w*\((?P<sizes>\d+(, \d+)*)(, strides=|, requires_grad=|, device=|\))")
_NUMBER: Final = re.compile(r"-?\d+")
_UNCHANGED: Final = frozenset(
    f"aten::{op}{end}"
    for op in (
        *("batch_norm", "group_norm", "instance_norm", "layer_norm", "softmax", "dropout", "feature_dropout"),
        *("relu", "relu6", "leaky_relu", "elu", "selu", "celu", "gelu", "silu", "mish", "prelu", "sigmoid", "tanh"),
        *("hardtanh", "hardswish", "hardsigmoid", "softplus", "clamp", "neg", "exp", "sqrt", "rsqrt", "pow", "rsub"),
        *("contiguous", "to", "clone", "detach", "alias", "roll"),
    )
    for end in ("", "_")
)
_BINARY: Final = frozenset(f"aten::{op}{end}" for op in ("add", "sub", "mul", "div") for end in ("", "_"))


def shapes(snapshot: GraphSnapshot, graph: UseDef, inputs: tuple[InputSpec, ...]) -> Mapping[str, Shape]:
    """Returns the shapes that are known, by value name.

    Args:
        snapshot: the graph.
        graph: its uses.
        inputs: what the model is called with, positional ones first; empty where unknown.
    """
    return _Shapes(graph, given_shapes(snapshot, inputs)).found


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
        if node.op in _BINARY:
            return self._broadcast(node, first)
        if node.op == "aten::cat":
            return self._joined(node)
        if first is None:
            return None
        if node.op in _UNCHANGED:
            return first
        if is_convolution(node, self._graph):
            return self._convolved(node, first)
        rule = _RULES.get(node.op)
        return rule(self, node, first) if rule is not None else None

    def numbers(self, node: Node, place: int) -> Shape | None:
        """Returns the whole numbers of a constant argument, one or a list of them; ``None`` where it is no constant."""
        definer = self._graph.definers.get(node.inputs[place]) if place < len(node.inputs) else None
        text = definer.attribute("value") if definer is not None and definer.op == "prim::Constant" else None
        if text is None or not set(text) <= set("0123456789-, []"):
            return None
        return tuple(map(int, _NUMBER.findall(text)))

    def shape(self, value: str) -> Shape | None:
        """Returns the known facts about a value."""
        return self.found.get(value)

    def _broadcast(self, node: Node, first: Shape | None) -> Shape | None:
        second = self.found.get(node.inputs[1])
        if second is None and self._is_number(node.inputs[1]):
            second = ()
        if first is None or second is None:
            return None
        length = max(len(first), len(second))
        padded = ((1,) * (length - len(each)) + each for each in (first, second))
        return tuple(max(pair) if 0 not in pair else 0 for pair in zip(*padded, strict=True))

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

    def _convolved(self, node: Node, first: Shape) -> Shape | None:
        weight = self._graph.constant(node.inputs[1])
        stride, padding, dilation = (self.numbers(node, place) for place in (3, 4, 5))
        if weight is None or not stride or not padding or not dilation:
            return None
        kernel = weight.shape[2:]
        batch = first[: -len(kernel) - 1]
        window = _Window(kernel, stride, padding, dilation)
        places = window.places(first[-len(kernel) :])
        return None if places is None else (*batch, weight.shape[0], *places)


class _Window:
    """A sliding kernel, as of a convolution or pooling."""

    def __init__(self, kernel: Shape, stride: Shape, padding: Shape, dilation: Shape) -> None:
        self._parts = (kernel, stride, padding, dilation)

    def places(self, sizes: Shape) -> Shape | None:
        """Returns the number of positions of the kernel in each dimension."""
        spread = [part * len(sizes) if len(part) == 1 else part for part in self._parts]
        if any(len(part) != len(sizes) for part in spread):
            return None
        found = [
            (size + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
            for size, kernel, stride, pad, dilation in zip(sizes, *spread, strict=True)
            if stride
        ]
        return tuple(found) if len(found) == len(sizes) else None


def _linear(shapes: _Shapes, node: Node, first: Shape) -> Shape | None:
    weight = shapes.shape(node.inputs[1])
    return (*first[:-1], weight[0]) if weight and first else None


def _pooled(shapes: _Shapes, node: Node, first: Shape) -> Shape | None:
    kernel, stride, padding = (shapes.numbers(node, place) for place in (1, 2, 3))
    if not kernel or stride is None or padding is None:
        return None
    count = len(kernel)
    dilation = shapes.numbers(node, 4) if node.op.startswith("aten::max") else (1,)
    places = _Window(kernel, stride or kernel, padding, dilation or (1,)).places(first[-count:])
    return None if places is None else (*first[:-count], *places)


def _adapted(shapes: _Shapes, node: Node, first: Shape) -> Shape | None:
    sizes = shapes.numbers(node, 1)
    return (*first[: -len(sizes)], *sizes) if sizes else None


def _mean(shapes: _Shapes, node: Node, first: Shape) -> Shape | None:
    taken, kept = shapes.numbers(node, 1), shapes.numbers(node, 2)
    if not taken or kept is None or not first:
        return None
    places = {place % len(first) for place in taken}
    if kept[:1] == (1,):
        return tuple(1 if place in places else size for place, size in enumerate(first))
    return tuple(size for place, size in enumerate(first) if place not in places)


def _flat(shapes: _Shapes, node: Node, first: Shape) -> Shape | None:
    start, end = shapes.numbers(node, 1), shapes.numbers(node, 2)
    if not start or not end or not first:
        return None
    low, high = start[0] % len(first), end[0] % len(first)
    return (*first[:low], elements(first[low : high + 1]), *first[high + 1 :])


def _permuted(shapes: _Shapes, node: Node, first: Shape) -> Shape | None:
    order = shapes.numbers(node, 1)
    if order is None or sorted(place % len(first) for place in order) != list(range(len(first))):
        return None
    return tuple(first[place] for place in order)


def _swapped(shapes: _Shapes, node: Node, first: Shape) -> Shape | None:
    one, other = shapes.numbers(node, 1), shapes.numbers(node, 2)
    if not one or not other or not first:
        return None
    sizes = list(first)
    sizes[one[0]], sizes[other[0]] = sizes[other[0]], sizes[one[0]]
    return tuple(sizes)


def _unsqueezed(shapes: _Shapes, node: Node, first: Shape) -> Shape | None:
    place = shapes.numbers(node, 1)
    if not place:
        return None
    index = place[0] % (len(first) + 1)
    return (*first[:index], 1, *first[index:])


def _selected(shapes: _Shapes, node: Node, first: Shape) -> Shape | None:
    place = shapes.numbers(node, 1)
    if not place or not first:
        return None
    index = place[0] % len(first)
    return (*first[:index], *first[index + 1 :])


def elements(shape: Sequence[int]) -> int:
    """Returns how many elements a tensor of a shape has."""
    count = 1
    for size in shape:
        count *= size
    return count


_RULES: Final[Mapping[str, Callable[[_Shapes, Node, Shape], Shape | None]]] = {
    LINEAR: _linear,
    **dict.fromkeys((f"aten::{kind}_pool{n}d" for kind in ("max", "avg") for n in (1, 2, 3)), _pooled),
    **dict.fromkeys((f"aten::adaptive_{kind}_pool{n}d" for kind in ("max", "avg") for n in (1, 2, 3)), _adapted),
    "aten::mean": _mean,
    "aten::flatten": _flat,
    "aten::permute": _permuted,
    "aten::transpose": _swapped,
    "aten::unsqueeze": _unsqueezed,
    "aten::select": _selected,
}
