"""Finds the missed folds into a conv or linear, and the wrong ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from freeze_engine.backends.common.fold_obstacle import Obstacle
from freeze_engine.backends.common.shapes import elements, typed_shape
from freeze_engine.backends.common.use_def import UseDef, use_def
from freeze_engine.backends.inductor.capture.raw import RawCompile
from freeze_engine.backends.inductor.folds.conditions import (
    BINARIES,
    CONV,
    LINEARS,
    OVERLOADS,
    RESHAPE,
    FoldCandidate,
    Known,
    obstacles,
)
from freeze_engine.backends.inductor.graph.rows import RawGraph
from freeze_engine.trace import GraphSnapshot, NearMiss, Node, Notice, Step

LOOP: Final = ("constant_fold", "fake_tensor_prop", "binary_folding")
"""The passes of a round of folding."""

_PASS: Final = LOOP[-1]
_WIDTH: Final = {"Half": 2, "BFloat16": 2, "Float": 4, "Double": 8}
_SHAPES: Final = ("aten.sym_size", "aten.sym_stride", "aten.sym_numel", "aten.sym_storage_offset")
_EVERY_ROUND = Obstacle(
    "rounds_exhausted",
    "torch folds in four rounds, one operation after a conv in each, and all of them were used up.",
    "Fold one of the operations before it by hand, such as a batch norm: torch.nn.utils.fusion.fuse_conv_bn_eval.",
)


def folding_end(steps: Sequence[Step]) -> int | None:
    """Returns the index of the last round's binary folding; ``None`` until a pass comes after it that is of no round.

    Args:
        steps: the steps of the passes so far.
    """
    last = next((step.index for step in reversed(steps) if step.name == _PASS), len(steps))
    return last if any(step.name not in LOOP for step in steps[last + 1 :]) else None


def near_misses(compiled: RawCompile, steps: Sequence[Step], last: int) -> tuple[NearMiss, ...]:
    """Returns the folds that binary folding could have made by the shape of the graph, and did not.

    Args:
        compiled: the raw data.
        steps: the steps of its passes, in the same order.
        last: index of the last round's step, none of the first.

    Returns:
        One for each add, sub, mul or div that the last round leaves right after a conv, or, with a constant, after a
        linear, in the order of what the fold would save. What meets a value that depends on the model's inputs, such as
        a residual connection, is left out: no change would let torch fold that. ``reason`` is the first condition that
        fails, in the order torch tests them; ``detail`` has the others that fail as well.
    """
    known = Known(
        {each.name: each.paths[0] for each in compiled.inputs if each.paths},
        frozenset(_batch_norms(compiled.steps[last].graph)),
        bool(compiled.settings.get("enable_linear_binary_folding")),
    )
    found = fold_near_misses(last, steps[last - 1].graph, steps[last].graph, known)
    return tuple(sorted(found, key=lambda miss: -(miss.saved_bytes or 0)))


def fold_near_misses(step: int, before: GraphSnapshot, after: GraphSnapshot, known: Known) -> Iterator[NearMiss]:
    """Yields the folds that the last round of binary folding did not make.

    Args:
        step: index of its step.
        before: the graph before it, which is what torch decided on.
        after: the graph after it.
        known: further facts about the compile.
    """
    graph, left = use_def(before), use_def(after)
    judged = {candidate.node.id: candidate for candidate in candidates(before, graph, known)}
    for candidate in candidates(after, left, known):
        earlier = judged.get(candidate.node.id)
        if earlier is not None:
            found = tuple(obstacles(graph, earlier, known))
        else:  # it is beside the conv only since this round
            found = tuple(obstacles(left, replace(candidate, is_refolded=True), known)) or (_EVERY_ROUND,)
        yield replace(_near_miss(step, candidate, found), saved_bytes=_saved_bytes(candidate))


def _saved_bytes(candidate: FoldCandidate) -> int | None:
    """Returns the bytes that the operation reads and writes, one value in and one out for each place."""
    kind = candidate.node.outputs[0].type
    shape, width = typed_shape(kind), _WIDTH.get(kind.partition("(")[0])
    return None if shape is None or width is None else 2 * elements(shape) * width


def candidates(snapshot: GraphSnapshot, graph: UseDef, known: Known) -> Iterator[FoldCandidate]:
    """Yields the operations of a graph that read a conv's or linear's output and could be folded by their shape."""
    for node in snapshot.nodes:
        if node.op not in BINARIES and node.op not in OVERLOADS:
            continue
        candidate = next(_beside(node, graph, known), None)
        if candidate is not None and not _is_no_fold(candidate, graph, known):
            yield candidate


def misfolds(before: Step, step: Step) -> Iterator[Notice]:
    """Yields the folds of a step that change the result, by conditions that torch does not test.

    Args:
        before: the step before it.
        step: of any pass.
    """
    if step.name != _PASS or not step.changed:
        return
    consumed = {node for rewrite in step.rewrites for node in rewrite.consumed}
    graph = use_def(before.graph)
    for candidate in candidates(before.graph, graph, Known({}, frozenset(), True)):
        if candidate.node.id in consumed and (problem := _misfold(candidate)):
            yield Notice("misfold", f"{problem} The numeric errors of the steps show by how much.", step.index)


def _misfold(candidate: FoldCandidate) -> str:
    node, conv = candidate.node, candidate.computation
    alpha = node.attribute("alpha")
    if alpha is not None:
        return f"torch folded %{node.id} ({node.op}) without its alpha={alpha}: the results are wrong."
    scales = BINARIES.get(node.op) == "mul" and candidate.operand is not None
    if scales and conv.attribute("transposed") == "True":
        return (
            f"torch folded %{node.id} ({node.op}) into the transposed conv %{conv.id}, of which it scales the input "
            "channels instead of the output channels: unless all scales are the same, the results are wrong."
        )
    return ""


def _beside(node: Node, graph: UseDef, known: Known) -> Iterator[FoldCandidate]:
    first = node.attribute("self")  # a number comes first, as in 1 - y
    for index, value in enumerate(node.inputs):
        place = 1 if first is not None else index
        found = _computation(graph, value)
        if found is None or (place == 1 and node.op.startswith("aten.div")):
            continue
        others = [name for other, name in enumerate(node.inputs) if other != index]
        number = first or node.attribute("other") or ""
        is_norm = node.outputs[0].name in known.batch_norms
        yield FoldCandidate(node, *found, place, others[0] if others else None, "" if others else number, is_norm)


def _computation(graph: UseDef, value: str) -> tuple[Node, tuple[str, ...]] | None:
    definer = graph.definers.get(value)
    if definer is not None and definer.op == RESHAPE:
        inner = graph.definers.get(definer.inputs[0])
        # torch's pattern looks through a reshape for linears only.
        return (inner, (definer.inputs[0], value)) if inner is not None and inner.op in LINEARS else None
    if definer is None or (definer.op != CONV and definer.op not in LINEARS):
        return None
    return definer, (value,)


def _is_no_fold(candidate: FoldCandidate, graph: UseDef, known: Known) -> bool:
    """Returns whether no change of the model would make it fold, or it is part of an activation."""
    node = candidate.node
    if any(_depends_on_inputs(name, graph, known) for name in _operands(candidate)):
        return True  # such as a residual connection, or the logits of CLIP
    if candidate.operand is None:
        others = (graph.nodes[each.node] for value in candidate.path for each in graph.readers[value] if each.node)
        apart = [each for each in others if each.id != node.id and each.op != RESHAPE]
        return any((each.module, each.source) == (node.module, node.source) for each in apart)
    definer = graph.definers.get(candidate.operand)
    return not candidate.is_conv and (definer is None or definer.op != "get_attr")


def _operands(candidate: FoldCandidate) -> Iterator[str]:
    """Yields the names of the values that have to be constants, but for the batch's own statistics."""
    inputs = candidate.computation.inputs
    flowing = inputs.index(candidate.weight) - 1  # addmm(bias, input, weight), mm and convolution(input, weight)
    yield from (name for place, name in enumerate(inputs) if place != flowing)
    if candidate.operand is not None and not candidate.is_batch_norm:
        yield candidate.operand


def _depends_on_inputs(value: str, graph: UseDef, known: Known) -> bool:
    """Returns whether a value comes from a graph input that is no attribute of the model; a shape does not count."""
    waiting, seen = [value], {value}
    while waiting:
        each = waiting.pop()
        definer = graph.definers.get(each)
        if definer is None and each not in known.attributes:
            return True
        if definer is not None and definer.op.startswith(_SHAPES):
            continue
        found = set(definer.inputs if definer is not None else ()) - seen
        waiting += found
        seen |= found
    return False


def _near_miss(step: int, candidate: FoldCandidate, found: Sequence[Obstacle]) -> NearMiss:
    base = "conv" if candidate.is_conv else "linear"
    does = "bn" if candidate.is_batch_norm else {**BINARIES, **OVERLOADS}[candidate.node.op]
    kind, node, neighbour = f"{base}_{does}", candidate.node.id, candidate.computation.id
    if not found:
        detail = "None of the conditions known from torch 2.13's source explains it."
        return NearMiss(step, kind, node, neighbour, "unknown", detail)
    first, *others = found
    detail = " Also: ".join((first.detail, *(other.detail for other in others)))
    advice = " ".join(dict.fromkeys(each.advice for each in (first, *others) if each.advice))
    return NearMiss(step, kind, node, neighbour, first.reason, detail, advice)


def _batch_norms(graph: RawGraph) -> Iterator[str]:
    """Yields the values that AOTAutograd's decomposition of a batch norm made, and no pass since then."""
    for row in graph.rows:
        made_of: Any = row.node.meta.get("original_aten")
        if "batch_norm" in str(made_of):
            yield row.name
