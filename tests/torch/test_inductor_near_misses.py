"""Every reason for which freezing does not fold, held against Inductor: without the reason, it folds.

A compile takes seconds, so all situations stand in one module, and all of them without their reason in another.
"""

from __future__ import annotations

from collections import Counter

import pytest
import torch
import torch._inductor.config
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812
from torch.nn.utils.fusion import fuse_conv_bn_eval

import freeze_engine as fe
from freeze_engine.trace import NearMiss
from tests.torch.inductor_models import filled
from tests.torch.inductor_recording import fresh, record

CHANNELS = 4


def conv(into: int = CHANNELS) -> nn.Conv2d:
    return nn.Conv2d(3, into, 1)


def norm(module: nn.Module, kind: type[nn.Module] = nn.BatchNorm2d) -> nn.Module:
    """A batch norm whose constants all differ, after a module."""
    bn = filled(kind(CHANNELS))
    return nn.Sequential(module, bn).eval()


class Situation(nn.Module):
    """A conv and a constant; ``freed`` takes what is in the way out of it."""

    def __init__(self, freed: bool) -> None:
        super().__init__()
        self.freed = freed
        self.conv = conv()
        self.register_buffer("other", torch.linspace(1, 2, CHANNELS).reshape(CHANNELS, 1, 1))


class Training(Situation):
    def __init__(self, freed: bool) -> None:
        super().__init__(freed)
        self.bn = norm(self.conv)[1]

    def forward(self, x: Tensor) -> Tensor:
        bn = self.bn
        return F.batch_norm(self.conv(x), bn.running_mean, bn.running_var, bn.weight, bn.bias, not self.freed)


class WithoutStatistics(Situation):
    def __init__(self, freed: bool) -> None:
        super().__init__(freed)
        self.bn = filled(nn.BatchNorm2d(CHANNELS, track_running_stats=freed))

    def forward(self, x: Tensor) -> Tensor:
        return self.bn(self.conv(x))


class UsedTwice(Situation):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = self.conv(x)
        return y * self.other, x.relu() if self.freed else y.relu()


class ConvSecond(Situation):
    def forward(self, x: Tensor) -> Tensor:
        return self.conv(x) * -1.0 + self.other if self.freed else self.other - self.conv(x)


class Floored(Situation):
    def forward(self, x: Tensor) -> Tensor:
        y = self.conv(x)
        return y / self.other if self.freed else torch.div(y, self.other, rounding_mode="floor")


class Integer(Situation):
    def forward(self, x: Tensor) -> Tensor:
        return self.conv(x) * (3.0 if self.freed else 3)


class IntegerTensor(Situation):
    def __init__(self, freed: bool) -> None:
        super().__init__(freed)
        self.register_buffer("other", torch.arange(1, CHANNELS + 1).reshape(CHANNELS, 1, 1))
        if freed:
            self.other = self.other.float()

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(x) * self.other


class Computed(Situation):
    def forward(self, x: Tensor) -> Tensor:
        if not self.freed:
            self.other.add_(1.0)
        return self.conv(x) + self.other.exp()


class WrittenWeight(Situation):
    def forward(self, x: Tensor) -> Tensor:
        if not self.freed:
            self.conv.weight.mul_(0.5)
        return self.conv(x) * self.other


class OfInputs(Situation):
    """No change would let these fold: two branches, a weight and a scale that are inputs, a mean of the input."""

    def forward(self, x: Tensor, weight: Tensor) -> list[Tensor]:
        y = self.conv(x)
        scaled = self.conv(x.cos()) / weight[0, 0]
        return [self.conv(x.exp()) + y.relu(), F.conv2d(x, weight) * self.other, self.conv(x.sin()) * x.mean(), scaled]


class SharedWeight(Situation):
    def __init__(self, freed: bool) -> None:
        super().__init__(freed)
        self.second = conv()
        if not freed:
            self.second.weight = self.conv.weight

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.conv(x) * self.other, self.second(x.exp()).relu()


class Transposed(Situation):
    def __init__(self, freed: bool) -> None:
        super().__init__(freed)
        self.conv = nn.ConvTranspose2d(3, CHANNELS, 1)
        self.bn = norm(self.conv)[1]
        if freed:
            self.conv, self.bn = fuse_conv_bn_eval(filled(self.conv), self.bn, transpose=True), nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return self.bn(self.conv(x))


class Wider(Situation):
    """PR #106576: a float32 operand after a bfloat16 conv."""

    def __init__(self, freed: bool) -> None:
        super().__init__(freed)
        self.conv = conv().bfloat16()

    def forward(self, x: Tensor) -> Tensor:
        y = self.conv(x.bfloat16()) * self.other
        return y.bfloat16() if self.freed else y


class OddShape(Situation):
    def __init__(self, freed: bool) -> None:
        super().__init__(freed)
        if not freed:
            self.register_buffer("other", torch.linspace(1, 2, 5).reshape(1, 1, 5))

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(x) * self.other


class TooLong(Situation):
    def __init__(self, freed: bool) -> None:
        super().__init__(freed)
        self.bn = norm(self.conv)[1]
        if freed:
            self.conv, self.bn = fuse_conv_bn_eval(filled(self.conv), self.bn), nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return self.bn(self.conv(x)) * self.other


class TooLongAndComputed(TooLong):
    """After all rounds it would still not be a constant, and that is the reason."""

    def forward(self, x: Tensor) -> Tensor:
        if self.freed:
            return super().forward(x)
        self.other.add_(1.0)
        return self.bn(self.conv(x)) + self.other


class AfterLinear(Situation):
    """The other compile has the setting on that it takes."""

    def __init__(self, freed: bool) -> None:
        super().__init__(freed)
        self.lin = nn.Linear(5, CHANNELS)
        self.register_buffer("scale", torch.linspace(1, 2, CHANNELS))

    def forward(self, x: Tensor) -> Tensor:
        return self.lin(x) * self.scale


class Activation(Situation):
    """What reads the conv here are parts of one activation: no fold was missed."""

    def forward(self, x: Tensor) -> Tensor:
        return F.gelu(self.conv(x))


class Product(Situation):
    """As CLIP computes its logits: two activations and a number, of which no fold could be made."""

    def __init__(self, freed: bool) -> None:
        super().__init__(freed)
        self.register_buffer("scale", torch.tensor(2.0))

    def forward(self, x: Tensor) -> Tensor:
        rows = x.flatten(1)
        return rows @ rows.exp().t() * self.scale


SITUATIONS = {
    "in_training": (Training, "conv_bn", "training_statistics"),
    "without_statistics": (WithoutStatistics, "conv_bn", "no_running_stats"),
    "used_twice": (UsedTwice, "conv_mul", "several_uses"),
    "conv_second": (ConvSecond, "conv_add", "operand_order"),
    "floored": (Floored, "conv_mul", "unsupported_overload"),
    "integer": (Integer, "conv_mul", "dtype"),
    "integer_tensor": (IntegerTensor, "conv_mul", "dtype"),
    "computed": (Computed, "conv_add", "operand_not_constant"),
    "written_weight": (WrittenWeight, "conv_mul", "operand_not_constant"),
    "shared_weight": (SharedWeight, "conv_mul", "shared_weights"),
    "transposed": (Transposed, "conv_bn", "unsupported_conv"),
    "wider": (Wider, "conv_mul", "dtype"),
    "odd_shape": (OddShape, "conv_mul", "shape"),
    "too_long": (TooLong, "conv_mul", "rounds_exhausted"),
    "too_long_and_computed": (TooLongAndComputed, "conv_add", "operand_not_constant"),
    "after_linear": (AfterLinear, "linear_mul", "disabled"),
}


class All(nn.Module):
    def __init__(self, freed: bool) -> None:
        super().__init__()
        for name, (situation, _, _) in SITUATIONS.items():
            self.add_module(name, situation(freed))
        self.activation = Activation(freed)
        self.product = Product(freed)
        self.of_inputs = OfInputs(freed)

    def forward(self, x: Tensor, weight: Tensor) -> list[object]:
        return [module(x, weight) if module is self.of_inputs else module(x) for module in self.children()]


class Linears(nn.Module):
    """The obstacle that a fold meets once torch folds into linears."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(5, CHANNELS), nn.Linear(5, CHANNELS)
        self.register_buffer("odd", torch.linspace(1, 2, 6).reshape(6, 1))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.second.bias.add_(1)
        return self.first(x) * self.odd, self.second(x) * 2.0


class Misfolded(nn.Module):
    """What torch 2.13 folds although it changes the result; 2.15 takes the ``alpha`` apart before it folds."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.ConvTranspose2d(3, 3, 1)
        self.conv = nn.Conv2d(3, 3, 1)
        self.register_buffer("scale", torch.tensor([1.0, 2.0, 3.0]).reshape(3, 1, 1))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.up(x) * self.scale, torch.add(self.conv(x), self.scale, alpha=2)


def image() -> Tensor:
    return torch.linspace(-1, 1, 2 * 3 * 4 * 5).reshape(2, 3, 4, 5)


def frozen(model: nn.Module, *args: Tensor, folds_linears: bool = False) -> fe.Trace:
    """Records a module up to the end of freezing: what comes after it takes most of the time, and folds nothing."""

    def stop(graph: torch.fx.Graph) -> None:
        raise RuntimeError("frozen")

    settings = {"enable_linear_binary_folding": folds_linears, "post_grad_custom_pre_pass": stop}
    with fresh(), torch._inductor.config.patch(settings), pytest.raises(Exception, match="frozen") as raised:
        record(model.eval(), *args)
    trace = fe.partial_trace(raised.value)
    assert trace is not None
    return trace


@pytest.fixture(scope="module")
def traces() -> tuple[fe.Trace, fe.Trace]:
    weight = torch.linspace(-1, 1, CHANNELS * 3).reshape(CHANNELS, 3, 1, 1)
    obstructed, freed = (frozen(All(freed), image(), weight, folds_linears=freed) for freed in (False, True))
    return obstructed, freed


def by_module(trace: fe.Trace) -> dict[str, NearMiss]:
    found = {}
    for miss in trace.near_misses:
        nodes = {node.id: node for node in trace.steps[miss.step].graph.walk()}
        module = nodes[miss.node].module.partition(".")[0]
        assert module not in found
        found[module] = miss
    return found


def folds(trace: fe.Trace) -> Counter[str]:
    """How often something was folded, by where it stood."""
    return Counter(
        module.partition(".")[0]
        for step in trace.steps
        if step.name == "binary_folding"
        for rewrite in step.rewrites
        for module in {module.partition(".")[0] for module in rewrite.modules}
    )


def test_every_fold_that_did_not_happen_has_its_reason(traces) -> None:
    found = {module: (miss.kind, miss.reason) for module, miss in by_module(traces[0]).items()}
    assert found == {name: (kind, reason) for name, (_, kind, reason) in SITUATIONS.items()}


@pytest.mark.parametrize("name", SITUATIONS)
def test_without_the_reason_torch_folds(name, traces) -> None:
    obstructed, freed = (folds(trace)[name] for trace in traces)
    # Of what is too long the batch norm is folded either way; a transposed conv is fused by hand.
    assert obstructed == (4 if name.startswith("too_long") else 0)
    assert name == "transposed" or freed > 0
    assert name not in by_module(traces[1])


def test_nothing_else_is_a_near_miss(traces) -> None:
    assert by_module(traces[1]) == {}


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("in_training", "aten.var_mean.correction (%var_mean) takes the statistics of the batch itself"),
        ("used_twice", "is also read by aten.relu.default"),
        ("conv_second", "is the second operand of aten.sub.Tensor, and torch folds the first only."),
        ("integer", "The other operand is the integer 3"),
        ("computed", "the other operand is computed by aten.exp.default, not a constant."),
        ("written_weight", "weight is computed by aten.mul.Tensor from the attribute written_weight.conv.weight, not"),
        ("shared_weight", "is also read by aten.convolution.default"),
        ("transposed", "counts the input channels (3) of a transposed conv."),
        ("wider", "The other operand is float32, and the weight bfloat16"),
        ("odd_shape", "The operand has the shape (1, 1, 5)"),
        ("too_long", "torch folds in four rounds"),
    ],
)
def test_the_detail_names_what_decided(name, detail, traces) -> None:
    assert detail in by_module(traces[0])[name].detail


def test_conditions_of_linears() -> None:
    x = torch.linspace(-1, 1, 30).reshape(6, 5)
    found = frozen(filled(Linears()), x, folds_linears=True).near_misses
    assert [(miss.kind, miss.reason, miss.detail) for miss in found] == [
        (
            "linear_mul",
            "shape",
            "The operand has the shape (6, 1); torch folds a single number, or one for each of the 4 output features.",
        ),
        (
            "linear_mul",
            "operand_not_constant",
            f"Of aten.addmm.default (%{found[1].neighbour}), bias is computed by aten.add.Tensor from the "
            "attribute second.bias, not a constant.",
        ),
    ]


class SharedLinear(nn.Module):
    """One product that only the setting holds back, one of a weight that another call reads."""

    def __init__(self) -> None:
        super().__init__()
        self.own, self.shared = nn.Linear(5, CHANNELS), nn.Linear(5, CHANNELS)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return self.own(x) * 2.0, self.shared(x) * 2.0, self.shared(x + 1.0).relu()


def test_constant_is_merged_by_hand_only_into_weights_that_no_other_call_reads() -> None:
    x = torch.linspace(-1, 1, 30).reshape(6, 5)
    found = frozen(filled(SharedLinear()), x).near_misses
    setting = "Set it (TORCHINDUCTOR_ENABLE_LINEAR_BINARY_FOLDING=1)"
    assert {(miss.reason, miss.advice) for miss in found} == {
        ("disabled", f"{setting}, or merge the constant into the linear's weight and bias before freezing."),
        ("disabled", f"{setting}. Give each its own copy of the weight."),
    }


def test_fold_that_changes_the_result_is_reported() -> None:
    model = filled(Misfolded())
    with fresh():
        recording = record(model, image())
        with torch.no_grad():
            errors = [
                (a - b).abs().max().item() for a, b in zip(recording.module(image()), model(image()), strict=True)
            ]
    told = [notice.message for notice in recording.trace.notices if notice.code == "misfold"]
    expected = (
        "it scales the input channels instead of the output channels",
        "without its alpha=2: the results are wrong.",
    )
    wrong = [text for text, error in zip(expected, errors, strict=True) if error > 0.1]
    assert wrong
    assert len(told) == len(wrong)
    assert all(any(text in message for message in told) for text in wrong)


class ComputedBias(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(-1, 1, 9).reshape(3, 3, 1, 1))
        self.register_buffer("bias", torch.zeros(3))
        self.register_buffer("scale", torch.tensor([1.0, 2.0, 3.0]).reshape(3, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        self.bias.add_(1.0)
        return F.conv2d(x, self.weight, self.bias) * self.scale


def test_nonconstant_bias_blocks_the_fold_where_torch_tests_it() -> None:
    trace = frozen(ComputedBias(), image())
    folded = any(rewrite.kind == "conv_mul" for step in trace.steps for rewrite in step.rewrites)
    found = [(miss.reason, ", bias is computed by " in miss.detail) for miss in trace.near_misses]
    assert found == ([] if folded else [("operand_not_constant", True)])  # torch 2.13 folds, 2.15 does not
