"""What holds traces against torch finds what is wrong with one: each test falsifies a true trace in one place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

import freeze_engine as fe
from freeze_engine.trace import Location
from tests.torch import kept_models, models
from tests.torch.against_torch import Frozen, content, frozen_modules, problems, same


def a_freeze(model: type[torch.nn.Module]) -> Frozen:
    with fe.capture() as captured:
        torch.jit.freeze(torch.jit.script(models.filled(model())))
    (frozen,) = frozen_modules(captured)
    return frozen


def with_fate(frozen: Frozen, at: str, **fields: Any) -> Frozen:
    fates = (replace(fate, **fields) if fate.path == at else fate for fate in frozen.trace.attributes)
    return replace(frozen, trace=replace(frozen.trace, attributes=tuple(fates)))


def with_last_graph(frozen: Frozen, graph: fe.GraphSnapshot) -> Frozen:
    steps = frozen.trace.steps
    last = replace(steps[-1], graph=graph, changed=True)
    return replace(frozen, trace=replace(frozen.trace, steps=(*steps[:-1], last)))


@pytest.mark.parametrize("model", [models.Linears, kept_models.Direct])
def test_a_true_trace_has_no_problems(model):
    assert problems(a_freeze(model)) == []


def test_another_last_graph():
    frozen = a_freeze(models.Equal)
    graph = frozen.trace.steps[-1].graph
    swapped = tuple(replace(node, inputs=node.inputs[::-1]) for node in graph.nodes)
    (problem,) = problems(with_last_graph(frozen, replace(graph, nodes=swapped)))
    assert problem.startswith("forward ends otherwise than its live graph")


def test_a_step_that_is_left_out():
    frozen = a_freeze(models.Equal)
    steps = tuple(step for step in frozen.trace.steps if step.name != "ConstantPooling")
    numbered = tuple(replace(step, index=index, changed=True) for index, step in enumerate(steps))
    attributes = tuple(replace(fate, step=None, evidence=()) for fate in frozen.trace.attributes)
    trace = replace(frozen.trace, steps=numbered, attributes=attributes, notices=())
    assert "forward has no step ConstantPooling" in problems(replace(frozen, trace=trace))


def test_a_method_that_is_not_frozen():
    frozen = a_freeze(models.Equal)
    graphs = {**frozen.graphs, "other": frozen.graphs["forward"]}
    found = problems(replace(frozen, graphs=graphs))
    assert found == ["the trace has the methods ['forward'], the frozen module ['forward', 'other']"]


@pytest.mark.parametrize(
    ("path", "fields", "problem"),
    [
        ("one", {"fate": "dropped", "locations": ()}, "named after an attribute, but no fate has it"),
        ("one", {"fate": "dropped"}, "still is the value of an attribute that is said to be gone"),
        ("one", {"locations": ()}, "one, inlined: lives nowhere"),
        ("one", {"locations": (Location("forward", "self.other"),)}, "value='self.other') has another value"),
        ("one", {"fate": "folded", "locations": (Location("forward", "x.1"),)}, "value='x.1') is no constant"),
        ("one", {"fate": "preserved", "reason": "requested"}, "one: preserved, or on the frozen module, only"),
        ("one", {"path": "none"}, "none: a fate, or a slot, without the other"),
    ],
)
def test_another_fate(path, fields, problem):
    assert any(problem in found for found in problems(with_fate(a_freeze(models.Equal), path, **fields)))


def test_evidence_that_leads_nowhere():
    frozen = a_freeze(kept_models.Direct)
    fate = frozen.trace.attribute("total")
    first = fate.evidence[0]
    astray = replace(first, chain=(replace(first.chain[0], value="astray", op="aten::add"),))
    assert problems(with_fate(frozen, "total", evidence=(astray,))) == [
        f"total: the chain's %astray is not in step {first.step}",
        "total: the chain ends in aten::add",
    ]
    assert problems(with_fate(frozen, "total", evidence=())) == ["total: mutated_in_place without evidence"]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [({"digest": "0" * 16}, "its digest is not that"), ({"shape": (4,)}, "is a tensor of torch.float32 (3,), told as")],
)
def test_a_constant_told_otherwise(fields, problem):
    frozen = a_freeze(models.Equal)
    graph = frozen.trace.steps[-1].graph
    nodes = tuple(
        replace(node, constant=replace(node.constant, **fields)) if node.constant else node for node in graph.nodes
    )
    found = problems(with_last_graph(frozen, replace(graph, nodes=nodes)))
    assert len(found) == 2
    assert all(problem in each for each in found)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (torch.tensor([0.0]), torch.tensor([-0.0]), False),
        (torch.tensor([float("nan")]), torch.tensor([float("nan")]), True),
        (torch.ones(2, 3), torch.ones(2, 3).to_mkldnn(), True),
        (torch.eye(2), torch.eye(2).to_sparse(), True),
        (torch.ones(2), torch.ones(2).double(), False),
        (torch.tensor([1 + 2j]).conj(), torch.tensor([1 - 2j]), True),
        ([1, (2.0, None)], [1, [2.0, None]], True),
        ({"a": 1}, {"b": 1}, False),
        (1, True, False),
        (float("nan"), float("nan"), True),
    ],
)
def test_values_are_compared_to_the_bit(one, other, equal):
    assert same(one, other) == equal


@pytest.mark.filterwarnings("ignore:.*quantiz.*")
def test_a_quantized_tensor_is_compared_by_its_integers():
    one, other = (torch.quantize_per_tensor(torch.ones(2), scale, 0, torch.quint8) for scale in (0.1, 0.2))
    assert content(one)[2] == bytes([10, 10])
    assert not same(one, other)
