"""A look at a model in a process of its own."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest
import torch

import freeze_engine as fe
from freeze_engine.models import ModelAttribute, make_inputs
from freeze_engine.models.signature.input_texts import input_texts
from freeze_engine.requests import parse_input
from freeze_engine.worker import inspect_model, try_model
from tests.torch import worker_models

MODELS = "tests.torch.worker_models"


def test_inspection_lists_the_attributes_of_a_model():
    summary = inspect_model(f"{MODELS}:plain")
    kept = {each.path: each for each in summary.attributes}
    assert next(iter(kept)) == "conv"
    flags = [f"{prefix}{flag}" for prefix in ("", "conv.", "norm.") for flag in ("_is_full_backward_hook", "training")]
    assert sorted(list(kept)[-len(flags) :]) == sorted(flags)
    assert kept["conv.weight"] == ModelAttribute("conv.weight", "parameter", "Tensor", (4, 3, 1, 1), "float32", 48)
    assert kept["norm"].kind == "submodule"
    assert kept["norm.num_batches_tracked"].kind == "buffer"
    assert kept["training"] == ModelAttribute("training", "attribute", "bool")
    assert (summary.name, summary.methods, summary.via) == ("plain", ("forward",), "script")
    assert (summary.inputs, summary.brings_inputs, summary.preserved) == (("1x3x8x8",), True, ())
    assert not summary.training
    assert summary.devices[0] == "cpu"
    assert inspect_model(f"{MODELS}:training").training


def test_a_torchscript_file(tmp_path):
    module = torch.jit.script(worker_models.plain()[0])
    module.save(str(tmp_path / "net.pt"))
    summary = inspect_model(str(tmp_path / "net.pt"), trusted=False)
    assert (summary.name, summary.inputs, summary.brings_inputs) == ("net", None, False)
    assert "conv.weight" in [each.path for each in summary.attributes]


def test_an_example_with_something_to_preserve():
    summary = inspect_model("example:preserved_version", trusted=False)
    assert set(summary.preserved) <= {each.path for each in summary.attributes} | set(summary.methods)
    assert summary.preserved


def test_unscriptable_model_is_listed_as_python_has_it():
    summary = inspect_model(f"{MODELS}:unscriptable")
    assert [each.path for each in summary.attributes] == [
        "conv",
        "conv.weight",
        "conv.bias",
        "norm",
        "norm.weight",
        "norm.bias",
        "norm.running_mean",
        "norm.running_var",
        "norm.num_batches_tracked",
    ]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("example:nope", "There is no example"),
        (f"{MODELS}:raising", "its own code raised LookupError: no weights here"),
        (f"{MODELS}:dying_at_once", r"looking at it failed: the process was ended by SIGSEGV"),
    ],
)
def test_uninspectable_file_gives_an_error(spec, message):
    with pytest.raises(fe.ModelSpecError, match=message):
        inspect_model(spec)


def test_a_call_of_the_models_own_inputs_and_of_others(tmp_path):
    found = try_model("example:counter", trusted=False)
    assert (found.failure, found.error) == (None, "")
    assert found.output
    with pytest.raises(fe.ModelSpecError, match="trying one call of it failed: the process was ended by SIGSEGV"):
        try_model(f"{MODELS}:dying_at_once")
    module = torch.jit.script(worker_models.plain()[0])
    module.save(str(tmp_path / "net.pt"))
    with pytest.raises(fe.ModelSpecError, match="there are no inputs to call the model with"):
        try_model(str(tmp_path / "net.pt"), trusted=False)
    failed = try_model(str(tmp_path / "net.pt"), ["1x1x8x8"], trusted=False).failure
    assert failed is not None
    assert (failed.at, [fix.inputs for fix in failed.fixes]) == (0, [("1x3x8x8",)])


def test_a_look_that_takes_too_long():
    with pytest.raises(fe.ModelSpecError, match="takes more than 4 s"):
        inspect_model(f"{MODELS}:slow", limit_s=4)


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(fe.ModelSpecError):
        inspect_model("example:nope")  # the first one of a process may start what all of them share
    before = len(list(Path("/proc/self/fd").iterdir())), threading.active_count()
    for _ in range(2):
        with pytest.raises(fe.ModelSpecError):
            inspect_model("example:nope")
    assert (len(list(Path("/proc/self/fd").iterdir())), threading.active_count()) == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (torch.zeros(1, 3, 4), "1x3x4"),
        (torch.zeros(2, dtype=torch.bfloat16), "2:bfloat16"),
        (torch.zeros(2, dtype=torch.bool), "2:bool"),
        (torch.tensor([[3, 0, 29]]), "1x3:int64:0..30"),
        (torch.tensor([-2, 5], dtype=torch.int8), "2:int8:-2..6"),
        (torch.zeros(0, 2, dtype=torch.int64), "0x2:int64"),
        (3, "int:3"),
        (True, "bool:true"),
        (0.5, "float:0.5"),
    ],
)
def test_suggested_inputs_are_written_as_options(value, text):
    assert input_texts(fe.Inputs((value,), {"mask": value})) == (text, f"mask={text}")
    made = make_inputs([parse_input(text)]).args[0]
    assert type(made) is type(value)
    if isinstance(value, torch.Tensor):
        assert (made.shape, made.dtype) == (value.shape, value.dtype)


@pytest.mark.parametrize("value", [torch.tensor(1.0), [1, 2], None, torch.zeros(2, dtype=torch.float8_e5m2), "a"])
def test_inputs_that_cannot_be_written(value):
    assert input_texts(fe.Inputs((torch.zeros(2), value))) is None


def test_the_callers_search_path_is_the_child_s(tmp_path, monkeypatch):
    (tmp_path / "elsewhere_models.py").write_text("from torch.nn import ReLU as build\n")
    with pytest.raises(fe.ModelSpecError, match="there is no module 'elsewhere_models'"):
        inspect_model("elsewhere_models:build")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    assert inspect_model("elsewhere_models:build").name == "build"
    assert os.environ.get("TORCH_FORCE_WEIGHTS_ONLY_LOAD") is None
