"""Builds traces of one small net by hand, one for each backend."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import freeze_engine as fe
from freeze_engine.trace import Rewrite, Value
from tests.builders import empty_trace, node

X = (Value("x", "Tensor"),)
CONV = node("y", "aten::conv2d", "x", module="conv")
NORM = node("z", "aten::batch_norm", "y", module="bn")


def graph(*nodes: fe.Node) -> fe.GraphSnapshot:
    return fe.GraphSnapshot(X, nodes, (nodes[-1].outputs[0].name,))


def trace(backend: fe.trace.Backend, *steps: tuple[str, fe.GraphSnapshot, tuple[Rewrite, ...]]) -> fe.Trace:
    found = []
    for index, (name, after, rewrites) in enumerate(steps):
        changed = bool(index) and after is not steps[index - 1][1]
        found.append(
            fe.Step(index, "stage", name, "forward", after, changed, rewrites=rewrites, passes=tuple(name.split(", ")))
        )
    return replace(empty_trace(), name="net", backend=backend, steps=tuple(found))


def fate(path: str, what: fe.trace.Fate, shape: tuple[int, ...] | None = (2,), **fields: Any) -> fe.AttributeFate:
    return fe.AttributeFate(path, "parameter", "a type of its own", shape, "float32", 8, what, **fields)


def torchscript() -> fe.Trace:
    before, after = graph(CONV, NORM), graph(node("f", "aten::conv2d", "x"))
    fold = Rewrite("conv_bn", ("y", "z"), ("f",), modules=("conv", "bn"))
    steps = (
        ("input", before, ()),
        ("RemoveListMutation, EliminateCommonSubexpression", before, ()),
        ("FoldFrozenConvBatchnorm", after, (fold,)),
        ("FoldFrozenConvBatchnorm", after, ()),
    )
    return replace(
        trace("torchscript", *steps),
        attributes=(
            fate("bn.weight", "folded", step=2),
            fate("conv.weight", "folded", step=2),
            fate("only_here", "preserved", reason="requested"),
            fate("training", "dropped", None),
        ),
    )


def inductor() -> fe.Trace:
    conv = node("convolution", "aten.convolution.default", "x", module="conv")
    sub = node("sub", "aten.sub.Tensor", "convolution", module="bn")
    mul = node("mul", "aten.mul.Tensor", "sub", module="bn")
    first = graph(conv, sub, mul)
    second = graph(node("conv_1", "aten.convolution.default", "x"), replace(mul, inputs=("conv_1",)))
    last = graph(node("conv_2", "aten.convolution.default", "x"))
    steps = (
        ("input", first, ()),
        ("constant_fold", first, ()),
        ("binary_folding", second, (Rewrite("conv_add", ("convolution", "sub"), ("conv_1",), (), ("conv", "bn")),)),
        ("binary_folding", last, (Rewrite("conv_mul", ("conv_1", "mul"), ("conv_2",), (), ("other.bn",)),)),
        ("pass_patterns[1]", last, ()),
    )
    return replace(
        trace("inductor", *steps),
        attributes=(fate("bn.weight", "folded", step=2), fate("conv.weight", "preserved", reason="mutated_input")),
    )
