"""Folds that torch does not look for: each has a word, and following its advice folds and keeps the outputs."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

import freeze_engine as fe
from freeze_engine.backends.torchscript.folds.near_misses import near_misses
from freeze_engine.backends.torchscript.folds.rewrites import rewrites
from freeze_engine.trace import NearMiss
from tests.frozen_graphs import Frozen, freeze


class Layers(nn.Module):
    """The layers of all models here, with values of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.padded = nn.Conv2d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.first = nn.BatchNorm2d(3)
        self.flat = nn.BatchNorm1d(4)
        self.instance = nn.InstanceNorm2d(4, affine=True, track_running_stats=True)
        self.group = nn.GroupNorm(2, 4)
        self.linear = nn.Linear(8, 4)
        self.register_buffer("matrix", torch.ones(8, 4))
        self.register_buffer("row", torch.ones(4))
        self.register_buffer("channels", torch.ones(1, 4, 1, 1))
        self.register_buffer("rows", torch.ones(3, 1))
        generator = torch.Generator().manual_seed(1)
        for tensor in (*self.parameters(), *self.buffers()):
            if tensor.is_floating_point():
                tensor.data.copy_(torch.rand(tensor.shape, generator=generator) + 0.5)
        self.eval()


class Reversed(Layers):
    def forward(self, x):
        return 1.0 - self.conv(x)


class ReversedAsAdvised(Layers):
    def forward(self, x):
        return self.conv(x) * -1.0 + 1.0


class Negative(Layers):
    def forward(self, x):
        return -self.conv(x)


class NegativeAsAdvised(Layers):
    def forward(self, x):
        return self.conv(x) * -1.0


class Contiguous(Layers):
    def forward(self, x):
        return self.norm(self.conv(x).contiguous(memory_format=torch.channels_last))


class To(Layers):
    def forward(self, x):
        return self.norm(self.conv(x).to(torch.float32, copy=True))


class ContiguousTwice(Layers):
    def forward(self, x):
        return self.norm(self.conv(x).clone().contiguous())


class Beside(Layers):
    def forward(self, x):
        return self.norm(self.conv(x))


class AddApart(Layers):
    def forward(self, x):
        return self.conv(x).contiguous() + self.channels


class PooledMaxima(Layers):
    def forward(self, x):
        return self.norm(F.max_pool2d(self.conv(x), 3, stride=1, padding=1))


class PooledMaximaAsAdvised(Layers):
    def forward(self, x):
        return F.max_pool2d(self.norm(self.conv(x)), 3, stride=1, padding=1)


class PooledAverages(Layers):
    def forward(self, x):
        return self.norm(F.avg_pool2d(self.conv(x), 3, stride=2, ceil_mode=True))


class PooledAveragesAsAdvised(Layers):
    def forward(self, x):
        return F.avg_pool2d(self.norm(self.conv(x)), 3, stride=2, ceil_mode=True)


class PooledToOne(Layers):
    def forward(self, x):
        return self.norm(F.adaptive_avg_pool2d(self.conv(x), 1))


class PooledToOneAsAdvised(Layers):
    def forward(self, x):
        return F.adaptive_avg_pool2d(self.norm(self.conv(x)), 1)


class PooledTurned(PooledMaxima):
    """A scale is negative: the largest value becomes the least."""

    def __init__(self) -> None:
        super().__init__()
        with torch.no_grad():
            self.norm.weight[0] = -1.0


class PooledPadded(Layers):
    """What is averaged holds zeros, which the batch norm would shift."""

    def forward(self, x):
        return self.norm(F.avg_pool2d(self.conv(x), 3, stride=1, padding=1))


class PooledDivided(Layers):
    def forward(self, x):
        return self.norm(F.avg_pool2d(self.conv(x), 2, divisor_override=3))


class AddBeside(Layers):
    def forward(self, x):
        return self.conv(x) + self.channels


class LinearApart(Layers):
    def forward(self, x):
        return self.flat(self.linear(x).contiguous())


class LinearBeside(Layers):
    def forward(self, x):
        return self.flat(self.linear(x))


class Instance(Layers):
    def forward(self, x):
        return self.instance(self.conv(x))


class InstanceAsAdvised(Layers):
    def forward(self, x):
        norm = self.instance
        return F.batch_norm(self.conv(x), norm.running_mean, norm.running_var, norm.weight, norm.bias)


class Before(Layers):
    def forward(self, x):
        return self.conv(self.first(x))


class BeforeAsAdvised(Layers):
    def __init__(self) -> None:
        super().__init__()
        norm, conv = self.first, self.conv
        assert norm.running_var is not None
        assert norm.running_mean is not None
        assert conv.bias is not None
        with torch.no_grad():
            scale = norm.weight / (norm.running_var + norm.eps).sqrt()
            shift = norm.bias - norm.running_mean * scale
            conv.bias.add_((conv.weight * shift.reshape(1, -1, 1, 1)).sum((1, 2, 3)))
            conv.weight.mul_(scale.reshape(1, -1, 1, 1))

    def forward(self, x):
        return self.conv(x)


class Product(Layers):
    def forward(self, x):
        return x @ self.matrix + self.row


class ProductAsAdvised(Layers):
    def forward(self, x):
        return F.linear(x, self.matrix.t(), self.row)


class Scaled(Layers):
    def forward(self, x):
        return self.linear(x) * self.row


class ScaledAsAdvised(Layers):
    def __init__(self) -> None:
        super().__init__()
        with torch.no_grad():
            self.linear.weight.mul_(self.row[:, None])
            self.linear.bias.mul_(self.row)

    def forward(self, x):
        return self.linear(x)


class Turned(Layers):
    def forward(self, x):
        return 1 - self.linear(x)


class TurnedAsAdvised(Layers):
    def __init__(self) -> None:
        super().__init__()
        with torch.no_grad():
            self.linear.weight.neg_()
            self.linear.bias.neg_().add_(1)

    def forward(self, x):
        return self.linear(x)


IMAGE, ROW = torch.rand(2, 3, 6, 6), torch.rand(3, 8)
ADVISED = [
    pytest.param(Reversed, ReversedAsAdvised, "conv_mul", "unsupported_op", IMAGE, id="difference from a number"),
    pytest.param(Negative, NegativeAsAdvised, "conv_mul", "unsupported_op", IMAGE, id="negative"),
    pytest.param(Contiguous, Beside, "conv_bn", "in_between", IMAGE, id="contiguous"),
    pytest.param(To, Beside, "conv_bn", "in_between", IMAGE, id="to"),
    pytest.param(ContiguousTwice, Beside, "conv_bn", "in_between", IMAGE, id="two between"),
    pytest.param(PooledAverages, PooledAveragesAsAdvised, "conv_bn", "in_between", IMAGE, id="averages between"),
    pytest.param(PooledToOne, PooledToOneAsAdvised, "conv_bn", "in_between", IMAGE, id="one average between"),
    pytest.param(AddApart, AddBeside, "conv_add", "in_between", IMAGE, id="add"),
    pytest.param(LinearApart, LinearBeside, "linear_bn", "in_between", ROW, id="linear"),
    pytest.param(Instance, InstanceAsAdvised, "conv_bn", "unsupported_op", IMAGE, id="instance norm with statistics"),
    pytest.param(Before, BeforeAsAdvised, "conv_bn", "before_conv", IMAGE, id="batch norm before a conv"),
    pytest.param(Product, ProductAsAdvised, "linear_add", "no_such_fold", ROW, id="product and sum"),
    pytest.param(Scaled, ScaledAsAdvised, "linear_mul", "no_such_fold", ROW, id="scaled linear"),
    pytest.param(Turned, TurnedAsAdvised, "linear_mul", "no_such_fold", ROW, id="number less linear"),
]


def missed(frozen: Frozen) -> list[NearMiss]:
    return [miss for each in frozen.last_round() for miss in near_misses(0, each.name, each.before, each.after)]


def folded(frozen: Frozen) -> set[str]:
    return {fold.kind for each in frozen.passes for fold in rewrites(each.name, each.before, each.after, {})}


@pytest.mark.parametrize(("kind", "advised", "fold", "reason", "x"), ADVISED)
def test_the_advice_takes_the_operation_away_and_keeps_the_outputs(
    kind: type[nn.Module], advised: type[nn.Module], fold: str, reason: str, x: torch.Tensor
) -> None:
    module, better = kind(), advised()
    before, after = freeze(module), freeze(better)
    (miss,) = missed(before)
    assert (miss.kind, miss.reason) == (fold, reason)
    assert miss.advice
    assert fold not in folded(before)
    assert missed(after) == []
    left = next(node.op for node in before.passes[-1].after.walk() if node.id == miss.node)
    assert left not in {node.op for node in after.passes[-1].after.walk()}
    torch.testing.assert_close(better(x), module(x))


def test_a_batch_norm_after_maxima_comes_before_them_where_it_keeps_their_order() -> None:
    def near(module: nn.Module) -> tuple[NearMiss, ...]:
        return fe.record(module, IMAGE, measure=None).trace.near_misses

    (miss,) = near(PooledMaxima())
    assert (miss.kind, miss.reason) == ("conv_bn", "in_between")
    assert miss.advice.startswith("Put aten::max_pool2d after the batch norm")
    assert near(PooledMaximaAsAdvised()) == ()
    assert "conv_bn" in folded(freeze(PooledMaximaAsAdvised()))
    torch.testing.assert_close(PooledMaximaAsAdvised()(IMAGE), PooledMaxima()(IMAGE))
    (turned,) = near(PooledTurned())
    assert (turned.reason, turned.advice) == ("activation_between", "")


def test_a_traced_difference_is_an_operator_of_its_own() -> None:
    (miss,) = missed(freeze(Reversed(), IMAGE))
    assert (miss.kind, miss.reason) == ("conv_add", "unsupported_op")
    assert "conv_add" in folded(freeze(ReversedAsAdvised(), IMAGE))


class Activated(Layers):
    def forward(self, x):
        return self.norm(self.conv(x).relu()) + self.norm(F.silu(self.conv(x.tanh())))


class Grouped(Layers):
    def forward(self, x):
        return self.group(self.conv(x)) + self.group(self.conv(x.tanh())) + self.group(self.conv(x.relu()))


class InstanceStatistics(Layers):
    def forward(self, x):
        return F.instance_norm(self.conv(x))


class BeforePadded(Layers):
    def forward(self, x):
        return self.padded(self.first(x))


@pytest.mark.parametrize(
    ("module", "reason", "others"),
    [
        (Activated(), "activation_between", "1 more node "),
        (PooledPadded(), "activation_between", ""),
        (PooledDivided(), "activation_between", ""),
        (Grouped(), "own_statistics", "2 more nodes "),
        (InstanceStatistics(), "own_statistics", ""),
        (BeforePadded(), "before_padded_conv", ""),
    ],
)
def test_fold_of_another_architecture_gets_one_line_without_advice(module: nn.Module, reason: str, others: str) -> None:
    (miss,) = missed(freeze(module))
    assert (miss.kind, miss.reason, miss.advice) == ("conv_bn", reason, "")
    assert ("more node" in miss.detail) == bool(others)
    assert others in miss.detail


class ReadTwice(Layers):
    def forward(self, x):
        y = self.linear(x)
        return y * self.row + F.gelu(y) + y.sigmoid()


class ScaledByRows(Layers):
    def forward(self, x):
        return self.linear(x) * self.rows


class ScaledByItself(Layers):
    def forward(self, x):
        y = self.linear(x)
        return y * y


class Widened(Layers):
    def forward(self, x):
        return self.linear(x) + self.row.double()


@pytest.mark.parametrize("module", [ReadTwice(), ScaledByRows(), ScaledByItself(), Widened()])
def test_nothing_is_advised_to_be_merged_where_that_moves_other_values(module: nn.Module) -> None:
    assert missed(freeze(module)) == []


class Shared(Layers):
    def forward(self, x):
        return self.linear(x) * self.row + self.linear(x * 2.0)


def test_a_weight_that_another_call_reads_is_not_merged_into() -> None:
    misses = missed(freeze(Shared()))
    scaled = next(miss for miss in misses if miss.kind == "linear_mul")
    assert "a weight and bias of its own" in scaled.advice


class Upsampled(Layers):
    def __init__(self) -> None:
        super().__init__()
        self.up = nn.ConvTranspose2d(3, 4, 3)
        self.eval()


class UpsampledTwiceRead(Upsampled):
    def forward(self, x):
        y = self.up(x)
        return y * 2.0, y


class UpsampledAlongWidth(Upsampled):
    def forward(self, x):
        return self.up(x) + self.row


class UpsampledShifted(Upsampled):
    def forward(self, x):
        return self.up(x) + self.channels


@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        (UpsampledTwiceRead, "Let aten::mul be its only reader: the fold changes what the other would see."),
        (UpsampledAlongWidth, ""),
        (UpsampledShifted, "Merge the constant into the conv's bias before freezing."),
    ],
)
def test_constant_is_merged_into_a_transposed_conv_only_where_that_keeps_the_outputs(
    kind: type[nn.Module], advice: str
) -> None:
    (miss,) = missed(freeze(kind()))
    assert (miss.reason, miss.advice) == ("unsupported_conv", advice)


class ConvertedOut(Layers):
    def forward(self, x):
        return self.conv(x).double() * 2.0


class ConvertedOutAsAdvised(Layers):
    def forward(self, x):
        return (self.conv(x) * 2.0).double()


def test_conversion_between_is_not_left_out_but_moved() -> None:
    (miss,) = missed(freeze(ConvertedOut()))
    assert miss.advice == "Move it behind aten::mul, which then computes in float32."
    assert missed(freeze(ConvertedOutAsAdvised())) == []


class MadeContiguous(Layers):
    def forward(self, x):
        return self.norm(self.conv(x).contiguous())


def test_check_of_the_shape_behind_an_operator_in_between_is_no_obstacle() -> None:
    (miss,) = missed(freeze(MadeContiguous()))
    assert miss.advice == "Leave it out, or move it behind aten::batch_norm: it changes no value."
    assert "Also" not in miss.detail


class SharedWeightOnly(Layers):
    def forward(self, x):
        return F.linear(x, self.linear.weight) + self.row + F.linear(x * 2.0, self.linear.weight)


def test_addition_after_a_shared_weight_asks_for_a_bias_only() -> None:
    misses = [miss for miss in missed(freeze(SharedWeightOnly())) if miss.kind == "linear_add"]
    assert misses
    assert all(
        miss.advice.startswith("Give this call a bias of its own, with the constant merged: ") for miss in misses
    )


class Ordered(Layers):
    def __init__(self) -> None:
        super().__init__()
        self.wide = nn.Conv2d(4, 32, 1)

    def forward(self, x):
        return -self.wide(-self.conv(x))


def test_largest_saving_comes_first() -> None:
    misses: list[Any] = missed(freeze(Ordered()))
    graph = freeze(Ordered()).passes[-1].after
    weights = {node.id: node.inputs[1] for node in graph.walk() if node.op == "aten::conv2d"}
    assert ["wide" in weights[miss.neighbour] for miss in misses] == [True, False]


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

    def forward(self, x):
        y = x
        for part in self.parts:
            y = y + part(x)
        return y


def test_parallel_linears_on_a_cpu_are_one_line() -> None:
    (miss,) = missed(freeze(Attention().eval()))
    assert (miss.kind, miss.reason) == ("concat_linear", "device")
    assert "1 more node" in miss.detail
