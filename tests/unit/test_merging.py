"""Several compiled graphs as the methods of one trace, on hand-built traces."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from freeze_engine.backends.common.source_text import merged_lines
from freeze_engine.backends.inductor.merge_graphs import Part, merged, method_names
from freeze_engine.trace import (
    AttributeFate,
    Environment,
    Evidence,
    Failure,
    Fate,
    GraphSnapshot,
    Location,
    NearMiss,
    Node,
    Notice,
    Reason,
    SourceLines,
    SourceRef,
    Step,
    Trace,
    Value,
)
from freeze_engine.trace.validation import check_trace

HERE = Environment("2.13.0", "3.11", "linux", "cpu", (), 2, (("inductor.freezing", "True"),))
FIRST, SECOND = "forward", "forward, graph 2 (after a graph break)"


def graph(*names: str) -> GraphSnapshot:
    nodes = tuple(Node(name, "aten.relu.default", ("x",), (Value(name, "Tensor"),)) for name in names)
    return GraphSnapshot((Value("x", "Tensor"),), nodes, (names[-1],))


def fate(path: str, met: Fate, reason: Reason | None = None, value: str | None = None, step: int = 1) -> AttributeFate:
    evidence = (Evidence("the graph writes it", "forward", 0, "a", "aten.relu.default", SourceRef("m.py", 3)),)
    locations = (Location("forward", value),) if value else ()
    return AttributeFate(
        path, "parameter", "Tensor", (2,), "float32", 8, met, reason, evidence if reason else (), "", step, locations
    )


def part(*attributes: AttributeFate, **fields: Any) -> Trace:
    steps = (
        Step(0, "input", "input", "forward", graph("a", "b"), False, log=("Dynamo's compile 0/0",)),
        Step(1, "freezing_passes", "constant_fold", "forward", graph("b"), True),
    )
    trace = Trace("Model", "inductor", "call", (), (), HERE, steps, attributes, duration_ns=5, created="now")
    return replace(trace, **fields)


def test_a_single_graph_is_as_it_was():
    trace = part(fate("w", "inlined", value="b"), notices=(Notice("cache_hit", "hit", 1),))
    assert merged([Part(trace, "forward", "0")]) == trace


def test_graphs_are_methods_and_everything_points_to_the_right_step():
    first = part(fate("w", "inlined", value="b"), fate("z", "dropped"), notices=(Notice("graph_break", "m.py:3", 1),))
    second = part(
        fate("v", "preserved", "mutated_input", "x"),
        near_misses=(NearMiss(1, "conv_bn", "b", "", "dtype", "it is an integer"),),
        notices=(Notice("cache_hit", "hit", 1), Notice("stage_unobserved", "post_grad")),
        failure=Failure("ValueError", "no", "freezing_passes", "constant_fold", "forward", 1),
        sources=(SourceLines("m.py", 4, ("d",)),),
    )
    first = replace(first, sources=(SourceLines("m.py", 2, ("b", "c")),))
    trace = merged([Part(first, "forward", "0", "m.py:3: print"), Part(second, "forward", "1")])
    check_trace(trace)
    told = (f"goes on after a graph break in {FIRST}: m.py:3: print", "Dynamo's compile 0/0")
    assert trace.steps == (
        *first.steps,
        replace(second.steps[0], index=2, method=SECOND, log=told),
        replace(second.steps[1], index=3, method=SECOND),
    )
    (v,) = (each for each in trace.attributes if each.path == "v")
    evidence = Evidence("the graph writes it", SECOND, 2, "a", "aten.relu.default", SourceRef("m.py", 3))
    assert v == replace(second.attributes[0], step=3, evidence=(evidence,), locations=(Location(SECOND, "x"),))
    assert [each.path for each in trace.attributes] == ["v", "w", "z"]
    assert trace.near_misses == (NearMiss(3, "conv_bn", "b", "", "dtype", "it is an integer"),)
    assert trace.notices == (
        Notice("graph_break", "m.py:3", 1),
        Notice("cache_hit", "hit", 3),
        Notice("stage_unobserved", "post_grad"),
    )
    assert trace.failure == Failure("ValueError", "no", "freezing_passes", "constant_fold", SECOND, 3)
    assert trace.sources == (SourceLines("m.py", 2, ("b", "c", "d")),)
    assert trace.duration_ns == 10


def test_attribute_preserved_in_any_graph_is_preserved():
    parts = [
        Part(part(fate("w", "folded", value="b")), "forward", "0"),
        Part(part(fate("w", "preserved", "aliases_output", "x")), "forward", "0"),
        Part(part(fate("w", "dropped")), "forward", "1"),
    ]
    trace = merged(parts)
    check_trace(trace)
    (found,) = trace.attributes
    assert (found.fate, found.reason, found.step) == ("preserved", "aliases_output", 3)
    assert found.evidence[1:] == (Evidence("in forward it is folded", "forward", 1),)
    assert found.locations == (Location("forward", "b"), Location("forward, recompiled", "x"))


def test_attribute_unused_in_all_graphs_is_dropped():
    trace = merged([Part(part(fate("w", "dropped")), "forward", str(frame)) for frame in range(2)])
    assert trace.attributes == (fate("w", "dropped"),)


def test_names_of_methods():
    def named(*told: tuple[str | None, str]) -> tuple[str, ...]:
        return method_names([Part(part(), "run", frame, broken) for frame, broken in told])

    assert named(("0", "")) == ("run",)
    assert named((None, ""), (None, "")) == ("run", "run, graph 2")
    assert named(("3", "m.py:1"), ("4", ""), ("3", ""), ("3", ""), ("4", "")) == (
        "run",
        "run, graph 2 (after a graph break)",
        "run, recompiled",
        "run, recompiled 2 times",
        "run, graph 2 (after a graph break), recompiled",
    )


def test_differing_settings_of_a_later_graph_are_reported():
    other = part(environment=replace(HERE, settings=(("inductor.freezing", "False"),)))
    trace = merged([Part(part(), "forward", "0"), Part(other, "forward", "0")])
    assert [(notice.code, notice.step) for notice in trace.notices] == [("settings_differ", 2)]
    assert "inductor.freezing" in trace.notices[0].message


def test_source_lines_that_touch_are_joined():
    pieces = [SourceLines("b.py", 1, ("x",)), SourceLines("a.py", 5, ("e",)), SourceLines("a.py", 1, ("a", "b"))]
    assert tuple(merged_lines([*pieces, SourceLines("a.py", 2, ("b", "c"))])) == (
        SourceLines("a.py", 1, ("a", "b", "c")),
        SourceLines("a.py", 5, ("e",)),
        SourceLines("b.py", 1, ("x",)),
    )
