"""The reader of graph texts, held against what torch prints for live graphs."""

from __future__ import annotations

import re

import pytest
import torch

from freeze_engine.backends.torchscript.graph.parser import parse_graph
from freeze_engine.trace import Block, GraphSnapshot, Node, graph_lines
from tests.torch import graph_models, kept_models, models

TRACED = [(models.Linears, torch.ones(2, 4)), (graph_models.DataDependent, torch.ones(2))]
SCRIPTED = [
    graph_models.Odd,
    graph_models.Control,
    graph_models.ForkedPart,
    graph_models.NestedForks,
    graph_models.Named,
    models.Branches,
    models.ConvBn,
    models.Containers,
    models.HoldsObject,
    kept_models.SharedClass,
]


def one_line(text: str) -> list[str]:
    """torch's own text with each graph's inputs on one line, and without traced scopes and the space of no outputs."""
    text = re.sub(r"(?m)^( +) =", r"\1=", re.sub(r",\n +(?=%)", ", ", text.rstrip("\n")))
    return [re.sub(r", scope: [^#]*? (?=#)|, scope: [^#]*$", " ", line).rstrip() for line in text.split("\n")]


def written(text: str) -> list[str]:
    """What the trace's own printer makes of the graph that was read, without the forks' bodies."""
    return [line.rstrip() for line in graph_lines(without_forks(parse_graph(text)))]


def without_forks(graph: GraphSnapshot) -> GraphSnapshot:
    return GraphSnapshot(graph.inputs, tuple(bare(node) for node in graph.nodes), graph.outputs)


def bare(node: Node) -> Node:
    blocks = tuple(
        Block(block.inputs, tuple(bare(inner) for inner in block.nodes), block.outputs)
        for block in node.blocks
        if not block.scope
    )
    return Node(node.id, node.op, node.inputs, node.outputs, node.attributes, blocks, node.module, node.source)


def normal(lines: list[str]) -> list[str]:
    """torch numbers the forks of each graph; the trace does not, and leaves addresses out."""
    return [re.sub(r"prim::fork_\d+", "prim::fork", re.sub(r" object at 0x\w+>", " object>", line)) for line in lines]


def top(text: str) -> str:
    return text.split("\nwith ")[0]


@pytest.mark.parametrize("model", SCRIPTED, ids=lambda model: model.__name__)
def test_scripted_graphs_come_back_as_they_were(model):
    scripted = torch.jit.script(models.filled(model()))
    for graph in (scripted.graph, scripted.inlined_graph, torch.jit.freeze(scripted).graph):
        assert written(str(graph)) == normal(one_line(top(str(graph))))


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
@pytest.mark.parametrize(("model", "example"), TRACED)
def test_traced_graphs_come_back_as_they_were(model, example):
    graph = torch.jit.trace(models.filled(model()), example).inlined_graph
    assert written(str(graph)) == one_line(str(graph))


def test_a_python_operator_of_a_traced_graph():
    graph = torch.jit.trace(models.filled(graph_models.CallsPython()), torch.ones(2)).inlined_graph
    operator = next(node for node in parse_graph(str(graph)).walk() if node.op == "^Triple")
    assert (operator.inputs, operator.attribute("args")) == (("x",), "3")
    assert operator.source is not None


@pytest.mark.parametrize("model", [graph_models.ForkedPart, graph_models.NestedForks])
def test_forked_graphs_are_in_the_snapshot_with_names_of_their_own(model):
    graph = torch.jit.freeze(torch.jit.script(models.filled(model()))).graph
    read = parse_graph(str(graph))
    nodes = list(read.walk())
    names = [value.name for node in nodes for value in node.outputs]
    assert len(nodes) == sum(len(text.splitlines()) for text in re.findall(r"(?m)^ +.* = .*$", str(graph)))
    assert len(set(names)) == len(names)
    assert len({node.id for node in nodes}) == len(nodes)


def test_a_module_of_the_tracer():
    graph = torch.jit.trace(models.filled(models.Linears()), torch.ones(2, 4)).inlined_graph
    modules = {
        node.op: node.module for node in parse_graph(str(graph)).walk() if "linear" in node.op or "norm" in node.op
    }
    assert modules == {"aten::linear": "second", "aten::batch_norm": "bn"}
