"""Models quantised by torchao, recorded with the real compile: PT2E on the CPU, and weights by their inner tensors."""

from __future__ import annotations

import copy
import functools
import importlib
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import freeze_engine as fe
from freeze_engine.analysis import quantisation_outcome
from freeze_engine.backends.common.exported_programs import check_evaluates
from freeze_engine.measure.layer_errors import layer_errors, layers_compared
from freeze_engine.requests.inputs import Inputs
from tests.builders import small_trace
from tests.road_pages import run_page

# torchao warns of what the next torch will change.
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")]
X = torch.linspace(-1, 1, 32).reshape(4, 8)


def torchao(name: str) -> Any:
    try:
        return importlib.import_module(f"torchao.quantization.{name}")
    except (ImportError, AttributeError) as error:
        pytest.skip(f"there is no torchao that works with this torch: {error}")


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """Returns the names of `docs/roads/quantised.md`: a feed-forward network, quantised by PT2E and compiled."""
    torchao("pt2e.quantize_pt2e")
    torch.manual_seed(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fe, "record", functools.partial(fe.record, measure=None))
        return run_page("quantised")


@pytest.fixture(scope="module")
def converted(page: dict[str, Any]) -> nn.Module:
    module: nn.Module = page["converted"]
    return module


@pytest.fixture(scope="module")
def compiled(page: dict[str, Any]) -> fe.Recording:
    recording: fe.Recording = page["recording"]
    return recording


def test_converted_module_says_training_and_is_recorded(converted: nn.Module, compiled: fe.Recording) -> None:
    assert converted.training
    with pytest.raises(NotImplementedError):
        converted.eval()
    check_evaluates(converted)
    assert compiled.trace.steps[-1].stage == "compile"
    with torch.no_grad():
        assert torch.allclose(compiled.module(X), converted(X), atol=1e-2)


def test_layers_of_pt2e_compute_on_integers(compiled: fe.Recording) -> None:
    found = quantisation_outcome(compiled.trace)
    assert found is not None
    assert [(each.name, each.outcome, each.is_packed) for each in found.layers] == [
        ("0", "quantised", True),
        ("2", "quantised", True),
    ]
    for layer in found.layers:
        assert (layer.weight_before, layer.weight_after) == ("int8", "int8")
        assert (layer.activation_before, layer.activation_after) == ("float32", "uint8")
        assert layer.bytes_before == layer.bytes_after
    assert [each.group for each in found.layers[0].patterns if each.matched][:2] == [
        "pass_patterns[1]",
        "pass_patterns[3]",
    ]
    assert "dequantized" not in [notice.code for notice in compiled.trace.notices]


def test_torchscript_undoes_the_quantisation_and_says_so(converted: nn.Module) -> None:
    trace = fe.record(converted, (X,), measure=None).trace
    (notice,) = [each for each in trace.notices if each.code == "dequantized"]
    assert "ConstantPropagation, computed 1,024 bytes of float32 constants" in notice.message
    (finding,) = fe.Expectations(stays_quantised=True).evaluate(trace)
    assert finding.outcome == "failed"


@pytest.mark.parametrize("scheme", ["int8 by row", "int4 in groups", "int3 by row"])
def test_advice_against_undone_quantisation_keeps_the_weights_quantised(scheme: str) -> None:
    """Computing in bfloat16 is advised only where the weights then stay quantised."""
    torchao("pt2e.quantize_pt2e")
    api = importlib.import_module("torchao.quantization")

    def undone(dtype: torch.dtype) -> list[str]:
        settings = {
            "int8 by row": lambda: api.Int8WeightOnlyConfig(),
            "int4 in groups": lambda: api.IntxWeightOnlyConfig(torch.int4, api.PerGroup(8)),
            "int3 by row": lambda: api.IntxWeightOnlyConfig(torch.int3, api.PerAxis(0)),
        }
        torch.compiler.reset()
        model = nn.Sequential(nn.Linear(32, 16)).eval().to(dtype)  # torch 2.13 fails at two in bfloat16
        api.quantize_(model, settings[scheme]())
        trace = fe.record(model, (torch.randn(4, 32, dtype=dtype),), backend="inductor", measure=None).trace
        return [notice.message for notice in trace.notices if notice.code == "dequantized"]

    (message,) = undone(torch.float32)
    assert "without freezing" in message
    later = undone(torch.bfloat16)
    if "compute in bfloat16" in message:
        assert not later
    assert not any("bfloat16, for which" in each for each in later)
    assert ("compute in bfloat16" in message) == (scheme == "int8 by row")


def test_saved_quantised_program_is_recorded_with_its_imports(converted: nn.Module, tmp_path: Path) -> None:
    path = tmp_path / "quantised.pt2"
    torch.export.save(torch.export.export(converted, (X,)), path)
    imports = ("torchao.quantization.pt2e",)
    recording = fe.record(str(path), imports=imports, measure=None)
    assert recording.trace.call == f"fe.record({str(path)!r}, inputs, imports={imports!r})"
    assert quantisation_outcome(recording.trace) is not None


def test_layers_are_compared_with_those_of_the_float_model(page: dict[str, Any]) -> None:
    trace = fe.record(page["converted"], (page["x"],), float_model=page["model"], measure=None).trace
    assert trace.call == "fe.record(GraphModule, inputs, float_model=Sequential)"
    assert [error.layer for error in trace.layer_errors] == ["0", "2"]
    found = quantisation_outcome(trace)
    assert found is not None
    for layer in found.layers:
        assert layer.weight_error is not None
        assert layer.output_error is not None
        assert layer.rounding is not None
        assert 0 < layer.weight_error.max_abs <= layer.rounding * 1.001
        assert 20 < layer.output_error.sqnr_db < 80
    assert fe.loads(fe.dumps(trace)) == trace


def test_layers_of_tensor_subclasses_are_compared_by_their_values() -> None:
    torchao("pt2e.quantize_pt2e")
    api = importlib.import_module("torchao.quantization")
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4)).eval()
    quantised = copy.deepcopy(model)
    api.quantize_(quantised, api.Int8WeightOnlyConfig(), filter_fn=lambda module, path: path == "0")
    first, second = layer_errors(quantised, model, Inputs((torch.randn(4, 32),)))
    weight, output = first.of("weight"), first.of("output")
    assert weight is not None
    assert output is not None
    assert 0 < weight.max_abs < 0.01
    assert 20 < output.sqnr_db < 80
    same = second.of("weight")
    assert same is not None
    assert same.max_abs == 0


def test_models_that_cannot_be_compared_are_a_notice(page: dict[str, Any]) -> None:
    for other, why in (
        (nn.Linear(3, 3), "RuntimeError: mat1 and mat2 shapes cannot be multiplied"),
        (nn.Identity(), "none of its layers has the path of a layer"),
    ):
        trace = layers_compared(page["converted"], other, Inputs((page["x"],)))(small_trace())
        assert trace.layer_errors == ()
        assert trace.notices[-1].code == "not_measured"
        assert trace.notices[-1].message.startswith("The error of each layer against the float model was not measured")
        assert why in trace.notices[-1].message
    with pytest.raises(fe.FreezerError, match="float_model needs inputs"):
        fe.record(nn.Linear(2, 2).eval(), float_model=nn.Linear(2, 2).eval(), measure=None)
    with pytest.raises(fe.FreezerError, match="float_model is in training mode"):
        fe.record(nn.Linear(2, 2).eval(), (torch.ones(1, 2),), float_model=nn.Linear(2, 2), measure=None)


class Normed(nn.Module):
    """A convolution with a batch norm behind it, and an activation that writes in place."""

    def __init__(self, conv: nn.Conv2d | nn.ConvTranspose2d, *, first: nn.Module | None = None) -> None:
        super().__init__()
        self.conv, self.first = conv, first or nn.Identity()
        self.norm, self.linear = nn.BatchNorm2d(6), nn.Linear(6, 6)
        for held in (self.norm.running_mean, self.norm.running_var, self.norm.weight, self.norm.bias):
            assert held is not None
            held.data.uniform_(0.5, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normed: torch.Tensor = torch.relu_(self.norm(self.first(self.conv(x))))
        return torch.relu_(self.linear(normed.mean((2, 3))))


def _exported(model: nn.Module, *args: torch.Tensor, **kwargs: torch.Tensor) -> nn.Module:
    module: nn.Module = torch.export.export(model, args, kwargs).run_decompositions().module()
    return module


def _largest(model: nn.Module, other: nn.Module, inputs: Inputs) -> dict[str, dict[str, float]]:
    found = layer_errors(model, other, inputs)
    return {each.layer: {error.output: round(error.max_abs, 4) for error in each.errors} for each in found}


@pytest.mark.parametrize(
    "conv", [nn.Conv2d(6, 6, 3, groups=2), nn.ConvTranspose2d(6, 6, 3)], ids=["conv", "transposed"]
)
def test_a_batch_norm_that_one_model_folded_is_folded_before_layers_are_compared(
    conv: nn.Conv2d | nn.ConvTranspose2d,
) -> None:
    x = torch.randn(2, 6, 5, 5)
    model = Normed(conv).eval()
    folded = copy.deepcopy(model)
    folded.conv = nn.utils.fuse_conv_bn_eval(conv, folded.norm, transpose=conv.transposed)
    setattr(folded, "norm", nn.Identity())  # noqa: B010 - it is declared as another class
    same = {"weight": 0.0, "output": 0.0}
    for ours in (folded, _exported(folded, x)):
        for theirs in (model, _exported(model, x)):
            found = _largest(ours, theirs, Inputs((x,)))
            assert {name: found[name] for name in ("conv", "linear")} == {"conv": same, "linear": same}
    assert _largest(_exported(model, x), model, Inputs((x,)))["conv"] == same


def test_a_batch_norm_behind_an_activation_is_no_part_of_the_layer() -> None:
    x = torch.randn(2, 6, 5, 5)
    model = Normed(nn.Conv2d(6, 6, 3), first=nn.ReLU(inplace=True)).eval()
    without = copy.deepcopy(model)
    setattr(without, "norm", nn.Identity())  # noqa: B010 - it is declared as another class
    assert _largest(without, model, Inputs((x,)))["conv"] == {"weight": 0.0, "output": 0.0}


class _Products(nn.Module):
    """A product of activations before the one with a weight; two inputs of one shape."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(6, 6))

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return nn.functional.linear(a @ a.mT @ a - b, self.weight)


class _Holder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.part = _Products()

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.part(a, b)
        return found


def test_layers_of_exported_graphs_have_their_own_weight_and_inputs() -> None:
    a, b = torch.randn(6, 6), torch.randn(6, 6)
    model = _Holder().eval()
    graph = _exported(model, a=a, b=b)
    (found,) = layer_errors(graph, model, Inputs((), {"b": b, "a": a}))
    assert found.weights == ("part.weight",)
    assert [error.max_abs < 1e-4 for error in found.errors] == [True, True]


class OnlyConv1d(nn.Module):
    """X86InductorQuantizer annotates no convolution of one dimension (torchao 0.18)."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(3, 8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x).relu()


def prepared(model: nn.Module, *inputs: torch.Tensor) -> Any:
    quantize = pytest.importorskip("torchao.quantization.pt2e.quantize_pt2e")
    x86 = pytest.importorskip("torchao.quantization.pt2e.quantizer.x86_inductor_quantizer")
    quantizer = x86.X86InductorQuantizer().set_global(x86.get_default_x86_inductor_quantization_config())
    found = quantize.prepare_pt2e(torch.export.export(model.eval(), inputs).module(), quantizer)
    found(*inputs)
    return found


@pytest.mark.parametrize("backend", ["torchscript", "inductor"])
def test_quantisation_of_no_operator_gives_a_notice(backend: Any) -> None:
    x = torch.ones(2, 3, 16)
    quantize = pytest.importorskip("torchao.quantization.pt2e.quantize_pt2e")
    trace = fe.record(quantize.convert_pt2e(prepared(OnlyConv1d(), x)), (x,), backend=backend, measure=None).trace
    assert [notice.code for notice in trace.notices if "quantised" in notice.code] == ["nothing_quantised"]
    assert "Quantise operators that the model has" in [action.title for action in fe.summarize(trace).actions]


def test_quantised_module_has_no_such_notice(compiled: fe.Recording) -> None:
    assert "nothing_quantised" not in [notice.code for notice in compiled.trace.notices]


@pytest.mark.parametrize("backend", ["torchscript", "inductor", "aotinductor"])
def test_prepared_module_is_to_be_converted_first(backend: Any) -> None:
    x = torch.ones(2, 3)
    with pytest.raises(fe.FreezerError, match=r"prepared for quantisation and not converted.* record convert_pt2e"):
        fe.record(prepared(nn.Linear(3, 8), x), (x,), backend=backend)
