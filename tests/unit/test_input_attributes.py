"""What the inputs and constants of an Inductor graph are called by the user."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import freeze_engine as fe
from freeze_engine.analysis.graph_inputs import input_attributes
from freeze_engine.trace import GraphInput, Trace, Value
from tests.builders import small_trace
from tests.inductor_names import BIAS, NAMED, UNREAD, WEIGHT, fate, projection
from viewer.page import comparison_data
from viewer.views.attribute_names import attribute_names, renamed_names
from viewer.views.graph_data import graph_data

INPUTS = {"arg0_1": WEIGHT, "arg1_1": BIAS}
NAMES = {"reordered": (WEIGHT,), "arg0_1": (WEIGHT,), "arg1_1": (BIAS,)}


def told_names(data: dict[str, Any], step: int) -> dict[str, tuple[str, ...]]:
    """Returns the names that the graph view is given for a step."""
    strings = data["strings"]
    rows = data["names"][data["steps"][step]["names"]]
    return {strings[value]: tuple(strings[path] for path in paths) for value, *paths in rows}


def test_inputs_that_are_attributes_have_their_paths():
    assert input_attributes(projection()) == {"forward": INPUTS}


@pytest.mark.parametrize(
    "given",
    [
        GraphInput("arg2_1", argument=BIAS),
        GraphInput("arg2_1", attribute=UNREAD),
        GraphInput("arg2_1", attribute="nothing.known"),
    ],
    ids=["an argument", "never read", "unknown"],
)
def test_input_without_an_attribute_value_has_no_attribute(given: GraphInput):
    assert input_attributes(projection((given,))) == {"forward": {}}


def test_of_two_inputs_that_are_one_attribute_the_first_counts():
    assert input_attributes(projection((*NAMED[:2], GraphInput("arg2_1", attribute=BIAS)))) == {"forward": INPUTS}


def test_each_graph_of_a_compile_has_its_own():
    first, after = projection(), "forward, graph 2 (after a graph break)"
    second = projection((GraphInput("arg0_1", attribute=BIAS),))
    shifted = (replace(step, index=step.index + 3, method=after) for step in second.steps)
    assert input_attributes(replace(first, steps=(*first.steps, *shifted))) == {
        "forward": INPUTS,
        after: {"arg0_1": BIAS},
    }


def test_torchscript_has_names_of_its_own():
    trace = replace(projection(), backend="torchscript")
    assert input_attributes(trace) == {}
    assert attribute_names(trace) == ({}, {}, {})
    assert {step["names"] for step in graph_data(small_trace())["steps"]} == {0}
    assert graph_data(small_trace())["names"] == [[]]


def test_constants_are_what_their_attributes_fates_say():
    assert attribute_names(projection()) == (NAMES, NAMES, NAMES)
    assert [told_names(graph_data(projection()), step) for step in range(3)] == [NAMES, NAMES, NAMES]


def test_a_constant_of_several_attributes_names_the_largest_first():
    trace = projection()
    small = fate("embeddings.norm.bias", "folded", "reordered", 4)
    names = attribute_names(replace(trace, attributes=(small, *trace.attributes)))
    assert names[0]["reordered"] == (WEIGHT, "embeddings.norm.bias")


def one_input_more(trace: Trace) -> Trace:
    """Returns a trace whose graph has another input in front, so that all others have the next number."""

    def later(name: str) -> str:
        return f"arg{int(name[3]) + 1}_1" if name.startswith("arg") else name

    def moved(graph: fe.GraphSnapshot) -> fe.GraphSnapshot:
        nodes = (
            replace(
                node,
                id=later(node.id),
                inputs=tuple(map(later, node.inputs)),
                outputs=tuple(replace(value, name=later(value.name)) for value in node.outputs),
            )
            for node in graph.nodes
        )
        inputs = (replace(value, name=later(value.name)) for value in graph.inputs)
        return fe.GraphSnapshot((Value("arg0_1", "Float(9)"), *inputs), tuple(nodes), graph.outputs)

    named = tuple(replace(given, name=later(given.name)) for given in trace.steps[0].inputs)
    inputs = (GraphInput("arg0_1", argument="scale"), *named)
    first, *rest = (replace(step, graph=moved(step.graph)) for step in trace.steps)
    fates = tuple(
        replace(one, locations=tuple(replace(place, value=later(place.value)) for place in one.locations))
        for one in trace.attributes
    )
    return replace(trace, steps=(replace(first, inputs=inputs), *rest), attributes=fates)


def test_comparison_uses_the_same_input_names():
    second = one_input_more(projection())
    diff = fe.diff_traces(projection(), second)
    names = renamed_names(second, diff.after)
    for named, step, reader in zip(names, diff.after.steps, ("convolution", "convolution", "packed"), strict=True):
        (read,) = (node.inputs for node in step.graph.nodes if node.id == reader)
        assert [named.get(name) for name in read] == [None, (WEIGHT,), (BIAS,)]
    data = comparison_data(projection(), second, charted=False)["graph"]
    assert [told_names(data, step) for step in range(6)] == [NAMES, NAMES, NAMES, *names]
