"""The conditions under which torch folds after freezing, in the order its C++ tests them.

Read from ``torch/csrc/jit/passes/`` and checked by running torch 2.13.0: for every reason, a change that removes
it makes the fold happen (``tests/torch/test_near_misses.py``). The CUDA conditions are known by the source only.

Conv + batch norm, frozen_conv_folding.cpp ``FoldFrozenConvBatchnorm``:
    ``unsupported_conv``: conv1d, conv2d, conv3d, or ``_convolution`` whose ``transposed`` is constant and false;
    ``operand_not_constant``: all arguments of both but the input (``nonConstantParameters``,
    utils/optimization_utils.cpp); ``several_uses``: the conv's output has no other reader;
    ``no_running_stats``: not both of running_mean and running_var are None.
    The ``training`` flag is not tested. What stops a batch norm in training mode is the check of the batch size,
    which ``torch.nn.functional.batch_norm`` makes only then and which reads the conv's output: it is named
    ``training_statistics``. Where that check is missing (traced modules, ``torch.batch_norm``), torch folds the
    running statistics in, and changes the result.

Conv + add, sub, mul or div, the same file, ``checkConvAndBroadcastingOpPreConditions``:
    ``operand_not_constant`` as above, but tested first here; ``in_place``, ``unsupported_overload``: add, sub, mul or
    div of a tensor and a tensor or scalar, without rounding mode; ``operand_order``: the conv is the first
    operand; ``unsupported_conv``, ``several_uses`` as above; ``dtype``: the weight is of a floating-point type;
    ``shape``: the operand has no more dimensions than the weight, and all are 1 but the second, which may be
    the number of output channels (``opDoesNotBroadCastWithConv``); ``dtype``: the operand is not complex.
    Mixed floating-point types are folded, in the weight's type, even where eager would promote.

Linear + batch norm, frozen_linear_folding.cpp: ``operand_not_constant``, then ``no_running_stats``, then ``shape``: the
    batch norm has as many channels as the linear has outputs, or one. Other readers of the linear's output do not
    stop it, nor does the ``training`` flag.

Parallel linears, frozen_concat_linear.cpp: in one block and of one input; ``no_bias``: each has a bias;
    ``operand_not_constant``; ``device``: the weights are on CUDA; ``dtype`` and ``device`` agree; ``shape``: all
    dimensions but the first agree.

Dropout, remove_dropout.cpp: ``unsupported_op``: dropout or feature_dropout; ``operand_not_constant`` and
    ``training_mode``: the flag is constant and false.

None of these passes enters a forked subgraph: ``in_fork``. A weight that several convs share stops no fold: each
fold makes a constant of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from freeze_engine.backends.common.fold_obstacle import Obstacle
from freeze_engine.backends.common.use_def import BATCH_NORM, CONVS, DROPOUTS, UseDef, is_convolution
from freeze_engine.backends.torchscript.folds.misfolds import widens
from freeze_engine.backends.torchscript.folds.obstacles import (
    FoldCandidate,
    fork,
    not_constant,
    own_weights,
    provenance,
    several_uses,
)
from freeze_engine.trace import Constant, Node


def batch_norm_obstacles(graph: UseDef, candidate: FoldCandidate) -> Iterator[Obstacle]:
    """Yields the obstacles to folding a batch norm into a conv."""
    norm, conv = candidate.node, candidate.neighbour
    yield from fork(graph, norm)
    if not is_convolution(conv, graph):
        yield from unsupported_conv(graph, candidate)
        return
    yield from not_constant(graph, conv, 0)
    yield from not_constant(graph, norm, 0)
    statistics = tuple(_batch_statistics(graph, norm))
    yield from statistics
    yield from several_uses(graph, candidate, ignored="aten::size" if statistics else None)


def linear_batch_norm_obstacles(graph: UseDef, candidate: FoldCandidate) -> Iterator[Obstacle]:
    """Yields the obstacles to folding a batch norm into a linear."""
    norm = candidate.node
    yield from fork(graph, norm)
    yield from not_constant(graph, candidate.neighbour, 0)
    yield from not_constant(graph, norm, 0)
    yield from _no_running_stats(graph, norm)
    yield from _other_width(graph, candidate)


def pointwise_obstacles(graph: UseDef, candidate: FoldCandidate) -> Iterator[Obstacle]:
    """Yields the obstacles to folding an add, sub, mul or div into a conv."""
    node, conv = candidate.node, candidate.neighbour
    yield from fork(graph, node)
    # torch looks at the form first; but without a constant there is nothing to fold in any form.
    yield from not_constant(graph, node, candidate.place)
    yield from unsupported_form(candidate)
    if not is_convolution(conv, graph):
        yield from unsupported_conv(graph, candidate)
        return
    yield from not_constant(graph, conv, 0)
    yield from several_uses(graph, candidate)
    weight = graph.definers[conv.inputs[1]].constant if graph.is_constant(conv.inputs[1]) else None
    operand = node.inputs[1 - candidate.place]
    if weight:
        yield from operand_obstacles(weight, graph.definers[operand].constant if graph.is_constant(operand) else None)


def concat_obstacles(graph: UseDef, node: Node, first: Node) -> Iterator[Obstacle]:
    """Yields the obstacles to concatenating a linear with an earlier one of the same input."""
    yield from fork(graph, node)
    without = " and ".join(f"%{each.id}" for each in (first, node) if graph.is_none(each.inputs[2]))
    ours, theirs = (graph.constant(each.inputs[1]) for each in (node, first))
    on_cuda = all(weight is None or weight.device.startswith("cuda") for weight in (ours, theirs))
    if without:
        has = "have" if " and " in without else "has"
        detail = f"torch concatenates linears with a bias only; {without} {has} none."
        yield Obstacle(
            "no_bias", detail, "Give it a bias." if on_cuda else ""
        )  # elsewhere, a bias alone brings nothing
    yield from not_constant(graph, first, 0)
    yield from not_constant(graph, node, 0)
    if not ours or not theirs:
        return
    if not on_cuda:
        yield Obstacle(
            "device",
            f"torch concatenates frozen linears on CUDA only; the weights are on {_pair(theirs.device, ours.device)}.",
            f"{'Write' if without else 'Freeze the model on CUDA, or write'} the linears as one and split its output.",
        )
    elif ours.device != theirs.device:
        yield Obstacle("device", f"The weights are on different devices: {theirs.device} and {ours.device}.")
    if ours.dtype != theirs.dtype:
        yield Obstacle("dtype", f"The weights differ in type: {theirs.dtype} and {ours.dtype}.", "Give them one type.")
    if ours.shape[1:] != theirs.shape[1:]:
        yield Obstacle("shape", f"The weights take inputs of different sizes: {theirs.shape} and {ours.shape}.")


def dropout_obstacles(graph: UseDef, node: Node) -> Iterator[Obstacle]:
    """Yields the obstacles to removing a dropout."""
    yield from fork(graph, node)
    if node.op not in DROPOUTS:
        yield Obstacle(
            "unsupported_op",
            f"torch removes dropout and feature_dropout, not {node.op}.",
            "Replace it with torch.nn.Identity before freezing." if graph.flag(node.inputs[2]) is False else "",
        )
    elif graph.flag(node.inputs[2]) is None:
        yield Obstacle(
            "operand_not_constant",
            f"Its training flag is {provenance(graph, node.inputs[2])}.",
            "Pass a flag that freezing makes constant, such as self.training.",
        )
    if graph.flag(node.inputs[2]):
        yield Obstacle(
            "training_mode",
            "It runs with training=True and so drops elements of the frozen model's values too.",
            "Call eval() before the module is scripted or traced (a trace keeps the mode that it was made in), or pass "
            "training=self.training to the functional form, whose default is True.",
        )


def unsupported_conv(graph: UseDef, candidate: FoldCandidate) -> Iterator[Obstacle]:
    """Yields the obstacle of a convolution into which torch folds nothing."""
    conv = candidate.neighbour
    if conv.op == "aten::_convolution_mode":
        detail = "Tracing made aten::_convolution_mode of a conv with padding in words; torch does not fold it."
        yield Obstacle("unsupported_conv", detail, "Give the padding in numbers, or script the module.")
    elif "transpose" in conv.op or conv.op == "aten::_convolution":
        detail = f"{conv.op} is a transposed conv, into which torch folds nothing."
        is_read = bool(graph.readers_apart(candidate.node.inputs[candidate.place], candidate.node))
        yield Obstacle("unsupported_conv", detail, "" if is_read else _merged_by_hand(graph, candidate))
        yield from several_uses(graph, candidate) if is_read else ()
    else:
        yield Obstacle("unsupported_conv", f"torch folds into {', '.join(CONVS)}, not into {conv.op}.")


def _merged_by_hand(graph: UseDef, candidate: FoldCandidate) -> str:
    """Returns advice to merge a node into a transposed conv, empty where that would change the outputs."""
    node, conv = candidate.node, candidate.neighbour
    if node.op == BATCH_NORM:
        by_hand = "torch.nn.utils.fusion.fuse_conv_bn_eval(conv, bn, transpose=True)"
        known = graph.constant(node.inputs[3]) is not None and graph.flag(node.inputs[5]) is False
        return f"{own_weights(graph, conv)}Before freezing, replace both by {by_hand}." if known else ""
    op = node.op.removesuffix("_")
    weight = graph.constant(conv.inputs[1])
    operand = graph.constant(node.inputs[1 - candidate.place]) if len(node.inputs) > 1 else None
    if weight is None or (operand is not None and not _is_per_channel(operand, len(weight.shape))):
        return ""
    where = "bias" if op in ("aten::add", "aten::sub") and candidate.place == 0 else "weight and bias"
    what = "the sign" if op == "aten::neg" else "the constant"
    return f"{own_weights(graph, conv)}Merge {what} into the conv's {where} before freezing."


def _is_per_channel(operand: Constant, dimensions: int) -> bool:
    aligned = (1,) * (dimensions - len(operand.shape)) + operand.shape
    return len(aligned) == dimensions and all(size == 1 for place, size in enumerate(aligned) if place != 1)


def _no_running_stats(graph: UseDef, norm: Node) -> Iterator[Obstacle]:
    if graph.is_none(norm.inputs[3]) and graph.is_none(norm.inputs[4]):
        yield Obstacle(
            "no_running_stats",
            "running_mean and running_var are None, so that every batch is normalised by its own statistics.",
            "Create the batch norm with track_running_stats=True and let it see data before freezing.",
        )


def _other_width(graph: UseDef, candidate: FoldCandidate) -> Iterator[Obstacle]:
    weight, mean = candidate.neighbour.inputs[1], candidate.node.inputs[3]
    if not graph.is_constant(weight) or not graph.is_constant(mean):
        return
    ours, theirs = graph.definers[mean].constant, graph.definers[weight].constant
    if not ours or not theirs or ours.shape[0] in (theirs.shape[0], 1):
        return
    yield Obstacle(
        "shape",
        f"The batch norm has {_counted(ours.shape[0], 'channel')} and the linear "
        f"{_counted(theirs.shape[0], 'output')}: it normalises another dimension than the one that the linear "
        "computes.",
    )


def _batch_statistics(graph: UseDef, norm: Node) -> Iterator[Obstacle]:
    missing = tuple(_no_running_stats(graph, norm))
    yield from missing
    checks_size = any(reader.op == "aten::size" for reader in graph.readers[norm.inputs[0]])
    if not missing and checks_size and graph.flag(norm.inputs[5]):
        yield Obstacle(
            "training_statistics",
            "The batch norm runs with training=True: it normalises every batch by the batch's own statistics, and "
            "first checks the batch's size, a second reader of the conv's output.",
            "Call eval() on the batch norm before freezing, or pass training=False to the functional form.",
        )


def unsupported_form(candidate: FoldCandidate) -> Iterator[Obstacle]:
    """Yields the obstacles in how an add, sub, mul or div is written."""
    node = candidate.node
    op = node.op.removesuffix("_")
    sign = {"aten::add": "+", "aten::sub": "-", "aten::mul": "*", "aten::div": "/"}[op]
    if node.op != op:
        advice = f"Write y = y {sign} c instead of y {sign}= c."
        yield Obstacle("in_place", f"{node.op} writes in place; torch folds {op} only.", advice)
    if op == "aten::div" and len(node.inputs) > 2:
        yield Obstacle("unsupported_overload", "torch folds no division with a rounding mode.")
    if candidate.place == 1:
        yield Obstacle(
            "operand_order",
            f"The conv's output is the second operand of {node.op}; torch folds it as the first only.",
            "Write c - y as y * -1 + c." if sign == "-" else f"Write c {sign} y as y {sign} c.",
        )


def operand_obstacles(weight: Constant, operand: Constant | None) -> Iterator[Obstacle]:
    """Yields the obstacles to folding a constant operand into a conv of this weight."""
    if "float" not in weight.dtype:
        yield Obstacle("dtype", f"The conv's weight is {weight.dtype}; torch folds into floating-point weights only.")
    if operand is None:
        return
    channels = weight.shape[0]
    foldable = len(operand.shape) <= len(weight.shape) and all(
        size == 1 or (place == 1 and size == channels) for place, size in enumerate(operand.shape)
    )
    if not foldable:
        yield _shape_obstacle(weight, operand)
    if widens(weight, operand):
        yield Obstacle(
            "dtype",
            f"The operand is {operand.dtype} and the conv's weight {weight.dtype}: folded, the result would no longer "
            f"be {operand.dtype}.",
            f"Keep the operand in {weight.dtype}, and convert after it where the wider type is needed.",
        )
    if operand.dtype.startswith("complex") and not weight.dtype.startswith("complex"):
        yield Obstacle(
            "dtype", f"The operand is {operand.dtype} and the conv's weight {weight.dtype}: the type would change."
        )


def _shape_obstacle(weight: Constant, operand: Constant) -> Obstacle:
    channels, dimensions = weight.shape[0], len(weight.shape)
    wanted = (1, channels, *(1,) * (dimensions - 2))
    detail = (
        f"The operand has the shape {operand.shape}; beside a weight of the shape {weight.shape} torch folds a single "
        f"number or the shape {wanted}."
    )
    aligned = (1,) * (dimensions - len(operand.shape)) + operand.shape
    if len(aligned) > dimensions or any(size not in (1, want) for size, want in zip(aligned, wanted, strict=True)):
        return Obstacle("shape", detail)
    return Obstacle(
        "shape", detail, f"Give it the shape {tuple(wanted if channels in aligned else (1,))}, which means the same."
    )


def _pair(first: str, second: str) -> str:
    return first if first == second else f"{first} and {second}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
