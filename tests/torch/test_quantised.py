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
