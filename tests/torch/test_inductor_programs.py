"""What Inductor generated: kernels, the nodes they compute, their times; held against Inductor's own answers."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch._inductor.debug
from torch import Tensor, nn
from torch._inductor.graph import GraphLowering

import freeze_engine as fe
from freeze_engine.analysis import compare_programs, node_ends
from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.capture.raw import RawKernel
from freeze_engine.backends.inductor.graph.rows import RawGraph
from freeze_engine.backends.inductor.kernels.generated_code import Call, calls
from freeze_engine.backends.inductor.kernels.kernels import Lowered, kernels
from freeze_engine.backends.inductor.method_builder import untold_kernels
from freeze_engine.trace import Trace
from freeze_engine.trace.validation import check_trace
from tests.builders import small_trace
from tests.torch.inductor_models import Attention, Branches, filled
from tests.torch.inductor_recording import fresh, image, record, rows

QUICK = fe.Measure(numerics=False, memory=False, seconds=0.05)


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8)
        self.conv2, self.bn2 = nn.Conv2d(8, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8)
        self.head = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.bn1(self.conv1(x)))
        return self.head(torch.relu(self.bn2(self.conv2(x)) + x).mean((2, 3)))


class Counting(Branches):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        self.calls.add_(1)
        return super().forward(x)


@pytest.fixture(scope="module", autouse=True)
def one_cache() -> Iterator[None]:
    """The compiler's precompiled headers are in Inductor's cache, and are dear."""
    with fresh():
        yield


@pytest.fixture(scope="module")
def kernel_nodes() -> None:
    if torch_private.OPTIONAL["cpp_kernel_nodes"].found is None:
        pytest.skip("this torch does not tell which nodes a kernel computes, as 2.6 does not")


@pytest.fixture(scope="module")
def told() -> dict[str, list[str]]:
    """The nodes of each kernel, as Inductor itself tracks them; a kernel's name is followed by a number."""
    return {}


@pytest.fixture(scope="module")
def residual(kernel_nodes: None, told: dict[str, list[str]]) -> Iterator[fe.Recording]:
    """A small network of the ResNet kind, measured, its first compile with Inductor's own tracking of nodes on."""
    compile_to_module = GraphLowering.compile_to_module

    def spied(lowering: Any) -> Any:
        module = compile_to_module(lowering)
        if not told:
            told.update(torch._inductor.debug._inductor_triton_kernel_to_post_grad_node_info)
        return module

    GraphLowering.compile_to_module = spied
    try:
        with torch._inductor.config.patch({"trace.provenance_tracking_level": 1}):
            yield record(filled(Residual()), image(), measure=QUICK)
    finally:
        GraphLowering.compile_to_module = compile_to_module


@pytest.fixture(scope="module")
def library_nodes(residual: fe.Recording, told: dict[str, list[str]]) -> None:
    if not any("_convolution_pointwise" in key for key in told):
        pytest.skip("this torch does not tell which nodes a library's kernel computes, as 2.9 does not")


@pytest.fixture(scope="module")
def transformer() -> Trace:
    return record(filled(Attention()), torch.arange(10).reshape(2, 5)).trace


def provenance(trace: Trace, first: bool) -> tuple[float, float]:
    """Returns the share of call nodes whose source line and whose kernels are known, and of those accounted for."""
    (program,) = (program for program in trace.programs if program.name == "compiled with freezing")
    ends = node_ends(trace, program, first)
    steps = trace.method_steps(program.method)
    nodes = {node.id: node for node in steps[0 if first else -1].graph.walk()}
    known = [end for end in ends if nodes[end.node].source is not None and end.end != "unknown"]
    return len([end for end in known if end.kernels]) / len(ends), len(known) / len(ends)


def test_programs_are_valid_and_survive_a_file(residual: fe.Recording, transformer: Trace):
    for trace in (residual.trace, transformer):
        check_trace(trace)
        assert fe.loads(fe.dumps(trace)) == trace
    assert [program.name for program in residual.trace.programs] == ["compiled with freezing", "compiled"]


@pytest.mark.parametrize("first", [True, False])
def test_every_call_leads_to_its_line_and_its_kernels_or_what_became_of_it(
    residual: fe.Recording, library_nodes: None, transformer: Trace, first: bool
):
    for trace in (residual.trace, transformer):
        assert provenance(trace, first)[1] >= 0.98
    # Most of the first graph of a batch norm is computed beforehand; nothing of the last one is.
    assert provenance(residual.trace, False)[0] == 1.0
    assert provenance(transformer, first)[0] >= 0.6


def test_a_kernel_knows_the_lines_of_all_that_was_fused_into_it(residual: fe.Recording, library_nodes: None):
    first, second = (kernel for kernel in residual.trace.programs[0].kernels if "_convolution_pointwise" in kernel.name)
    assert {"convolution", "relu"} <= {*first.origins}
    assert {"convolution_1", "relu_1"} <= {*second.origins}
    lines = [{source.line for source in kernel.sources} for kernel in (first, second)]
    assert all(lines)
    assert lines[0].isdisjoint(lines[1])


def test_nodes_of_a_batch_norm_lead_to_their_kernels(residual: fe.Recording, library_nodes: None):
    trace = residual.trace
    ends = {end.node: end for end in node_ends(trace, trace.programs[0])}
    first = {node.id: node for node in trace.steps[0].graph.walk()}
    convolution = ends["convolution"]
    assert convolution.end == "kernel"
    assert any("_convolution_pointwise" in trace.programs[0].kernels[index].name for index in convolution.kernels)
    roots = [end for end in ends.values() if first[end.node].op in ("aten.sqrt.default", "aten.rsqrt.default")]
    assert {(end.end, trace.steps[end.step or 0].name) for end in roots} == {("constant", "constant_fold")}


def test_kernels_are_in_the_order_of_their_calls(residual: fe.Recording):
    for program in residual.trace.programs:
        body = (program.code or "").partition("def call(")[2].partition("\ndef ")[0]
        position = 0
        for kernel in program.kernels:
            position = body.index(f"{kernel.name}(", position) + 1
        assert len(program.kernels) == sum(body.count(f"{name}(") for name in {each.name for each in program.kernels})


def test_the_nodes_of_a_kernel_are_among_those_that_inductor_tracks(
    residual: fe.Recording, library_nodes: None, told: dict[str, list[str]]
):
    program, last = residual.trace.programs[0], residual.trace.steps[-1].graph
    names = {node.id: node.outputs[0].name for node in last.walk()}
    tracked = [(key.rpartition(":")[0], set(value)) for key, value in told.items()]
    assert [kernel.name for kernel in program.kernels] == [name for name, _ in tracked]
    for kernel, (_, nodes) in zip(program.kernels, tracked, strict=True):
        # Of a buffer that another kernel writes later, Inductor names that one's node.
        # What it makes of constants alone, a bias, has no node of the graph: that is told with its reader.
        prepares = not nodes & {names[node.id] for node in last.walk() if node.op != "get_attr"}
        assert {names[node] for node in kernel.nodes} <= nodes or kernel.kind == "extern" or prepares
    convolutions = [kernel.nodes for kernel in program.kernels if "_convolution_pointwise" in kernel.name]
    assert [len(nodes) for nodes in convolutions] == [1] * len(set(convolutions)) == [1, 1]
    assert {node for kernel in program.kernels for node in kernel.nodes} == {
        node.id for node in last.walk() if node.op != "get_attr"
    }


def test_without_freezing_other_kernels_do_the_same_work(residual: fe.Recording):
    trace = residual.trace
    (comparison,) = compare_programs(trace)
    names = [kernel.name for kernel in comparison.unfrozen.kernels]
    assert names.count("extern_kernels.convolution") == 2
    assert comparison.unfrozen.passes[0].name == "input"
    assert {step.stage for step in comparison.unfrozen.passes} == {"input", "joint_graph", "post_grad", "compile"}
    assert {(each.name, each.unfrozen) for each in comparison.passes} >= {("binary_folding", "not run")}
    fused = next(group for group in comparison.groups if len(group.unfrozen) > 1)
    ours = {origin for index in fused.frozen for origin in comparison.frozen.kernels[index].origins}
    theirs = {origin for index in fused.unfrozen for origin in comparison.unfrozen.kernels[index].origins}
    assert ours & theirs
    covered = sorted(index for group in comparison.groups for index in group.unfrozen)
    assert covered == list(range(len(names)))


def test_kernels_are_timed_apart_from_the_users_module(residual: fe.Recording):
    for program in residual.trace.programs:
        for kernel in program.kernels:
            assert kernel.time_ns is not None
            assert 0 < kernel.time_ns.low <= kernel.time_ns.value <= kernel.time_ns.high
    with torch.no_grad():
        torch.testing.assert_close(residual.module(image()), filled(Residual())(image()), rtol=1e-4, atol=1e-4)


def test_timing_writes_no_state_and_a_branch_not_taken_has_no_time(kernel_nodes: None):
    model = filled(Counting())
    calls_before = model.calls.clone()
    trace = record(model, torch.ones(2, 4), measure=QUICK).trace
    check_trace(trace)
    assert model.calls.equal(calls_before)
    for program in trace.programs:
        taken = {kernel.origins: kernel.time_ns is not None for kernel in program.kernels}
        assert {ran for origins, ran in taken.items() if "cond/true_graph_0/addmm" in origins} == {True}
        assert {ran for origins, ran in taken.items() if "cond/false_graph_0/addmm" in origins} == {False}
    assert ("cond", "runs the kernels of its subgraphs") in trace.programs[0].no_kernel


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device: Triton kernels and their times")
def test_triton_kernels_are_timed_by_the_device():
    trace = record(filled(Residual()).cuda(), image().cuda(), measure=QUICK).trace
    check_trace(trace)
    for program in trace.programs:
        assert "triton" in {kernel.kind for kernel in program.kernels}
        assert all(kernel.nodes for kernel in trace.programs[0].kernels if kernel.kind == "triton")
        assert all(kernel.time_ns is not None for kernel in program.kernels)


def test_code_out_of_a_cache_has_kernels_and_no_nodes(kernel_nodes: None):
    class Plain(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.sin() + 1

    with torch._inductor.config.patch(fx_graph_cache=True):
        first = record(Plain().eval(), rows(2, 4)).trace
        torch._dynamo.reset()
        again = record(Plain().eval(), rows(2, 4)).trace
    assert [notice.code for notice in again.notices] == ["cache_hit"]
    (program,) = again.programs
    assert [kernel.name for kernel in program.kernels] == [kernel.name for kernel in first.programs[0].kernels]
    assert {kernel.nodes for kernel in program.kernels} == {()}
    assert {end.end for end in node_ends(again, program, first=False)} == {"unknown"}


def test_calls_are_read_where_they_stand():
    code = (
        "cpp_fused_add_0 = async_compile.cpp_pybinding([], '''cpp_fused_add_0(x)''')\n"
        "triton_poi_0 = async_compile.triton('triton_poi_0', '''''')\n"
        "def true_graph_0(args):\n"
        "    return extern_kernels.addmm(args[0], out=torch.ops.aten.mul.Tensor(args[1], 2)[0])\n"
        "class Runner:\n"
        "    def call(self, args):\n"
        "        buf0 = empty_strided_cpu((2,), (1,), torch.float32)\n"
        "        buf1 = torch.ops.inductor._alloc_from_pool(buf0, 0)\n"
        "        cpp_fused_add_0(buf0)\n"
        "        triton_poi_0.run(buf0, 2, stream=stream0)\n"
        "        return (aten.sort.default(buf0),)\n"
        "def benchmark_compiled_module(args):\n"
        "    cpp_fused_add_0(args)\n"
    )
    assert calls(code) == (
        Call("extern_kernels.addmm", "extern", 4, 11),
        Call("torch.ops.aten.mul.Tensor", "extern", 4, 45),
        Call("cpp_fused_add_0", "cpp", 9, 8, ("buf0",)),
        Call("triton_poi_0", "triton", 10, 8, ("buf0",)),
        Call("torch.ops.aten.sort.default", "extern", 11, 16, ("buf0",)),
    )


def test_a_c_plus_plus_wrapper_has_the_kernels_that_inductor_told_of():
    code = "#include <torch/csrc/inductor/cpp_prefix.h>\nvoid f() {}"
    assert calls(code) == ()
    seen = (RawKernel("cpp_fused_add_0", ()), RawKernel("aoti_torch_cpu_addmm_out", ()))
    graph = fe.GraphSnapshot((), (), ())
    nothing = Lowered(RawGraph((), frozenset()), graph, graph, {})
    found = [(kernel.name, kernel.kind) for kernel in kernels(code, seen, nothing)]
    assert found == [("cpp_fused_add_0", "cpp"), ("aoti_torch_cpu_addmm_out", "extern")]


@pytest.mark.parametrize(
    ("known", "told"),
    [
        ({}, True),
        ({"cached": True}, False),  # a notice of its own says so
        ({"kernels": [RawKernel("cpp_fused_relu_0", ())]}, False),
    ],
)
@pytest.mark.usefixtures("kernel_nodes")
def test_missing_provenance_of_kernels_is_stated(known: dict[str, Any], told: bool) -> None:
    compiled: Any = SimpleNamespace(**{"cached": False, "kernels": []} | known)
    found = [notice.message for notice in untold_kernels(compiled, small_trace().programs)]
    assert [("INDUCTOR_PROVENANCE=1" in message) for message in found] == [True] * told
    assert list(untold_kernels(compiled, ())) == []


def test_a_torch_that_cannot_tell_is_not_said_to_do_so_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = torch_private.PrivateName("torch._inductor.debug", "gone", "compile", "which nodes a kernel computes")
    monkeypatch.setattr(torch_private, "OPTIONAL", {**torch_private.OPTIONAL, "kernel_nodes": gone})
    compiled: Any = SimpleNamespace(cached=False, kernels=[])
    assert list(untold_kernels(compiled, small_trace().programs)) == []
