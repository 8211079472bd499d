"""What each pass is said to have merged, held against torch's own graphs and weights."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from freeze_engine.backends.torchscript.folds.rewrites import origins_after, rewrites
from freeze_engine.trace import GraphSnapshot, Node, Rewrite
from tests.frozen_graphs import Frozen, Pass, freeze


def settled(norm: Any) -> Any:
    """Gives a batch norm values that torch's constant pooling cannot merge."""
    for values in (norm.running_mean, norm.running_var, norm.weight, norm.bias):
        nn.init.uniform_(values, 0.5, 1.5)
    return norm


class ResidualBlock(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 4, 3, padding=1, bias=False)
        self.bn1 = settled(nn.BatchNorm2d(4))
        self.conv2 = nn.Conv2d(4, 4, 3, padding=1)
        self.bn2 = settled(nn.BatchNorm2d(4))
        self.down = nn.Sequential(nn.Conv2d(3, 4, 1), settled(nn.BatchNorm2d(4)))

    def forward(self, x):
        y = self.bn2(self.conv2(self.bn1(self.conv1(x)).relu()))
        y += self.down(x)
        return y.relu()


class Scaled(nn.Module):
    """Folds over two rounds: the mul is behind the add only once that is gone."""

    def __init__(self, conv: nn.Module | None = None, shape: tuple[int, ...] = (1, 4, 1, 1)) -> None:
        super().__init__()
        self.conv = conv or nn.Conv2d(3, 4, 3)
        self.bn = settled(nn.BatchNorm2d(4))
        self.register_buffer("scale", torch.rand(shape) + 0.5)
        self.register_buffer("shift", torch.rand(shape) + 0.5)

    def forward(self, x):
        return self.bn(self.conv(x)) * self.scale + self.shift


class Branches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)
        self.bn = settled(nn.BatchNorm2d(3))

    def forward(self, x):
        y = self.conv(x)
        y = self.bn(y) if bool(x.sum() > 0) else x
        for _ in range(x.size(0)):
            y = self.conv(y) * 2
        return y


class Head(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 4)
        self.bn = settled(nn.BatchNorm1d(4))
        self.drop = nn.Dropout()
        self.last = nn.Linear(4, 2, bias=False)

    def forward(self, x):
        return self.last(self.drop(self.bn(self.linear(x))))


class Mixed(nn.Module):
    """What MKLDNN takes in, from in-place to commutative, and what it leaves outside."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)
        self.other = nn.Conv2d(3, 3, 3, padding=1)
        self.point = nn.Conv2d(3, 3, 1, bias=False)
        self.linear = nn.Linear(8, 4)

    def forward(self, x):
        y = self.other(F.relu(self.conv(x), inplace=True))
        y += self.point(x)
        y = F.relu6(F.relu(y)) * self.conv(y)
        y = F.hardswish(F.max_pool2d(y, 1))
        z = torch.sigmoid(x)
        z.relu_()
        return self.linear(y), z


class Untrained(nn.Module):
    """Whose batch norms hold ones and zeros only, pooled into two constants by torch."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4))
        self.second = nn.Sequential(nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4))

    def forward(self, x):
        return self.second(self.first(x).relu())


X = torch.rand(2, 3, 8, 8)
MODELS: dict[str, tuple[nn.Module, Any]] = {
    "residual": (ResidualBlock(), None),
    "residual, traced": (ResidualBlock(), X),
    "scaled": (Scaled(), None),
    "scaled conv1d": (Scaled(nn.Conv2d(3, 4, 3, bias=False)), None),
    "branches": (Branches(), None),
    "head": (Head(), None),
    "head, traced": (Head(), torch.rand(5, 8)),
    "mixed": (Mixed(), None),
    "mixed, traced": (Mixed(), X),
    "mixed, bfloat16": (Mixed().bfloat16(), X.bfloat16()),
    "untrained": (Untrained(), None),
}


def found(frozen: Frozen) -> list[tuple[Pass, tuple[Rewrite, ...]]]:
    """Returns each pass that merged something, with what it merged."""
    origins, result = dict(frozen.origins), []
    for each in frozen.passes:
        folds = rewrites(each.name, each.before, each.after, origins)
        origins = origins_after(each.name, each.before, each.after, origins)
        if folds:
            result.append((each, folds))
    return result


def final_origins(frozen: Frozen, until: str = "FrozenLinearTranspose") -> dict[str, tuple[str, ...]]:
    origins = dict(frozen.origins)
    for each in frozen.passes:
        origins = origins_after(each.name, each.before, each.after, origins)
        if each.name == until:
            break
    return origins


def the(graph: GraphSnapshot, op: str, module: str) -> Node:
    """Returns the only node of an operator and module."""
    (node,) = [node for node in graph.walk() if node.op == op and node.module == module]
    return node


def constants(frozen: Frozen) -> dict[str, torch.Tensor]:
    """Returns the tensors of the frozen module's constants, by name."""
    values = {}
    for node in frozen.module._get_method("forward").graph.nodes():
        if "Constant" in node.kind() and node.hasAttribute("value") and node.kindOf("value") == "t":
            values[node.output().debugName()] = node.t("value").to_dense()
    return values


@pytest.mark.parametrize("name", MODELS)
def test_every_node_that_comes_or_goes_is_accounted_for(name: str) -> None:
    module, example = MODELS[name]
    frozen = freeze(copy.deepcopy(module).eval(), example, inference=True)
    origins = dict(frozen.origins)
    for each in frozen.passes:
        old, new = ({node.id: node for node in graph.walk()} for graph in (each.before, each.after))
        folds = rewrites(each.name, each.before, each.after, origins)
        consumed = {node for fold in folds for node in fold.consumed}
        produced = {node for fold in folds for node in fold.produced}
        assert consumed <= set(old)
        assert produced <= set(new)
        gone = {node for node in set(old) - set(new) if old[node].op != "prim::Constant"}
        come = {node for node in set(new) - set(old) if "Constant" not in new[node].op}
        assert (gone - consumed, come - produced) == (set(), set())
        origins = origins_after(each.name, each.before, each.after, origins)
        assert set(origins) <= {value.name for node in new.values() for value in node.outputs}


@pytest.mark.parametrize("inference", [False, True])
@pytest.mark.parametrize("name", ["residual", "scaled", "head", "branches"])
def test_origins_are_the_attributes_that_a_constant_depends_on(name: str, inference: bool) -> None:
    module, example = copy.deepcopy(MODELS[name][0]).eval(), MODELS[name][1]
    frozen = freeze(module, example, inference=inference)
    plain = constants(frozen)
    depends: dict[str, set[str]] = {value: set() for value in plain}
    for path in {path for paths in frozen.origins.values() for path in paths}:
        moved = copy.deepcopy(module)
        dict((*moved.named_parameters(), *moved.named_buffers()))[path].data.mul_(1.5)
        for value, tensor in constants(freeze(moved, example, inference=inference)).items():
            if not torch.equal(tensor, plain[value]):
                depends[value].add(path)
    told = {value: set(paths) for value, paths in final_origins(frozen).items()}
    assert {value: paths for value, paths in told.items() if value in plain} == depends


def conv_bn(graph: GraphSnapshot, conv: str, norm: str, *, biased: bool = True) -> Rewrite:
    """Returns the fold of a batch norm whose other arguments no other node reads."""
    conv_node, norm_node = the(graph, "aten::conv2d", conv), the(graph, "aten::batch_norm", norm)
    return Rewrite(
        "conv_bn",
        consumed=(conv_node.id, norm_node.id, *conv_node.inputs[1:3], *norm_node.inputs[1:]),
        produced=(conv_node.id, f"self.{conv}.weight_fused_bn", f"self.{conv}.bias_fused_bn"),
        attributes=(
            *(f"{conv}.weight", f"{norm}.weight", f"{norm}.running_var"),
            *((f"{conv}.bias",) if biased else ()),
            *(f"{norm}.bias", f"{norm}.running_mean"),
        ),
        modules=(conv, norm),
    )


def test_a_residual_block() -> None:
    ((each, folds),) = found(freeze(ResidualBlock().eval()))
    assert (each.name, each.round) == ("FoldFrozenConvBatchnorm", 1)
    assert folds == (
        conv_bn(each.before, "conv1", "bn1", biased=False),
        conv_bn(each.before, "conv2", "bn2"),
        conv_bn(each.before, "down.0", "down.1"),
    )


def test_folds_over_two_rounds() -> None:
    (norm, (first,)), (mul, (second,)), (add, (third,)) = found(freeze(Scaled().eval()))
    conv = the(norm.before, "aten::conv2d", "conv").id
    scaled = the(mul.before, "aten::mul", "").id
    shifted = the(add.before, "aten::add", "").id
    weight, bias = the(mul.after, "aten::conv2d", "conv").inputs[1:3]
    final_bias = the(add.after, "aten::conv2d", "conv").inputs[2]
    weights, biases = ("conv.weight", "bn.weight", "bn.running_var"), ("conv.bias", "bn.bias", "bn.running_mean")
    assert [(each.name, each.round) for each in (norm, mul, add)] == [
        ("FoldFrozenConvBatchnorm", 1),
        ("FoldFrozenConvMulOrDiv", 1),
        ("FoldFrozenConvAddOrSub", 2),
    ]
    assert first == conv_bn(norm.before, "conv", "bn")
    assert second == Rewrite(
        "conv_mul",
        consumed=(conv, scaled, "self.conv.weight_fused_bn", "self.conv.bias_fused_bn", "self.scale"),
        produced=(conv, weight, bias),
        attributes=(*weights, "scale", *biases),
        modules=("conv",),
    )
    assert third == Rewrite(
        "conv_add",
        consumed=(conv, shifted, bias, "self.shift"),
        produced=(conv, final_bias),
        attributes=("conv.bias", "bn.weight", "bn.bias", "bn.running_mean", "bn.running_var", "scale", "shift"),
        modules=("conv",),
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    ("conv", "norm"), [(nn.Conv1d, nn.BatchNorm1d), (nn.Conv2d, nn.BatchNorm2d), (nn.Conv3d, nn.BatchNorm3d)]
)
def test_every_conv_and_dtype_folds(conv: Any, norm: Any, dtype: torch.dtype) -> None:
    module = nn.Sequential(conv(3, 4, 3), settled(norm(4))).to(dtype).eval()
    assert [[fold.kind for fold in folds] for _, folds in found(freeze(module))] == [["conv_bn"]]


def test_mixed_floating_point_types_fold_in_the_type_of_the_weight() -> None:
    frozen = freeze(Scaled(nn.Conv2d(3, 4, 3).bfloat16()).eval())
    kinds = [fold.kind for _, folds in found(frozen) for fold in folds]
    assert kinds == ["conv_bn", "conv_mul", "conv_add"]
    assert {tensor.dtype for tensor in constants(frozen).values()} == {torch.bfloat16}


class Runs(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.linear = nn.Linear(6, 4)
        self.one = settled(nn.BatchNorm1d(4))
        self.two = settled(nn.BatchNorm1d(4))
        self.register_buffer("scale", torch.rand(1, 4, 1, 1))

    def forward(self, x):
        x = self.conv(x) * self.scale * 5
        return self.two(self.one(self.linear(x.mean(2).mean(1))))


def test_joint_fold_of_one_pass_is_one_rewrite() -> None:
    (mul, (scaled,)), (norm, (normed,)) = found(freeze(Runs().eval()))
    conv, linear = the(mul.before, "aten::conv2d", "conv"), the(norm.before, "aten::linear", "linear")
    muls = [node for node in mul.before.walk() if node.op == "aten::mul"]
    norms = [node for node in norm.before.walk() if node.op == "aten::batch_norm"]
    assert scaled.consumed == (
        *(conv.id, *(node.id for node in muls), *conv.inputs[1:3], *(node.inputs[1] for node in muls)),
    )
    assert scaled.attributes == ("conv.weight", "scale", "conv.bias")
    assert normed.consumed[:3] == (linear.id, *(node.id for node in norms))
    assert normed.produced[1:] == ("self.linear.weight_fused_bn_fused_bn", "self.linear.bias_fused_bn_fused_bn")
    assert normed.modules == ("linear", "one", "two")


def test_pooled_constants_are_distinguished_by_their_readers() -> None:
    frozen = freeze(Untrained().eval())
    each = next(each for each in frozen.passes if each.name == "FoldFrozenConvBatchnorm")
    places = {"weight": 1, "bias": 2, "running_mean": 3, "running_var": 4}
    arguments: dict[tuple[str, int], tuple[str, ...]] = {
        (the(each.before, "aten::batch_norm", norm).id, place): (f"{norm}.{name}",)
        for norm in ("first.1", "second.1")
        for name, place in places.items()
    }
    after = origins_after(each.name, each.before, each.after, frozen.origins, arguments)
    assert after == {
        f"self.{module}.0.{name}_fused_bn": (f"{module}.0.{name}", *(f"{module}.1.{part}" for part in parts))
        for module in ("first", "second")
        for name, parts in (
            ("weight", ("weight", "running_var")),
            ("bias", ("weight", "bias", "running_mean", "running_var")),
        )
    }


def test_a_dropout_goes_without_a_trace() -> None:
    frozen = freeze(nn.Sequential(nn.ReLU(), nn.Dropout()).eval())
    ((each, folds),) = found(frozen)
    dropout = the(each.before, "aten::dropout", "1")
    assert each.name == "RemoveDropout"
    assert folds == (Rewrite("dropout", (dropout.id, *dropout.inputs[1:]), (), (), ("1",)),)


def test_linear_transpose() -> None:
    frozen = freeze(nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2, bias=False)).eval(), inference=True)
    each, folds = found(frozen)[-1]
    first, second = the(each.before, "aten::linear", "0"), the(each.before, "aten::linear", "2")
    products = [node for node in each.after.walk() if node.op == "aten::matmul"]
    (added,) = [node for node in each.after.walk() if node.op == "aten::add"]
    assert each.name == "FrozenLinearTranspose"
    assert folds == (
        Rewrite(
            "linear_transpose",
            (first.id, "self.0.weight"),
            (products[0].id, added.id, products[0].inputs[1], added.inputs[2]),
            ("0.weight",),
            ("0",),
        ),
        Rewrite(
            "linear_transpose",
            (second.id, *second.inputs[1:]),
            (products[1].id, products[1].inputs[1]),
            ("2.weight",),
            ("2",),
        ),
    )


def kinds_of(module: nn.Module, example: Any = None) -> dict[str, str]:
    """Returns what became of each node, by its old operator and the kind of its rewrite, in the MKLDNN pass.

    And in the cuDNN pass before it: where torch is built for CUDA, that one changes the form of convolutions first.
    """
    frozen = freeze(module.eval(), example, inference=True)
    kinds: dict[str, str] = {}
    for each in frozen.passes:
        if each.name in ("FuseFrozenConvAddRelu", "ConvertFrozenOpsToMKLDNN"):
            old, new = ({node.id: node.op for node in graph.walk()} for graph in (each.before, each.after))
            folds = rewrites(each.name, each.before, each.after, {})
            kinds |= {f"{fold.kind} {old[fold.consumed[0]]}": new[fold.produced[0]] for fold in folds}
    return kinds


def test_mkldnn_group() -> None:
    kinds = {
        old.rstrip("_"): new.rstrip("_") for old, new in kinds_of(Mixed()).items() if old != "functional aten::relu_"
    }
    assert kinds == {
        "mkldnn aten::conv2d": "prim::mkldnn_convolution",
        "mkldnn aten::add": "aten::add",
        "mkldnn aten::relu": "aten::relu",
        "mkldnn aten::relu6": "prim::MKLDNNHardTanh",
        "mkldnn aten::mul": "aten::mul",
        "mkldnn aten::max_pool2d": "aten::max_pool2d",
        "mkldnn aten::hardswish": "prim::MKLDNNHardSwish",
        "mkldnn aten::linear": "aten::linear",
    }
    assert kinds_of(Mixed())["functional aten::relu_"] == "aten::relu"


def test_outside_of_groups_only_the_form_changes() -> None:
    assert kinds_of(Mixed().bfloat16(), X.bfloat16()) == {"aten_conv aten::_convolution": "aten::conv2d"}


def test_mkldnn_constants_and_borders() -> None:
    frozen = freeze(nn.Sequential(nn.Conv2d(3, 4, 3)).eval(), inference=True)
    ((each, (fold,)),) = found(frozen)
    conv, new = the(each.before, "aten::conv2d", "0"), the(each.after, "prim::mkldnn_convolution", "0")
    (entry,) = [node.id for node in each.after.walk() if node.op == "aten::to_mkldnn"]
    (leave,) = [node.id for node in each.after.walk() if node.op == "aten::to_dense"]
    assert fold == Rewrite(
        "mkldnn",
        (conv.id, "self.0.weight", "self.0.bias"),
        (new.id, entry, leave, "self.0.weight_mkldnn", "self.0.bias_mkldnn", *fold.produced[5:]),
        ("0.weight", "0.bias"),
        ("0",),
    )
    assert set(fold.produced[5:]) <= {node.id for node in each.after.walk() if node.attributes == ()}


def test_another_pass_has_no_rewrites() -> None:
    frozen = freeze(ResidualBlock().eval())
    each = next(each for each in frozen.passes if each.name == "FoldFrozenConvBatchnorm")
    assert rewrites("EliminateDeadCode", each.before, each.after, frozen.origins) == ()
    assert rewrites(each.name, each.after, each.after, frozen.origins) == ()
