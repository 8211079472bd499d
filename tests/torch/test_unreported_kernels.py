"""Kernels of libraries of which Inductor reports nothing."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import freeze_engine as fe
from freeze_engine.backends.inductor import torch_private
from tests.torch.inductor_recording import fresh


class Scatters(nn.Module):
    """With several threads, Inductor makes zeros, and has torch's own operator add to them in place."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(x).scatter_add(0, (x > 0).long(), x + 1)


def test_operator_that_writes_into_an_earlier_buffer_has_its_node() -> None:
    if torch_private.OPTIONAL["cpp_kernel_nodes"].found is None:
        pytest.skip("this torch does not tell which nodes a kernel computes, as 2.6 does not")
    with fresh(), torch._inductor.config.patch("cpp.threads", 2):
        measure = fe.Measure(latency=False, numerics=False, memory=False)
        trace = fe.record(Scatters().eval(), (torch.ones(8, 4),), backend="inductor", measure=measure).trace
    (program,) = trace.programs
    (scatter,) = [kernel for kernel in program.kernels if kernel.kind == "extern"]
    assert "scatter" in scatter.name
    assert [op.split(".")[1] for op in scatter.ops] == ["scatter_add"]
    assert scatter.sources
