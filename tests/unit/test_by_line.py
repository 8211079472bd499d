"""What became of each line of source, on hand-built traces."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from freeze_engine.analysis import (
    FileOutcome,
    LineEffect,
    LineKernel,
    LineNode,
    LineTime,
    NodeLines,
    TimeOfNoLine,
    source_outcome,
)
from freeze_engine.analysis.by_line.file_kinds import file_kind
from freeze_engine.trace import (
    Block,
    CallPath,
    Constant,
    GraphSnapshot,
    Interval,
    Kernel,
    Node,
    Numerics,
    OutputError,
    Program,
    Rewrite,
    RuntimeGraph,
    RuntimeTime,
    SourceLines,
    SourceRef,
    Step,
    Trace,
    Value,
)
from tests.builders import empty_trace

MODEL = "/home/me/model.py"
TORCH = "/usr/lib/python3/site-packages/torch/nn/functional.py"


def node(name: str, op: str, inputs: str = "", line: int | None = None, file: str = MODEL, **fields: Any) -> Node:
    source = None if line is None else SourceRef(file, line, 4)
    return Node(name, op, tuple(inputs.split()), (Value(name, "Tensor"),), source=source, **fields)


def graph(*nodes: Node) -> GraphSnapshot:
    return GraphSnapshot((Value("x", "Tensor"),), nodes, (nodes[-1].id,) if nodes else ("x",))


def traced(*graphs: GraphSnapshot, rewrites: dict[int, tuple[Rewrite, ...]] | None = None, **fields: Any) -> Trace:
    steps = tuple(
        Step(index, "stage", f"Pass{index}", "forward", each, index > 0, rewrites=(rewrites or {}).get(index, ()))
        for index, each in enumerate(graphs)
    )
    return replace(empty_trace(), steps=steps, **fields)


def own(trace: Trace) -> FileOutcome:
    (found,) = (each for each in source_outcome(trace).files if each.kind == "own")
    return found


def effects(trace: Trace, line: int) -> tuple[LineEffect, ...]:
    (found,) = (each for each in own(trace).lines if each.line == line)
    return found.effects


CONV = node("conv", "aten::conv2d", "x", 3)
NORM = node("norm", "aten::batch_norm", "conv", 4)
RELU = node("relu", "aten::relu", "norm", 5)


def test_a_fold_hands_the_lines_of_what_it_consumed_to_what_it_produced() -> None:
    folded = node("conv", "aten::conv2d", "x", 3, attributes=(("bias", "1"),))
    weight = node("weight", "prim::Constant", line=None, constant=None)
    after = graph(weight, folded, replace(RELU, inputs=("conv",)))
    rewrite = Rewrite("conv_bn", ("conv", "norm"), ("conv",))
    trace = traced(graph(CONV, NORM, RELU), after, rewrites={1: (rewrite,)})
    lines = {line.line: line for line in own(trace).lines}
    assert effects(trace, 3) == (LineEffect(1, "rewritten", "conv_bn", ("conv",)),)
    assert effects(trace, 4) == (LineEffect(1, "rewritten", "conv_bn", ("norm",)),)
    assert effects(trace, 5) == ()
    assert lines[4].left == lines[3].left == (LineNode("forward", "conv"),)
    assert (lines[4].operators, lines[3].operators) == (1, 1)
    of_conv = [each for each in source_outcome(trace).nodes if each.node == "conv"]
    assert of_conv == [
        NodeLines("forward", "conv", 0, (SourceRef(MODEL, 3),)),
        NodeLines("forward", "conv", 1, (SourceRef(MODEL, 3), SourceRef(MODEL, 4))),
    ]


def test_a_removed_node_leaves_its_line_to_nobody() -> None:
    dropout = node("dropout", "aten::dropout", "relu", 9)
    last = node("last", "aten::neg", "dropout", 10)
    trace = traced(graph(RELU, dropout, last), graph(RELU, replace(last, inputs=("relu",))))
    (line,) = (each for each in own(trace).lines if each.line == 9)
    assert line.effects == (LineEffect(1, "removed", "", ("dropout",)),)
    assert line.left == ()


def test_an_equal_node_does_the_work_of_a_merged_one() -> None:
    one, other = node("one", "aten::relu", "x", 3), node("other", "aten::relu", "x", 4)
    total = node("sum", "aten::add", "one other", 5)
    trace = traced(graph(one, other, total), graph(one, replace(total, inputs=("one", "one"))))
    (line,) = (each for each in own(trace).lines if each.line == 4)
    assert line.effects == (LineEffect(1, "merged", "", ("other",)),)
    assert line.left == (LineNode("forward", "one"),)


def test_an_attribute_that_became_a_constant_and_operators_computed_beforehand() -> None:
    read = node("w", "prim::GetAttr", "x", 3)
    doubled = node("doubled", "aten::mul", "w", 4)
    used = node("used", "aten::add", "x doubled", 5)
    frozen = node("self.w", "prim::Constant")
    computed = node("c", "prim::Constant")
    trace = traced(
        graph(read, doubled, used),
        graph(frozen, replace(doubled, inputs=("self.w",)), used),
        graph(computed, replace(used, inputs=("x", "c"))),
    )
    frozen_read = LineEffect(1, "frozen", "", ("w",))
    assert effects(trace, 3) == (frozen_read,)
    assert effects(trace, 4) == (frozen_read, LineEffect(2, "computed", "", ("doubled",)))
    (line,) = (each for each in own(trace).lines if each.line == 4)
    assert line.constants == ()  # of unknown contents


def test_a_constant_belongs_to_the_lines_that_read_it_now_and_to_those_computed_into_it() -> None:
    described = Constant((1,), "float32", "cpu", 4)
    held = node("c", "prim::Constant", constant=described)
    first, second = node("one", "aten::mul", "x c", 3), node("two", "aten::add", "x c", 4)
    total = node("sum", "aten::add", "one two", 5)
    kept = graph(held, second, replace(total, inputs=("two", "two")))
    trace = traced(graph(held, first, second, total), kept)
    lines = {line.line: line.constants for line in own(trace).lines}
    assert lines == {3: (), 4: (LineNode("forward", "c"),), 5: ()}


def test_a_call_belongs_to_its_line_and_every_line_that_calls_it() -> None:
    call = node("y", "prim::CallMethod", "x", 12)
    inner = node("inner", "aten::relu", "x", 40, file=TORCH)
    paths = (CallPath("forward", (SourceRef(MODEL, 12), SourceRef(MODEL, 3)), ("inner",)),)
    trace = traced(graph(call), graph(inner), call_paths=paths)
    assert effects(trace, 12) == (LineEffect(1, "inlined", "", ("y",)),)
    assert [(line.line, line.operators, line.left) for line in own(trace).lines] == [
        (3, 1, (LineNode("forward", "inner"),)),
        (12, 1, (LineNode("forward", "inner"),)),
    ]
    assert [each.kind for each in source_outcome(trace).files] == ["own", "library"]


def test_nodes_behind_a_call_are_not_of_the_line_that_calls() -> None:
    first, second = node("a", "prim::CallFunction", "x", 3), node("b", "prim::CallMethod", "a", 4)
    trace = traced(graph(first, second), graph(node("r", "aten::relu", "x"), node("c", "aten::conv2d", "r", 4)))
    assert [line.left for line in own(trace).lines] == [(), (LineNode("forward", "c"),)]


def test_a_pass_that_only_renames_or_types_touches_no_line() -> None:
    typed = replace(RELU, outputs=(Value("relu", "Float(1)"),), inputs=("x",))
    assert effects(traced(graph(RELU), graph(typed)), 5) == ()
    changed = replace(RELU, op="aten::relu_")
    assert effects(traced(graph(RELU), graph(changed)), 5) == (LineEffect(1, "changed", "op", ("relu",)),)


def interval(value: float) -> Interval:
    return Interval(value, value, value)


def test_the_time_of_a_kernel_of_several_lines_is_not_divided() -> None:
    kernels = (
        Kernel("alone", "cpp", ("conv",), ("conv",), time_ns=interval(60.0)),
        Kernel("fused", "cpp", ("norm", "relu"), ("norm", "relu"), time_ns=interval(40.0)),
    )
    trace = traced(graph(CONV, NORM, RELU), programs=(Program("compiled with freezing", "forward", kernels),))
    lines = {line.line: line for line in own(trace).lines}
    assert lines[3].times == (LineTime(0, 60.0, 0.0, 100.0),)
    assert lines[4].times == lines[5].times == (LineTime(0, 0.0, 40.0, 100.0),)
    assert lines[4].kernels == (LineKernel(0, 1, alone=False),)
    assert source_outcome(trace).is_timed


def test_a_line_that_calls_all_that_a_kernel_computes_has_it_alone() -> None:
    kernels = (Kernel("fused", "cpp", ("norm", "relu"), ("norm", "relu"), time_ns=interval(40.0)),)
    paths = (CallPath("forward", (SourceRef(MODEL, 20),), ("norm", "relu")),)
    programs = (Program("compiled with freezing", "forward", kernels),)
    trace = traced(graph(CONV, NORM, RELU), programs=programs, call_paths=paths)
    (outer,) = (line for line in own(trace).lines if line.line == 20)
    assert outer.times == (LineTime(0, 40.0, 0.0, 40.0),)


def test_without_timed_kernels_the_time_is_not_known() -> None:
    kernels = (Kernel("alone", "cpp", ("conv",), ("conv",)),)
    trace = traced(graph(CONV), programs=(Program("compiled with freezing", "forward", kernels),))
    (line,) = own(trace).lines
    assert line.times == ()
    assert line.kernels == (LineKernel(0, 0, alone=True),)
    assert not source_outcome(trace).is_timed


def ran(*times: RuntimeTime, group: Node | None = None) -> RuntimeGraph:
    return RuntimeGraph("forward", graph(CONV, RELU, *((group,) if group else ())), 3, times=times)


def test_operators_of_the_executor_give_their_time_to_the_lines_that_they_do_the_work_of() -> None:
    folded = node("conv", "aten::conv2d", "x", 3, attributes=(("bias", "1"),))
    rewrite = Rewrite("conv_bn", ("conv", "norm"), ("conv",))
    steps = traced(graph(CONV, NORM, RELU), graph(folded, RELU), rewrites={1: (rewrite,)})
    times = (RuntimeTime(("conv",), 60), RuntimeTime(("relu",), 30), RuntimeTime((), 10))
    trace = replace(steps, runtime=(ran(*times),))
    lines = {line.line: line.times for line in own(trace).lines}
    assert lines[3] == lines[4] == (LineTime(None, 0, 60, 100),)  # the fold made one operator of two lines
    assert lines[5] == (LineTime(None, 30, 0, 100),)
    assert source_outcome(trace).of_no_line == (TimeOfNoLine(None, 10, 100),)
    assert source_outcome(trace).is_timed


def test_a_group_of_nodes_shares_its_time() -> None:
    group = Node("g", "prim::TensorExprGroup", (), (Value("g", "Tensor"),), blocks=(Block((), (NORM, RELU), ()),))
    either = RuntimeTime(("conv", "relu"), 30)
    times = (RuntimeTime(("g",), 70), either)
    trace = traced(graph(CONV, NORM, RELU), runtime=(ran(*times, group=group),))
    lines = {line.line: line.times for line in own(trace).lines}
    assert lines == {
        3: (LineTime(None, 0, 30, 100),),
        4: (LineTime(None, 0, 70, 100),),
        5: (LineTime(None, 0, 100, 100),),
    }
    assert source_outcome(trace).of_no_line == ()


def test_kernels_without_a_line_leave_a_rest() -> None:
    kernels = (
        Kernel("known", "cpp", ("conv",), ("conv",), time_ns=interval(60.0)),
        Kernel("extern", "extern", (), (), time_ns=interval(40.0)),
    )
    trace = traced(graph(CONV), programs=(Program("compiled with freezing", "forward", kernels),))
    assert source_outcome(trace).of_no_line == (TimeOfNoLine(0, 40.0, 100.0),)


def compared(max_abs: float) -> tuple[Numerics, ...]:
    return (Numerics("eager", (OutputError("0", max_abs, 0.0, 99.0, 0, True),)),)


def test_a_growth_of_the_error_names_the_lines_that_the_passes_since_the_last_comparison_touched() -> None:
    folded = graph(replace(CONV, attributes=(("bias", "1"),)), replace(RELU, inputs=("conv",)))
    rewrite = Rewrite("conv_bn", ("conv", "norm"), ("conv",))
    trace = traced(graph(CONV, NORM, RELU), folded, rewrites={1: (rewrite,)})
    steps = tuple(replace(step, numerics=compared(step.index * 1e-3)) for step in trace.steps)
    lines = {line.line: line for line in own(replace(trace, steps=steps)).lines}
    (error,) = lines[3].errors
    assert (error.step, error.since, error.before, error.after, error.lines) == (1, 0, 0.0, 1e-3, 2)
    assert lines[4].errors == (error,)
    assert lines[5].errors == ()
    assert source_outcome(replace(trace, steps=steps)).is_compared
    assert not source_outcome(trace).is_compared


def test_the_users_own_files_come_first_and_a_file_without_text_says_so() -> None:
    inner = node("inner", "aten::relu", "x", 40, file=TORCH)
    saved = node("saved", "aten::relu", "x", 2, file="code/__torch__/model.py")
    trace = traced(graph(inner, saved, CONV), sources=(SourceLines(TORCH, 40, ("relu",)),))
    assert [(each.file, each.kind, each.has_text) for each in source_outcome(trace).files] == [
        (MODEL, "own", False),
        ("code/__torch__/model.py", "saved", False),
        (TORCH, "library", True),
    ]


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("/tmp/ipykernel_31/2741.py", "own"),
        ("<ipython-input-3-ab12>", "own"),
        ("<eval_with_key>.5", "library"),
        ("<string>", "library"),
        ("C:\\me\\model.py", "own"),
        ("C:\\Python\\Lib\\site-packages\\timm\\layers.py", "library"),
        ("/usr/lib/python3.11/contextlib.py", "library"),
        ("code/__torch__/net.py", "saved"),
        ("code/__torch__/torch/nn/modules/conv.py", "library"),
    ],
)
def test_whose_file_a_file_is(file: str, kind: str) -> None:
    assert file_kind(file) == kind


def test_an_empty_trace_has_no_lines() -> None:
    outcome = source_outcome(empty_trace())
    assert (outcome.files, outcome.nodes) == ((), ())
