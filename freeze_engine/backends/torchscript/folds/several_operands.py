"""Finds ``addcmul``, ``addcdiv`` and ``lerp`` of a conv or linear and constants, which torch does not fold.

Each of them multiplies and adds; written as these two operations, the multiplication and the addition fold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from freeze_engine.backends.common.fold_obstacle import Obstacle
from freeze_engine.backends.common.use_def import CONV_LIKE, LINEAR, UseDef, is_convolution
from freeze_engine.backends.torchscript.folds.conditions import operand_obstacles
from freeze_engine.backends.torchscript.folds.obstacles import (
    FoldCandidate,
    Found,
    also_read,
    beside,
    fork,
    found,
    not_constant,
    several_uses,
    varies,
)
from freeze_engine.trace import Constant

#: How an operator with a layer's output ``y`` at one place is written as a multiplication and an addition.
_WRITTEN: Final = {
    ("aten::addcmul", 0): "y + value * a * b",
    ("aten::addcmul", 1): "y * (value * b) + c",
    ("aten::addcmul", 2): "y * (value * a) + c",
    ("aten::addcdiv", 0): "y + value * a / b",
    ("aten::addcdiv", 1): "y * (value / b) + c",
    ("aten::lerp", 0): "y * (1 - w) + e * w",
    ("aten::lerp", 1): "y * w + s * (1 - w)",
}
_CALLS: Final = {
    "aten::addcmul": "torch.addcmul(c, a, b, value=value)",
    "aten::addcdiv": "torch.addcdiv(c, a, b, value=value)",
    "aten::lerp": "torch.lerp(s, e, w)",
}
_NAMES: Final = {"aten::addcmul": "cab", "aten::addcdiv": "cab", "aten::lerp": "se"}


def several_operands(graph: UseDef, name: str) -> Iterator[Found]:
    """Yields those that only add something to the output (``"add"``), or that multiply it as well (``"mul"``).

    Args:
        graph: uses of the graph.
        name: which of them.
    """
    ops = frozenset(_CALLS)
    for candidate in beside(graph, ops | {f"{op}_" for op in ops}, CONV_LIKE | {LINEAR}, (0, 1, 2)):
        node, layer = candidate.node, candidate.neighbour
        key = (node.op.removesuffix("_"), candidate.place)
        if key not in _WRITTEN or ("add" if key in _ADDS else "mul") != name:
            continue
        if varies(graph, node, candidate.place) or varies(graph, layer, 0):
            continue
        operands = [value for place, value in enumerate(node.inputs) if place != candidate.place]
        weight, constants = graph.constant(layer.inputs[1]), [graph.constant(value) for value in operands]
        if weight is None or not all(graph.is_constant(value) for value in operands):
            continue
        is_linear = layer.op == LINEAR
        if not is_linear and not is_convolution(layer, graph):
            continue
        if any(not _fits(each, weight, is_linear) for each in constants if each is not None):
            continue
        kind = f"{'linear' if is_linear else 'conv'}_{name}"
        yield found(kind, candidate, _obstacles(graph, candidate, weight, constants, is_linear))


_ADDS: Final = frozenset({("aten::addcmul", 0), ("aten::addcdiv", 0)})


def _fits(operand: Constant, weight: Constant, is_linear: bool) -> bool:
    """Returns whether a constant has one value, or one for each channel, in the weight's type."""
    if operand.dtype != weight.dtype and operand.shape:
        return False
    places = 1 if is_linear else len(weight.shape)
    aligned = (1,) * (places - len(operand.shape)) + operand.shape
    channel = 0 if is_linear else 1
    return len(aligned) == places and all(
        size == 1 or (place == channel and size == weight.shape[0]) for place, size in enumerate(aligned)
    )


def _obstacles(
    graph: UseDef,
    candidate: FoldCandidate,
    weight: Constant,
    constants: list[Constant | None],
    is_linear: bool,
) -> Iterator[Obstacle]:
    node, layer = candidate.node, candidate.neighbour
    op = node.op.removesuffix("_")
    key = (op, candidate.place)
    yield from fork(graph, node)
    if is_linear:
        where = "bias" if key in _ADDS else "weight and bias"
        shared = also_read(
            graph, layer.inputs[2 if where == "bias" and not graph.is_none(layer.inputs[2]) else 1], layer
        )
        yield Obstacle(
            "no_such_fold",
            f"torch folds batch norms into a linear, but no {op}.",
            f"Give this call a {where} of its own, with the constants merged: {shared}."
            if shared
            else f"Merge the constants into the linear's {where} before freezing.",
        )
    else:
        named = _NAMES[op]
        call = _CALLS[op].replace(f"({named[0]},", "(y,") if candidate.place == 0 else _at(op, candidate.place)
        yield Obstacle(
            "unsupported_op",
            f"torch folds add, sub, mul and div into a conv, not {op}.",
            f"Write {call} as {_WRITTEN[key]}.",
        )
        yield from not_constant(graph, layer, 0)
        for each in constants:
            if each is not None:
                yield from operand_obstacles(weight, each)
    if graph.readers_apart(node.inputs[candidate.place], node):
        yield from several_uses(graph, candidate)


def _at(op: str, place: int) -> str:
    """Returns the call with ``y`` in a later place."""
    return _CALLS[op].replace(f" {_NAMES[op][place]},", " y,")
