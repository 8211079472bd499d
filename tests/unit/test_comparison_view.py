from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings

import freeze_engine as fe
from tests.builders import empty_trace, failed_trace, small_trace, traces
from viewer.page import comparison_data
from viewer.views.graph_data import graph_data


def without_step(trace: fe.Trace, index: int) -> fe.Trace:
    """The trace without one step, and without what refers to steps by number."""
    steps = [step for step in trace.steps if step.index != index]
    numbered = tuple(replace(step, index=place) for place, step in enumerate(steps))
    return replace(trace, steps=numbered, attributes=(), near_misses=(), notices=())


def test_the_same_trace_twice_shows_no_difference():
    trace = small_trace()
    found = comparison_data(trace, trace, charted=False)["comparison"]
    assert found["empty"]
    assert not any(row["differs"] for row in found["rows"])
    assert not any(row["fields"] for row in found["attributes"])
    assert (found["settings"], found["failures"], found["near_misses"]) == ([], [None, None], [[], []])


def test_the_steps_of_both_stand_in_one_list():
    trace = small_trace()
    count = len(trace.steps)
    data = comparison_data(trace, trace, charted=False)
    steps = data["view"]["steps"]
    assert [step["index"] for step in steps] == list(range(2 * count))
    assert [step["label"] for step in steps[count - 1 : count + 1]] == [f"A {count - 1}", "B 0"]
    for one, other in zip(steps[:count], steps[count:], strict=True):
        assert other["before"] == (None if one["before"] is None else one["before"] + count)
        for table, place in (("codes", "code"), ("aliases", "aliases")):
            kept = data["view"][table]
            assert (one[place] is None) is (other[place] is None)
            assert one[place] is None or kept[one[place]] == kept[other[place]]


def test_the_second_trace_begins_with_a_graph_of_its_own():
    trace = small_trace()
    count = len(trace.steps)
    graph = comparison_data(trace, trace, charted=False)["graph"]
    alone = graph_data(trace)["steps"]
    assert [(step["before"], step["after"]) for step in graph["steps"][:count]] == [
        (step["before"], step["after"]) for step in alone
    ]
    assert [step["before"] is None for step in graph["steps"][count:]] == [step["before"] is None for step in alone]
    # The same graphs are written once.
    assert [step["after"] for step in graph["steps"][count:]] == [step["after"] for step in alone]


def test_a_pass_of_one_trace_is_shown_against_the_other_at_that_moment():
    trace = small_trace()
    count = len(trace.steps)
    rows = comparison_data(trace, without_step(trace, 8), charted=False)["comparison"]["rows"]
    (row,) = [row for row in rows if row["b"] is None]
    assert (row["a"], row["shown"], row["graph"], row["differs"]) == (8, [8, count + 7], None, True)
    rows = comparison_data(without_step(trace, 8), trace, charted=False)["comparison"]["rows"]
    (row,) = [row for row in rows if row["a"] is None]
    assert (row["b"], row["shown"]) == (count - 1 + 8, [7, count - 1 + 8])


def test_a_method_of_one_trace_only_stands_alone():
    trace = small_trace()
    forward = tuple(step for step in trace.steps if step.method == "forward")
    other = replace(
        trace,
        steps=tuple(replace(step, index=place) for place, step in enumerate(forward)),
        attributes=(),
        near_misses=(),
        notices=(),
    )
    rows = comparison_data(trace, other, charted=False)["comparison"]["rows"]
    assert [row["shown"][1] for row in rows if row["method"] == "describe"] == [None] * 4


def test_attributes_that_met_another_fate_come_first():
    trace = small_trace()
    last = trace.attributes[-1]
    kept = next(fate for fate in trace.attributes if fate.fate == "folded")
    others = tuple(replace(fate, fate="dropped") if fate is kept else fate for fate in trace.attributes if fate != last)
    rows = comparison_data(trace, replace(trace, attributes=others), charted=False)["comparison"]["attributes"]
    assert len(rows) == len(trace.attributes)
    assert {row["path"] for row in rows[:2]} == {last.path, kept.path}
    told = {row["path"]: row for row in rows}
    assert (told[last.path]["fields"], told[last.path]["b"]) == (["only in one"], None)
    assert told[kept.path]["fields"] == ["fate"]
    assert (told[kept.path]["a"]["fate"], told[kept.path]["b"]["fate"]) == ("folded", "dropped")


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"name": "other"}, ["Net « naïve » <b>", "other"]),
        ({}, ["Net « naïve » <b>"] * 2),
        ({"created": "2026-03-04T05:06:07Z"}, ["Net « naïve » <b>, 2026-01-02", "Net « naïve » <b>, 2026-03-04"]),
        ({"created": "2026-01-02T05:06:07+00:00"}, ["Net « naïve » <b>, 03:04:05", "Net « naïve » <b>, 05:06:07"]),
        ({"backend": "inductor"}, ["Net « naïve » <b>, torchscript", "Net « naïve » <b>, inductor"]),
    ],
)
def test_traces_of_one_name_are_labelled_by_their_difference(changes, names):
    first = small_trace()
    assert comparison_data(first, replace(first, **changes), charted=False)["comparison"]["names"] == names


def test_steps_that_the_second_trace_names_are_those_of_the_common_list():
    trace = small_trace()
    count = len(trace.steps)
    for row in comparison_data(trace, trace, charted=False)["comparison"]["attributes"]:
        assert row["b"]["step"] == (None if row["a"]["step"] is None else row["a"]["step"] + count)
        for one, other in zip(row["a"]["evidence"], row["b"]["evidence"], strict=True):
            assert other["step"] == (None if one["step"] is None else one["step"] + count)


def test_latencies_stand_side_by_side_and_no_verdict_is_drawn():
    trace = small_trace()
    rows = comparison_data(trace, trace, charted=False)["comparison"]["rows"]
    measured = next(row for row in rows if row["latency"])
    text = "90.0 µs (88.5–92.3 µs)"
    assert measured["latency"] == [{"device": "cpu", "a": text, "b": text}]


def test_a_file_that_was_edited_keeps_both_texts():
    trace = small_trace()
    (source,) = trace.sources[:1]
    edited = replace(source, lines=("# a new first line", *source.lines[1:]))
    other = replace(trace, sources=(edited, *trace.sources[1:]))
    data = comparison_data(trace, other, charted=False)
    files = {row["file"]: row["lines"] for row in data["view"]["sources"]}
    assert files[source.file] == list(source.lines)
    assert files[f"{source.file} (B)"] == list(edited.lines)
    assert data["comparison"]["empty"]


def test_a_scripted_function_which_torch_dedents_is_of_the_same_file():
    trace = small_trace()
    (source,) = trace.sources[:1]
    dedented = replace(source, lines=tuple(line[2:] if line.startswith("  ") else line for line in source.lines))
    assert dedented != source
    data = comparison_data(trace, replace(trace, sources=(dedented, *trace.sources[1:])), charted=False)
    assert not any(row["file"].endswith(" (B)") for row in data["view"]["sources"])


def test_charts_have_both_traces_in_every_figure():
    trace = small_trace()
    for items in comparison_data(trace, trace)["charts"].values():
        assert [item["title"] for item in items] == ["Latency", "Numeric error", "Constants", "Nodes"]
        for item in items:
            text = json.dumps(item["item"])
            assert '"A: ' in text
            assert '"B: ' in text
            assert "-0.14" in text  # A's first point stands left of its place, and B's right of it
    assert "different runs" in items[0]["note"]


@pytest.mark.parametrize("first", [empty_trace(), failed_trace(), small_trace()], ids=repr)
@pytest.mark.parametrize("second", [empty_trace(), failed_trace(), small_trace()], ids=repr)
def test_any_state_of_a_trace_can_be_compared(first, second):
    data = comparison_data(first, second, charted=False)
    json.dumps(data, allow_nan=False)
    failed = [trace.failure is not None for trace in (first, second)]
    assert [text is not None for text in data["comparison"]["failures"]] == (
        failed if failed[0] != failed[1] else [False] * 2
    )


def test_equal_traces_give_equal_data():
    assert comparison_data(small_trace(), failed_trace(), charted=False) == comparison_data(
        small_trace(), failed_trace(), charted=False
    )


@given(traces(), traces())
@settings(max_examples=5, deadline=None)
def test_the_payload_is_json_and_every_shown_pair_is_of_one_method(first, second):
    data = comparison_data(first, second, charted=False)
    json.dumps(data, allow_nan=False)
    steps = data["view"]["steps"]
    for row in data["comparison"]["rows"]:
        shown = [steps[place] for place in row["shown"] if place is not None]
        assert shown
        assert {step["method"] for step in shown} == {row["method"]}
        assert [step["side"] for step in shown] == sorted({step["side"] for step in shown})


def test_the_summary_of_two_traces_says_what_changed_and_where_to_look() -> None:
    trace = small_trace()
    fate = next(each for each in trace.attributes if each.fate == "folded")
    kept = tuple(
        replace(each, fate="preserved", reason="requested", step=None, locations=()) if each is fate else each
        for each in trace.attributes
    )
    last = replace(trace.steps[-1], constant_bytes=trace.steps[-1].constant_bytes + 2048)
    other = replace(trace, attributes=kept, steps=(*trace.steps[:-1], last))
    found = comparison_data(trace, other, charted=False)["comparison"]["summary"]
    assert found["sentences"] == [fe.summarize(trace).sentence, fe.summarize(other).sentence]
    told = {change["subject"]: change["text"] for change in found["changes"]}
    assert fate.path in told["weights"]
    assert told["bytes"].endswith("(+2.00 KiB)")
    assert comparison_data(trace, trace, charted=False)["comparison"]["summary"]["changes"] == []
