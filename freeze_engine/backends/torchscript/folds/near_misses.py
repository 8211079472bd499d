"""Finds the folds that a pass could have made, and torch's conditions that prevented them.

The finders below list the candidates; the conditions that decide are in
`freeze_engine.backends.torchscript.folds.conditions`. Folds that something between the two nodes, or another operator,
hides from torch are found by `freeze_engine.backends.torchscript.folds.unseen_folds`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from freeze_engine.backends.common.fold_obstacle import Obstacle
from freeze_engine.backends.common.shapes import Shape, ShapesOnDemand, elements
from freeze_engine.backends.common.use_def import (
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
from freeze_engine.backends.torchscript.folds.conditions import (
    batch_norm_obstacles,
    concat_obstacles,
    dropout_obstacles,
    linear_batch_norm_obstacles,
    pointwise_obstacles,
)
from freeze_engine.backends.torchscript.folds.linear_merges import linear_merges
from freeze_engine.backends.torchscript.folds.obstacles import FoldCandidate, Found, beside, found, varies
from freeze_engine.backends.torchscript.folds.removed_dropouts import naming_dropouts
from freeze_engine.backends.torchscript.folds.unseen_before import arithmetic_before
from freeze_engine.backends.torchscript.folds.unseen_folds import (
    ONE_LINE,
    unseen_adds,
    unseen_conv_batch_norms,
    unseen_linear_batch_norms,
    unseen_muls,
)
from freeze_engine.trace import Constant, GraphSnapshot, InputSpec, NearMiss, Node

_Finder = Callable[[GraphSnapshot, UseDef, Mapping[str, Shape]], Iterator[Found]]

REMOVE_DROPOUT: Final = "RemoveDropout"
#: Operations per output element that a fold removes: a batch norm normalises, scales and shifts.
_SAVED = {"conv_bn": 4, "linear_bn": 4, "concat_linear": 2}


def near_misses(
    step_index: int,
    pass_name: str,
    before: GraphSnapshot,
    after: GraphSnapshot,
    inputs: tuple[InputSpec, ...] = (),
    checks: Mapping[str, str] = MappingProxyType({}),
) -> tuple[NearMiss, ...]:
    """Returns the folds that a pass could have made by the shape of the graph, and did not.

    For a loop of passes, use the last round only: the next round may fold what one leaves. A fold of two values
    that both depend on the model's inputs, such as a residual add, is no near miss: no change would let torch fold it.

    Args:
        step_index: index of the pass's step.
        pass_name: the name of torch's C++ function; a pass that folds nothing has no near misses.
        before: the method's graph before the pass, which is what torch decided on.
        after: the graph after it.
        inputs: of the model, if known.
        checks: readers of the shapes of removed dropouts, as `checks_of_dropouts` returns them.

    Returns:
        One for each batch norm, add, sub, mul or div that remains right after a conv or linear, and each dropout left;
        one line for all linears left beside another of the same input where the device decides, and for all folds that
        only another architecture would allow. Sorted by what the fold would save: memory traffic of a call, and where
        that is not known for any, operations times channels; what the whole model explains comes last.
        ``reason`` is the first condition that fails, in the order torch tests them; ``detail`` has the others that
        fail as well.
    """
    if pass_name not in _FINDERS:
        return ()
    standing = {node.id for node in after.walk()}
    graph = use_def(before)
    known = ShapesOnDemand(before, graph, inputs)
    candidates = [
        naming_dropouts(graph, each, checks) if checks else each
        for each in _FINDERS[pass_name](before, graph, known)
        if each.node.id in standing
    ]
    saved = {each.node.id: _saved_bytes(graph, each, known) for each in candidates}
    candidates.sort(key=lambda each: (_whole_model(each) != "", -(saved[each.node.id] or 0), -_gain(graph, each)))
    return tuple(
        replace(_near_miss(step_index, each, standing), saved_bytes=None if _whole_model(each) else saved[each.node.id])
        for each in _in_few_lines(candidates)
    )


def _saved_bytes(graph: UseDef, missed: Found, known: Mapping[str, Shape]) -> int | None:
    """Returns the bytes that the node reads and writes in a call, one value in and one out for each place."""
    weight = _weight(graph, missed)
    shape = known.get(missed.node.outputs[0].name) if missed.node.outputs else None
    if weight is None or shape is None or missed.kind == "concat_linear" or not elements(weight.shape):
        return None
    return 2 * elements(shape) * weight.nbytes // elements(weight.shape)


def _gain(graph: UseDef, missed: Found) -> int:
    """Returns the operations that the fold would save for each place of the output."""
    weight = _weight(graph, missed)
    return _SAVED.get(missed.kind, 1) * (weight.shape[0] if weight is not None and weight.shape else 1)


def _weight(graph: UseDef, missed: Found) -> Constant | None:
    layer = graph.nodes.get(missed.neighbour)
    if layer is None or len(layer.inputs) < 2:
        return None
    return graph.constant(layer.inputs[{"aten::embedding": 0, "aten::addmm": 2}.get(layer.op, 1)])


def _in_few_lines(candidates: Sequence[Found]) -> Iterator[Found]:
    """Yields the candidates, and of those that one fact of the whole model explains the one with fewest obstacles."""
    alike: dict[tuple[str, str], list[Found]] = {}
    for each in candidates:
        reason = _whole_model(each)
        alike.setdefault((each.kind, reason) if reason else (each.node.id, ""), []).append(each)
    for (_, reason), found_there in alike.items():
        first = min(found_there, key=lambda each: len(each.obstacles)) if reason else found_there[0]
        others = len({each.node.id for each in found_there}) - 1
        if not others or not first.obstacles:
            yield first
            continue
        last = first.obstacles[-1]
        more = f"{last.detail} The same holds for {others} more {'node' if others == 1 else 'nodes'} of this graph."
        yield replace(first, obstacles=(*first.obstacles[:-1], replace(last, detail=more)))


def _whole_model(missed: Found) -> str:
    """Returns the reason if it applies to the whole model, empty if it is the node's own."""
    reasons = [each.reason for each in missed.obstacles]
    if missed.kind == "concat_linear":
        return "device" if "device" in reasons else ""
    return next((reason for reason in reasons if reason in ONE_LINE), "")


def _near_miss(step: int, missed: Found, standing: set[str]) -> NearMiss:
    neighbour = missed.neighbour if missed.neighbour in standing else ""
    if not missed.obstacles:
        detail = "None of the conditions known from torch 2.13's source explains it."
        return NearMiss(step, missed.kind, missed.node.id, neighbour, "unknown", detail)
    first, *others = missed.obstacles
    detail = " Also: ".join((first.detail, *(other.detail for other in others)))
    advice = " ".join(dict.fromkeys(each.advice for each in missed.obstacles if each.advice))
    return NearMiss(step, missed.kind, missed.node.id, neighbour, first.reason, detail, advice)


def _conv_batch_norms(_: GraphSnapshot, graph: UseDef, known: Mapping[str, Shape]) -> Iterator[Found]:
    for candidate in beside(graph, frozenset({BATCH_NORM}), CONV_LIKE, (0,)):
        if _can_change(graph, candidate):
            yield found("conv_bn", candidate, batch_norm_obstacles(graph, candidate))
    yield from unseen_conv_batch_norms(graph, known)


def _linear_batch_norms(_: GraphSnapshot, graph: UseDef, known: Mapping[str, Shape]) -> Iterator[Found]:
    for candidate in beside(graph, frozenset({BATCH_NORM}), frozenset({LINEAR}), (0,)):
        if _can_change(graph, candidate):
            yield found("linear_bn", candidate, linear_batch_norm_obstacles(graph, candidate))
    yield from unseen_linear_batch_norms(graph, known)


def _adds(_: GraphSnapshot, graph: UseDef, known: Mapping[str, Shape]) -> Iterator[Found]:
    yield from _pointwise(graph, "add", ADDS)
    yield from unseen_adds(graph, known)
    merged = list(linear_merges(graph, known, "add"))
    yield from merged
    taken = {each.node.id for each in merged}
    yield from (each for each in arithmetic_before(graph, known, "add") if each.node.id not in taken)


def _muls(_: GraphSnapshot, graph: UseDef, known: Mapping[str, Shape]) -> Iterator[Found]:
    yield from _pointwise(graph, "mul", MULS)
    yield from unseen_muls(graph, known)
    merged = list(linear_merges(graph, known, "mul"))
    yield from merged
    taken = {each.node.id for each in merged}
    yield from (each for each in arithmetic_before(graph, known, "mul") if each.node.id not in taken)


def _pointwise(graph: UseDef, name: str, ops: frozenset[str]) -> Iterator[Found]:
    with_in_place = ops | {f"{op}_" for op in ops}
    for candidate in beside(graph, with_in_place, CONV_LIKE, (0, 1)):
        if candidate.place == 1 and candidate.node.op.startswith("aten::div"):
            continue  # divided by a conv's output: no scaling of the conv, nothing to fold
        if _can_change(graph, candidate):
            yield found(f"conv_{name}", candidate, pointwise_obstacles(graph, candidate))


def _can_change(graph: UseDef, candidate: FoldCandidate) -> bool:
    """Returns whether the operands can become constants: only the main operand depends on the model's inputs."""
    return not varies(graph, candidate.node, candidate.place) and not varies(graph, candidate.neighbour, 0)


def _parallel_linears(before: GraphSnapshot, graph: UseDef, _: Mapping[str, Shape]) -> Iterator[Found]:
    for body in blocks(before):
        groups: dict[str, list[Node]] = {}
        for node in body:
            if node.op == LINEAR and not varies(graph, node, 0):
                groups.setdefault(node.inputs[0], []).append(node)
        for first, *others in groups.values():
            for node in others:
                yield found("concat_linear", FoldCandidate(node, first, 0), concat_obstacles(graph, node, first))


def _dropouts(_: GraphSnapshot, graph: UseDef, __: Mapping[str, Shape]) -> Iterator[Found]:
    for node in graph.nodes.values():
        if node.op in DROPOUTS | UNREMOVABLE_DROPOUTS:
            before = graph.definers.get(node.inputs[0])
            obstacles: tuple[Obstacle, ...] = tuple(dropout_obstacles(graph, node))
            yield Found("dropout", node, before.id if before else "", obstacles)


_FINDERS: Mapping[str, _Finder] = {
    REMOVE_DROPOUT: _dropouts,
    "FrozenConcatLinear": _parallel_linears,
    "FoldFrozenConvBatchnorm": _conv_batch_norms,
    "FoldFrozenConvAddOrSub": _adds,
    "FoldFrozenConvMulOrDiv": _muls,
    "FoldFrozenLinearBatchnorm": _linear_batch_norms,
}
