"""The quick walk through a live graph meets the nodes that torch's own iterators do, in their order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from freeze_engine.backends.torchscript.graph.live_walk import LiveWalks, inputs_of, live_kinds, outputs_of
from tests.torch import graph_models, models


def iterated(graph: Any, subgraphs: bool) -> Iterator[Any]:
    for node in graph.nodes():
        yield node
        for block in node.blocks():
            yield from iterated(block, subgraphs)
        if subgraphs and node.hasAttribute("Subgraph") and node.kind() != "prim::PythonOp":
            yield from iterated(node.g("Subgraph"), subgraphs)


@pytest.mark.parametrize("subgraphs", [True, False])
@pytest.mark.parametrize(
    "model", [models.Branches, models.Linears, graph_models.Control, graph_models.NestedForks, graph_models.ForkedPart]
)
def test_the_walk_is_that_of_the_iterators(model: type[torch.nn.Module], subgraphs: bool) -> None:
    graph = torch.jit.script(model().eval()).inlined_graph
    expected = list(iterated(graph, subgraphs))
    found = live_kinds(graph, subgraphs=subgraphs)
    assert [kind for _, kind in found] == [node.kind() for node in expected]
    assert [str(node) for node, _ in found] == [str(node) for node in expected]


def test_values_by_index_are_those_of_the_iterators() -> None:
    nodes = [node for node, _ in live_kinds(torch.jit.script(models.Branches().eval()).inlined_graph)]
    for node in nodes:
        assert [value.debugName() for value in inputs_of(node)] == [value.debugName() for value in node.inputs()]
        assert [value.debugName() for value in outputs_of(node)] == [value.debugName() for value in node.outputs()]


def test_a_graph_is_walked_once() -> None:
    walks, graph = LiveWalks(), torch.jit.script(models.Linears().eval()).inlined_graph
    assert walks.kinds(graph) is walks.kinds(graph)
