"""Finds batch norms after a product with a constant matrix, and before a linear: torch looks for neither."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from freeze_engine.analysis.name_texts import listed
from freeze_engine.backends.common.constant_arguments import constant_integers
from freeze_engine.backends.common.fold_obstacle import Obstacle
from freeze_engine.backends.common.shape_rules import Shape
from freeze_engine.backends.common.use_def import BATCH_NORM, CONV_LIKE, LINEAR, UseDef
from freeze_engine.backends.torchscript.folds.obstacles import (
    FoldCandidate,
    Found,
    fork,
    found,
    is_settled,
    own_weights,
    varies,
)
from freeze_engine.backends.torchscript.folds.passages import SCALE, SHIFT, Layout, passage, walk_back
from freeze_engine.trace import Node

_PRODUCTS: Final = {"aten::matmul": "x @ w", "aten::mm": "torch.mm(x, w)", "aten::addmm": "torch.addmm(v, x, w)"}


def product_batch_norms(graph: UseDef, known: Mapping[str, Shape]) -> Iterator[Found]:
    """Yields the batch norms of a product with a constant matrix, which would fold if it were a linear."""
    for node in graph.nodes.values():
        product = graph.definers.get(node.inputs[0]) if node.op == BATCH_NORM else None
        if product is None or product.op not in _PRODUCTS or not is_settled(graph, node):
            continue
        if graph.readers_apart(node.inputs[0], node) or not _is_linear(graph, product, known):
            continue
        matrix, mean = graph.constant(_matrix(product)), graph.constant(node.inputs[3])
        if matrix is None or mean is None or len(matrix.shape) != 2 or mean.shape != matrix.shape[1:]:
            continue
        yield found("linear_bn", FoldCandidate(node, product, 0), _as_linear(graph, node, product))


def before_linears(graph: UseDef, known: Mapping[str, Shape]) -> Iterator[Found]:
    """Yields the batch norms that only a linear reads, and that no operator before them can absorb."""
    for linear in graph.nodes.values():
        if linear.op != LINEAR or varies(graph, linear, 0) or graph.constant(linear.inputs[1]) is None:
            continue
        if not (graph.is_none(linear.inputs[2]) or graph.constant(linear.inputs[2])):
            continue
        reached = walk_back(graph, linear.inputs[0], frozenset({BATCH_NORM}))
        between, norm = reached or ((), graph.definers.get(linear.inputs[0]))
        if norm is None or norm.op != BATCH_NORM or not is_settled(graph, norm) or _is_absorbed(graph, norm):
            continue
        way = (linear, *between)
        if any(graph.readers_apart(node.inputs[0], node) for node in way):
            continue
        if _reaches_the_inputs(graph, norm, between, linear, known):
            yield found("linear_bn", FoldCandidate(norm, linear, 0), _before_linear(graph, linear, norm, between))


def _matrix(product: Node) -> str:
    return product.inputs[2 if product.op == "aten::addmm" else 1]


def _is_linear(graph: UseDef, product: Node, known: Mapping[str, Shape]) -> bool:
    """Returns whether a product is a linear of rows: of two dimensions, and with a constant row added if any."""
    if product.op != "aten::addmm":
        return len(known.get(product.outputs[0].name, (0, 0))) == 2
    row, matrix = graph.constant(product.inputs[0]), graph.constant(product.inputs[2])
    plain = all(constant_integers(graph, product, place) == (1,) for place in (3, 4))
    return plain and row is not None and matrix is not None and row.shape == matrix.shape[1:]


def _as_linear(graph: UseDef, norm: Node, product: Node) -> Iterator[Obstacle]:
    yield from fork(graph, norm)
    bias = ", v" if product.op == "aten::addmm" else ""
    yield Obstacle(
        "unsupported_op",
        f"torch folds a batch norm into {LINEAR}, not into {product.op} (%{product.id}); with a constant matrix it "
        f"is a linear{'' if bias else ' without bias'}.",
        f"Write {_PRODUCTS[product.op]} as torch.nn.functional.linear(x, w.t(){bias}).",
    )


def _is_absorbed(graph: UseDef, norm: Node) -> bool:
    before = graph.definers.get(norm.inputs[0])
    layers = CONV_LIKE | {LINEAR, *_PRODUCTS}
    return (before is not None and before.op in layers) or walk_back(graph, norm.inputs[0], layers) is not None


def _reaches_the_inputs(
    graph: UseDef, norm: Node, between: tuple[Node, ...], linear: Node, known: Mapping[str, Shape]
) -> bool:
    """Returns whether each input of the linear is one channel of the batch norm."""
    shape, weight = known.get(norm.outputs[0].name), graph.constant(linear.inputs[1])
    if shape is None or len(shape) < 2 or weight is None or len(weight.shape) != 2 or weight.shape[1] != shape[1]:
        return False
    start = Layout(len(shape), 1, shape)
    passed = passage(graph, between, start, known) if between else None
    if between and (passed is None or not passed.passes >= {SHIFT, SCALE}):
        return False
    end = passed.after if passed is not None else start
    return end.rank is not None and end.axis == end.rank - 1


def _before_linear(graph: UseDef, linear: Node, norm: Node, between: tuple[Node, ...]) -> Iterator[Obstacle]:
    yield from fork(graph, norm)
    names = listed((f"{node.op} (%{node.id})" for node in reversed(between)), joint=" and ")
    comes = f" with {names} between" if names else ""
    yield Obstacle(
        "before_linear",
        f"The batch norm comes before {linear.op} (%{linear.id}){comes}; torch folds one that follows a linear only.",
        f"{own_weights(graph, linear)}Merge it by hand: multiply the linear's weight by the batch norm's scale of "
        "each input, and add the weight times the shifts, summed, to its bias.",
    )
