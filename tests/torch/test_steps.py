"""The recorded passes are torch's: same graphs, same order, and the last snapshot is the module that came back."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
import torch
from torch import nn

import freeze_engine as fe
from freeze_engine.backends.torchscript.graph.parser import parse_graph
from freeze_engine.trace import GraphSnapshot, Step, Trace, graph_lines
from freeze_engine.trace.validation import check_trace
from tests.torch import graph_models, kept_models, models

FREEZE_MODULE = [
    ("freeze_module", "RecordMutableAttrs"),
    ("freeze_module", "PropagateAttributes"),
    ("freeze_module", "EliminateDeadCode"),
    ("freeze_module", "EliminateCommonSubexpression"),
    ("freeze_module", "PeepholeOptimize"),
    ("freeze_module", "ConstantPropagation"),
    ("freeze_module", "ConstantPooling"),
    ("freeze_module", "UnrollConstantLoops"),
    ("freeze_module", "RemoveListMutation, EliminateCommonSubexpression"),
    ("freeze_module", "CheckInplace"),
    ("freeze_module", "EliminateNoOps, LowerSimpleTuples, CleanupFrozenModule"),
]
FOLDS = ["FoldFrozenConvBatchnorm", "FoldFrozenConvAddOrSub", "FoldFrozenConvMulOrDiv", "FoldFrozenLinearBatchnorm"]
INFERENCE = ["FuseFrozenConvAddRelu", "ConvertFrozenOpsToMKLDNN", "FrozenLinearTranspose"]

# model, preserved, what runs
CASES: list[tuple[Any, list[str], str]] = [
    (models.ConvBn, [], "freeze"),
    (models.ConvBn, [], "inference"),
    (models.TwoRounds, [], "freeze"),
    (models.TwoRounds, [], "plain"),
    (models.Linears, [], "inference"),
    (models.TwoMethods, ["features"], "freeze"),
    (models.TwoMethods, ["features"], "plain"),
    (models.TwoMethods, ["features"], "inference"),
    (models.Branches, [], "freeze"),
    (models.Containers, [], "freeze"),
    (models.HoldsObject, [], "freeze"),
    (kept_models.Counter, ["count"], "freeze"),
    (kept_models.Versioned, ["sub.version"], "freeze"),
    (kept_models.InFork, [], "freeze"),
    (graph_models.ForkedPart, [], "freeze"),
    (graph_models.NestedForks, [], "freeze"),
    (graph_models.Control, [], "freeze"),
    (graph_models.Odd, [], "freeze"),
]
IDS = [f"{model.__name__}-{how}" for model, _, how in CASES]


def run(module: nn.Module, preserved: list[str], how: str) -> torch.jit.ScriptModule:
    frozen = torch.jit.freeze(torch.jit.script(module), preserved, optimize_numerics=how != "plain")
    if how == "inference":
        methods = [name for name in preserved if frozen._c._has_method(name)]
        frozen = torch.jit.optimize_for_inference(frozen, methods)
    return frozen


def recorded(model: Any, preserved: list[str], how: str) -> tuple[torch.jit.ScriptModule, Trace]:
    with fe.capture() as captured:
        frozen = run(models.filled(model()), preserved, how)
    (trace,) = captured.traces
    check_trace(trace)
    return frozen, trace


def methods(frozen: torch.jit.ScriptModule, preserved: list[str]) -> list[str]:
    return ["forward", *(name for name in preserved if "." not in name and frozen._c._has_method(name))]


def canonical(frozen: torch.jit.ScriptModule, method: str) -> str:
    graph = torch._C._jit_pass_canonicalize(frozen._c._get_method(method).graph.copy(), False)
    return re.sub(r"___torch_mangle_\d+\.", "", graph.str(False))


def bare(graph: GraphSnapshot) -> list[str]:
    """The lines of a graph; its own nodes' ids and what was added to them are not part of these."""
    return list(graph_lines(graph))


def live(frozen: torch.jit.ScriptModule, method: str) -> list[str]:
    return bare(parse_graph(str(frozen._c._get_method(method).graph)))


def unnumbered(lines: list[str]) -> list[str]:
    return [re.sub(r"___torch_mangle_\d+\.|(?<=[%/])[\w.]+", "", line) for line in lines]


@pytest.mark.parametrize(("model", "preserved", "how"), CASES, ids=IDS)
def test_the_result_is_torchs_own(model, preserved, how):
    frozen, _ = recorded(model, preserved, how)
    plain = run(models.filled(model()), preserved, how)
    for method in methods(plain, preserved):
        assert canonical(frozen, method) == canonical(plain, method)


@pytest.mark.parametrize(("model", "preserved", "how"), CASES, ids=IDS)
def test_the_last_snapshot_is_the_module_that_came_back(model, preserved, how):
    frozen, trace = recorded(model, preserved, how)
    assert sorted(trace.methods) == sorted(methods(frozen, preserved))
    for method in trace.methods:
        assert bare(trace.final(method).graph) == live(frozen, method)


@pytest.mark.parametrize(("model", "preserved", "how"), CASES, ids=IDS)
def test_each_step_says_whether_it_changed_anything(model, preserved, how):
    _, trace = recorded(model, preserved, how)
    for step in trace.steps:
        before = trace.before(step)
        assert step.duration_ns is None or step.duration_ns >= 0
        if before is not None and step.name != FREEZE_MODULE[-1][1]:
            assert step.changed == (step.graph is not before.graph) == (step.graph != before.graph)


@pytest.mark.parametrize(("model", "preserved", "how"), CASES, ids=IDS)
def test_the_first_snapshot_is_the_module_that_came(model, preserved, how):
    module = torch.jit.script(models.filled(model()))
    with fe.capture() as captured:
        torch.jit.freeze(module, preserved)
    for method in captured.traces[0].methods:
        first = captured.traces[0].method_steps(method)[0]
        assert (first.stage, first.name, first.changed, first.executable) == ("input", "input", False, True)
        # torch freezes a clone, whose classes and values are numbered anew.
        assert unnumbered(bare(first.graph)) == unnumbered(live(module, method))


def names(steps: tuple[Step, ...]) -> list[tuple[str, str]]:
    return [(step.stage, step.name) for step in steps]


def expected(drop: list[str], rounds: int, *, inference: bool = False) -> list[tuple[str, str]]:
    return [
        ("input", "input"),
        ("inline", "Inline"),
        *FREEZE_MODULE,
        *(("optimize_frozen_graph", name) for name in drop + FOLDS * rounds),
        *(("optimize_for_inference", name) for name in INFERENCE if inference),
    ]


def test_the_order_of_the_steps_of_each_method():
    _, trace = recorded(models.TwoMethods, ["features"], "inference")
    apart, together = ["RemoveDropout", "FrozenConcatLinear"], ["RemoveDropout, FrozenConcatLinear"]
    assert names(trace.method_steps("forward")) == expected(apart, 2, inference=True)
    assert names(trace.method_steps("features")) == expected(together, 2, inference=True)


@pytest.mark.parametrize(("model", "rounds"), [(models.ConvBn, 2), (models.TwoRounds, 3), (kept_models.Counter, 1)])
def test_each_round_of_the_folding_loop_is_recorded(model, rounds):
    _, trace = recorded(model, [], "freeze")
    folds = [(step.name, step.round) for step in trace.steps if step.name in FOLDS]
    assert folds == [(name, number) for number in range(1, rounds + 1) for name in FOLDS]
    assert not any(step.changed for step in trace.steps if step.round == rounds and rounds > 1)


def test_a_fold_of_the_second_round():
    _, trace = recorded(models.TwoRounds, [], "freeze")
    changed = [(step.round, step.name) for step in trace.steps if step.round and step.changed]
    assert changed == [(1, FOLDS[0]), (1, FOLDS[2]), (2, FOLDS[1])]


def test_freeze_without_numerics_has_no_folding_loop():
    _, trace = recorded(models.TwoRounds, [], "plain")
    assert names(trace.steps) == expected(["RemoveDropout", "FrozenConcatLinear"], 0)
    assert dict(trace.options) == {"optimize_numerics": "False", "preserved_attrs": "[]"}


def test_run_frozen_optimizations_of_a_loaded_module(tmp_path):
    frozen = torch.jit.freeze(torch.jit.script(models.filled(models.TwoMethods())), ["features"], False)
    frozen.save(str(tmp_path / "frozen.pt"))
    loaded, plain = (torch.jit.load(str(tmp_path / "frozen.pt")) for _ in range(2))
    with fe.capture() as captured:
        torch.jit.run_frozen_optimizations(loaded, True, ["features"])
    torch.jit.run_frozen_optimizations(plain, True, ["features"])
    (trace,) = captured.traces
    check_trace(trace)
    assert (trace.call.partition("(")[0], trace.methods) == (
        "torch.jit.run_frozen_optimizations",
        ("forward", "features"),
    )
    for method in trace.methods:
        assert canonical(loaded, method) == canonical(plain, method)
        assert bare(trace.final(method).graph) == live(loaded, method)
        assert names(trace.method_steps(method))[0] == ("input", "input")


def test_optimize_for_inference_of_a_module_that_is_not_frozen():
    module = models.filled(models.TwoMethods())
    with fe.capture() as captured:
        frozen = torch.jit.optimize_for_inference(torch.jit.script(copy.deepcopy(module)), ["features"])
    plain = torch.jit.optimize_for_inference(torch.jit.script(module), ["features"])
    (trace,) = captured.traces
    check_trace(trace)
    assert trace.call.partition("(")[0] == "torch.jit.optimize_for_inference"
    for method in ("forward", "features"):
        assert canonical(frozen, method) == canonical(plain, method)
        assert bare(trace.final(method).graph) == live(frozen, method)
        assert names(trace.method_steps(method))[-3:] == [("optimize_for_inference", name) for name in INFERENCE]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_other_precisions(dtype):
    with fe.capture() as captured:
        frozen = torch.jit.freeze(torch.jit.script(models.filled(models.ConvBn()).to(dtype)))
    (trace,) = captured.traces
    check_trace(trace)
    assert trace.attribute("conv.weight").dtype == str(dtype).removeprefix("torch.")
    assert bare(trace.final("forward").graph) == live(frozen, "forward")


@pytest.mark.filterwarnings("ignore:.*quant.*", "ignore:.*torch.ao.*", "ignore:.*TypedStorage.*")
def test_a_quantized_model():
    quantized = torch.ao.quantization.quantize_dynamic(models.filled(models.Linears()), {nn.Linear}, torch.qint8)
    with fe.capture() as captured:
        frozen = torch.jit.freeze(torch.jit.script(quantized))
    (trace,) = captured.traces
    check_trace(trace)
    assert bare(trace.final("forward").graph) == live(frozen, "forward")


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
def test_a_traced_python_operator():
    traced = torch.jit.trace(models.filled(graph_models.CallsPython()), torch.ones(2))
    with fe.capture() as captured:
        frozen = torch.jit.freeze(traced)
    (trace,) = captured.traces
    check_trace(trace)
    assert bare(trace.final("forward").graph) == live(frozen, "forward")


def test_rest_of_an_inlined_function_hides_no_step():
    _, trace = recorded(graph_models.CallsFunction, [], "freeze")
    assert "Function" in [node.outputs[0].type for node in trace.steps[1].graph.walk() if node.outputs]
    assert all(step.code for step in trace.steps)


def test_code_and_source_stand_beside_the_graphs():
    _, trace = recorded(models.ConvBn, [], "freeze")
    first, last = trace.steps[0], trace.steps[-1]
    assert "(bn).forward((conv).forward(x, ), )" in first.code
    assert "torch.conv2d" in last.code
    assert "batch_norm" not in last.code
    conv = next(node for node in last.graph.walk() if node.op == "aten::conv2d")
    relu = next(node for node in last.graph.walk() if node.op == "aten::relu")
    assert (conv.module, relu.module) == ("conv", "")
    lines = {
        (run.file, run.first_line + offset): line for run in trace.sources for offset, line in enumerate(run.lines)
    }
    assert lines[relu.source.file, relu.source.line].strip() == "return self.bn(self.conv(x)).relu()"
