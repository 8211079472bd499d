"""Each built-in example shows what its table entry says, on torch itself."""

from __future__ import annotations

import copy
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from freeze_engine.models import examples
from freeze_engine.models.examples import EXAMPLES
from freeze_engine.requests.inputs import Inputs

_FOLDABLE = ("aten::batch_norm", "aten::mul", "aten::add")


def frozen(name: str, **options: Any) -> torch.jit.ScriptModule:
    module, _ = EXAMPLES[name].build()
    return torch.jit.freeze(torch.jit.script(module), list(EXAMPLES[name].preserved_attrs), **options)


def outputs(module: nn.Module, inputs: Inputs) -> torch.Tensor:
    with torch.no_grad():
        return module(*inputs.args, **inputs.kwargs)


def has(module: nn.Module, path: str) -> bool:
    try:
        attrgetter(path)(module)
    except AttributeError:
        return False
    return True


def count(module: torch.jit.ScriptModule, op: str) -> int:
    return len(module.graph.findAllNodes(op, recurse=True))


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_same_model_and_inputs_each_time(name):
    before = torch.random.get_rng_state()
    (module, inputs), (other, other_inputs) = EXAMPLES[name].build(), EXAMPLES[name].build()

    torch.testing.assert_close(dict(module.state_dict()), dict(other.state_dict()), rtol=0, atol=0)
    torch.testing.assert_close(inputs.args, other_inputs.args, rtol=0, atol=0)
    assert inputs.args
    assert not inputs.kwargs
    assert torch.equal(torch.random.get_rng_state(), before)
    assert not any(submodule.training for submodule in module.modules())


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name != "bf16_misfold"])
def test_freezing_keeps_the_numbers(name):
    module, inputs = EXAMPLES[name].build()
    torch.testing.assert_close(outputs(frozen(name), inputs), outputs(module, inputs))


@pytest.mark.parametrize("name", EXAMPLES)
def test_table_entry(name):
    example = EXAMPLES[name]
    assert example.name == name
    assert example.summary
    assert example.shows
    assert "\n" not in example.summary + example.shows


def test_table_lists_every_module():
    found = {path.stem for path in Path(examples.__file__).parent.glob("*.py")} - {"__init__", "batch_norm"}
    assert {example.module for example in EXAMPLES.values()} == found


@pytest.mark.parametrize(
    ("name", "convolutions", "parameters"),
    [("resnet18", 20, 11_689_512), ("resnet50", 53, 25_557_032), ("inception", 94, 23_834_568)],
)
def test_every_batch_norm_folds(name, convolutions, parameters):
    module, _ = EXAMPLES[name].build()
    plain, folded = frozen(name, optimize_numerics=False), frozen(name)

    assert sum(parameter.numel() for parameter in module.parameters()) == parameters
    assert (count(plain, "aten::conv2d"), count(plain, "aten::batch_norm")) == (convolutions, convolutions)
    assert (count(folded, "aten::conv2d"), count(folded, "aten::batch_norm")) == (convolutions, 0)
    assert not [path for path in module.state_dict() if has(folded, path)]


def test_transformer_keeps_only_the_packed_projections():
    scripted = torch.jit.script(EXAMPLES["transformer"].build()[0])
    module = frozen("transformer")

    assert scripted.inlined_graph.findAllNodes("aten::dropout", recurse=True)
    assert count(module, "aten::dropout") == 0
    assert [path for path, _ in scripted.named_parameters() if has(module, path)] == [
        f"encoder.layers.{layer}.self_attn.{name}" for layer in (0, 1) for name in ("in_proj_weight", "in_proj_bias")
    ]


def test_parallel_linears_stay_apart_on_the_cpu():
    assert count(frozen("parallel_linears"), "aten::linear") == 3


@pytest.mark.skipif(not torch.cuda.is_available(), reason="linears are concatenated on CUDA only")
def test_parallel_linears_become_one_on_cuda():
    module, _ = EXAMPLES["parallel_linears"].build()
    assert count(torch.jit.freeze(torch.jit.script(module.cuda())), "aten::linear") == 1


def test_counter_keeps_its_state_and_nothing_else():
    module, inputs = frozen("counter"), EXAMPLES["counter"].build()[1]
    first, second = outputs(module, inputs), outputs(module, inputs)

    assert list(module.state_dict()) == ["total"]
    assert module.calls == 2
    torch.testing.assert_close(module.total, 2 * inputs.args[0].sum(0))
    torch.testing.assert_close(second, first / 2)
    assert not hasattr(module, "linear")


def test_preserved_version_stays_and_matters():
    module, inputs = frozen("preserved_version"), EXAMPLES["preserved_version"].build()[1]
    before = outputs(module, inputs)
    assert module.sub.version == 3
    assert not [path for path in ("head", "sub.linear") if has(module, path)]

    module.sub.version = 1
    assert not torch.equal(outputs(module, inputs), before)

    dropped = torch.jit.freeze(torch.jit.script(EXAMPLES["preserved_version"].build()[0]))
    assert not hasattr(dropped, "sub")
    assert count(dropped, "prim::If") == 0


def test_view_alias_keeps_the_buffer():
    module, inputs = frozen("view_alias"), EXAMPLES["view_alias"].build()[1]
    result = outputs(module, inputs)

    assert list(module.state_dict()) == ["cache"]
    torch.testing.assert_close(module.cache[0, 1], result)
    assert not module.cache[1:].any()


def test_bf16_misfold_is_the_folding_and_nothing_else():
    module, inputs = EXAMPLES["bf16_misfold"].build()
    eager = outputs(module, inputs)
    exact = outputs(copy.deepcopy(module).double(), Inputs((inputs.args[0].double(),))).bfloat16()
    plain, folded = frozen("bf16_misfold", optimize_numerics=False), frozen("bf16_misfold")

    assert (count(plain, "aten::batch_norm"), count(folded, "aten::batch_norm")) == (1, 0)
    torch.testing.assert_close(eager, exact)
    torch.testing.assert_close(outputs(plain, inputs), eager, rtol=0, atol=0)
    with pytest.raises(AssertionError, match="Mismatched elements"):
        torch.testing.assert_close(outputs(folded, inputs), eager)
    error = (outputs(folded, inputs) - eager).float()
    assert error.norm() > 0.05 * eager.float().norm()  # three times bfloat16's relative tolerance, over all elements


def test_no_fold_folds_nothing():
    plain, optimised = frozen("no_fold", optimize_numerics=False), frozen("no_fold")
    assert _kinds(plain) == ["aten::batch_norm", "aten::batch_norm", "aten::mul", "aten::add"]
    assert _kinds(optimised) == _kinds(plain)
    assert count(optimised, "aten::conv2d") == 4


@pytest.mark.parametrize("position", range(4))
def test_no_fold_each_part_misses_one_condition(position):
    """The same part folds once the condition it misses is met, so that it is this condition that counts."""
    part = EXAMPLES["no_fold"].build()[0][position]
    assert not _folds(part)
    assert _folds(_mended(part))


def _folds(part: nn.Module) -> bool:
    scripted = torch.jit.script(part)
    plain = torch.jit.freeze(scripted, optimize_numerics=False)
    return _kinds(torch.jit.freeze(scripted)) != _kinds(plain)


def _kinds(module: torch.jit.ScriptModule) -> list[str]:
    return [node.kind() for node in module.graph.nodes() if node.kind() in _FOLDABLE]


class _UsedOnce(nn.Module):
    def __init__(self, part: nn.Module) -> None:
        super().__init__()
        self.conv = part.conv
        self.bn = part.bn

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.bn(self.conv(x))


class _TimesConstant(nn.Module):
    def __init__(self, part: nn.Module) -> None:
        super().__init__()
        self.conv = part.conv
        self.gate = nn.Parameter(torch.rand(1, 4, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x) * self.gate


def _mended(part: nn.Module) -> nn.Module:
    kind = type(part).__name__
    if kind == "BatchStatistics":
        part.bn = nn.BatchNorm2d(4)
    elif kind == "UsedTwice":
        part = _UsedOnce(part)
    elif kind == "NotConstant":
        part = _TimesConstant(part)
    else:
        part.offset = nn.Buffer(part.offset.unsqueeze(0))
    return part.eval()
