from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings

import freeze_engine as fe
from freeze_engine.analysis import FateDiff, FinalDiff, GraphDiff, LatencyPair, NodeChange
from freeze_engine.trace import (
    AliasEntry,
    Block,
    ChainLink,
    Constant,
    Evidence,
    Location,
    NearMiss,
    Numerics,
    OutputError,
    Rewrite,
    Value,
    Write,
)
from tests.builders import attribute, empty_trace, failed_trace, node, small_trace, synthetic_trace, tensor, traces

IDS = {"id", "node", "neighbour", "consumed", "produced"}
VALUES = {"name", "inputs", "outputs", "value", "targets"}
NAMED = (
    *(fe.Node, Value, Block, fe.GraphSnapshot, Rewrite, NearMiss),
    *(Write, AliasEntry, Evidence, ChainLink, Location),
)


def renamed(value: Any, ids: Callable[[str], str], values: Callable[[str], str], field: str = "") -> Any:
    """Returns part of a trace with other node ids and value names, wherever these stand."""
    if isinstance(value, str):
        if value.startswith("WILDCARD") or not value:
            return value
        return ids(value) if field in IDS else values(value) if field in VALUES else value
    if isinstance(value, tuple):
        return tuple(renamed(entry, ids, values, field) for entry in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    found = {each.name: getattr(value, each.name) for each in fields(value)}
    named = isinstance(value, NAMED)
    return replace(value, **{name: renamed(entry, ids, values, name if named else "") for name, entry in found.items()})


def shuffled(trace: fe.Trace) -> Callable[[str], str]:
    """Returns a permutation of the names without a scope; those with one get an ending."""
    graphs = [step.graph for step in trace.steps]
    names = {value.name for graph in graphs for value in graph.inputs}
    names |= {one.id for graph in graphs for one in graph.walk()}
    names |= {value.name for graph in graphs for one in graph.walk() for value in one.outputs}
    names |= {value.name for graph in graphs for one in graph.walk() for block in one.blocks for value in block.inputs}
    plain = sorted(name for name in names if "/" not in name)
    other = dict(zip(plain, reversed(plain), strict=True))
    return lambda name: other.get(name, f"{name}°")


def network(*layers: str, counted_from: int = 0, line: int = 10) -> fe.Trace:
    """A chain of linear layers, recorded in two steps: inlined, and with attributes as constants."""
    names = [f"%{number + counted_from}" for number in range(3 * len(layers))]
    inlined: list[fe.Node] = []
    frozen: list[fe.Node] = []
    value = "x"
    for number, layer in enumerate(layers):
        module, weight, result = names[3 * number : 3 * number + 3]
        inlined += [
            attribute(module, layer),
            attribute(weight, "weight", module),
            node(result, "aten::linear", f"{value} {weight}", module=layer, line=line + number),
        ]
        kept = tensor(f"self.{layer}.weight", 4, 4, digest=f"{layer:0>16}")
        frozen += [kept, replace(inlined[-1], inputs=(value, kept.outputs[0].name))]
        value = result
    inputs = (Value("self", "__torch__.Net"), Value("x", "Tensor"))
    graphs = [fe.GraphSnapshot(inputs, tuple(nodes), (value,)) for nodes in (inlined, frozen)]
    steps = (
        fe.Step(0, "inline", "Inline", "forward", graphs[0], True),
        fe.Step(1, "freeze_module", "PropagateAttributes", "forward", graphs[1], True),
    )
    return replace(empty_trace(), steps=steps)


@given(traces())
@settings(max_examples=30, deadline=None)
def test_a_trace_does_not_differ_from_itself(trace):
    found = fe.diff_traces(trace, trace)
    assert found.empty
    assert found.after == trace
    assert [(step.before, step.after) for step in found.steps] == [
        (step.index, step.index) for method in trace.methods for step in trace.method_steps(method)
    ]


@given(traces())
@settings(max_examples=30, deadline=None)
def test_names_make_no_difference(trace):
    other = shuffled(trace)
    found = fe.diff_traces(trace, renamed(trace, other, other))
    assert found.empty
    assert found.after == trace


@pytest.mark.parametrize("trace", [small_trace(), failed_trace(), empty_trace(), synthetic_trace(200, 5)], ids=repr)
def test_names_make_no_difference_wherever_they_stand(trace):
    found = fe.diff_traces(trace, renamed(trace, "n.{}".format, "v.{}".format))
    assert found.empty
    assert found.after == trace


@given(traces(), traces())
@settings(max_examples=30, deadline=None)
def test_any_two_traces_can_be_compared(before, after):
    found = fe.diff_traces(before, after)
    fe.check_trace(found.after)
    assert [step.before for step in found.steps if step.before is not None and step.method in before.methods] == [
        step.index for method in before.methods for step in before.method_steps(method)
    ]
    assert sorted(step.after for step in found.steps if step.after is not None) == list(range(len(after.steps)))
    for step, own in zip(found.after.steps, after.steps, strict=True):
        assert [(one.op, len(one.outputs), one.module) for one in step.graph.walk()] == [
            (one.op, len(one.outputs), one.module) for one in own.graph.walk()
        ]


def test_one_layer_more_is_all_that_was_added():
    found = fe.diff_traces(network("first", "last"), network("first", "second", "last", counted_from=100))
    inline, propagate = (step.graph for step in found.steps)
    assert inline == GraphDiff(
        added=("%103", "%104", "%105"), changed=(NodeChange("%5", ("inputs", "source")),), kept=5
    )
    assert propagate == GraphDiff(
        added=("self.second.weight", "%105"), changed=(NodeChange("%5", ("inputs", "source")),), kept=3
    )
    assert [step.differs for step in found.steps] == [True, True]
    assert found.steps[1].op_deltas == (("aten::linear", 1), ("prim::Constant", 1))
    assert found.finals == (FinalDiff("forward", 1, 1, propagate, found.steps[1].op_deltas),)


def test_one_layer_less_is_all_that_was_removed():
    found = fe.diff_traces(network("first", "second", "last"), network("first", "last"))
    assert found.finals[0].graph == GraphDiff(
        removed=("self.second.weight", "%5"), changed=(NodeChange("%8", ("inputs", "source")),), kept=3
    )


def test_lines_that_moved_are_no_difference():
    assert fe.diff_traces(network("a", "b"), network("a", "b", line=40)).empty


def test_numbers_in_class_names_are_no_difference():
    trace = network("a", "b")
    steps = [
        replace(step, graph=replace(step.graph, inputs=(Value("self", name), *step.graph.inputs[1:])))
        for step, name in zip(trace.steps, ["__torch__.___torch_mangle_7.Net"] * 2, strict=True)
    ]
    found = fe.diff_traces(trace, replace(trace, steps=tuple(steps)))
    assert found.empty
    assert found.after.steps == trace.steps


def test_other_weights_are_a_difference_of_constants():
    trace = network("a")
    kept, product = trace.steps[1].graph.nodes
    other = replace(kept, constant=replace(kept.constant, digest="f" * 16))
    graph = replace(trace.steps[1].graph, nodes=(other, product))
    found = fe.diff_traces(trace, replace(trace, steps=(trace.steps[0], replace(trace.steps[1], graph=graph))))
    assert [step.differs for step in found.steps] == [False, True]
    assert found.steps[1].graph == GraphDiff(changed=(NodeChange("self.a.weight", ("constant",)),), kept=1)


def test_a_small_constant_with_other_values_is_the_same_node():
    trace = network("a")
    kept, product = trace.steps[1].graph.nodes

    def printed(values: str, digest: str) -> fe.Trace:
        small = replace(kept, attributes=(("value", values),), constant=replace(kept.constant, digest=digest * 16))
        graph = replace(trace.steps[1].graph, nodes=(small, product))
        return replace(trace, steps=(trace.steps[0], replace(trace.steps[1], graph=graph)))

    found = fe.diff_traces(printed(" 1  2 [ CPUFloatType{2} ]", "a"), printed(" 3  4 [ CPUFloatType{2} ]", "b"))
    assert found.steps[1].graph == GraphDiff(changed=(NodeChange("self.a.weight", ("attributes", "constant")),), kept=1)


def test_statistics_that_were_summed_up_in_another_order_are_no_difference():
    trace = network("a")
    kept, product = trace.steps[1].graph.nodes

    def summed(mean: float) -> fe.Trace:
        other = replace(kept, constant=replace(kept.constant, mean=mean))
        graph = replace(trace.steps[1].graph, nodes=(other, product))
        return replace(trace, steps=(trace.steps[0], replace(trace.steps[1], graph=graph)))

    found = fe.diff_traces(summed(0.1), summed(0.10000000000000002))
    assert found.empty
    assert found.after.steps == found.before.steps


@pytest.mark.parametrize(("name", "same"), [("_mkl_reorder_linear_weight", True), ("_frozen_param0", False)])
def test_padding_of_packed_weights_is_ignored(name, same):
    def packed(digest: str) -> fe.Trace:
        trace = empty_trace()
        held = replace(tensor(name, 2, 2), constant=Constant((2, 2), "float32", "cpu", 16, digest=digest * 16))
        graph = fe.GraphSnapshot((), (held, node("y", "f::g", name)), ("y",))
        return replace(trace, steps=(fe.Step(0, "input", "input", "forward", graph, changed=True),))

    assert fe.diff_traces(packed("1"), packed("2")).empty is same
    assert fe.diff_traces(packed("1"), packed("1")).empty


def test_a_name_that_means_something_else_gets_a_number():
    before, after = network("a"), network("a", "b", counted_from=-1)
    found = fe.diff_traces(before, after)
    added = found.steps[0].graph.added
    assert set(added).isdisjoint(one.id for step in before.steps for one in step.graph.walk())
    assert added == ("%2'2", "%3", "%4")


def test_steps_of_one_trace_only_stand_where_they_would_run():
    trace = small_trace()
    without = replace(trace, steps=tuple(step for step in trace.steps if step.index not in (8, 9)))
    steps = tuple(replace(step, index=index) for index, step in enumerate(without.steps))
    found = fe.diff_traces(trace, replace(without, steps=steps, attributes=(), near_misses=(), notices=()))
    places = [(step.before, step.after) for step in found.steps if step.method == "forward"]
    assert places == [(0, 0), (2, 2), (4, 4), (6, 6), (7, 7), (8, None), (9, None), (10, 8)]
    assert [step.before for step in found.steps if step.graph is None] == [8, 9]


def test_persisting_difference_is_carried():
    found = fe.diff_traces(network("a"), network("b"))
    assert [step.carried for step in found.steps] == [False, False]
    trace = network("a", "b")
    steps = (*trace.steps, replace(trace.steps[1], index=2, name="EliminateDeadCode", changed=False))
    other = network("a", "c", "b")
    others = (*other.steps, replace(other.steps[1], index=2, name="EliminateDeadCode", changed=False))
    found = fe.diff_traces(replace(trace, steps=steps), replace(other, steps=others))
    assert [(step.differs, step.carried) for step in found.steps] == [(True, False), (True, False), (True, True)]


def test_fates_that_differ_say_how():
    trace = small_trace()
    first, gone = [fate for fate in trace.attributes if fate.fate == "folded"][:2]
    others = [fate for fate in trace.attributes if fate not in (first, gone)]
    other = replace(first, fate="dropped", locations=(), step=None)
    found = fe.diff_traces(trace, replace(trace, attributes=tuple(sorted([*others, other], key=lambda one: one.path))))
    assert found.attributes == tuple(
        sorted(
            [FateDiff(first.path, first, other, ("fate", "step", "locations")), FateDiff(gone.path, gone, None)],
            key=lambda diff: diff.path,
        )
    )


def test_requests_are_compared():
    trace = small_trace()
    changed = replace(
        trace,
        options=(("optimize_numerics", "False"),),
        environment=replace(trace.environment, threads=trace.environment.threads + 1),
        inputs=(),
    )
    found = {(diff.subject, diff.name): (diff.before, diff.after) for diff in fe.diff_traces(trace, changed).settings}
    assert found["environment", "threads"] == (str(trace.environment.threads), str(trace.environment.threads + 1))
    assert found["options", "optimize_numerics"][1] == "False"
    assert {after for (subject, _), (_, after) in found.items() if subject == "inputs"} == {None}


def test_near_misses_are_compared_under_the_same_names():
    trace = small_trace()
    (miss, *others) = trace.near_misses
    value = trace.steps[miss.step].graph.inputs[-1].name
    told = replace(trace, near_misses=(replace(miss, detail=f"%{miss.node} reads %{value}, %unknown."), *others))
    other = renamed(told, "n.{}".format, "v.{}".format)
    own = replace(other.near_misses[0], detail=f"%n.{miss.node} reads %v.{value}, %unknown.")
    found = fe.diff_traces(told, replace(other, near_misses=(own, *other.near_misses[1:])))
    assert found.after == told


def test_latencies_of_two_runs_stand_side_by_side_without_a_verdict():
    trace = small_trace()
    found = fe.diff_traces(trace, replace(trace, steps=tuple(replace(step, latency=()) for step in trace.steps)))
    assert found.empty
    assert found.steps[0].latency == (LatencyPair("cpu", trace.steps[0].latency[0], None),)


def test_errors_count_where_only_one_is_past_tolerance():
    trace = small_trace()
    past = (Numerics("eager", (OutputError("0", 1.0, 1.0, 0.0, 0, False),)),)
    slight = (Numerics("eager", (OutputError("0", 1e-9, 1e-9, 150.0, 0, True),)),)
    for numerics, differs in ((past, True), (slight, False)):
        found = fe.diff_traces(
            trace, replace(trace, steps=(replace(trace.steps[0], numerics=numerics), *trace.steps[1:]))
        )
        assert found.steps[0].differs is differs
        assert found.empty is not differs


def test_a_freeze_that_failed_differs_from_one_that_did_not():
    trace = failed_trace()
    found = fe.diff_traces(trace, replace(trace, failure=None))
    assert found.failures == (trace.failure, None)
    assert not found.empty
