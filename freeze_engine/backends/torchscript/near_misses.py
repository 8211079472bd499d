"""Finds the folds that a pass could have made, and says which of torch's conditions stood in the way.

The finders below list the candidates; the conditions that decide are in
`freeze_engine.backends.torchscript.fold_conditions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from freeze_engine.backends.torchscript.fold_conditions import (
    batch_norm_obstacles,
    concat_obstacles,
    dropout_obstacles,
    linear_batch_norm_obstacles,
    pointwise_obstacles,
    unfoldable_into_linear,
)
from freeze_engine.backends.torchscript.obstacles import Candidate, Obstacle
from freeze_engine.backends.torchscript.use_def import (
    ADDS,
    BATCH_NORM,
    CONV_LIKE,
    DROPOUTS,
    LINEAR,
    MULS,
    UNREMOVABLE_DROPOUTS,
    UseDef,
    blocks,
    use_def,
)
from freeze_engine.trace import GraphSnapshot, NearMiss, Node

_Finder = Callable[[GraphSnapshot, UseDef], Iterator["_Found"]]


@dataclass(frozen=True, slots=True)
class _Found:
    """A candidate, the fold it would have been, and what stood in its way, in torch's order."""

    kind: str
    node: Node
    neighbour: str
    obstacles: tuple[Obstacle, ...]


def near_misses(step_index: int, pass_name: str, before: GraphSnapshot, after: GraphSnapshot) -> tuple[NearMiss, ...]:
    """Returns the folds that a pass could have made by the shape of the graph, and did not.

    Of a loop of passes, ask for the last round only: what one round leaves, the next may fold.

    Args:
        step_index: index of the pass's step.
        pass_name: the name of torch's C++ function; a pass that folds nothing has no near misses.
        before: the method's graph before the pass, which is what torch decided on.
        after: the graph after it.

    Returns:
        One for each batch norm, add, sub, mul or div left standing right after a conv or linear, each linear
        left beside another of the same input, and each dropout left. ``reason`` is the first condition that
        fails, in the order torch tests them; ``detail`` tells the others that fail as well.
    """
    if pass_name not in _FINDERS:
        return ()
    standing = {node.id for node in after.walk()}
    found = _FINDERS[pass_name](before, use_def(before))
    return tuple(_near_miss(step_index, each, standing) for each in found if each.node.id in standing)


def _near_miss(step: int, found: _Found, standing: set[str]) -> NearMiss:
    neighbour = found.neighbour if found.neighbour in standing else ""
    if not found.obstacles:
        detail = "None of the conditions known from torch 2.13's source explains it."
        return NearMiss(step, found.kind, found.node.id, neighbour, "unknown", detail)
    first, *others = found.obstacles
    detail = " Also: ".join((first.detail, *(other.detail for other in others)))
    return NearMiss(step, found.kind, found.node.id, neighbour, first.reason, detail, first.advice)


def _conv_batch_norms(_: GraphSnapshot, graph: UseDef) -> Iterator[_Found]:
    for candidate in _beside(graph, frozenset({BATCH_NORM}), CONV_LIKE, (0,)):
        yield _found("conv_bn", candidate, batch_norm_obstacles(graph, candidate))


def _linear_batch_norms(_: GraphSnapshot, graph: UseDef) -> Iterator[_Found]:
    for candidate in _beside(graph, frozenset({BATCH_NORM}), frozenset({LINEAR}), (0,)):
        yield _found("linear_bn", candidate, linear_batch_norm_obstacles(graph, candidate))


def _adds(_: GraphSnapshot, graph: UseDef) -> Iterator[_Found]:
    yield from _pointwise(graph, "add", ADDS)


def _muls(_: GraphSnapshot, graph: UseDef) -> Iterator[_Found]:
    yield from _pointwise(graph, "mul", MULS)


def _pointwise(graph: UseDef, name: str, ops: frozenset[str]) -> Iterator[_Found]:
    with_in_place = ops | {f"{op}_" for op in ops}
    for candidate in _beside(graph, with_in_place, CONV_LIKE | {LINEAR}, (0, 1)):
        if candidate.place == 1 and candidate.node.op.startswith("aten::div"):
            continue  # divided by a conv's output: no scaling of the conv, nothing to fold
        if candidate.neighbour.op != LINEAR:
            yield _found(f"conv_{name}", candidate, pointwise_obstacles(graph, candidate))
        elif graph.is_constant(candidate.node.inputs[1 - candidate.place]):
            yield _found(f"linear_{name}", candidate, unfoldable_into_linear(candidate))


def _beside(
    graph: UseDef, ops: frozenset[str], neighbours: frozenset[str], places: tuple[int, ...]
) -> Iterator[Candidate]:
    for node in graph.nodes.values():
        if node.op not in ops:
            continue
        for place in places:
            neighbour = graph.definers.get(node.inputs[place])
            if neighbour and neighbour.op in neighbours:
                yield Candidate(node, neighbour, place)
                break


def _parallel_linears(before: GraphSnapshot, graph: UseDef) -> Iterator[_Found]:
    for body in blocks(before):
        groups: dict[str, list[Node]] = {}
        for node in body:
            if node.op == LINEAR:
                groups.setdefault(node.inputs[0], []).append(node)
        for first, *others in groups.values():
            for node in others:
                yield _found("concat_linear", Candidate(node, first, 0), concat_obstacles(graph, node, first))


def _dropouts(_: GraphSnapshot, graph: UseDef) -> Iterator[_Found]:
    for node in graph.nodes.values():
        if node.op in DROPOUTS | UNREMOVABLE_DROPOUTS:
            before = graph.definers.get(node.inputs[0])
            yield _Found("dropout", node, before.id if before else "", tuple(dropout_obstacles(graph, node)))


def _found(kind: str, candidate: Candidate, obstacles: Iterator[Obstacle]) -> _Found:
    return _Found(kind, candidate.node, candidate.neighbour.id, tuple(obstacles))


_FINDERS: Mapping[str, _Finder] = {
    "RemoveDropout": _dropouts,
    "FrozenConcatLinear": _parallel_linears,
    "FoldFrozenConvBatchnorm": _conv_batch_norms,
    "FoldFrozenConvAddOrSub": _adds,
    "FoldFrozenConvMulOrDiv": _muls,
    "FoldFrozenLinearBatchnorm": _linear_batch_norms,
}
