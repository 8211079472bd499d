"""Finds batch norms and arithmetic that a conv or linear could absorb if operators between them came afterwards.

The operators between only move values, average them, or commute with the scale or shift for another reason, as
`freeze_engine.backends.torchscript.folds.passages` tells. torch folds what directly follows only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from freeze_engine.analysis.name_texts import listed
from freeze_engine.backends.common.fold_obstacle import Obstacle
from freeze_engine.backends.common.shape_rules import Shape
from freeze_engine.backends.common.use_def import ADDS, BATCH_NORM, CONV_LIKE, LINEAR, MULS, UseDef, is_convolution
from freeze_engine.backends.torchscript.folds.conditions import (
    batch_norm_obstacles,
    linear_batch_norm_obstacles,
    operand_obstacles,
    unsupported_conv,
    unsupported_form,
)
from freeze_engine.backends.torchscript.folds.obstacles import (
    FoldCandidate,
    Found,
    fork,
    found,
    not_constant,
    own_weights,
    several_uses,
    varies,
)
from freeze_engine.backends.torchscript.folds.passages import (
    POSITIVE,
    SCALE,
    SHIFT,
    UNCHANGING,
    Layout,
    Passage,
    converts_to,
    layer_output,
    passage,
    walk_back,
)
from freeze_engine.trace import Constant, Node

_NORMS: Final = {3: "torch.nn.BatchNorm1d", 4: "torch.nn.BatchNorm2d", 5: "torch.nn.BatchNorm3d"}


def passed_batch_norms(graph: UseDef, known: Mapping[str, Shape], layers: frozenset[str]) -> Iterator[Found]:
    """Yields the batch norms that a conv or linear could absorb, but for operators between that commute with them.

    Args:
        graph: uses of the graph.
        known: shapes of its values, where known.
        layers: which operators to look for: all convolutions, or the linear.
    """
    for node in graph.nodes.values():
        if node.op != BATCH_NORM or varies(graph, node, 0) or graph.flag(node.inputs[5]) is not False:
            continue
        way = way_to(graph, node, 0, layers, known)
        if way is None or way[1].after.axis != 1 or not may_pass(way[1], _is_positive(graph, node.inputs[1]), True):
            continue
        layer, passed = way
        mean = graph.constant(node.inputs[3])
        width = output_channels(graph, layer, passed.before)
        if mean is None or width is None or mean.shape != (width,):
            continue
        candidate = FoldCandidate(node, layer, 0)
        if layer.op == LINEAR:
            yield found("linear_bn", candidate, _linear_batch_norm(graph, candidate, passed))
        else:
            yield found("conv_bn", candidate, _conv_batch_norm(graph, candidate, passed))


def passed_arithmetic(graph: UseDef, known: Mapping[str, Shape], name: str) -> Iterator[Found]:
    """Yields the adds (``"add"``) or muls (``"mul"``) that a conv could absorb, but for operators that commute.

    Args:
        graph: uses of the graph.
        known: shapes of its values, where known.
        name: which of them.
    """
    ops = ADDS if name == "add" else MULS
    for node in graph.nodes.values():
        if node.op.removesuffix("_") not in ops:
            continue
        is_div = node.op.startswith("aten::div")
        if is_div and len(node.inputs) > 2:
            continue  # what is rounded commutes with nothing
        for place in (0,) if is_div else (0, 1):
            way = way_to(graph, node, place, CONV_LIKE, known, also_unchanged=place == 1)
            # The second walks through all that the other operand is made of, so it comes last.
            if way is None or varies(graph, node, place):
                continue
            layer, passed = way
            turned = node.op.startswith("aten::sub") and place == 1
            needs_scale, needs_shift = name == "mul" or turned, name == "add"
            positive = not turned and _is_positive(graph, node.inputs[1 - place])
            if not may_pass(passed, positive, needs_shift, needs_scale):
                continue
            wanted = _beside_conv(graph, node.inputs[1 - place], layer, passed)
            if wanted is None or (wanted and not passed.keeps_layout and not is_convolution(layer, graph)):
                continue
            candidate = FoldCandidate(node, layer, place)
            yield found(f"conv_{name}", candidate, _arithmetic(graph, candidate, passed, wanted))
            break


def way_to(
    graph: UseDef,
    node: Node,
    place: int,
    layers: frozenset[str],
    known: Mapping[str, Shape],
    also_unchanged: bool = False,
) -> tuple[Node, Passage] | None:
    """Returns the layer before an operand, and what is between them; ``None`` where nothing may pass.

    Args:
        graph: uses of the graph.
        node: reads the operand.
        place: of the operand.
        layers: operators to look for.
        known: shapes of the graph's values, where known.
        also_unchanged: whether to take a way that changes no value and no place of it.
    """
    reached = walk_back(graph, node.inputs[place], layers)
    if reached is None:
        return None
    between, layer = reached
    if varies(graph, layer, 1 if layer.op == "aten::embedding" else 0):
        return None
    if not also_unchanged and all(each.op in UNCHANGING for each in between):
        return None
    if any(each.op == "aten::to" and converts_to(graph, each) for each in between):
        return None
    start = layer_output(graph, layer, known)
    if start is None and layer.op in CONV_LIKE:
        return None
    passed = passage(graph, between, start or Layout(None, None), known)
    return None if passed is None else (layer, passed)


def may_pass(passed: Passage, positive: bool, needs_shift: bool, needs_scale: bool = True) -> bool:
    """Returns whether a scale, a positive one if so said, and a shift may pass."""
    scales = not needs_scale or SCALE in passed.passes or (positive and POSITIVE in passed.passes)
    return scales and (not needs_shift or SHIFT in passed.passes)


def per_channel(operand: Constant, layout: Layout, width: int) -> bool | None:
    """Returns whether a constant has a value for each channel, or only one; ``None`` if neither."""
    if operand.shape in ((), (1,)):
        return False
    if layout.rank is None or len(operand.shape) > layout.rank:
        return None
    aligned = (1,) * (layout.rank - len(operand.shape)) + operand.shape
    others = [size for place, size in enumerate(aligned) if place != layout.axis]
    if any(size != 1 for size in others):
        return None
    if layout.axis is None:
        return False
    return None if aligned[layout.axis] not in (1, width) else aligned[layout.axis] != 1


def output_channels(graph: UseDef, layer: Node, start: Layout) -> int | None:
    """Returns how many channels a layer computes, ``None`` where that is not known."""
    weight = graph.constant(layer.inputs[1])
    if weight is None:
        return None
    if layer.op == LINEAR or is_convolution(layer, graph):
        return weight.shape[0]
    return start.shape[start.axis] if start.shape is not None and start.axis is not None else None


def _is_positive(graph: UseDef, value: str) -> bool:
    definer = graph.definers.get(value)
    if definer is None or definer.op != "prim::Constant":
        return False
    constant = definer.constant
    if constant is not None:
        return constant.minimum is not None and constant.minimum > 0 and not constant.nonfinite
    if graph.is_none(value):
        return True
    try:
        return 0 < float(definer.attribute("value") or "0") < float("inf")
    except ValueError:
        return False


def _beside_conv(graph: UseDef, value: str, conv: Node, passed: Passage) -> Shape | None:
    """Returns the shape that a constant needs right after a conv: empty for a number, ``None`` if there is none."""
    definer = graph.definers.get(value)
    if definer is None or not graph.is_constant(value):
        return None
    operand, weight = definer.constant, graph.constant(conv.inputs[1])
    if operand is None:
        return () if definer.outputs[0].type in ("int", "float") else None
    width = output_channels(graph, conv, passed.before)
    if width is None or weight is None:
        return None
    each = per_channel(operand, passed.after, width)
    if each is None:
        return None
    return (1, width, *(1,) * (len(weight.shape) - 2)) if each else (1,)


def _conv_batch_norm(graph: UseDef, candidate: FoldCandidate, passed: Passage) -> Iterator[Obstacle]:
    then = ""
    if passed.before.rank != passed.after.rank:
        module = _NORMS.get(passed.before.rank or 0, "")
        as_module = f", as {module} with the same values does" if module else ""
        then = f", which then has to take {passed.before.rank} dimensions{as_module}"
    why = _why(passed, "every weight of the batch norm is positive")
    yield _in_between(candidate, passed, f"Put {_names(passed)} after the batch norm{then}: {why}.")
    # A check of the shape goes with the batch norm; any other reader would see other values.
    is_read = bool(graph.readers_apart(candidate.node.inputs[0], candidate.node))
    others = batch_norm_obstacles(graph, candidate)
    yield from (each for each in others if is_read or each.reason != "several_uses")
    yield from _read_between(graph, candidate, passed)


def _linear_batch_norm(graph: UseDef, candidate: FoldCandidate, passed: Passage) -> Iterator[Obstacle]:
    yield _in_between(
        candidate,
        passed,
        f"{own_weights(graph, candidate.neighbour)}Before freezing, replace the linear by "
        "torch.nn.utils.fusion.fuse_linear_bn_eval(linear, bn), and leave the batch norm out.",
    )
    yield from linear_batch_norm_obstacles(graph, candidate)
    if graph.readers_apart(candidate.node.inputs[0], candidate.node):
        yield from several_uses(graph, candidate)
    yield from _read_between(graph, candidate, passed)


def _arithmetic(graph: UseDef, candidate: FoldCandidate, passed: Passage, wanted: Shape) -> Iterator[Obstacle]:
    node, conv = candidate.node, candidate.neighbour
    operand, weight = graph.constant(node.inputs[1 - candidate.place]), graph.constant(conv.inputs[1])
    fits = operand is None or weight is None or _folds_as_it_is(operand, weight)
    shaped = "" if fits else f", with the constant in the shape {wanted}"
    why = _why(passed, "the constant is positive")
    yield from fork(graph, node)
    yield _in_between(candidate, passed, f"Put {_names(passed)} after {node.op}{shaped}: {why}.")
    yield from unsupported_form(candidate)
    is_read = bool(graph.readers_apart(node.inputs[candidate.place], node))
    if not is_convolution(conv, graph):
        yield from unsupported_conv(graph, candidate)
    else:
        yield from not_constant(graph, conv, 0)
        if is_read:
            yield from several_uses(graph, candidate)
        if weight is not None:
            yield from operand_obstacles(weight, None if operand is None else replace(operand, shape=wanted))
    yield from _read_between(graph, candidate, passed)


def _folds_as_it_is(operand: Constant, weight: Constant) -> bool:
    return len(operand.shape) <= len(weight.shape) and all(
        size == 1 or (place == 1 and size == weight.shape[0]) for place, size in enumerate(operand.shape)
    )


def _in_between(candidate: FoldCandidate, passed: Passage, advice: str) -> Obstacle:
    between = passed.between
    what = listed((f"{node.op} (%{node.id})" for node in between), joint=" and ")
    return Obstacle(
        "in_between",
        f"{what} {'is' if len(between) == 1 else 'are'} between {candidate.neighbour.op} and {candidate.node.op}; "
        "torch folds what directly follows only.",
        advice,
    )


def _read_between(graph: UseDef, candidate: FoldCandidate, passed: Passage) -> Iterator[Obstacle]:
    for node in passed.between:
        if graph.readers_apart(node.inputs[0], node):
            yield from several_uses(graph, FoldCandidate(node, candidate.neighbour, 0))


def _names(passed: Passage) -> str:
    return listed(dict.fromkeys(node.op for node in reversed(passed.between)), joint=" and ")


def _why(passed: Passage, positive: str) -> str:
    one = len(passed.between) == 1
    same = "the outputs are the same, since"
    if passed.moves_only:
        return f"{same} {'it moves' if one else 'they move'} values only"
    if passed.passes >= {SHIFT, SCALE}:
        return f"{same} {'it takes' if one else 'they move values and take'} averages"
    if SCALE in passed.passes:
        return f"{same} a scaled value makes a scaled sum"
    return f"{same} {positive}"
