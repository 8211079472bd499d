"""Finds folds that torch does not look for, because of another operator or an operator in between.

torch folds only what directly follows a conv or linear, and only batch_norm, add, sub, mul and div. To a reader of the
model ``-conv(x)`` and ``bn(conv(x).contiguous())`` look the same as what folds. Each of these is a near miss: its
advice says how to write the same computation so that it folds; where only another architecture would fold, its detail
says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from freeze_engine.analysis.name_texts import listed
from freeze_engine.backends.common.fold_obstacle import Obstacle
from freeze_engine.backends.common.shape_rules import Shape
from freeze_engine.backends.common.use_def import ADDS, BATCH_NORM, CONV_LIKE, LINEAR, MULS, UseDef, is_convolution
from freeze_engine.backends.torchscript.folds.conditions import (
    batch_norm_obstacles,
    linear_batch_norm_obstacles,
    operand_obstacles,
    pointwise_obstacles,
    unsupported_conv,
)
from freeze_engine.backends.torchscript.folds.obstacles import (
    FoldCandidate,
    Found,
    beside,
    fork,
    found,
    not_constant,
    own_weights,
    several_uses,
    varies,
)
from freeze_engine.backends.torchscript.folds.passages import UNCHANGING, converts_to
from freeze_engine.backends.torchscript.folds.several_operands import several_operands
from freeze_engine.backends.torchscript.folds.unseen_before import batch_norms_in_a_row
from freeze_engine.backends.torchscript.folds.unseen_linear_folds import before_linears, product_batch_norms
from freeze_engine.backends.torchscript.folds.unseen_parts import (
    joined_arithmetic,
    joined_batch_norms,
    parted_batch_norms,
)
from freeze_engine.backends.torchscript.folds.unseen_passages import passed_arithmetic, passed_batch_norms
from freeze_engine.trace import Node

#: Reasons that only another architecture removes: one line of each is enough.
ONE_LINE: Final = frozenset({"own_statistics", "activation_between", "before_padded_conv"})

_ACTIVATIONS = frozenset(
    f"aten::{op}{suffix}"
    for op in (
        *("relu", "relu6", "leaky_relu", "elu", "selu", "celu", "gelu", "silu", "mish", "prelu", "sigmoid", "tanh"),
        *("hardtanh", "hardswish", "hardsigmoid", "softplus", "softsign", "clamp", "max_pool1d", "max_pool2d"),
        *("max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d"),
        *("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"),
    )
    for suffix in ("", "_")
)
_GROUP_NORM: Final = "aten::group_norm"
_INSTANCE_NORM: Final = "aten::instance_norm"
_RSUB: Final = "aten::rsub"
_NEG: Final = frozenset({"aten::neg", "aten::neg_"})


def unseen_conv_batch_norms(graph: UseDef, known: Mapping[str, Shape]) -> Iterator[Found]:
    """Yields the normalisations near a conv that torch does not consider."""
    norms = frozenset({BATCH_NORM})
    for candidate in _apart(graph, norms, CONV_LIKE):
        yield found("conv_bn", candidate, _between(graph, candidate, batch_norm_obstacles(graph, candidate)))
    passed = list(passed_batch_norms(graph, known, CONV_LIKE))
    yield from passed
    named = {each.node.id for each in passed}
    for candidate in _after_activation(graph, CONV_LIKE, named):
        named.add(candidate.node.id)
        yield found("conv_bn", candidate, _activation(graph, candidate))
    for candidate in beside(graph, frozenset({_GROUP_NORM, _INSTANCE_NORM}), CONV_LIKE, (0,)):
        yield found("conv_bn", candidate, _own_statistics(graph, candidate))
    yield from (each for each in _before_convs(graph) if each.node.id not in named)
    yield from joined_batch_norms(graph, known, linear=False)
    yield from (each for each in parted_batch_norms(graph, known) if each.node.id not in named)
    yield from batch_norms_in_a_row(graph)


def unseen_linear_batch_norms(graph: UseDef, known: Mapping[str, Shape]) -> Iterator[Found]:
    """Yields the batch norms near a linear that torch does not consider."""
    linears = frozenset({LINEAR})
    for candidate in _apart(graph, frozenset({BATCH_NORM}), linears):
        yield found("linear_bn", candidate, _between(graph, candidate, linear_batch_norm_obstacles(graph, candidate)))
    passed = list(passed_batch_norms(graph, known, linears))
    yield from passed
    for candidate in _after_activation(graph, linears, {each.node.id for each in passed}):
        yield found("linear_bn", candidate, _activation(graph, candidate))
    yield from joined_batch_norms(graph, known, linear=True)
    yield from product_batch_norms(graph, known)
    yield from before_linears(graph, known)


def unseen_adds(graph: UseDef, known: Mapping[str, Shape]) -> Iterator[Found]:
    """Yields ``c - conv(x)``, and adds and subs with something between them and the conv."""
    for candidate in beside(graph, frozenset({_RSUB}), CONV_LIKE, (0,)):
        if not varies(graph, candidate.node, 0) and not varies(graph, candidate.neighbour, 0):
            yield found("conv_add", candidate, _unknown_operator(graph, candidate, "c - y as y * -1.0 + c"))
    yield from _arithmetic_apart(graph, "conv_add", ADDS)
    yield from passed_arithmetic(graph, known, "add")
    yield from several_operands(graph, "add")
    yield from joined_arithmetic(graph, known, "add")


def unseen_muls(graph: UseDef, known: Mapping[str, Shape]) -> Iterator[Found]:
    """Yields ``-conv(x)``, and muls and divs with something between them and the conv."""
    for candidate in beside(graph, _NEG, CONV_LIKE, (0,)):
        if not varies(graph, candidate.neighbour, 0):
            written = "c - y as y * -1.0 + c" if _is_reversed_sub(graph, candidate.node) else "-y as y * -1.0"
            yield found("conv_mul", candidate, _unknown_operator(graph, candidate, written))
    yield from _arithmetic_apart(graph, "conv_mul", MULS)
    yield from passed_arithmetic(graph, known, "mul")
    yield from several_operands(graph, "mul")
    yield from joined_arithmetic(graph, known, "mul")


def _is_reversed_sub(graph: UseDef, neg: Node) -> bool:
    """Returns whether a negation is the first half of ``c - y``, which torch compiles into two operators."""
    readers = [graph.nodes.get(reader.node) for reader in graph.readers.get(neg.outputs[0].name, ())]
    one = readers[0] if len(readers) == 1 else None
    return one is not None and one.op == "aten::add" and one.source == neg.source


def _arithmetic_apart(graph: UseDef, kind: str, ops: frozenset[str]) -> Iterator[Found]:
    for candidate in _apart(graph, ops, CONV_LIKE):
        yield found(kind, candidate, _between(graph, candidate, pointwise_obstacles(graph, candidate)))


def _apart(graph: UseDef, ops: frozenset[str], neighbours: frozenset[str]) -> Iterator[FoldCandidate]:
    """Yields nodes whose first operand is a conv's or linear's output, apart from operators that keep its values."""
    for node in graph.nodes.values():
        if node.op not in ops:
            continue
        neighbour = graph.definers.get(node.inputs[0])
        if neighbour is None or neighbour.op not in UNCHANGING:
            continue
        while neighbour is not None and neighbour.op in UNCHANGING:
            neighbour = graph.definers.get(neighbour.inputs[0])
        if neighbour is None or neighbour.op not in neighbours:
            continue
        if not varies(graph, node, 0) and not varies(graph, neighbour, 0):
            yield FoldCandidate(node, neighbour, 0)


def _between(graph: UseDef, candidate: FoldCandidate, others: Iterator[Obstacle]) -> Iterator[Obstacle]:
    between = list(_chain(graph, candidate))
    what = listed((f"{node.op} (%{node.id})" for node in between), joint=" and ")
    yield Obstacle(
        "in_between",
        f"{what} {'is' if len(between) == 1 else 'are'} between {candidate.neighbour.op} and "
        f"{candidate.node.op}; torch folds what directly follows only.",
        _leave_out(graph, candidate, between),
    )
    # A check of the shape is no obstacle to a batch norm after a conv; any other reader would see other values.
    is_read = bool(graph.readers_apart(candidate.node.inputs[0], candidate.node))
    yield from (each for each in others if is_read or each.reason != "several_uses")
    for node in between:
        if graph.readers_apart(node.inputs[0], node):
            yield from several_uses(graph, FoldCandidate(node, candidate.neighbour, 0))


def _chain(graph: UseDef, candidate: FoldCandidate) -> Iterator[Node]:
    node = graph.definers[candidate.node.inputs[0]]
    while node.id != candidate.neighbour.id:
        yield node
        node = graph.definers[node.inputs[0]]


def _leave_out(graph: UseDef, candidate: FoldCandidate, between: list[Node]) -> str:
    ours = graph.constant(candidate.neighbour.inputs[1])
    theirs = graph.constant(candidate.node.inputs[3 if candidate.node.op == BATCH_NORM else 1])
    does = candidate.node.op
    conversions = [node for node in between if node.op == "aten::to"]
    if ours is not None and theirs is not None and ours.dtype != theirs.dtype and conversions:
        return f"Keep the values of {does} in {ours.dtype}, and convert after it."
    it, changes = ("it", "it changes") if len(between) == 1 else ("them", "they change")
    converts = ours is not None and any(converts_to(graph, node) not in ("", ours.dtype) for node in conversions)
    if ours is not None and converts:
        return f"Move {it} behind {does}, which then computes in {ours.dtype}."
    return f"Leave {it} out, or move {it} behind {does}: {changes} no value."


def _after_activation(graph: UseDef, neighbours: frozenset[str], passed: set[str]) -> Iterator[FoldCandidate]:
    for candidate in beside(graph, frozenset({BATCH_NORM}), _ACTIVATIONS, (0,)):
        before = graph.definers.get(candidate.neighbour.inputs[0])
        if before is not None and before.op in neighbours and candidate.node.id not in passed:
            yield FoldCandidate(candidate.node, before, 0)


def _activation(graph: UseDef, candidate: FoldCandidate) -> Iterator[Obstacle]:
    between = graph.definers[candidate.node.inputs[0]]
    yield Obstacle(
        "activation_between",
        f"{between.op} (%{between.id}) is between {candidate.neighbour.op} and the batch norm, and does not only "
        "scale: a model with the batch norm before it, trained so, would fold, no other.",
    )


def _own_statistics(graph: UseDef, candidate: FoldCandidate) -> Iterator[Obstacle]:
    node = candidate.node
    if node.op == _INSTANCE_NORM and graph.flag(node.inputs[5]) is False and not graph.is_none(node.inputs[3]):
        yield Obstacle(
            "unsupported_op",
            "This instance norm takes its running statistics, as a batch norm does; torch folds batch norms only.",
            "Replace it with a batch norm in eval mode that holds its weight, bias and running statistics.",
        )
        if graph.readers_apart(node.inputs[0], node):  # checks of the shape are the instance norm's own
            yield from several_uses(graph, candidate)
        return
    yield Obstacle(
        "own_statistics",
        f"{node.op} normalises every input by the input's own statistics, so no constant can stand for it: a model "
        "with batch norms, trained so, would fold, no other.",
    )


def _before_convs(graph: UseDef) -> Iterator[Found]:
    """Yields the batch norms that only a conv reads, and that no operator before them can absorb."""
    for node in graph.nodes.values():
        if node.op != BATCH_NORM or varies(graph, node, 0) or graph.flag(node.inputs[5]) is not False:
            continue
        before = graph.definers.get(node.inputs[0])
        while before is not None and before.op in UNCHANGING:
            before = graph.definers.get(before.inputs[0])
        if before is not None and before.op in CONV_LIKE:
            continue
        readers = graph.readers_apart(node.outputs[0].name, node)
        conv = graph.nodes.get(readers[0].node) if len(readers) == 1 else None
        if conv is None or not is_convolution(conv, graph) or conv.inputs[0] != node.outputs[0].name:
            continue
        if graph.constant(node.inputs[3]) and graph.constant(conv.inputs[1]):
            yield Found("conv_bn", node, conv.id, (_before_conv(graph, conv),))


def _before_conv(graph: UseDef, conv: Node) -> Obstacle:
    stands = f"The batch norm comes before {conv.op} (%{conv.id}); torch folds one that follows a conv only."
    if _is_unpadded(graph, conv):
        return Obstacle(
            "before_conv",
            stands,
            f"{own_weights(graph, conv)}The conv has no padding, so merge it by hand: multiply the conv's weight by "
            "the batch norm's scale of each input channel, and add the weight times the shifts, summed, to its bias.",
        )
    padded = "The conv pads what the batch norm has shifted with zeros, so its bias cannot take the shift in."
    return Obstacle("before_padded_conv", f"{stands} {padded}")


def _is_unpadded(graph: UseDef, conv: Node) -> bool:
    return _is_zero(graph, conv.inputs[4])


def _is_zero(graph: UseDef, padding: str) -> bool:
    definer = graph.definers.get(padding)
    text = (definer.attribute("value") or "") if definer is not None and definer.op == "prim::Constant" else ""
    return bool(text) and set(text) <= set("[0, ]")


def _unknown_operator(graph: UseDef, candidate: FoldCandidate, written: str) -> Iterator[Obstacle]:
    node, conv = candidate.node, candidate.neighbour
    yield from fork(graph, node)
    if not is_convolution(conv, graph):
        yield from unsupported_conv(graph, candidate)
        return
    yield Obstacle(
        "unsupported_op", f"torch folds add, sub, mul and div into a conv, not {node.op}.", f"Write {written}."
    )
    yield from not_constant(graph, conv, 0)
    yield from several_uses(graph, candidate)
    weight = graph.constant(conv.inputs[1])
    if weight is not None:
        yield from operand_obstacles(weight, graph.constant(node.inputs[1]) if len(node.inputs) > 1 else None)
