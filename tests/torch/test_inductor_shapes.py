"""Sizes that are not known before the run, and graphs inside graphs."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
import torch
from torch import Tensor, nn
from torch._higher_order_ops import while_loop
from torch.nn.attention.flex_attention import flex_attention

import freeze_engine as fe
from freeze_engine.backends.inductor.graph.live import LiveGraph
from freeze_engine.trace import InputSpec, Trace
from freeze_engine.trace.validation import check_trace
from tests.torch.inductor_models import filled
from tests.torch.inductor_recording import passes, rows

Scaling = tuple[Trace, Mapping[int, LiveGraph]]


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, x: Tensor, times: int) -> tuple[Tensor, int]:
        return self.conv(x) * times, x.shape[2] * times


@(getattr(torch.compiler, "nested_compile_region", None) or (lambda region: region))  # new in torch 2.8
def centred(x: Tensor) -> Tensor:
    return x - x.mean(-1, keepdim=True)


class Nested(nn.Module):
    """Attention with a score function, a loop, and a region that is compiled once and called twice."""

    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.query = nn.Linear(16, 16)

    def forward(self, count: Tensor, x: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        def attend(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
            return score + (i - j)

        query = self.query(tokens).unflatten(-1, (2, 8)).transpose(1, 2)
        mixed = flex_attention(query, query, query, score_mod=attend)
        x = centred(centred(x))
        _, looped = while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, torch.tanh(self.lin(y))), (count, x))
        return looped, mixed


@pytest.fixture(scope="module")
def scaled() -> Scaling:
    return passes(filled(Scaled()), rows(2, 3, 8, 8), 3, dynamic=True)


@pytest.fixture(scope="module")
def nested() -> Trace:
    trace, _ = passes(filled(Nested()), torch.tensor(0), rows(2, 4), rows(1, 16, 16))
    return trace


def test_symbols_say_what_they_are(scaled: Scaling):
    trace, _ = scaled
    check_trace(trace)
    assert fe.loads(fe.dumps(trace)) == trace
    told = [re.sub(r"^s\d+", "s", line) for line in trace.steps[0].log if re.match(r"s\d+ is ", line)]
    assert told == [
        "s is x.size.0, 2 in the call that compiled it",
        "s is x.size.2, 8 in the call that compiled it",
        "s is times, 3 in the call that compiled it",
    ]


def test_sizes_are_inputs_of_the_graph_and_not_of_the_user(scaled: Scaling):
    trace, _ = scaled
    assert trace.inputs == (
        InputSpec("x", "Tensor", (2, 3, 8, 8), "float32", "cpu"),
        InputSpec("times", "int"),
    )
    types = [value.type for value in trace.steps[0].graph.inputs]
    assert sum(text.startswith("SymInt(") for text in types) == 3
    assert any(re.match(r"Float\(s\d+, 3, s\d+, s\d+, ", text) for text in types)


def test_a_graph_of_symbols_runs_on_other_sizes(scaled: Scaling):
    trace, live = scaled
    inlining = next(step.index for step in trace.steps if step.name == "replace_params_with_constants")
    runnable = [step.index for step in trace.steps if step.executable]
    assert runnable[-1] > inlining
    x = rows(5, 3, 9, 9)
    expected, size = filled(Scaled())(x, 2)
    actual, *sizes = live[runnable[-1]].module()(5, 9, x, 2)
    torch.testing.assert_close(actual, expected)
    assert sizes == [size]


def test_subgraphs_are_blocks_of_what_calls_them(nested: Trace):
    check_trace(nested)
    assert fe.loads(fe.dumps(nested)) == nested
    holders = {node.op: [block.scope for block in node.blocks] for node in nested.steps[0].graph.nodes if node.blocks}
    assert {op: len(scopes) for op, scopes in holders.items()} == {
        "higher_order.flex_attention": 2,
        "higher_order.invoke_subgraph": 1,
        "higher_order.while_loop": 2,
    }
    called = [node for node in nested.steps[0].graph.nodes if node.op == "higher_order.invoke_subgraph"]
    assert len(called) == 2


def test_passes_over_a_subgraph_name_it(nested: Trace):
    said = {line for step in nested.steps for line in step.log if line.startswith("in subgraph ")}
    assert said == {
        "in subgraph sdpa_score0",
        "in subgraph sdpa_mask0",
        "in subgraph repeated_subgraph0",
        "in subgraph while_loop_cond_graph_0",
        "in subgraph while_loop_body_graph_0",
    }


def test_parameters_of_a_loop_are_inlined_around_it(nested: Trace):
    assert nested.name == "Nested"
    assert {each.path: each.fate for each in nested.attributes} == {
        "lin.bias": "inlined",
        "lin.weight": "inlined",
        "query.bias": "inlined",
        "query.weight": "inlined",
    }


def test_every_call_of_a_subgraph_has_a_line_of_the_user(nested: Trace):
    calls = [node for step in nested.steps for node in step.graph.walk() if node.op != "get_attr"]
    assert [node.id for node in calls if node.source is None] == []
