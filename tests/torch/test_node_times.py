"""Which nodes of the executor's graph the operators of a profiled call belong to, and the time of source lines."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import freeze_engine as fe
from freeze_engine.analysis import source_outcome
from freeze_engine.backends.torchscript.replay.node_times import Ran, node_times, operators
from freeze_engine.trace import Block, GraphSnapshot, Node, RuntimeTime, SourceRef, Value

MODEL = "model.py"


def node(name: str, op: str, line: int | None = None, *inner: Node) -> Node:
    blocks = (Block((), inner, ()),) if inner else ()
    source = None if line is None else SourceRef(MODEL, line)
    return Node(name, op, (), (Value(name, "Tensor"),), blocks=blocks, source=source)


def ran(name: str, took_us: float) -> Ran:
    return Ran(name, took_us)


def times(nodes: list[Node], *call: Ran) -> dict[tuple[str, ...], int]:
    found = node_times(GraphSnapshot((), tuple(nodes), ()), [call])
    return {time.nodes: time.time_ns for time in found}


def test_operators_of_one_name_are_distinguished_by_their_order() -> None:
    nodes = [node("a", "aten::mm", 3), node("b", "aten::mm", 4), node("c", "aten::relu", 3)]
    assert times(nodes, ran("aten::mm", 5), ran("aten::relu", 1), ran("aten::mm", 2)) == {
        ("a",): 5000,
        ("b",): 2000,
        ("c",): 1000,
    }


def test_nodes_of_a_branch_that_may_not_have_run_share_the_time() -> None:
    branch = node("if", "prim::If", 4, node("a", "aten::mm", 3), node("b", "aten::mm", 3))
    assert times([branch], ran("aten::mm", 5)) == {("a", "b"): 5000}


@pytest.mark.parametrize("op", ["prim::Loop", "prim::fork_0"])
def test_the_order_of_repeated_nodes_tells_nothing(op: str) -> None:
    loop = node("loop", op, 4, node("a", "aten::mm", 3), node("b", "aten::mm", 3), node("c", "aten::relu", 5))
    call = (ran("aten::mm", 5), ran("aten::relu", 1), ran("aten::mm", 2))
    assert times([loop], *call) == {("a", "b"): 7000, ("c",): 1000}


def test_a_fused_kernel_is_that_of_the_group_with_its_operators() -> None:
    groups = [
        node("g", "prim::TensorExprGroup", None, node("a", "aten::relu", 3), node("b", "aten::mul", 4)),
        node("h", "prim::TensorExprGroup", None, node("c", "aten::sigmoid", 5)),
    ]
    assert times(groups, ran("fused_sigmoid", 2), ran("fused_relu_mul", 3)) == {("h",): 2000, ("g",): 3000}
    assert times(groups, ran("fused_of_unknown_name", 3)) == {("g", "h"): 3000}


def test_an_operator_without_a_node_belongs_to_none() -> None:
    assert times([node("a", "aten::mm", 3)], ran("aten::empty", 2), ran("aten::mm", 1)) == {(): 2000, ("a",): 1000}


def test_each_entry_takes_its_median_and_calls_with_other_operators_are_left_out() -> None:
    graph = GraphSnapshot((), (node("a", "aten::mm", 3),), ())
    calls = [(Ran("aten::mm", each),) for each in (1, 2, 90)]
    assert node_times(graph, [*calls, (Ran("aten::t", 1), Ran("aten::mm", 1))]) == (RuntimeTime(("a",), 2000),)
    assert node_times(graph, []) == ()


def test_the_time_of_an_operator_includes_what_it_calls() -> None:
    call: Any = _event("forward", 1.0)
    fused = _event("fused_relu", 2.0, call)
    linear = _event("aten::linear", 3.0, call)
    inner = _event("aten::addmm", 4.0, linear)
    assert operators([call, fused, linear, inner]) == (Ran("fused_relu", 2.0), Ran("aten::linear", 7.0))


def _event(name: str, self_us: float, parent: Any = None) -> Any:
    event = SimpleNamespace(name=name, self_cpu_time_total=self_us, cpu_parent=parent, cpu_children=[])
    if parent is not None:
        parent.cpu_children.append(event)
    return event


class Heavy(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(384, 384))
        self.conv = torch.nn.Conv2d(1, 2, 3)
        self.norm = torch.nn.BatchNorm2d(2)

    def forward(self, x: torch.Tensor, image: torch.Tensor) -> torch.Tensor:
        y = self.conv(image)
        y = self.norm(y)
        x = x @ self.weight @ self.weight @ self.weight  # heavy
        return x[:2].relu().sum() * y.sum()


def _lines(trace: fe.Trace) -> dict[str, Any]:
    """Returns the outcomes of the lines of this file by their text."""
    outcome = source_outcome(trace)
    (file,) = (each for each in outcome.files if each.file == __file__)
    (run,) = (each for each in trace.sources if each.file == __file__)
    return {run.lines[line.line - run.first_line].strip(): line for line in file.lines}


@pytest.mark.parametrize("via", ["script", "trace"])
def test_the_heavy_line_has_most_of_the_time(via: Any) -> None:
    measure = fe.Measure(seconds=0.01, numerics=False, memory=False)
    inputs = (torch.ones(384, 384), torch.ones(1, 1, 8, 8))
    trace = fe.record(Heavy().eval(), inputs, via=via, measure=measure).trace
    lines = _lines(trace)
    (heavy,) = next(line for text, line in lines.items() if text.endswith("# heavy")).times
    assert heavy.alone_ns > 0.5 * heavy.whole_ns
    assert heavy.shared_ns == 0
    (conv,), (norm,) = lines["y = self.conv(image)"].times, lines["y = self.norm(y)"].times
    assert conv == norm  # the fold made one operator of both lines
    assert conv.shared_ns > 0 == conv.alone_ns
    assert not source_outcome(trace).of_no_line
    assert fe.problems(trace) == ()
    assert fe.loads(fe.dumps(trace)) == trace


@pytest.fixture
def fusing() -> Iterator[None]:
    """Lets torch fuse on the CPU without LLVM, by its interpreter of tensor expressions."""
    before = torch._C._jit_can_fuse_on_cpu(), torch._C._jit_get_te_must_use_llvm_cpu()
    torch._C._jit_override_can_fuse_on_cpu(True)
    torch._C._jit_set_te_must_use_llvm_cpu(False)
    yield
    torch._C._jit_override_can_fuse_on_cpu(before[0])
    torch._C._jit_set_te_must_use_llvm_cpu(before[1])


class Pointwise(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.relu() * 2
        return torch.sigmoid(y)


@pytest.mark.usefixtures("fusing")
def test_lines_that_one_kernel_fuses_share_its_time() -> None:
    measure = fe.Measure(seconds=0.01, numerics=False, memory=False)
    trace = fe.record(Pointwise().eval(), (torch.ones(4, 4),), measure=measure).trace
    lines = _lines(trace)
    (first,), (second,) = lines["y = x.relu() * 2"].times, lines["return torch.sigmoid(y)"].times
    assert first == second
    assert (first.alone_ns, first.shared_ns) == (0, first.whole_ns)
