"""A hand-built trace of Inductor: its graph has numbered inputs, and its first step maps them to attributes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import freeze_engine as fe
from freeze_engine.trace import Constant, GraphInput, Value
from tests.builders import empty_trace
from tests.graphs import node

WEIGHT, BIAS, UNREAD = "embeddings.projection.weight", "embeddings.projection.bias", "embeddings.steps"
MODULE = "embeddings.projection"
X = Value("arg2_1", "Float(1, 3, 8, 8)")
INPUTS = (Value("arg0_1", "Float(4, 3, 1, 1)"), Value("arg1_1", "Float(4)"), X)
LOG = ("Dynamo's compile 0/0",)
NAMED = (
    GraphInput("arg0_1", attribute=WEIGHT),
    GraphInput("arg1_1", attribute=BIAS),
    GraphInput("arg2_1", argument="image"),
)


def constant(name: str, *shape: int) -> fe.Node:
    held = Constant(shape, "float32", "cpu", 16)
    return node(name, "get_attr", attributes=(("target", f"_frozen_{name}"),), constant=held)


def fate(path: str, what: fe.trace.Fate, value: str | None, nbytes: int = 16) -> fe.AttributeFate:
    places = () if value is None else (fe.trace.Location("forward", value),)
    return fe.AttributeFate(path, "parameter", "Tensor", (4,), "float32", nbytes, what, locations=places)


def projection(inputs: tuple[GraphInput, ...] = NAMED) -> fe.Trace:
    """Returns a trace whose last step reads the bias in a node that no earlier graph has."""
    conv = node("convolution", "aten.convolution.default", "arg2_1 arg0_1 arg1_1", module=MODULE)
    relu = node("relu", "aten.relu.default", "convolution", module="embeddings")
    first = fe.GraphSnapshot(INPUTS, (conv, relu), ("relu",))
    held = (constant("arg0_1", 4, 3, 1, 1), constant("arg1_1", 4))
    second = fe.GraphSnapshot((X,), (*held, conv, relu), ("relu",))
    packed = node("packed", "mkldnn._convolution_pointwise.default", "arg2_1 reordered arg1_1", module=MODULE)
    body = (held[1], constant("reordered", 4, 3, 1, 1), packed, replace(relu, inputs=("packed",)))
    third = fe.GraphSnapshot((X,), body, ("relu",))
    graphs = (("input", first), ("inline", second), ("pack", third))
    first_fields: dict[str, Any] = {"log": LOG, "inputs": inputs}
    steps = (
        fe.Step(index, "stage", name, "forward", graph, index > 0, **(first_fields if index == 0 else {}))
        for index, (name, graph) in enumerate(graphs)
    )
    fates = (fate(BIAS, "inlined", "arg1_1"), fate(UNREAD, "dropped", None), fate(WEIGHT, "folded", "reordered", 48))
    return replace(empty_trace(), name="net", steps=tuple(steps), attributes=fates)
