"""Finds folds of torch that change the model's results, by conditions that torch does not test.

Each was seen by running torch 2.13.0 (``tests/torch/test_faults.py``); the passes are frozen_linear_folding.cpp and
frozen_conv_folding.cpp:

- A linear with other readers than the batch norm: they get the normalised values.
- A batch norm over another dimension than the one that the linear or conv computes, where the sizes are equal by
  chance: a linear's output with other than two dimensions, or a conv's without a batch.
- A constant with fewer dimensions than the weight: torch counts from the left, broadcasting from the right.
- A constant of a wider type than the conv's weight: eager promotes, the folded conv does not.
- A batch norm that runs with training=True: the running statistics are folded in.
"""

from __future__ import annotations

from collections.abc import Iterator

from freeze_engine.analysis.name_texts import listed
from freeze_engine.backends.common.use_def import ADDS, BATCH_NORM, LINEAR, MULS, UseDef, use_def
from freeze_engine.backends.torchscript.folds.ranks import Ranks
from freeze_engine.trace import Constant, GraphSnapshot, InputSpec, Node, Notice, Step

_WIDTH = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}
_KEEP_AWAY = (
    "Give the batch norm the output's .contiguous(), which torch folds through nowhere, or freeze with "
    "optimize_numerics=False."
)
_WRONG = "the results are wrong"


def misfolds(before: GraphSnapshot, step: Step, inputs: tuple[InputSpec, ...]) -> Iterator[Notice]:
    """Yields a notice for each fold of a step that changes results.

    Args:
        before: the graph before the step.
        step: of any pass.
        inputs: of the model, if known; the numbers of dimensions follow from them.
    """
    if not any(rewrite.kind in ("linear_bn", "conv_bn", "conv_add", "conv_mul") for rewrite in step.rewrites):
        return
    graph = use_def(before)
    ranks = Ranks(before, graph, inputs)
    for rewrite in step.rewrites:
        nodes = [graph.nodes[name] for name in rewrite.consumed if name in graph.nodes]
        if not nodes:
            continue
        producer, *folded = nodes
        for node in folded:
            if node.op == BATCH_NORM:
                found = _batch_norm(graph, ranks, producer, node)
            elif node.op in ADDS | MULS:
                found = _operand(graph, ranks, producer, node)
            else:
                continue
            yield from (Notice("misfold", text, step.index) for text in found)


def _batch_norm(graph: UseDef, ranks: Ranks, producer: Node, norm: Node) -> Iterator[str]:
    what = f"torch folded the batch norm %{norm.id} into {producer.op} (%{producer.id})"
    others = graph.readers_apart(producer.outputs[0].name, norm)
    if producer.op == LINEAR and others and norm.inputs[0] == producer.outputs[0].name:
        labels = dict.fromkeys(reader.label for reader in others)
        read = "reads" if len(labels) == 1 else "read"
        yield f"{what}, though {listed(labels, joint=' and ')} also {read} what that gives: {_WRONG}. {_KEEP_AWAY}"
    yield from _dimension(graph, ranks, producer, norm, what)
    if graph.flag(norm.inputs[5]):
        yield (
            f"{what}, though it runs with training=True and normalises every batch by the batch's own statistics: "
            f"torch took the running ones, and {_WRONG}. "
            "Call eval() before the module is traced, or pass training=False; else freeze with optimize_numerics=False."
        )


def _dimension(graph: UseDef, ranks: Ranks, producer: Node, norm: Node, what: str) -> Iterator[str]:
    weight, mean = graph.constant(producer.inputs[1]), graph.constant(norm.inputs[3])
    rank = ranks.of(norm.inputs[0])
    if weight is None or mean is None or rank is None or mean.shape[:1] == (1,):
        return
    if rank != len(weight.shape):
        place = "last" if producer.op == LINEAR else "first"
        yield (
            f"{what}, whose output has {rank} dimensions: the batch norm scales the second of them, the fold the "
            f"{place} one, which has the same size by chance, so {_WRONG}. "
            f"{_KEEP_AWAY}"
        )


def _operand(graph: UseDef, ranks: Ranks, conv: Node, node: Node) -> Iterator[str]:
    weight, other = graph.constant(conv.inputs[1]), graph.constant(node.inputs[1])
    if weight is None or other is None:
        return
    what = f"torch folded {node.op} (%{node.id}) into {conv.op} (%{conv.id})"
    channels, dimensions = weight.shape[0], len(weight.shape)
    if 2 <= len(other.shape) < dimensions and other.shape[1] == channels != 1:
        yield (
            f"{what} with a constant of the shape {other.shape}: broadcasting scales dimension "
            f"{dimensions - len(other.shape) + 1} of the output, the fold dimension 1, which has the same size by "
            f"chance, so {_WRONG}. Give the constant the shape {(1,) * (dimensions - len(other.shape)) + other.shape}."
        )
    elif len(other.shape) == dimensions and ranks.of(node.inputs[0]) == dimensions - 1:
        yield (
            f"{what}, whose output has no batch dimension, with a constant of the shape {other.shape}: the result "
            f"has a dimension less than without freezing. Give the constant the shape {other.shape[1:]}."
        )
    if widens(weight, other):
        yield (
            f"{what} with a constant of {other.dtype}: the result is {weight.dtype} now, as the conv's weight is, and "
            f"was {_promoted(weight, other)} before. Keep the constant in {weight.dtype}, and convert after it where "
            "the wider type is needed."
        )


def widens(weight: Constant, other: Constant) -> bool:
    """Returns whether a constant promotes a tensor of the weight's type; one without dimensions does not.

    Args:
        weight: of the conv.
        other: the constant.
    """
    if not other.shape or weight.dtype not in _WIDTH or other.dtype not in _WIDTH:
        return False
    return _promoted(weight, other) != weight.dtype


def _promoted(weight: Constant, other: Constant) -> str:
    if _WIDTH[weight.dtype] == _WIDTH[other.dtype]:
        return weight.dtype if weight.dtype == other.dtype else "float32"
    return max((weight.dtype, other.dtype), key=lambda dtype: _WIDTH[dtype])
