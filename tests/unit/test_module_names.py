"""Module paths in which torch leaves a list of modules out are completed from the paths of the attributes."""

from __future__ import annotations

from dataclasses import replace

import pytest

import freeze_engine as fe
from tests.builders import small_trace
from viewer.views.graph_data import graph_data
from viewer.views.module_names import ModuleNames


def _trace(*paths: str, modules: tuple[str, ...] = ()) -> fe.Trace:
    """Returns a trace whose attributes have the paths, and whose last graph has nodes of the modules."""
    trace = small_trace()
    last = trace.steps[-1]
    nodes = tuple(replace(last.graph.nodes[0], module=module) for module in modules)
    steps = (*trace.steps[:-1], replace(last, graph=replace(last.graph, nodes=nodes)))
    return replace(trace, steps=steps, attributes=tuple(replace(trace.attributes[0], path=path) for path in paths))


@pytest.mark.parametrize(
    ("path", "full"),
    [
        ("0.self_attn", "layers.0.self_attn"),
        ("0", "layers.0"),
        ("0.dropout", "layers.0.dropout"),  # holds no attribute
        ("norm", "norm"),
        ("layers.0", "layers.0"),
        ("stem.1", "stem.1"),
        ("9.norm", "9.norm"),
        ("", ""),
    ],
)
def test_a_list_of_modules_is_added(path: str, full: str) -> None:
    weights = ("layers.0.self_attn.weight", "layers.1.self_attn.weight", "norm.weight", "stem.0.weight")
    trace = _trace(*weights, modules=("0.self_attn", "norm", "stem.0"))
    assert ModuleNames(trace).full(path) == full


def test_lists_in_lists_are_added_and_sequences_stay() -> None:
    names = ModuleNames(_trace("stages.0.blocks.2.mlp.0.weight"))
    assert names.full("0.2.mlp.0") == "stages.0.blocks.2.mlp.0"
    assert names.full("0.blocks.2.mlp.0") == "stages.0.blocks.2.mlp.0"


def test_a_path_of_two_modules_stays() -> None:
    assert ModuleNames(_trace("encoder.0.weight", "decoder.0.weight")).full("0") == "0"


def test_paths_of_dynamo_are_full() -> None:
    assert ModuleNames(replace(_trace("layers.0.weight"), backend="inductor")).full("0") == "0"


def test_the_graph_has_the_full_path() -> None:
    trace = small_trace()
    node = replace(trace.steps[0].graph.nodes[0], module="7.inner")
    steps = (replace(trace.steps[0], graph=replace(trace.steps[0].graph, nodes=(node,))), *trace.steps[1:])
    named = (*trace.attributes, replace(trace.attributes[0], path="rows.7.inner.weight"))
    assert "rows.7.inner" in graph_data(replace(trace, steps=steps, attributes=named))["strings"]
