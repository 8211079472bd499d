from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Literal

from hypothesis import given

from freeze_engine.analysis.step_metrics import (
    LatencyChange,
    StepMetrics,
    latency_changes,
    op_counts,
    past_tolerance,
    step_metrics,
)
from freeze_engine.trace import (
    GraphSnapshot,
    Interval,
    Latency,
    Node,
    Numerics,
    OutputError,
    Rewrite,
    Step,
    Trace,
    Value,
)
from tests.builders import empty_trace, small_trace, traces


def _latency(low: float | None = None, high: float = 0.0, device: str = "cpu", *, claimed: bool = True) -> Latency:
    """A latency with a ratio to the step before; what that says is what its interval says, unless not ``claimed``."""
    unlike = Interval(0.5, 0.4, 0.6)
    first = Latency(device, 1, (), 9, Interval(1000.0, 900.0, 1100.0), None, "baseline")
    if low is None:
        return first
    ratio = Interval((low + high) / 2, low, high)
    return replace(first, ratio=unlike, verdict="faster", previous=ratio, change=_change(ratio, claimed))


def _change(ratio: Interval, claimed: bool) -> Literal["faster", "slower", "no measurable difference"]:
    if not claimed or ratio.low <= 1 <= ratio.high:
        return "no measurable difference"
    return "faster" if ratio.high < 1 else "slower"


def _timed(*latencies: tuple[Latency, ...]) -> Trace:
    trace = small_trace()
    graph = trace.steps[0].graph
    steps = (
        Step(index, "stage", f"pass {index}", "forward", graph, changed=index > 0, latency=latency)
        for index, latency in enumerate(latencies)
    )
    return replace(trace, steps=tuple(steps))


def _compared(reference: Literal["eager", "float64"], close: bool, error: str | None = None) -> Numerics:
    outputs = () if error else (OutputError("0", 0.1, 0.1, 20.0, 0, close),)
    return Numerics(reference, outputs, error)


def test_operators_are_counted_inside_blocks_too() -> None:
    forked = small_trace().steps[8].graph
    assert op_counts(forked) == (
        ("aten::add", 1),
        ("aten::add_", 1),
        ("aten::conv2d", 1),
        ("aten::neg", 1),
        ("aten::relu", 1),
        ("aten::view", 1),
        ("aten::wait", 1),
        ("prim::Constant", 6),
        ("prim::GetAttr", 1),
        ("prim::ListConstruct", 1),
        ("prim::Loop", 1),
        ("prim::fork", 1),
    )


def test_a_step_is_summarised_against_the_one_before_it_of_its_method() -> None:
    trace = small_trace()
    metrics = step_metrics(trace)
    assert [entry.step for entry in metrics] == [step.index for step in trace.steps]
    assert metrics[8] == StepMetrics(
        step=8,
        nodes=17,
        added=2,
        removed=3,
        changed=2,
        ops=op_counts(trace.steps[8].graph),
        op_deltas=(("aten::batch_norm", -1),),
        constant_bytes=80,
        constant_bytes_delta=0,
        duration_ns=8007,
        past_tolerance=("eager",),
    )
    assert metrics[6].latency_changes == (LatencyChange(6, "cpu", 0, Interval(0.88, 0.84, 0.92)),)
    first = metrics[0]
    assert (first.added, first.removed, first.changed, first.op_deltas, first.constant_bytes_delta) == (0, 0, 0, (), 0)
    assert (metrics[4].constant_bytes, metrics[4].constant_bytes_delta) == (80, 80)


def _removing(node: Node, *others: Node) -> Trace:
    """A trace whose second pass removes one node."""
    graph = GraphSnapshot((Value("x", "Tensor"),), (node, *others), ("x",))
    trace = small_trace()
    first = replace(trace.steps[0], graph=graph, rewrites=())
    return replace(trace, steps=(first, replace(first, index=1, graph=replace(graph, nodes=others), changed=True)))


def _node(op: str, *inputs: str) -> Node:
    return Node(f"{op}:{inputs}", op, inputs, (Value(f"{op}:out", "Tensor"),))


def test_a_pass_that_removes_only_what_nothing_reads_only_tidies() -> None:
    unread = _removing(_node("aten::relu", "x"))
    assert [entry.only_tidied for entry in step_metrics(unread)] == [False, True]
    assert not step_metrics(_removing(_node("aten::relu", "x"), _node("aten::neg", "aten::relu:out")))[1].only_tidied
    assert not step_metrics(_removing(_node("aten::relu_", "x")))[1].only_tidied
    assert not step_metrics(_removing(_node("aten.relu_.default", "x")))[1].only_tidied
    folded = replace(unread.steps[1], rewrites=(Rewrite("dropout", ("aten::relu:('x',)",), ()),))
    assert not step_metrics(replace(unread, steps=(unread.steps[0], folded)))[1].only_tidied


def test_a_trace_without_steps_or_measurements() -> None:
    assert step_metrics(empty_trace()) == ()
    unmeasured = _timed((), ())
    assert latency_changes(unmeasured) == ()
    assert past_tolerance(unmeasured) == {}


def test_only_claims_against_the_step_before_are_listed() -> None:
    trace = _timed((_latency(),), (_latency(0.9, 1.01),), (_latency(0.7, 0.8),), (_latency(1.5, 1.7),))
    assert latency_changes(trace) == (
        LatencyChange(2, "cpu", 1, Interval(0.75, 0.7, 0.8)),
        LatencyChange(3, "cpu", 2, Interval(1.6, 1.5, 1.7)),
    )
    assert latency_changes(_timed((_latency(),), (_latency(0.7, 0.8, claimed=False),))) == ()


def test_steps_that_were_not_measured_are_passed_over() -> None:
    trace = _timed((_latency(),), (), (_latency(0.5, 0.6),))
    assert latency_changes(trace) == (LatencyChange(2, "cpu", 0, Interval(0.55, 0.5, 0.6)),)


def test_devices_are_listed_separately() -> None:
    trace = _timed((_latency(), _latency(device="cuda:0")), (_latency(1.5, 1.7), _latency(0.4, 0.6, "cuda:0")))
    assert latency_changes(trace) == (
        LatencyChange(1, "cpu", 0, Interval(1.6, 1.5, 1.7)),
        LatencyChange(1, "cuda:0", 0, Interval(0.5, 0.4, 0.6)),
    )


def test_the_first_step_past_tolerance_is_named_for_each_reference() -> None:
    trace = _timed((), (), (), ())
    numerics = (
        (_compared("eager", True), _compared("float64", False)),
        (_compared("eager", False, error="RuntimeError: no double kernel"),),
        (_compared("eager", False), _compared("float64", False)),
        (_compared("eager", False),),
    )
    steps = tuple(replace(step, numerics=found) for step, found in zip(trace.steps, numerics, strict=True))
    measured = replace(trace, steps=steps)
    assert past_tolerance(measured) == {("forward", "float64"): 0, ("forward", "eager"): 2}
    assert [entry.past_tolerance for entry in step_metrics(measured)] == [("float64",), (), ("eager",), ()]


@given(traces())
def test_every_trace_can_be_summarised(trace: Trace) -> None:
    metrics = step_metrics(trace)
    assert [(entry.step, entry.nodes) for entry in metrics] == [
        (step.index, sum(1 for _ in step.graph.walk())) for step in trace.steps
    ]
    for before, after in pairwise(metrics):
        if trace.steps[before.step].method == trace.steps[after.step].method:
            assert after.nodes - before.nodes == after.added - after.removed == sum(d for _, d in after.op_deltas)
