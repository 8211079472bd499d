"""Finds arithmetic with constants before a convolution or linear, and batch norms in a row.

The layer that follows could absorb the arithmetic, such as the normalisation of an image; torch folds only what follows
a convolution.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from freeze_engine.analysis.name_texts import listed
from freeze_engine.backends.common.fold_obstacle import Obstacle
from freeze_engine.backends.common.shape_rules import Shape
from freeze_engine.backends.common.use_def import ADDS, BATCH_NORM, CONV_LIKE, LINEAR, MULS, UseDef, is_convolution
from freeze_engine.backends.torchscript.folds.obstacles import (
    FoldCandidate,
    Found,
    fork,
    found,
    is_settled,
    own_weights,
    varies,
)
from freeze_engine.backends.torchscript.folds.passages import UNCHANGING, Layout, layer_output
from freeze_engine.backends.torchscript.folds.unseen_passages import per_channel
from freeze_engine.trace import Node

_NEG: Final = "aten::neg"
_SCALES: Final = MULS | {_NEG}
_NUMBERS: Final = ("int", "float")


def arithmetic_before(graph: UseDef, known: Mapping[str, Shape], name: str) -> Iterator[Found]:
    """Yields the arithmetic with constants that only a convolution or linear reads.

    Several operators in a row are one, of the last one's kind.

    Args:
        graph: uses of the graph.
        known: shapes of its values, where known.
        name: of the last one: ``"add"`` or ``"mul"``.
    """
    for layer in graph.nodes.values():
        is_linear = layer.op == LINEAR
        if not (is_linear or is_convolution(layer, graph)) or varies(graph, layer, 0):
            continue
        chain = _chain(graph, layer, known) if graph.constant(layer.inputs[1]) is not None else []
        last = chain[0] if chain else None
        if last is None or last.op.removesuffix("_") not in (ADDS if name == "add" else _SCALES):
            continue
        kind = f"{'linear' if is_linear else 'conv'}_{name}"
        yield found(kind, FoldCandidate(last, layer, 0), _before(graph, layer, chain))


def batch_norms_in_a_row(graph: UseDef) -> Iterator[Found]:
    """Yields the batch norms of a batch norm that no layer can absorb."""
    for norm in graph.nodes.values():
        before = graph.definers.get(norm.inputs[0]) if norm.op == BATCH_NORM else None
        if before is None or before.op != BATCH_NORM or graph.readers_apart(norm.inputs[0], norm):
            continue
        first = graph.definers.get(before.inputs[0])
        while first is not None and first.op in UNCHANGING | {BATCH_NORM}:
            first = graph.definers.get(first.inputs[0])
        if first is not None and first.op in CONV_LIKE | {LINEAR}:
            continue
        if is_settled(graph, norm) and is_settled(graph, before):
            obstacle = Obstacle(
                "no_such_fold",
                f"It follows another batch norm (%{before.id}); torch folds batch norms into layers only.",
                "Make one batch norm of the two before freezing: multiply the first one's weight and bias by the "
                "second one's scale, and add the second one's shift to the bias.",
            )
            yield found("bn_bn", FoldCandidate(norm, before, 0), iter((*fork(graph, norm), obstacle)))


def _chain(graph: UseDef, layer: Node, known: Mapping[str, Shape]) -> list[Node]:
    """Returns the arithmetic that only a layer reads, the last one first; none where the layer cannot absorb it."""
    chain: list[Node] = []
    reader, value = layer, layer.inputs[0]
    while True:
        node = graph.definers.get(value)
        if node is None or graph.readers_apart(value, reader):
            break
        place = _main_operand(graph, node, layer, known)
        if place is None:
            break
        chain.append(node)
        reader, value = node, node.inputs[place]
    before = graph.definers.get(value)
    if chain and before is not None and before.op in CONV_LIKE | {LINEAR, BATCH_NORM, "aten::embedding"}:
        return []  # what is before may absorb it as well
    return chain


def _main_operand(graph: UseDef, node: Node, layer: Node, known: Mapping[str, Shape]) -> int | None:
    """Returns the place of the operand that is no constant, ``None`` where the layer cannot absorb the operator."""
    if node.op == _NEG:
        return 0 if graph.varies(node.inputs[0]) else None
    is_add, is_div = node.op in ADDS, node.op == "aten::div"
    if node.op not in ADDS | MULS or (is_div and len(node.inputs) > 2):
        return None
    if is_add and layer.op != LINEAR and not _is_unpadded(graph, layer):
        return None
    for place in (0,) if is_div else (0, 1):
        constant = graph.definers.get(node.inputs[1 - place])
        if not graph.varies(node.inputs[place]) or constant is None or not graph.is_constant(node.inputs[1 - place]):
            continue
        return place if _fits(graph, constant, layer, known) else None
    return None


def _fits(graph: UseDef, constant: Node, layer: Node, known: Mapping[str, Shape]) -> bool:
    """Returns whether a constant has one value, or one for each channel of a layer's input."""
    operand, weight = constant.constant, graph.constant(layer.inputs[1])
    if operand is None or weight is None:
        return weight is not None and constant.outputs[0].type in _NUMBERS
    if operand.dtype != weight.dtype and len(operand.shape) > 0:
        return False
    output = layer_output(graph, layer, known)
    rank = output.rank if output is not None else None
    if layer.op == LINEAR:
        *ones, last = operand.shape or (1,)
        return last in (1, weight.shape[1]) and all(size == 1 for size in ones) and (rank or 2) >= len(operand.shape)
    if rank is None:
        return False
    groups = weight.shape[1] * _groups(graph, layer)
    return per_channel(operand, Layout(rank, 1), groups) is not None


def _groups(graph: UseDef, conv: Node) -> int:
    definer = graph.definers.get(conv.inputs[8 if conv.op == "aten::_convolution" else 6])
    text = (definer.attribute("value") or "") if definer is not None else ""
    return int(text) if text.isdigit() else 0


def _is_unpadded(graph: UseDef, conv: Node) -> bool:
    definer = graph.definers.get(conv.inputs[4])
    text = (definer.attribute("value") or "") if definer is not None and definer.op == "prim::Constant" else ""
    return bool(text) and set(text) <= set("[0, ]")


def _before(graph: UseDef, layer: Node, chain: list[Node]) -> Iterator[Obstacle]:
    yield from fork(graph, layer)
    names = listed((f"{node.op} (%{node.id})" for node in reversed(chain)), joint=" and ")
    it = "it" if len(chain) == 1 else "them"
    scales = any(node.op != "aten::add" for node in chain)
    shifts = any(node.op in ADDS for node in chain)
    each = "input" if layer.op == LINEAR else "input channel"
    how = [f"multiply the weight by the factor of each {each}"] if scales else []
    how += ["add the weight times what is added, summed, to the bias"] if shifts else []
    yield Obstacle(
        "before_linear" if layer.op == LINEAR else "before_conv",
        f"{names} {'comes' if len(chain) == 1 else 'come'} before {layer.op} (%{layer.id}); torch folds what follows a "
        "layer only.",
        f"{own_weights(graph, layer)}Merge {it} by hand, if what comes in is of the weight's type: "
        f"{', and '.join(how)}.",
    )
