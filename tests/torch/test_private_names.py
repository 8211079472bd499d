"""A torch that lacks a private name says so before anything is recorded."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch._inductor import virtualized
from torch.torch_version import TorchVersion

import freeze_engine as fe
from freeze_engine.backends.common import torch_private
from freeze_engine.backends.inductor import torch_private as inductor_private
from freeze_engine.captures.unrecorded_children import why_unrecorded
from tests.torch import models


@pytest.mark.parametrize("name", sorted(torch_private.REQUIRED))
def test_a_missing_name_is_named_with_what_it_is_for(name, monkeypatch):
    monkeypatch.delattr(torch._C, name)
    with pytest.raises(fe.UnsupportedTorchError, match=rf"torch\._C\.{name}, needed for "), fe.capture():
        pass
    assert not hasattr(torch._C, name)


@pytest.mark.parametrize("version", ["2.5.1+cpu", "1.13.1"])
@pytest.mark.parametrize("backend", ["torchscript", "inductor"])
def test_too_old_torch_is_refused_before_recording(backend, version, monkeypatch):
    monkeypatch.setattr(torch, "__version__", TorchVersion(version))
    with pytest.raises(fe.UnsupportedTorchError) as told:
        fe.record(models.filled(models.ConvBn()), torch.ones(1, 3, 8, 8), backend=backend, measure=None)
    assert str(told.value) == (
        f"torch {version} is older than {torch_private.OLDEST}, the oldest that recording was tried with; "
        f"install {torch_private.OLDEST} or later (tested: {torch_private.TESTED})"
    )


@pytest.mark.parametrize("version", ["{}.0", "{}.0+cu124", "{}.0a0+git", "2.15.0", "3.0"])
def test_a_torch_that_is_recent_enough(version, monkeypatch):
    monkeypatch.setattr(torch, "__version__", TorchVersion(version.format(torch_private.OLDEST)))
    torch_private.require_recent()


def test_the_project_asks_for_the_oldest_and_pins_the_tested():
    root = Path(__file__).parents[2]
    assert re.findall(r'"torch>=(.*?)"', (root / "pyproject.toml").read_text()) == [torch_private.OLDEST]
    assert re.findall(r"^torch==(.*)$", (root / "constraints.txt").read_text(), re.M) == [torch_private.TESTED]


def test_without_the_single_passes_the_whole_is_one_step(monkeypatch):
    monkeypatch.delattr(torch._C, "_jit_pass_fold_frozen_linear_bn")
    trace = fe.record(models.filled(models.ConvBn()), measure=None).trace
    assert [step.name for step in trace.steps if step.stage == "optimize_frozen_graph"] == ["OptimizeFrozenGraph"]
    assert "batch_norm" not in str(trace.steps[-1].graph)


def test_inductor_s_trial_of_the_processor_is_known_as_torch_s_own_process() -> None:
    from torch._inductor.cpu_vec_isa import VecISA

    trial = VecISA._avx_py_load.replace("__lib_path__", "/tmp/lib.so")
    given = {"PYTHONPATH": "/elsewhere"}
    assert why_unrecorded(sys.executable, (sys.executable, "-c", trial), given) == ""


@pytest.mark.parametrize(("setting", "ahead"), [(True, True), (False, False), (virtualized.NullHandler(), False)])
def test_unset_flag_of_a_compile_ahead_of_time_may_be_an_object(
    setting: object, ahead: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in torch 2.6, whose ``V.aot_compilation`` has no value of its own."""
    monkeypatch.setattr(virtualized, "V", SimpleNamespace(aot_compilation=setting))
    assert inductor_private.is_ahead_of_time() is ahead
