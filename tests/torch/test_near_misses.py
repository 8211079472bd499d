"""Every reason for a fold that did not happen, held against torch: without the reason, torch folds."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from freeze_engine.backends.torchscript.folds.near_misses import near_misses
from freeze_engine.backends.torchscript.folds.rewrites import rewrites
from freeze_engine.trace import NearMiss
from tests.frozen_graphs import Frozen, freeze

SHAPE_DETAIL = (
    "The operand has the shape {}; beside a weight of the shape {} torch folds a single number or the shape {}."
)


def settled(norm: Any) -> Any:
    """Gives a batch norm values that torch's constant pooling cannot merge."""
    for values in (norm.running_mean, norm.running_var, norm.weight, norm.bias):
        if values is not None:
            nn.init.uniform_(values, 0.5, 1.5)
    return norm


class Chain(nn.Module):
    def __init__(self, first: nn.Module | None = None, then: nn.Module | None = None) -> None:
        super().__init__()
        self.first = first or nn.Conv2d(3, 4, 3)
        self.then = then or settled(nn.BatchNorm2d(4))

    def forward(self, x):
        return self.then(self.first(x))


class WithOther(nn.Module):
    def __init__(self, other: torch.Tensor | None = None, conv: nn.Module | None = None) -> None:
        super().__init__()
        self.conv = conv or nn.Conv2d(3, 4, 3)
        self.register_buffer("other", torch.rand(1, 4, 1, 1) if other is None else other)


class Add(WithOther):
    def forward(self, x):
        return self.conv(x) + self.other


class Mul(WithOther):
    def forward(self, x):
        return self.conv(x) * self.other


class AddReversed(WithOther):
    def forward(self, x):
        return self.other + self.conv(x)


class SubReversed(WithOther):
    def forward(self, x):
        return self.other - self.conv(x)


class SubAsAdvised(WithOther):
    def forward(self, x):
        return self.conv(x) * -1 + self.other


class AddInPlace(WithOther):
    def forward(self, x):
        y = self.conv(x)
        y += self.other
        return y


class DivFloor(WithOther):
    def forward(self, x):
        return torch.div(self.conv(x), 2.0, rounding_mode="floor")


class Div(WithOther):
    def forward(self, x):
        return torch.div(self.conv(x), 2.0)


class AddUsedTwice(WithOther):
    def forward(self, x):
        y = self.conv(x)
        return y + self.other, y.relu()


class AddReturnedToo(WithOther):
    def forward(self, x):
        y = self.conv(x)
        return y + self.other if bool(x.sum() > 0) else y


class AddComputed(WithOther):
    def forward(self, x):
        return self.conv(x) + x.mean()


class Residual(WithOther):
    def forward(self, x):
        y = self.conv(x)
        y += x[:, :1, 2:, 2:]
        return y


class Weighted(nn.Module):
    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.register_buffer("weight", torch.ones(4, 3, 3, 3, dtype=dtype))

    def forward(self, x):
        return F.conv2d(x, self.weight) * 3


class DynamicWeight(Chain):
    def forward(self, x):
        return self.then(F.conv2d(x, self.first.weight * x.mean(), self.first.bias))


class DynamicStride(Chain):
    def forward(self, x):
        return self.then(F.conv2d(x, self.first.weight, self.first.bias, stride=x.size(0)))


class DynamicScale(Chain):
    def forward(self, x):
        norm = self.then
        return F.batch_norm(self.first(x), norm.running_mean, norm.running_var, norm.weight * x.mean(), norm.bias)


class WrittenWeight(Chain):
    def forward(self, x):
        self.first.weight.mul_(0.5)
        return self.then(self.first(x))


class FunctionalNorm(Chain):
    def __init__(self, training: bool) -> None:
        super().__init__()
        self.flag = training

    def forward(self, x):
        norm = self.then
        return F.batch_norm(
            self.first(x), norm.running_mean, norm.running_var, norm.weight, norm.bias, training=self.flag
        )


class NormUsedTwice(Chain):
    def forward(self, x):
        y = self.first(x)
        return self.then(y), y


class Forked(Chain):
    def forward(self, x):
        return torch.jit.wait(torch.jit.fork(self.both, x))

    def both(self, x):
        return self.then(self.first(x))


class Dropout(nn.Module):
    def __init__(self, training: bool) -> None:
        super().__init__()
        self.flag = training

    def forward(self, x):
        return F.dropout(x.relu(), 0.5, training=self.flag)


class DropoutSometimes(nn.Module):
    def forward(self, x):
        return F.dropout(x.relu(), 0.5, training=bool(x.sum() > 0))


class Alpha(nn.Module):
    def __init__(self, kind: nn.Module) -> None:
        super().__init__()
        self.drop = kind

    def forward(self, x):
        return self.drop(x.relu())


class Parallel(nn.Module):
    def __init__(self, *linears: nn.Module) -> None:
        super().__init__()
        self.left, self.right = linears or (nn.Linear(8, 2), nn.Linear(8, 3))

    def forward(self, x):
        return self.left(x), self.right(x)


def training_norm() -> Chain:
    module = Chain().eval()
    module.then.train()
    return module


def same_padding(padding: Any) -> Chain:
    return Chain(nn.Conv2d(3, 4, 3, padding=padding))


def missed(frozen: Frozen) -> list[NearMiss]:
    return [
        NearMiss(0, miss.kind, _op(each.before, miss.node), _op(each.before, miss.neighbour), *_texts(miss))
        for each in frozen.last_round()
        for miss in near_misses(0, each.name, each.before, each.after)
    ]


def _op(graph: Any, node_id: str) -> str:
    return next((node.op for node in graph.walk() if node.id == node_id), "")


def _texts(miss: NearMiss) -> tuple[str, str, str]:
    # torch chooses the values' names, and not the same ones in every version.
    detail, advice = (re.sub(r"%[\w.'/]*[\w'/]", "%…", text) for text in (miss.detail, miss.advice))
    return miss.reason, detail, advice


def folded(frozen: Frozen) -> set[str]:
    return {fold.kind for each in frozen.passes for fold in rewrites(each.name, each.before, each.after, {})}


X = torch.rand(2, 3, 8, 8)
NORM, ADD, CONV = "aten::batch_norm", "aten::add", "aten::conv2d"


def shape_case(operand: tuple[int, ...], meant: tuple[int, ...] | None, conv: nn.Conv2d | nn.Conv1d | nn.Conv3d) -> Any:
    weight = tuple(conv.weight.shape)
    wanted = (1, weight[0], *(1,) * (len(weight) - 2))
    advice = f"Give it the shape {meant}, which means the same." if meant else ""
    miss = NearMiss(
        0,
        "conv_add",
        ADD,
        f"aten::conv{len(weight) - 2}d",
        "shape",
        SHAPE_DETAIL.format(operand, weight, wanted),
        advice,
    )
    return (
        Add(torch.rand(operand), conv).eval(),
        miss,
        Add(torch.rand(meant or wanted), conv).eval(),
        None,
        f"shape {operand}",
    )


#: A module that misses a fold, what is said of it, the same module without the reason, and an example to trace both.
CASES: list[tuple[nn.Module, NearMiss, nn.Module, Any, str]] = [
    (
        training_norm(),
        NearMiss(
            0,
            "conv_bn",
            NORM,
            CONV,
            "training_statistics",
            "The batch norm runs with training=True: it normalises every batch by the batch's own statistics, and "
            "first checks the batch's size, a second reader of the conv's output.",
            "Call eval() on the batch norm before freezing, or pass training=False to the functional form.",
        ),
        Chain().eval(),
        None,
        "batch norm in training mode",
    ),
    (
        Chain(then=nn.BatchNorm2d(4, track_running_stats=False)).eval(),
        NearMiss(
            0,
            "conv_bn",
            NORM,
            CONV,
            "no_running_stats",
            "running_mean and running_var are None, so that every batch is normalised by its own statistics.",
            "Create the batch norm with track_running_stats=True and let it see data before freezing.",
        ),
        Chain(then=nn.BatchNorm2d(4)).eval(),
        None,
        "no running statistics",
    ),
    (
        NormUsedTwice().eval(),
        NearMiss(
            0,
            "conv_bn",
            NORM,
            CONV,
            "several_uses",
            "The output of aten::conv2d (%…) is also read by prim::TupleConstruct (%…).",
            "Let aten::batch_norm be its only reader: the fold changes what the other would see.",
        ),
        Chain().eval(),
        None,
        "conv returned as well",
    ),
    (
        DynamicStride().eval(),
        NearMiss(
            0,
            "conv_bn",
            NORM,
            CONV,
            "operand_not_constant",
            "Of aten::conv2d (%…), stride is computed at run time by prim::ListConstruct (%…).",
            "It depends on the shape of an input: where that is always the same, write the number in its place.",
        ),
        Chain().eval(),
        None,
        "computed stride",
    ),
    (
        WrittenWeight().eval(),
        NearMiss(
            0,
            "conv_bn",
            NORM,
            CONV,
            "operand_not_constant",
            "Of aten::conv2d (%…), weight is the attribute first.weight, still read at run time.",
            "See why the attribute first.weight was preserved; inlined, it would not be in the way.",
        ),
        Chain().eval(),
        None,
        "preserved weight",
    ),
    (
        Chain(nn.ConvTranspose2d(3, 4, 3)).eval(),
        NearMiss(
            0,
            "conv_bn",
            NORM,
            "aten::conv_transpose2d",
            "unsupported_conv",
            "aten::conv_transpose2d is a transposed conv, into which torch folds nothing.",
            "Before freezing, replace both by torch.nn.utils.fusion.fuse_conv_bn_eval(conv, bn, transpose=True).",
        ),
        Chain().eval(),
        None,
        "transposed conv",
    ),
    (
        Chain(nn.ConvTranspose2d(3, 4, 3)).eval(),
        NearMiss(
            0,
            "conv_bn",
            NORM,
            "aten::_convolution",
            "unsupported_conv",
            "aten::_convolution is a transposed conv, into which torch folds nothing.",
            "Before freezing, replace both by torch.nn.utils.fusion.fuse_conv_bn_eval(conv, bn, transpose=True).",
        ),
        Chain().eval(),
        X,
        "transposed conv, traced",
    ),
    (
        same_padding("same").eval(),
        NearMiss(
            0,
            "conv_bn",
            NORM,
            "aten::_convolution_mode",
            "unsupported_conv",
            "Tracing made aten::_convolution_mode of a conv with padding in words; torch does not fold it.",
            "Give the padding in numbers, or script the module.",
        ),
        same_padding(1).eval(),
        X,
        "padding in words, traced",
    ),
    (
        Forked().eval(),
        NearMiss(
            0,
            "conv_bn",
            NORM,
            CONV,
            "in_fork",
            "It is in a forked subgraph, which torch's passes after freezing do not enter.",
            "Call the function directly instead of through torch.jit.fork.",
        ),
        Chain().eval(),
        None,
        "fork",
    ),
    (
        AddInPlace().eval(),
        NearMiss(
            0,
            "conv_add",
            "aten::add_",
            CONV,
            "in_place",
            "aten::add_ writes in place; torch folds aten::add only.",
            "Write y = y + c instead of y += c.",
        ),
        Add().eval(),
        None,
        "in place",
    ),
    (
        AddReversed().eval(),
        NearMiss(
            0,
            "conv_add",
            ADD,
            CONV,
            "operand_order",
            "The conv's output is the second operand of aten::add; torch folds it as the first only.",
            "Write c + y as y + c.",
        ),
        Add().eval(),
        None,
        "operands reversed",
    ),
    (
        SubReversed().eval(),
        NearMiss(
            0,
            "conv_add",
            "aten::sub",
            CONV,
            "operand_order",
            "The conv's output is the second operand of aten::sub; torch folds it as the first only.",
            "Write c - y as y * -1 + c.",
        ),
        SubAsAdvised().eval(),
        None,
        "difference reversed",
    ),
    (
        DivFloor().eval(),
        NearMiss(
            0,
            "conv_mul",
            "aten::div",
            CONV,
            "unsupported_overload",
            "torch folds no division with a rounding mode.",
        ),
        Div().eval(),
        None,
        "rounding division",
    ),
    (
        AddUsedTwice().eval(),
        NearMiss(
            0,
            "conv_add",
            ADD,
            CONV,
            "several_uses",
            "The output of aten::conv2d (%…) is also read by aten::relu (%…).",
            "Let aten::add be its only reader: the fold changes what the other would see.",
        ),
        Add().eval(),
        None,
        "several readers",
    ),
    (
        AddReturnedToo().eval(),
        NearMiss(
            0,
            "conv_add",
            ADD,
            CONV,
            "several_uses",
            "The output of aten::conv2d (%…) is also read by a block of prim::If (%…).",
            "Let aten::add be its only reader: the fold changes what the other would see.",
        ),
        Add().eval(),
        None,
        "yielded by a branch as well",
    ),
    (
        Weighted(torch.int64).eval(),
        NearMiss(
            0,
            "conv_mul",
            "aten::mul",
            CONV,
            "dtype",
            "The conv's weight is int64; torch folds into floating-point weights only.",
        ),
        Weighted(torch.float32).eval(),
        None,
        "integer conv",
    ),
    (
        Mul(torch.rand(1, 4, 1, 1, dtype=torch.complex64)).eval(),
        NearMiss(
            0,
            "conv_mul",
            "aten::mul",
            CONV,
            "dtype",
            "The operand is complex64 and the conv's weight float32: the type would change.",
        ),
        Mul(torch.rand(1, 4, 1, 1)).eval(),
        None,
        "complex operand",
    ),
    (
        Chain(nn.Linear(3, 4), nn.BatchNorm1d(4, track_running_stats=False)).eval(),
        NearMiss(
            0,
            "linear_bn",
            NORM,
            "aten::linear",
            "no_running_stats",
            "running_mean and running_var are None, so that every batch is normalised by its own statistics.",
            "Create the batch norm with track_running_stats=True and let it see data before freezing.",
        ),
        Chain(nn.Linear(3, 4), nn.BatchNorm1d(4)).eval(),
        None,
        "linear without running statistics",
    ),
    (
        Chain(nn.Linear(3, 4), nn.BatchNorm1d(5)).eval(),
        NearMiss(
            0,
            "linear_bn",
            NORM,
            "aten::linear",
            "shape",
            "The batch norm has 5 channels and the linear 4 outputs: it normalises another dimension than the one that "
            "the linear computes.",
        ),
        Chain(nn.Linear(3, 4), settled(nn.BatchNorm1d(1))).eval(),
        None,
        "linear before a batch norm of another width",
    ),
    (
        Dropout(training=True),
        NearMiss(
            0,
            "dropout",
            "aten::dropout",
            "aten::relu",
            "training_mode",
            "It runs with training=True and so drops elements of the frozen model's values too.",
            "Call eval() before the module is scripted or traced (a trace keeps the mode that it was made in), or pass "
            "training=self.training to the functional form, whose default is True.",
        ),
        Dropout(training=False),
        None,
        "dropout in training mode",
    ),
    (
        DropoutSometimes(),
        NearMiss(
            0,
            "dropout",
            "aten::dropout",
            "aten::relu",
            "operand_not_constant",
            "Its training flag is computed at run time by aten::Bool (%…).",
            "Pass a flag that freezing makes constant, such as self.training.",
        ),
        Dropout(training=False),
        None,
        "dropout by a computed flag",
    ),
    (
        Alpha(nn.AlphaDropout()).eval(),
        NearMiss(
            0,
            "dropout",
            "aten::alpha_dropout",
            "aten::relu",
            "unsupported_op",
            "torch removes dropout and feature_dropout, not aten::alpha_dropout.",
            "Replace it with torch.nn.Identity before freezing.",
        ),
        Alpha(nn.Dropout2d()).eval(),
        None,
        "alpha dropout",
    ),
    shape_case((4, 1, 1), (1, 4, 1, 1), nn.Conv2d(3, 4, 3)),
    shape_case((4, 1), (1, 4, 1), nn.Conv1d(3, 4, 3)),
    shape_case((4, 1, 1, 1), (1, 4, 1, 1, 1), nn.Conv3d(3, 4, 3)),
    shape_case((6,), None, nn.Conv2d(3, 4, 3)),
    shape_case((1, 4, 6, 6), None, nn.Conv2d(3, 4, 3)),
    shape_case((2, 4, 1, 1), None, nn.Conv2d(3, 4, 3)),
    shape_case((1, 1, 1, 1, 1), None, nn.Conv2d(3, 4, 3)),
]


@pytest.mark.parametrize(
    ("module", "miss", "example"), [pytest.param(*case[:2], case[3], id=case[4]) for case in CASES]
)
def test_missed_fold_gives_its_reason(module: nn.Module, miss: NearMiss, example: Any) -> None:
    frozen = freeze(module, example)
    assert missed(frozen) == [miss]
    assert miss.kind not in folded(frozen)


@pytest.mark.parametrize(
    ("module", "kind", "example"), [pytest.param(*case[2:3], case[1].kind, case[3], id=case[4]) for case in CASES]
)
def test_without_the_reason_torch_folds(module: nn.Module, kind: str, example: Any) -> None:
    frozen = freeze(module, example)
    assert missed(frozen) == []
    assert kind in folded(frozen)


def test_a_wider_operand_is_said_before_its_shape_lets_torch_misfold_it() -> None:
    (miss,) = missed(freeze(Add(torch.rand(4, 1, 1, dtype=torch.float64), nn.Conv2d(3, 4, 3)).eval(), None))
    assert miss.reason == "shape"
    assert "Also: The operand is float64 and the conv's weight float32" in miss.detail
    assert miss.advice.endswith("Keep the operand in float32, and convert after it where the wider type is needed.")


def test_a_flag_in_a_functional_batch_norm_counts_as_well() -> None:
    assert [miss.reason for miss in missed(freeze(FunctionalNorm(True).eval()))] == ["training_statistics"]
    assert folded(freeze(FunctionalNorm(False).eval())) == {"conv_bn"}


class TwoNorms(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.one = settled(nn.BatchNorm2d(4))
        self.two = settled(nn.BatchNorm2d(4))

    def forward(self, x):
        return self.two(self.one(self.conv(x)))


def test_a_check_of_the_dimensions_is_a_reader_and_tracing_leaves_it_out() -> None:
    assert missed(freeze(TwoNorms().eval())) == [
        NearMiss(
            0,
            "conv_bn",
            NORM,
            CONV,
            "several_uses",
            "The output of aten::conv2d (%…) is also read by aten::dim (%…).",
            "Only its shape is read there, by a module checking its input; tracing instead of scripting leaves it out.",
        )
    ]
    assert missed(freeze(TwoNorms().eval(), X)) == []


def test_a_batch_norm_module_in_training_mode_is_folded_into_a_linear_all_the_same() -> None:
    # frozen_linear_folding.cpp counts no uses, so the size check that saves a conv does not save a linear.
    module = Chain(nn.Linear(3, 4), settled(nn.BatchNorm1d(4))).eval()
    module.then.train()
    frozen = freeze(module)
    assert "linear_bn" in folded(frozen)
    assert missed(frozen) == []


class Shared(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)
        self.left = settled(nn.BatchNorm2d(3))
        self.right = settled(nn.BatchNorm2d(3))

    def forward(self, x):
        return self.right(self.conv(self.left(self.conv(x))))


def test_sharing_a_weight_stops_no_fold() -> None:
    frozen = freeze(Shared().eval())
    assert missed(frozen) == []
    first = next(each for each in frozen.passes if each.name == "FoldFrozenConvBatchnorm")
    assert len(rewrites(first.name, first.before, first.after, {})) == 2


class Logits(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 4)

    def forward(self, x):
        y = self.linear(x)
        return 2 / y, y * x.mean(), torch.bmm(x, x) * 2


class SqueezeExcite(WithOther):
    def forward(self, x):
        y = self.conv(x)
        return y * self.conv(x).mean((2, 3), keepdim=True) + torch.rand(1)


class Gathered(WithOther):
    """The other operand comes out of a list that was empty at first."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: list[torch.Tensor] = []
        found.append(torch.relu(x))
        return self.conv(found[0]) + found[0]


class Copied(WithOther):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept = torch.zeros(1, 4, 1, 1)
        kept.copy_(x.mean((0, 2, 3), True))
        return self.conv(x) + kept


@torch.jit.script
class Images:
    def __init__(self, tensors: torch.Tensor) -> None:
        self.tensors = tensors


class InObject(WithOther):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        images = Images(torch.relu(x))
        return self.conv(images.tensors) + images.tensors


@pytest.mark.parametrize(
    "module",
    [
        *(Logits(), SqueezeExcite(), Residual(), AddComputed(), DynamicWeight(), DynamicScale()),
        *(Gathered(), Copied(), InObject()),
    ],
)
def test_node_that_no_change_would_fold_has_no_near_miss(module: nn.Module) -> None:
    assert missed(freeze(module.eval())) == []


class LinearAdd(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 4)

    def forward(self, x):
        y = self.linear(x) * 2
        return y + self.linear(x.tanh()) + self.linear(x.relu())


def test_a_linear_takes_no_constant() -> None:
    assert missed(freeze(LinearAdd().eval())) == [
        NearMiss(
            0,
            "linear_mul",
            "aten::mul",
            "aten::linear",
            "no_such_fold",
            "torch folds batch norms into a linear, but no aten::mul.",
            "Give this call a weight and bias of its own, with the constant merged: aten::linear (%…) and aten::linear "
            "(%…) also read %….",
        )
    ]


def test_parallel_linears_stay_apart_on_a_cpu() -> None:
    assert missed(freeze(Parallel().eval())) == [
        NearMiss(
            0,
            "concat_linear",
            "aten::linear",
            "aten::linear",
            "device",
            "torch concatenates frozen linears on CUDA only; the weights are on cpu.",
            "Freeze the model on CUDA, or write the linears as one and split its output.",
        )
    ]


def test_every_condition_that_keeps_linears_apart_is_reported() -> None:
    (miss,) = missed(freeze(Parallel(nn.Linear(8, 2, bias=False), nn.Linear(8, 3).double()).eval()))
    assert miss.reason == "no_bias"
    # On a CPU a bias alone brings nothing.
    assert miss.advice == "Write the linears as one and split its output. Give them one type."
    assert miss.detail == (
        "torch concatenates linears with a bias only; %… has none. Also: torch concatenates frozen linears on CUDA "
        "only; the weights are on cpu. Also: The weights differ in type: float32 and float64."
    )


@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch concatenates frozen linears on CUDA only")
def test_parallel_linears_are_concatenated_on_cuda() -> None:
    frozen = freeze(Parallel().eval().cuda())
    assert missed(frozen) == []
    assert "concat_linear" in folded(frozen)
