"""Folds that torch does not look for after joined or divided layers, and before a layer: each advice is followed.

A case is an expression, and the same computation as its advice says. torch's own passes run on both.
"""

from __future__ import annotations

from types import ModuleType
from typing import Literal

import pytest
import torch
from torch import nn

import freeze_engine as fe
from tests.torch.passage_models import Joined, written_models

IMAGE, ROW = torch.rand(2, 3, 6, 6), torch.rand(3, 8)
BOTH = "torch.cat([self.conv(x), self.second(x)], {0})"

#: The input, kind and reason, the expression, and what the advice makes of it.
ADVISED: tuple[tuple[torch.Tensor, str, str, str], ...] = (
    (
        IMAGE,
        "conv_bn in_between",
        f"self.wide2d({BOTH.format(1)})",
        "torch.cat([self.low(self.conv(x)), self.high(self.second(x))], 1)",
    ),
    *(
        (
            IMAGE,
            "conv_bn in_between",
            f"self.norm({BOTH.format(where)})",
            f"torch.cat([self.norm(self.conv(x)), self.norm(self.second(x))], {where})",
        )
        for where in (0, 2, -1)
    ),
    (
        IMAGE,
        "conv_mul in_between",
        f"{BOTH.format(1)} * 2.0",
        "torch.cat([self.conv(x) * 2.0, self.second(x) * 2.0], 1)",
    ),
    (
        IMAGE,
        "conv_add in_between",
        f"{BOTH.format(1)} - 2.0",
        "torch.cat([self.conv(x) - 2.0, self.second(x) - 2.0], 1)",
    ),
    (IMAGE, "conv_bn in_between", "self.norm(self.conv(x) + self.second(x))", "self.scaled(x) + self.shifted(x)"),
    (IMAGE, "conv_mul in_between", "(self.conv(x) + self.second(x)) * 3.0", "self.tripled(x) + self.tripled_too(x)"),
    (
        IMAGE,
        "conv_bn in_between",
        "self.norm(F.pixel_shuffle(self.many(x), 2))",
        "F.pixel_shuffle(self.repeated(self.many(x)), 2)",
    ),
    *(
        (
            IMAGE,
            "conv_bn in_between",
            f"self.norm(self.big(x).{how}[0])",
            f"self.one_half(self.big(x)).{how}[0]",
        )
        for how in ("chunk(2, 1)", "split(4, 1)", "split([4, 4], 1)", "chunk(2, -3)")
    ),
    (IMAGE, "conv_bn in_between", "self.norm(self.big(x)[:, :4])", "self.one_half(self.big(x))[:, :4]"),
    (
        IMAGE,
        "conv_bn in_between",
        "self.norm(self.big(x).narrow(1, 0, 4))",
        "self.one_half(self.big(x)).narrow(1, 0, 4)",
    ),
    (IMAGE, "conv_mul before_conv", "self.conv(x * 0.5)", "self.halving(x)"),
    (IMAGE, "conv_mul before_conv", "self.conv(x / 2.0)", "self.halving(x)"),
    (IMAGE, "conv_mul before_conv", "self.same(0.5 * x)", "self.padded_halving(x)"),
    (IMAGE, "conv_mul before_conv", "self.conv((x - self.mean) / self.deviation)", "self.normalising(x)"),
    (IMAGE, "conv_mul before_conv", "self.conv(-x)", "self.turning(x)"),
    (IMAGE, "conv_add before_conv", "self.conv(x + 1.0)", "self.raising(x)"),
    (ROW, "linear_add before_linear", "self.linear(x * self.factors + 2.0)", "self.weighing(x)"),
    (IMAGE, "bn_bn no_such_fold", "self.of_input(self.of_input(x))", "self.combined(x)"),
)

#: Expressions of which no change makes another fold, or of which another reader sees the values.
SILENT = (
    (IMAGE, "self.wide2d(torch.cat([self.conv(x), self.conv(x).relu()], 1))"),
    (IMAGE, "(lambda y: (self.wide2d(y), y))(torch.cat([self.conv(x), self.second(x)], 1))"),
    (IMAGE, "self.norm(torch.add(self.conv(x), self.second(x), alpha=2))"),
    (IMAGE, "self.norm(self.conv(x) + x.mean())"),
    (IMAGE, "(lambda y: self.norm(y[0]) + self.other_norm(y[0]))(self.big(x).chunk(2, 1))"),
    (IMAGE, "(lambda y: self.norm(y[:, :4]) + self.other_norm(y[:, 2:6]))(self.big(x))"),
    (IMAGE, "(lambda y: self.norm(y[:, :4]) + y.sum())(self.big(x))"),
    (IMAGE, "self.same(x + 1.0)"),
    (IMAGE, "self.conv(x * x.mean())"),
    (IMAGE, "self.conv(x.relu() * self.places[:, :, :1, :1].expand(1, 1, 6, 6))"),
    (IMAGE, "self.conv(torch.div(x, 2.0, rounding_mode='floor'))"),
    (ROW, "self.linear(x * x)"),
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The models of the expressions, see `written_models`."""
    return written_models(tmp_path_factory.mktemp("joined"), Joined, ADVISED, SILENT)


def recorded(module: nn.Module, x: torch.Tensor, via: Literal["script", "trace"]) -> fe.Trace:
    return fe.record(module, x, via=via, measure=None).trace


@pytest.mark.parametrize("number", range(len(ADVISED)), ids=[case[2].replace("self.", "") for case in ADVISED])
def test_the_advice_leaves_an_operator_out_and_keeps_the_outputs(written: ModuleType, number: int) -> None:
    x, meant, *_ = ADVISED[number]
    module, better = getattr(written, f"Is{number}")(), getattr(written, f"Better{number}")()
    trace = recorded(module, x, "script" if number % 2 else "trace")
    (miss, *others) = trace.near_misses
    assert [f"{each.kind} {each.reason}" for each in (miss, *others)] == [meant]
    assert miss.advice
    advised = recorded(better, x, "trace")
    assert advised.near_misses == ()
    assert _operators(advised, x) < _operators(trace, x)
    torch.testing.assert_close(better(x), module(x))


def _operators(trace: fe.Trace, x: torch.Tensor) -> int:
    """Counts the operators that compute with values."""
    kinds = ("aten::batch_norm", "aten::mul", "aten::add", "aten::sub", "aten::div", "aten::neg")
    return sum(node.op in kinds for node in trace.steps[-1].graph.walk())


@pytest.mark.parametrize("number", range(len(SILENT)), ids=[case[1].replace("self.", "") for case in SILENT])
def test_nothing_is_advised_where_no_change_folds(written: ModuleType, number: int) -> None:
    trace = recorded(getattr(written, f"Silent{number}")(), SILENT[number][0], "trace")
    assert [miss for miss in trace.near_misses if miss.advice] == []
