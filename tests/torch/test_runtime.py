"""What TorchScript's executor makes of the frozen module: the graph after warm-up, and its kernels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch

import freeze_engine as fe
from freeze_engine.backends.torchscript.replay.runtime import typical_kernels
from viewer.page import trace_data
from viewer.text.stats import stats_text

GRAPH_ONLY = fe.Measure(latency=False, numerics=False, memory=False)
X = torch.ones(1, 2, 4, 4)


class Counted(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(2, 2, 3)
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen.add_(1)
        x.add_(1)
        return torch.sigmoid(self.conv(x).relu()) * 2


@pytest.fixture
def fusing() -> Iterator[None]:
    """Lets torch fuse on the CPU without LLVM, by its interpreter of tensor expressions."""
    before = torch._C._jit_can_fuse_on_cpu(), torch._C._jit_get_te_must_use_llvm_cpu()
    torch._C._jit_override_can_fuse_on_cpu(True)
    torch._C._jit_set_te_must_use_llvm_cpu(False)
    yield
    torch._C._jit_override_can_fuse_on_cpu(before[0])
    torch._C._jit_set_te_must_use_llvm_cpu(before[1])


@pytest.mark.usefixtures("fusing")
def test_fusion_group_holds_what_it_fuses_and_pages_show_it_as_a_further_step() -> None:
    trace = fe.record(Counted().eval(), (X.clone(),), measure=GRAPH_ONLY).trace
    (runtime,) = trace.runtime
    assert (runtime.method, runtime.runs, runtime.kernels) == ("forward", 3, ())
    assert runtime.graph is not None
    (group,) = [node for node in runtime.graph.walk() if node.op == "prim::TensorExprGroup"]
    assert {"aten::relu", "aten::sigmoid", "aten::mul"} <= {node.op for node in group.blocks[0].nodes}
    frozen = {node.id for node in trace.steps[-1].graph.walk() if node.constant is not None}
    assert frozen <= {node.id for node in runtime.graph.walk()}  # the same nodes keep their ids
    assert fe.problems(trace) == ()
    assert fe.loads(fe.dumps(trace)) == trace
    data = trace_data(trace, charted=False)
    (row,) = [step for step in data["view"]["steps"] if step["stage"] == "runtime"]
    assert (row["index"], row["changed"]) == (len(trace.steps), True)
    assert row["notes"][0].startswith("fuses ")
    assert row["does"]
    assert "What TorchScript's executor makes of forward\n  fuses " in stats_text(trace)


def test_recording_is_the_same_with_and_without_it() -> None:
    torch.manual_seed(0)
    model, given = Counted().eval(), X.clone()
    with_it = fe.record(model, (given,), measure=GRAPH_ONLY)
    without = fe.record(model, (given,), measure=replace(GRAPH_ONLY, runtime=False))
    assert (with_it.module.seen.item(), model.seen.item(), given.sum().item()) == (0.0, 0.0, X.sum().item())
    assert without.trace.runtime == ()
    assert with_it.trace.attributes == without.trace.attributes
    (runtime,) = with_it.trace.runtime
    frozen = {node.id: node for node in with_it.trace.steps[-1].graph.walk()}
    assert runtime.graph is not None
    assert {node.id: node for node in runtime.graph.walk()} == frozen  # the executor changed nothing here
    assert [step.name for step in with_it.trace.steps] == [step.name for step in without.trace.steps]
    assert fe.summarize(with_it.trace).sentence == fe.summarize(without.trace).sentence


def test_kernels_have_shares_of_the_measured_time() -> None:
    measure = fe.Measure(seconds=0.05, numerics=False, memory=False)
    (runtime,) = fe.record(Counted().eval(), (X.clone(),), measure=measure).trace.runtime
    assert sum(kernel.share for kernel in runtime.kernels) == pytest.approx(1, abs=0.05)
    assert {"aten::sigmoid", "aten::add_"} <= {kernel.name for kernel in runtime.kernels}
    assert "fuses no operators on the CPU" in runtime.reason


def test_a_call_that_was_disturbed_does_not_move_the_shares() -> None:
    quiet = {"aten::addmm": (1, 30.0), "aten::t": (1, 10.0)}
    found = typical_kernels([quiet, {"aten::addmm": (1, 31.0), "aten::t": (1, 3580.0), "aten::empty": (2, 9.0)}, quiet])
    assert [(kernel.name, kernel.calls, kernel.time_ns, kernel.share) for kernel in found] == [
        ("aten::addmm", 1, 30_000, 0.75),
        ("aten::t", 1, 10_000, 0.25),
    ]


def test_profiling_the_kernels_writes_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    measure = fe.Measure(seconds=0.1, numerics=False, memory=False)
    assert fe.record(Counted().eval(), (X.clone(),), measure=measure).trace.runtime[0].kernels
    assert capfd.readouterr() == ("", "")


def test_call_that_fails_leaves_the_reason() -> None:
    class Fails(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.view(3)

    trace = fe.record(Fails().eval(), (torch.ones(2),), measure=GRAPH_ONLY).trace
    assert [runtime.graph for runtime in trace.runtime] == [None]
    assert trace.runtime[0].reason.startswith("The frozen graph did not run: RuntimeError")
