"""The rows of the source pane."""

from __future__ import annotations

from dataclasses import replace

import pytest

from freeze_engine.analysis import LineEffect, LineError, LineTime
from freeze_engine.trace import RuntimeGraph, SourceLines
from tests.builders import empty_trace, small_trace, tied_trace
from tests.graphs import FILE
from tests.kernel_traces import kernel_trace
from viewer.views.source_lines import effect_text, error_text, source_view, time_text


@pytest.mark.parametrize(
    ("effect", "text"),
    [
        (LineEffect(8, "rewritten", "conv_bn", ("y", "n")), "2 operators rewritten (conv_bn)"),
        (LineEffect(1, "inlined", "", ("a",)), "1 call became the nodes of what it calls"),
        (LineEffect(4, "frozen", "", ("a", "b")), "2 reads of attributes became constant"),
        (LineEffect(7, "removed", "", ("a",)), "1 operator removed"),
    ],
)
def test_effects_are_described_in_words(effect: LineEffect, text: str) -> None:
    assert effect_text(effect) == text


def test_a_shared_time_is_not_divided() -> None:
    assert time_text(LineTime(0, 600.0, 0.0, 1000.0)) == "60% of the time of all kernels, 600 ns"
    shared = time_text(LineTime(0, 100.0, 300.0, 1000.0, untimed=2))
    assert shared.startswith("40% of the time of all kernels, 400 ns; of it 30% in kernels that other lines share")
    assert shared.endswith("2 of its kernels not timed")
    assert time_text(LineTime(0, 1.0, 0.0, 1000.0)).startswith("less than 1% of")
    executed = time_text(LineTime(None, 100.0, 300.0, 1000.0))
    assert executed == "40% of the time of all operators, 400 ns; of it 30% in operators that other lines share"


def test_time_that_belongs_to_no_line_has_a_note() -> None:
    view = source_view(tied_trace())
    times = [time for file in view["files"] for row in file["lines"] for time in row["times"]]
    assert [time["alone"] for time in times if time["of"] == "TorchScript's executor"] == [0.9]
    assert view["notes"]["rest"] == "Not attributed to any line: 10% of the time of all operators."
    assert view["notes"]["time"] == ""


def test_an_error_names_the_other_lines_that_may_have_part_in_it() -> None:
    alone = error_text(LineError(8, 7, 0.0, 0.0003, 1))
    assert alone == "largest error grew from 0 to 3.0e-04"
    assert error_text(LineError(8, 7, 0.0, 0.0003, 3)) == f"{alone}; 2 other lines may have part in it"


def test_unknown_outcome_names_its_remedy() -> None:
    trace = small_trace()
    with_calls = replace(kernel_trace(), call_paths=tied_trace().call_paths)
    assert source_view(with_calls)["notes"] == {"calls": "", "rest": "", "time": "", "error": ""}
    assert "Record again" in source_view(kernel_trace())["notes"]["calls"]
    bare = replace(trace, programs=(), runtime=(), steps=tuple(replace(step, numerics=()) for step in trace.steps))
    notes = source_view(bare)["notes"]
    assert "measure latency on the CPU" in notes["time"]
    on_gpu = RuntimeGraph("forward", None, reason="The kernels are not timed: they run on cuda.")
    assert source_view(replace(bare, runtime=(on_gpu,)))["notes"]["time"].endswith(f"not known. {on_gpu.reason}")
    assert "Record with inputs and measuring" in notes["error"]


def test_a_file_without_text_says_what_to_do_and_where_the_saved_code_is() -> None:
    (file,) = source_view(replace(small_trace(), sources=()))["files"]
    assert (file["file"], file["kind"]) == (FILE, "own")
    assert file["missing"].startswith("The trace has no text of this file")
    assert source_view(small_trace())["files"][0]["missing"] == ""


def test_nodes_point_to_sets_of_lines() -> None:
    trace = small_trace()
    view = source_view(trace)
    named = [[(view["files"][file]["file"], line) for file, line in view["places"]][place] for place in view["sets"][0]]
    assert all(file == FILE for file, _ in named)
    for claims in view["nodes"].values():
        for node, since, place in claims:
            assert node in {each.id for each in trace.steps[since].graph.walk()}
            assert 0 <= place < len(view["sets"])


def test_an_empty_trace_has_no_files() -> None:
    assert source_view(empty_trace())["files"] == []
    assert source_view(replace(empty_trace(), sources=(SourceLines("a.py", 1, ("x",)),)))["files"] == []
