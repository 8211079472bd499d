"""Weights that quantised layers hold in objects of torch's C++ classes: recorded, and read from frozen files."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.ao import quantization

import freeze_engine as fe

pytestmark = pytest.mark.filterwarnings("ignore:.*quantiz.*", "ignore:.*TypedStorage.*")


class Recurrent(nn.Module):
    """An LSTM's object holds the packed weights of its linears."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.fc = nn.LSTM(16, 32, 2), nn.Linear(32, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.fc(self.lstm(x)[0])
        return out


class Cell(nn.Module):
    """A cell keeps its biases as tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(16, 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.cell(x)
        return out


class Convolutional(nn.Module):
    """Quantised with observers."""

    def __init__(self) -> None:
        super().__init__()
        self.quant, self.conv, self.relu = quantization.QuantStub(), nn.Conv2d(3, 8, 3), nn.ReLU()
        self.fc, self.dequant = nn.Linear(8, 5), quantization.DeQuantStub()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.dequant(self.fc(self.relu(self.conv(self.quant(x))).mean((2, 3))))
        return out


class Embedded(nn.Module):
    """Scales and zero points of its rows are float."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(100, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.words(x)
        return out


def _dynamic(model: nn.Module) -> nn.Module:
    kinds = {nn.Linear, nn.LSTM, nn.GRUCell}
    return quantization.quantize_dynamic(model.eval(), kinds)


def _static() -> nn.Module:
    model = Convolutional().eval()
    model.qconfig = quantization.get_default_qconfig("x86")
    prepared = quantization.prepare(model)
    prepared(torch.ones(1, 3, 9, 9))
    return quantization.convert(prepared)


def _embedding() -> nn.Module:
    model = Embedded().eval()
    model.words.qconfig = quantization.float_qparams_weight_only_qconfig
    prepared = quantization.prepare(model)
    return quantization.convert(prepared)


MODELS: dict[str, tuple[Callable[[], nn.Module], int, str]] = {
    "linear": (lambda: _dynamic(nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8))), 2, ""),
    "lstm": (lambda: _dynamic(Recurrent()), 3, ""),
    "gru cell": (lambda: _dynamic(Cell()), 2, "2 constant tensors"),
    "convolution": (_static, 2, ""),
    "embedding": (_embedding, 1, ""),
}


def _quietly(build: Callable[[], nn.Module]) -> nn.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        return build()


@pytest.mark.skipif("fbgemm" not in torch.backends.quantized.supported_engines, reason="this torch packs no weights")
@pytest.mark.parametrize("name", MODELS)
def test_a_frozen_file_has_the_packed_objects_and_bytes_of_the_recording(name: str, tmp_path: Path) -> None:
    build, count, tensors = MODELS[name]
    recording = fe.record(torch.jit.script(_quietly(build)), measure=None)
    torch.jit.save(recording.module, tmp_path / "frozen.pt")
    (read,) = fe.record(tmp_path / "frozen.pt").trace.steps
    last = recording.trace.steps[-1]
    assert (read.constant_bytes, read.constant_bytes > 0) == (last.constant_bytes, True)
    held = [node.constant for node in read.graph.walk() if node.constant is not None and not node.constant.is_tensor]
    recorded = [node.constant for node in last.graph.walk() if node.constant and not node.constant.is_tensor]
    assert sorted((each.dtype, each.nbytes) for each in held) == sorted((each.dtype, each.nbytes) for each in recorded)
    said = fe.summarize(fe.record(tmp_path / "frozen.pt").trace).sentence
    assert f"{tensors}{' and' if tensors else ''} {count} packed object{'' if count == 1 else 's'} (" in said
    fates = [each for each in recording.trace.attributes if "torch.classes" in each.type]
    assert sorted(each.nbytes for each in fates) == sorted(each.nbytes for each in held)
    assert f"in {count} packed object{'' if count == 1 else 's'}, of which {count} " in (
        fe.summarize(recording.trace).sentence
    )


def test_a_packed_object_that_remains_has_its_bytes(tmp_path: Path) -> None:
    model = torch.jit.script(_quietly(MODELS["linear"][0]))
    preserved = ("0._packed_params._packed_params",)
    recording = fe.record(model, options=fe.TorchScriptOptions(preserved_attrs=preserved), measure=None)
    torch.jit.save(recording.module, tmp_path / "frozen.pt")
    fate = fe.record(tmp_path / "frozen.pt").trace.attribute(preserved[0])
    assert fate is not None
    assert (fate.fate, fate.shape, fate.nbytes) == ("preserved", None, 16 * 32 + 32 * 4 + 0)
