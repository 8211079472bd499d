"""Finds arithmetic with a constant after a linear, which torch does not fold but a user can merge into the weight.

Advice is given only where following it keeps the outputs: nothing else reads the linear's output, and the constant has
one value, or one for each output, in the weight's type. ``x @ w + v`` with constants is a linear that is written in two
operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from freeze_engine.backends.common.fold_obstacle import Obstacle
from freeze_engine.backends.common.shape_rules import Shape
from freeze_engine.backends.common.use_def import ADDS, LINEAR, MULS, UseDef
from freeze_engine.backends.torchscript.folds.obstacles import (
    FoldCandidate,
    Found,
    also_read,
    fork,
    found,
    own_weights,
)
from freeze_engine.backends.torchscript.folds.passages import Layout
from freeze_engine.backends.torchscript.folds.unseen_passages import may_pass, per_channel, way_to
from freeze_engine.trace import Node

_MATMULS = frozenset({"aten::matmul", "aten::mm"})
_WHERE = {"add": "bias", "sub": "bias", "mul": "weight and bias", "div": "weight and bias"}
_RSUB = "aten::rsub"
_EMBEDDING = "aten::embedding"
_LAYERS = _MATMULS | {LINEAR, _EMBEDDING}


def linear_merges(graph: UseDef, known: Mapping[str, Shape], name: str) -> Iterator[Found]:
    """Yields the adds (``"add"``) or muls (``"mul"``) with a constant that a linear or embedding could absorb.

    Args:
        graph: the graph before the pass.
        known: shapes of its values, where known.
        name: which of them.
    """
    ops = ADDS | {_RSUB} if name == "add" else MULS | {"aten::neg"}
    for node in graph.nodes.values():
        if node.op.removesuffix("_") not in ops:
            continue
        for place in (0,) if name == "mul" and node.op.removesuffix("_") != "aten::mul" else (0, 1):
            layer = _layer(graph, node, place, name, known)
            if layer is not None:
                into = "embedding" if layer.op == _EMBEDDING else "linear"
                candidate = FoldCandidate(node, layer, place)
                yield found(f"{into}_{name}", candidate, _obstacles(graph, candidate))
                break


def _layer(graph: UseDef, node: Node, place: int, name: str, known: Mapping[str, Shape]) -> Node | None:
    """Returns the layer that can absorb a node, which reads its output at a place, if one can."""
    if place >= len(node.inputs):
        return None
    direct = graph.definers.get(node.inputs[place])
    if direct is not None and direct.op in _LAYERS:
        candidate = FoldCandidate(node, direct, place)
        return direct if _merges(graph, candidate) else None
    way = way_to(graph, node, place, _LAYERS, known, also_unchanged=True)
    if way is None:
        return None
    layer, passed = way
    if name == "add" and layer.op in _MATMULS:
        return None  # a bias far from its product is no linear written in two
    turns = node.op.removesuffix("_") in ("aten::neg", _RSUB) or (place == 1 and node.op.startswith("aten::sub"))
    if not may_pass(passed, positive=False, needs_shift=name == "add", needs_scale=name == "mul" or turns):
        return None
    if any(graph.readers_apart(each.inputs[0], each) for each in passed.between):
        return None
    return layer if _merges(graph, FoldCandidate(node, layer, place), passed.after) else None


def _merges(graph: UseDef, candidate: FoldCandidate, layout: Layout | None = None) -> bool:
    node, layer = candidate.node, candidate.neighbour
    weight, width = _weight(graph, layer)
    if not weight or (len(node.inputs) > 2 and node.op.startswith("aten::div")):
        return False
    if graph.readers_apart(node.inputs[candidate.place], node):
        return False
    if layer.op == _EMBEDDING and graph.readers_apart(layer.inputs[0], layer):
        return False  # tied weights are worth more than a multiplication
    if node.inputs.count(node.inputs[candidate.place]) > 1:
        return False
    others = [name for place, name in enumerate(node.inputs[:2]) if place != candidate.place]
    return all(_fits(graph, name, weight, width, layout) for name in others)


def _weight(graph: UseDef, linear: Node) -> tuple[str, int]:
    """Returns the weight's type and the number of outputs; no type where the weight is no constant matrix."""
    weight = graph.constant(linear.inputs[0 if linear.op == _EMBEDDING else 1])
    if weight is None or len(weight.shape) != 2 or "float" not in weight.dtype:
        return "", 0
    if linear.op == LINEAR and not (graph.is_none(linear.inputs[2]) or graph.constant(linear.inputs[2])):
        return "", 0
    return weight.dtype, weight.shape[0 if linear.op == LINEAR else 1]


def _fits(graph: UseDef, name: str, dtype: str, width: int, layout: Layout | None) -> bool:
    """Returns whether a constant has one value, or one for each output, and changes neither type nor rank."""
    definer = graph.definers.get(name)
    if definer is None or not graph.is_constant(name):
        return False
    other = definer.constant
    if other is None:
        return definer.outputs[0].type in ("int", "float")
    if other.dtype != dtype and len(other.shape) > 0:
        return False
    if layout is not None:
        return per_channel(other, layout, width) is not None
    *ones, last = other.shape or (1,)
    return len(other.shape) <= 2 and all(size == 1 for size in ones) and last in (1, width)


def _obstacles(graph: UseDef, candidate: FoldCandidate) -> Iterator[Obstacle]:
    node, linear = candidate.node, candidate.neighbour
    yield from fork(graph, node)
    op = node.op.removesuffix("_")
    if linear.op == _EMBEDDING:
        what = "the sign" if op == "aten::neg" else "the constant"
        yield Obstacle(
            "no_such_fold",
            "torch folds nothing into an embedding.",
            f"Merge {what} into the embedding's weight before freezing.",
        )
        return
    if linear.op in _MATMULS:
        yield from _product(graph, node, linear, op)
        return
    where = "weight and bias" if op in (_RSUB, "aten::neg") or (candidate.place == 1 and op == "aten::sub") else None
    where = where or _WHERE[op.removeprefix("aten::")]
    # A bias alone leaves the weight as it is; but a call that has none gets one where its module is called once only.
    name = linear.inputs[2 if where == "bias" and not graph.is_none(linear.inputs[2]) else 1]
    shared = also_read(graph, name, linear)
    what = "the sign" if op == "aten::neg" else "the constant"
    yield Obstacle(
        "no_such_fold",
        f"torch folds batch norms into a linear, but no {op}.",
        f"Give this call a {where} of its own, with {what} merged: {shared}."
        if shared
        else f"Merge {what} into the linear's {where} before freezing.",
    )


def _product(graph: UseDef, node: Node, product: Node, op: str) -> Iterator[Obstacle]:
    into = "torch.nn.functional.linear(x, w.t(), v)"
    yield Obstacle(
        "no_such_fold",
        f"torch folds nothing into {product.op} (%{product.id}); with a constant matrix it is a linear without bias.",
        f"Write x @ w + v as {into}: one operation."
        if op == "aten::add"
        else f"{own_weights(graph, product)}Merge the constant into the matrix before freezing."
        if op in ("aten::mul", "aten::div", "aten::neg")
        else f"Write it as {into}, with the signs merged into w and v: one operation.",
    )
