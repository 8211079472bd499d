"""A torch that lacks a private name says so before anything is recorded."""

from __future__ import annotations

import pytest
import torch

import freeze_engine as fe
from freeze_engine.backends import _torch_private as torch_private
from tests.torch import models


@pytest.mark.parametrize("name", sorted(torch_private.REQUIRED))
def test_a_missing_name_is_named_with_what_it_is_for(name, monkeypatch):
    monkeypatch.delattr(torch._C, name)
    with pytest.raises(fe.UnsupportedTorchError, match=rf"torch\._C\.{name}, needed for "), fe.capture():
        pass
    assert not hasattr(torch._C, name)


def test_without_the_single_passes_the_whole_is_one_step(monkeypatch):
    monkeypatch.delattr(torch._C, "_jit_pass_fold_frozen_linear_bn")
    trace = fe.record(models.filled(models.ConvBn()), measure=None).trace
    assert [step.name for step in trace.steps if step.stage == "optimize_frozen_graph"] == ["OptimizeFrozenGraph"]
    assert "batch_norm" not in str(trace.steps[-1].graph)
