"""Folds that operators in between, or other operators, hide: following each advice folds and keeps the outputs.

A case is one expression, and the same computation written as its advice says. torch's own passes run on both.
"""

from __future__ import annotations

from types import ModuleType
from typing import Literal

import pytest
import torch
from torch import nn

import freeze_engine as fe
from freeze_engine.trace import NearMiss
from tests.torch.passage_models import Layers, written_models

IMAGE, ROW, ROWS = torch.rand(2, 3, 6, 6), torch.rand(3, 8), torch.rand(2, 5, 8)
LINE, CUBE, WORDS = torch.rand(2, 3, 7), torch.rand(2, 3, 4, 4, 4), torch.arange(4).view(2, 2)
DOWN = "F.adaptive_avg_pool2d(self.conv(x), 1)"
TO_ONE = "F.adaptive_avg_pool2d(self.flat2d(self.conv(x)), 1)"
TURNED = "F.linear(x, self.linear.weight * {0}, self.linear.bias * {0})"

#: The input, the fold's kind and reason, the expression, and what its advice makes of it.
ADVISED: tuple[tuple[torch.Tensor, str, str, str], ...] = (
    # Interpolations.
    *(
        (
            x,
            "conv_bn in_between",
            f"{norm}(F.interpolate({conv}(x), {how}))",
            f"F.interpolate({norm}({conv}(x)), {how})",
        )
        for x, conv, norm, how in (
            (IMAGE, "self.conv", "self.norm", "scale_factor=2.0"),
            (IMAGE, "self.conv", "self.norm", "size=[7, 5]"),
            (IMAGE, "self.conv", "self.norm", "scale_factor=2.0, mode='bilinear'"),
            (IMAGE, "self.conv", "self.norm", "size=[7, 5], mode='bilinear', align_corners=True"),
            (IMAGE, "self.conv", "self.norm", "size=[2, 3], mode='bilinear', antialias=True"),
            (IMAGE, "self.conv", "self.norm", "scale_factor=2.0, mode='bicubic'"),
            (IMAGE, "self.conv", "self.norm", "size=[7, 5], mode='nearest-exact'"),
            (LINE, "self.line", "self.flat", "scale_factor=2.0, mode='linear'"),
            (CUBE, "self.cube", "self.deep", "scale_factor=2.0, mode='trilinear'"),
        )
    ),
    # Slices, and other operators that only move values.
    *(
        (IMAGE, "conv_bn in_between", f"self.turned(self.conv(x){how})", f"self.turned(self.conv(x)){how}")
        for how in (
            *("[:, :, 1:, 1:]", "[:, :, ::2]", "[:1]", ".narrow(2, 1, 2)", ".flip([2, 3])", ".roll(1, 2)"),
            *(".permute(0, 1, 3, 2)", ".transpose(2, 3)", ".transpose(-1, -2)", ".repeat(1, 1, 2, 2)"),
            *(".permute(0, 2, 3, 1).permute(0, 3, 1, 2)", ".index_select(2, self.order)"),
            *(
                ".expand(2, 4, 4, 4)",
                ".mean((2, 3), keepdim=True)",
                ".mean(0, keepdim=True)",
                ".contiguous().flip([0])",
            ),
            *(".unsqueeze(2).squeeze(2)", ".reshape(2, 4, 2, 8)"),
        )
    ),
    (
        IMAGE,
        "conv_bn in_between",
        "self.norm(F.pad(self.conv(x), [1, 1, 1, 1], mode='reflect'))",
        "F.pad(self.norm(self.conv(x)), [1, 1, 1, 1], mode='reflect')",
    ),
    (
        IMAGE,
        "conv_bn in_between",
        "self.norm(self.conv(x).amax((2, 3), True))",
        "self.norm(self.conv(x)).amax((2, 3), True)",
    ),
    (
        IMAGE,
        "conv_bn in_between",
        "self.norm(F.max_pool2d(self.conv(x), 2))",
        "F.max_pool2d(self.norm(self.conv(x)), 2)",
    ),
    # Other dimensions.
    *(
        (IMAGE, "conv_bn in_between", f"self.flat(self.conv(x){how})", f"self.flat2d(self.conv(x)){how}")
        for how in (
            *("[:, :, 0]", "[:, :, 0, 0]", ".mean((2, 3))", ".mean([-1, -2])", ".flatten(2)", ".view(2, 4, 16)"),
            *(".view(x.size(0), 4, -1)", ".reshape(2, 4, -1)", ".mean((2, 3), keepdim=True).flatten(1)", ".mean(3)"),
        )
    ),
    *(
        (IMAGE, "conv_bn in_between", f"self.flat({DOWN}{how})", f"{TO_ONE}{how}")
        for how in (".flatten(1)", ".squeeze(-1).squeeze(-1)", "[:, :, 0, 0]", ".view(2, 4)")
    ),
    # Arithmetic.
    (
        IMAGE,
        "conv_mul in_between",
        "self.conv(x)[:, :, 1:] * self.channels",
        "(self.conv(x) * self.channels)[:, :, 1:]",
    ),
    (
        IMAGE,
        "conv_mul in_between",
        "self.channels * self.conv(x).flip([2])",
        "(self.conv(x) * self.channels).flip([2])",
    ),
    (IMAGE, "conv_mul in_between", "self.conv(x).flatten(1) / 2.0", "(self.conv(x) / 2.0).flatten(1)"),
    (IMAGE, "conv_mul in_between", "self.conv(x)[:, 1:] * 2.0", "(self.conv(x) * 2.0)[:, 1:]"),
    (IMAGE, "conv_mul in_between", "self.conv(x).sum((2, 3)) * 2.0", "(self.conv(x) * 2.0).sum((2, 3))"),
    (IMAGE, "conv_mul in_between", "F.pad(self.conv(x), [1, 1]) * 2.0", "F.pad(self.conv(x) * 2.0, [1, 1])"),
    (IMAGE, "conv_mul in_between", "self.conv(x).relu() * 2.0", "(self.conv(x) * 2.0).relu()"),
    (
        IMAGE,
        "conv_mul in_between",
        "F.leaky_relu(self.conv(x)) * self.channels",
        "F.leaky_relu(self.conv(x) * self.channels)",
    ),
    (
        IMAGE,
        "conv_mul in_between",
        "self.conv(x).mean((2, 3)) * self.row",
        "(self.conv(x) * self.row.view(1, 4, 1, 1)).mean((2, 3))",
    ),
    (
        IMAGE,
        "conv_add in_between",
        "self.conv(x).mean((2, 3)) + self.row",
        "(self.conv(x) + self.row.view(1, 4, 1, 1)).mean((2, 3))",
    ),
    (
        IMAGE,
        "conv_add in_between",
        "self.conv(x).permute(0, 2, 3, 1) - self.row",
        "(self.conv(x) - self.row.view(1, 4, 1, 1)).permute(0, 2, 3, 1)",
    ),
    (
        IMAGE,
        "conv_add in_between",
        "F.max_pool2d(self.conv(x), 2) + self.channels",
        "F.max_pool2d(self.conv(x) + self.channels, 2)",
    ),
    (
        IMAGE,
        "conv_add in_between",
        "F.interpolate(self.conv(x), scale_factor=2.0) + 1.0",
        "F.interpolate(self.conv(x) + 1.0, scale_factor=2.0)",
    ),
    # Operators of several operands.
    (
        IMAGE,
        "conv_add unsupported_op",
        "torch.addcmul(self.conv(x), self.channels[0], self.shifts[0])",
        "self.conv(x) + (self.channels * self.shifts)",
    ),
    (
        IMAGE,
        "conv_add unsupported_op",
        "torch.addcmul(self.conv(x), self.channels, self.shifts, value=3)",
        "self.conv(x) + 3 * self.channels * self.shifts",
    ),
    (
        IMAGE,
        "conv_mul unsupported_op",
        "torch.addcmul(self.channels, self.conv(x), self.shifts, value=3)",
        "self.conv(x) * (3 * self.shifts) + self.channels",
    ),
    (
        IMAGE,
        "conv_mul unsupported_op",
        "torch.addcmul(self.channels, self.shifts, self.conv(x))",
        "self.conv(x) * self.shifts + self.channels",
    ),
    (
        IMAGE,
        "conv_add unsupported_op",
        "torch.addcdiv(self.conv(x), self.channels, self.shifts)",
        "self.conv(x) + self.channels / self.shifts",
    ),
    (
        IMAGE,
        "conv_mul unsupported_op",
        "torch.addcdiv(self.channels, self.conv(x), self.shifts, value=2)",
        "self.conv(x) * (2 / self.shifts) + self.channels",
    ),
    (
        IMAGE,
        "conv_mul unsupported_op",
        "torch.lerp(self.conv(x), self.channels, 0.3)",
        "self.conv(x) * (1 - 0.3) + self.channels * 0.3",
    ),
    (
        IMAGE,
        "conv_mul unsupported_op",
        "torch.lerp(self.conv(x), self.channels, self.shifts)",
        "self.conv(x) * (1 - self.shifts) + self.channels * self.shifts",
    ),
    (
        IMAGE,
        "conv_mul unsupported_op",
        "torch.lerp(self.channels, self.conv(x), 0.3)",
        "self.conv(x) * 0.3 + self.channels * (1 - 0.3)",
    ),
    (
        ROW,
        "linear_add no_such_fold",
        "torch.addcmul(self.linear(x), self.row, self.other)",
        "F.linear(x, self.linear.weight, self.linear.bias + self.row * self.other)",
    ),
    (
        ROW,
        "linear_mul no_such_fold",
        "torch.lerp(self.linear(x), self.row, 0.3)",
        "F.linear(x, self.linear.weight * 0.7, self.linear.bias * 0.7 + self.row * 0.3)",
    ),
    # Transposed convolutions.
    (IMAGE, "conv_mul unsupported_conv", "-self.up(x)", "self.negative(x)"),
    (
        IMAGE,
        "conv_mul in_between",
        "self.up(x)[:, :, 1:] * 2.0",
        "self.doubled(x)[:, :, 1:]",
    ),
    # Linears, products and embeddings.
    *(
        (x, "linear_bn in_between", f"{norm}(self.linear(x){how})", f"{fused}(x){how}")
        for x, norm, fused, how in (
            *(
                (ROWS, "self.flat", "self.fused", how)
                for how in (".transpose(1, 2)", ".permute(0, 2, 1)", "[:, 0]", ".mean(1)")
            ),
            *((ROWS, "self.flat", "self.fused", how) for how in (".reshape(-1, 4)", ".view(10, 4)", ".flatten(0, 1)")),
            (ROW, "self.flat", "self.fused", ".unsqueeze(2)"),
            (ROW, "self.norm", "self.fused2d", ".view(3, 4, 1, 1)"),
            (ROW, "self.norm", "self.fused2d", "[:, :, None, None]"),
        )
    ),
    (ROW, "linear_bn unsupported_op", "self.flat(x @ self.matrix)", "self.flat(F.linear(x, self.matrix.t()))"),
    (ROW, "linear_bn unsupported_op", "self.flat(torch.mm(x, self.matrix))", "self.flat(F.linear(x, self.matrix.t()))"),
    (
        ROW,
        "linear_bn unsupported_op",
        "self.flat(torch.addmm(self.row, x, self.matrix))",
        "self.flat(F.linear(x, self.matrix.t(), self.row))",
    ),
    (
        ROWS,
        "linear_mul no_such_fold",
        "self.linear(x)[:, 0] * self.row",
        f"{TURNED.format('self.row.view(-1, 1)').replace('bias * self.row.view(-1, 1)', 'bias * self.row')}[:, 0]",
    ),
    (
        ROWS,
        "linear_mul no_such_fold",
        "self.linear(x).view(2, 5, 2, 2).transpose(1, 2) * 0.5",
        f"{TURNED.format('0.5')}.view(2, 5, 2, 2).transpose(1, 2)",
    ),
    (
        ROWS,
        "linear_mul no_such_fold",
        "self.linear(x).transpose(1, 2) / 2.0",
        f"{TURNED.format('0.5')}.transpose(1, 2)",
    ),
    (ROWS, "linear_mul no_such_fold", "-self.linear(x).mean(1)", f"{TURNED.format('-1.0')}.mean(1)"),
    (
        ROWS,
        "linear_mul no_such_fold",
        "(x @ self.matrix).transpose(1, 2) * 2.0",
        "(x @ (self.matrix * 2.0)).transpose(1, 2)",
    ),
    (
        ROWS,
        "linear_add no_such_fold",
        "self.linear(x).mean(1) + self.row",
        "F.linear(x, self.linear.weight, self.linear.bias + self.row).mean(1)",
    ),
    (WORDS, "embedding_mul no_such_fold", "self.embed(x) * 2.0", "F.embedding(x, self.embed.weight * 2.0)"),
    (WORDS, "embedding_mul no_such_fold", "self.embed(x) / self.row", "F.embedding(x, self.embed.weight / self.row)"),
    (WORDS, "embedding_mul no_such_fold", "-self.embed(x)", "F.embedding(x, -self.embed.weight)"),
    (
        WORDS,
        "embedding_mul no_such_fold",
        "self.embed(x).transpose(1, 2) * 2.0",
        "F.embedding(x, self.embed.weight * 2.0).transpose(1, 2)",
    ),
    (WORDS, "embedding_add no_such_fold", "self.embed(x) + self.row", "F.embedding(x, self.embed.weight + self.row)"),
    *(
        (x, "linear_bn before_linear", f"self.linear({norm}(x){how})", f"F.linear(x{how}, *self.before({norm}))")
        for x, norm, how in (
            (ROW, "self.wide", ""),
            (ROW.view(3, 8, 1, 1), "self.wide2d", ".flatten(1)"),
            (torch.rand(2, 8, 5), "self.wide", ".transpose(1, 2)"),
            (torch.rand(2, 8, 3, 3), "self.wide2d", ".mean((2, 3))"),
        )
    ),
)

#: Expressions of which no change of these layers makes another fold.
SILENT = (
    # Another channel, or none, is where the batch norm looks.
    *((IMAGE, f"self.norm(self.conv(x){how})") for how in (".permute(0, 2, 1, 3)", ".transpose(1, 2)", ".flip([1])")),
    *(
        (IMAGE, f"self.norm(self.conv(x){how})")
        for how in (".roll(1, 1)", "[:, self.order.repeat(2)]", ".mT.transpose(1, 3)")
    ),
    (IMAGE, "self.norm(self.conv(x).view(4, 4, 2, 4))"),
    (IMAGE[:1], "self.norm(self.conv(x).reshape(4, 4, 2, 2))"),
    # Operators that a shift or a negative scale does not pass.
    (IMAGE, "self.norm(F.pad(self.conv(x), [1, 1, 1, 1]))"),
    (IMAGE, "self.norm(self.conv(x).sum((2, 3), keepdim=True))"),
    (IMAGE, "self.turned(self.conv(x).amax((2, 3), keepdim=True))"),
    (IMAGE, "self.norm(self.conv(x).abs())"),
    (IMAGE, "self.norm(self.conv(x).exp())"),
    (IMAGE, "self.norm(self.conv(x).softmax(1))"),
    (IMAGE, "self.conv(x).relu() * -2.0"),
    (IMAGE, "torch.div(self.conv(x).flatten(1), 2.0, rounding_mode='floor')"),
    (IMAGE, "self.conv(x).mean((2, 3), dtype=torch.float64) * 2.0"),
    (IMAGE, "self.conv(x).relu() + 2.0"),
    (IMAGE, "self.conv(x).sum((2, 3)) + self.row"),
    (IMAGE, "F.pad(self.conv(x), [1, 1]) + 2.0"),
    # Constants of other dimensions than the channels.
    (IMAGE, "self.conv(x).flip([2]) * self.places"),
    (IMAGE, "self.conv(x).transpose(1, 3) * self.channels"),
    (IMAGE, "torch.addcmul(self.conv(x), self.places, self.channels)"),
    (ROWS, "self.linear(x).view(2, 5, 2, 2).transpose(1, 2) * self.row[:2]"),
    # Both operands are computed from the input.
    (IMAGE, "torch.addcmul(self.channels, self.conv(x), self.conv(x))"),
    (IMAGE, "torch.lerp(self.conv(x), self.conv(x), 0.3)"),
    (IMAGE, "torch.lerp(self.channels, self.shifts, self.conv(x))"),
    (IMAGE, "torch.addcdiv(self.channels, self.shifts, self.conv(x))"),
    (WORDS, "self.embed(x) * self.embed(x).sum()"),
    # The embedding's weight has another reader.
    (WORDS, "F.linear(self.embed(x) * 2.0, self.embed.weight)"),
    # A batch norm over another dimension than the linear's inputs.
    (torch.rand(2, 8, 8), "self.linear(self.wide(x))"),
    (ROW, "self.linear(self.wide(x).relu())"),
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The models of the expressions, see `written_models`."""
    return written_models(tmp_path_factory.mktemp("passages"), Layers, ADVISED, SILENT, _inlined)


def _inlined(text: str) -> str:
    """Writes out the weight and bias that take a batch norm in which comes before the linear."""
    start, is_merged, rest = text.partition(", *self.before(")
    if not is_merged:
        return text
    norm = rest.partition(")")[0]
    scale = f"({norm}.weight / ({norm}.running_var + {norm}.eps).sqrt())"
    shift = f"({norm}.bias - {norm}.running_mean * {scale})"
    weight = "self.linear.weight"
    return f"{start}, {weight} * {scale}, self.linear.bias + ({weight} * {shift}).sum(1))"


def recorded(
    module: nn.Module, x: torch.Tensor, via: Literal["script", "trace"]
) -> tuple[tuple[NearMiss, ...], list[str], set[str]]:
    trace = fe.record(module, x, via=via, measure=None).trace
    ops = [node.op for node in trace.steps[-1].graph.walk()]
    return trace.near_misses, ops, {each.kind for step in trace.steps for each in step.rewrites}


@pytest.mark.parametrize("number", range(len(ADVISED)), ids=[case[2].replace("self.", "") for case in ADVISED])
def test_the_advice_folds_and_keeps_the_outputs(written: ModuleType, number: int) -> None:
    via: Literal["script", "trace"] = "script" if number % 3 else "trace"
    x, meant, *_ = ADVISED[number]
    module, better = getattr(written, f"Is{number}")(), getattr(written, f"Better{number}")()
    (miss, *others), before, _ = recorded(module, x, via)
    assert (f"{miss.kind} {miss.reason}", others) == (meant, [])
    assert miss.advice
    assert miss.saved_bytes
    none, after, folds = recorded(better, x, via)
    assert none == ()
    is_torchs = miss.kind.startswith("conv") and "transposed" not in miss.detail
    # torch folds what the advice puts side by side; what it tells to merge is gone, and costs no operator.
    assert miss.kind in folds if is_torchs else len(after) < len(before) or miss.reason == "unsupported_op"
    torch.testing.assert_close(better(x), module(x))


@pytest.mark.parametrize("number", range(len(SILENT)), ids=[case[1].replace("self.", "") for case in SILENT])
def test_nothing_is_advised_where_no_change_folds(written: ModuleType, number: int) -> None:
    x, _ = SILENT[number]
    misses, _, _ = recorded(getattr(written, f"Silent{number}")(), x, "script")
    assert [miss for miss in misses if miss.advice] == []


class Dropped(Layers):
    def __init__(self, between: nn.Module) -> None:
        super().__init__()
        self.between = between
        self.eval()

    def forward(self, x):
        return self.norm(self.between(self.conv(x)))


@pytest.mark.parametrize("kind", [nn.Dropout, nn.Dropout2d])
def test_dropout_that_left_a_check_of_the_shape_is_named(kind: type[nn.Module]) -> None:
    trace = fe.record(Dropped(kind()), IMAGE, measure=None).trace
    (miss,) = trace.near_misses
    (removed,) = [each for step in trace.steps for each in step.rewrites if each.kind == "dropout"]
    assert miss.reason == "several_uses"
    assert f"the dropout %{removed.consumed[0]}," in miss.detail
    assert "torch.nn.Identity" in miss.advice
    for none, _, folds in (
        recorded(Dropped(nn.Identity()), IMAGE, "script"),
        recorded(Dropped(kind()), IMAGE, "trace"),
    ):
        assert none == ()
        assert "conv_bn" in folds
