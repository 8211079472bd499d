"""The lines of source of two traces, line beside line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import freeze_engine as fe
from freeze_engine.trace import SourceLines, SourceRef
from tests.builders import small_trace
from viewer.page import comparison_data

FILE = "/home/zoë/model.py"


def source(first: fe.Trace, second: fe.Trace) -> dict[str, Any]:
    return comparison_data(first, second, charted=False)["comparison"]["source"]


def differing(pair: dict[str, Any]) -> dict[tuple[int | None, int | None], list[str]]:
    return {(a, b): told for a, b, _, told in pair["files"][0]["lines"] if told}


def moved(trace: fe.Trace, lines: int) -> fe.Trace:
    """The trace of a file that has some more lines at its top."""

    def later(value: Any) -> Any:
        if isinstance(value, SourceRef):
            return replace(value, line=value.line + lines)
        if isinstance(value, SourceLines):
            return replace(value, lines=("# new",) * lines + value.lines)
        if isinstance(value, tuple):
            return tuple(map(later, value))
        return value

    def node(one: Any) -> Any:
        blocks = tuple(replace(block, nodes=tuple(map(node, block.nodes))) for block in one.blocks)
        return replace(one, source=later(one.source), blocks=blocks)

    graphs = {id(step.graph): step.graph for step in trace.steps}
    new = {key: replace(graph, nodes=tuple(map(node, graph.nodes))) for key, graph in graphs.items()}
    steps = tuple(replace(step, graph=new[id(step.graph)]) for step in trace.steps)
    return replace(trace, steps=steps, sources=later(trace.sources))


def test_the_same_trace_twice_has_no_line_that_differs():
    trace = small_trace()
    pair = source(trace, trace)
    (file,) = pair["files"]
    assert (file["names"], file["kind"], file["edited"]) == ([FILE, FILE], "own", False)
    assert [(a, b) for a, b, _, _ in file["lines"]] == [(line, line) for line in range(1, 14)]
    assert file["lines"][2][2] == trace.sources[0].lines[2]
    assert differing(pair) == {}


def test_outcomes_of_b_have_the_steps_and_nodes_of_the_common_lists():
    trace = small_trace()
    data = comparison_data(trace, trace, charted=False)
    ours, theirs = data["view"]["by_line"], data["comparison"]["source"]["b"]
    shift = len(trace.steps)
    for one, other in zip(ours["files"][0]["lines"], theirs["files"][0]["lines"], strict=True):
        assert [effect["step"] + shift for effect in one["effects"]] == [effect["step"] for effect in other["effects"]]
        assert one["left"] == other["left"]
        assert [[program + len(trace.programs), kernel] for program, kernel in one["kernels"]] == other["kernels"]
    assert [since + shift for _, since, _ in ours["nodes"]["forward"]] == [
        since for _, since, _ in theirs["nodes"]["forward"]
    ]


def test_a_node_of_b_has_its_name_in_the_shown_graph():
    trace = small_trace()
    step = trace.steps[0]
    shape = next(node for node in step.graph.nodes if node.id == "shape")
    renamed = replace(shape, op="aten::ones", id="yes", inputs=(), outputs=(replace(shape.outputs[0], name="yes"),))
    known = {node.id for node in step.graph.walk()}
    assert "yes" in known  # of another node: the shown graph of B calls it otherwise
    graph = replace(step.graph, nodes=(renamed,), inputs=step.graph.inputs, outputs=())
    other = replace(
        trace, steps=(replace(step, graph=graph, aliases=None),), attributes=(), near_misses=(), notices=(), programs=()
    )
    data = comparison_data(trace, other, charted=False)
    ((node, _, _),) = data["comparison"]["source"]["b"]["nodes"]["forward"]
    assert node != "yes"
    assert node in data["graph"]["strings"]


def test_lines_that_only_one_fold_touched_differ_in_passes_remains_and_error():
    trace = small_trace()
    last = trace.steps[8]
    before = next(step for step in reversed(trace.steps[:8]) if step.method == last.method)
    unfolded = {step.index for step in trace.steps[8:] if step.method == last.method}
    steps = tuple(
        replace(step, graph=before.graph, rewrites=()) if step.index in unfolded else step for step in trace.steps
    )
    other = replace(trace, steps=steps, attributes=(), near_misses=(), notices=(), programs=())
    assert differing(source(trace, other))[5, 5] == [
        "what is left of it",
        "the passes that touched it",
        "the error that it brought",
    ]


def test_the_lines_of_an_edited_file_are_aligned_and_keep_their_own_numbers():
    trace = small_trace()
    pair = source(trace, moved(trace, 2))
    (file,) = pair["files"]
    assert (file["names"], file["edited"]) == ([FILE, f"{FILE} (B)"], True)
    assert [(a, b) for a, b, _, _ in file["lines"]] == [
        (None, 1),
        (None, 2),
        *((line, line + 2) for line in range(1, 14)),
    ]
    assert differing(pair) == {}
    assert [row["line"] for row in pair["b"]["files"][0]["lines"]] == [5, 6, 7, 8, 9, 10, 11, 12, 15]


def test_across_backends_only_whether_anything_is_left_is_compared():
    trace = small_trace()
    assert differing(source(trace, replace(trace, backend="inductor"))) == {}
