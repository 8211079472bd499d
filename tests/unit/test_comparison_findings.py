"""The findings and kernels of two traces side by side, as the views get them."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given, settings

import freeze_engine as fe
from freeze_engine.trace import (
    Block,
    Check,
    Claim,
    GraphSnapshot,
    Interval,
    Node,
    Numerics,
    OutputError,
    RuntimeGraph,
    RuntimeKernel,
)
from tests.builders import failed_trace, small_trace, traces
from tests.two_backends import inductor, torchscript
from viewer.page import comparison_data
from viewer.views import view_data
from viewer.views.comparison.findings import finding_sections

Section = dict[str, Any]


def sections(first: fe.Trace, second: fe.Trace) -> dict[str, Section]:
    return {found["title"]: found for found in comparison_data(first, second, charted=False)["comparison"]["findings"]}


def rows(first: fe.Trace, second: fe.Trace, title: str) -> dict[str, Any]:
    return {found["name"]: found for found in sections(first, second)[title]["rows"]}


def texts(row: dict[str, Any]) -> tuple[str | None, str | None, bool]:
    return row["a"] and row["a"]["text"], row["b"] and row["b"]["text"], row["differs"]


def with_step(trace: fe.Trace, index: int, **fields: Any) -> fe.Trace:
    steps = list(trace.steps)
    steps[index] = replace(steps[index], **fields)
    return replace(trace, steps=tuple(steps))


def with_change(trace: fe.Trace, index: int, ratio: Interval, change: Claim) -> fe.Trace:
    latency = replace(trace.steps[index].latency[0], previous=ratio, change=change)
    return with_step(trace, index, latency=(latency,))


def with_error(trace: fe.Trace, index: int, error: float, close: bool) -> fe.Trace:
    return with_step(trace, index, numerics=(Numerics("eager", (OutputError("0", error, error, 9.0, 0, close, 1.0),)),))


def test_the_same_trace_twice_has_the_same_findings() -> None:
    found = sections(small_trace(), small_trace())
    assert list(found) == [
        "What made it faster", "What changed the results", "Checks of the frozen module", "Memory",
        "What each pass does on its own", "Notices",
    ]  # fmt: skip
    assert not any(row["differs"] for section in found.values() for row in section["rows"])
    assert all(row["a"] == row["b"] for section in found.values() for row in section["rows"])


def runtime(*kernels: RuntimeKernel, fused: int = 0, **fields: Any) -> RuntimeGraph:
    groups = tuple(Node(f"g{number}", "prim::TensorExprGroup", blocks=(Block((), (), ()),)) for number in range(fused))
    return RuntimeGraph("forward", GraphSnapshot((), groups, ()), 3, kernels, **fields)


def test_executors_are_compared_by_what_they_run_and_never_by_their_times() -> None:
    mm, relu = RuntimeKernel("aten::mm", False, 2, 800, 0.8), RuntimeKernel("aten::relu", False, 1, 200, 0.2)
    first = replace(small_trace(), runtime=(runtime(mm, relu),))
    slower = replace(small_trace(), runtime=(runtime(replace(mm, time_ns=9000, share=0.9), relu),))
    title = "What TorchScript's executor runs"
    assert not sections(first, slower)[title]["differs"]
    fused = RuntimeKernel("fused_relu", True, 1, 100, 0.1)
    second = replace(small_trace(), runtime=(runtime(replace(mm, calls=1, share=0.9), fused, fused=1),))
    found = {name: texts(each) for name, each in rows(first, second, title).items()}
    assert found == {
        "Fusion groups": ("none", "1", True),
        "aten::mm": ("80%", "90%", True),
        "aten::relu": ("20%", None, True),
        "fused_relu": (None, "10%", True),
    }


def test_an_executor_that_was_not_looked_at_makes_no_difference() -> None:
    looked = replace(small_trace(), runtime=(runtime(RuntimeKernel("aten::mm", False, 1, 800, 1.0)),))
    failed = replace(small_trace(), runtime=(RuntimeGraph("forward", None, reason="It did not run."),))
    title = "What TorchScript's executor runs"
    for other, text in ((small_trace(), None), (failed, "not known")):
        found = rows(looked, other, title)
        assert texts(found["Fusion groups"]) == ("none", text, False)
        assert not sections(looked, other)[title]["differs"]


def test_a_pass_that_pays_off_in_one_only_differs_where_its_ratios_are_apart() -> None:
    trace = small_trace()
    near = with_change(trace, 6, Interval(0.97, 0.9, 1.04), "no measurable difference")
    row = rows(trace, near, "What made it faster")["ConstantPropagation"]
    assert texts(row) == ("12% less time (8 to 16%)", "3% less time (10% less to 4% more)", False)
    assert (row["a"]["tone"], row["a"]["note"]) == ("good", "measurably faster")
    assert row["b"]["tone"] == "muted"
    assert row["b"]["note"] == "no measurable difference (one of 21% or more would have shown)"
    assert row["a"]["ratio"] == {
        "text": "12% less time (8 to 16%)", "value": 0.88, "low": 0.84, "high": 0.92, "verdict": "faster",
    }  # fmt: skip
    assert row["steps"] == [6, 6 + len(trace.steps)]
    far = with_change(trace, 6, Interval(1.2, 1.1, 1.3), "slower")
    assert texts(rows(trace, far, "What made it faster")["ConstantPropagation"])[2]


def test_differences_come_first_among_and_within_sections() -> None:
    trace = small_trace()
    checks = (*trace.checks, Check("determinism", "passed", "3 freezes did the same."))
    passed = (replace(checks[0], verdict="passed"), checks[1])
    found = comparison_data(replace(trace, checks=checks), replace(trace, checks=passed), charted=False)["comparison"][
        "findings"
    ]
    assert [(section["title"], section["differs"]) for section in found][:2] == [
        ("Checks of the frozen module", True),
        ("What made it faster", False),
    ]
    assert [(row["name"], *texts(row)) for row in found[0]["rows"]] == [
        ("round trip", "failed", "passed", True),
        ("determinism", "passed", "passed", False),
    ]
    assert found[0]["rows"][0]["a"] == {
        "text": "failed",
        "note": "The loaded module gives other numbers.",
        "tone": "bad",
        "details": ["max abs error 0.5"],
        "ratio": None,
    }


def test_a_trace_that_was_not_asked_does_not_differ_by_that() -> None:
    trace = small_trace()
    bare = replace(trace, checks=(), memory=None, ablation=())
    found = sections(trace, bare)
    for title in ("Checks of the frozen module", "Memory", "What each pass does on its own", "Not recorded"):
        assert not found[title]["differs"], title
    assert {row["b"] for row in found["Memory"]["rows"]} == {None}
    absent = rows(trace, bare, "Not recorded")
    assert texts(absent["checks of the frozen module"]) == (None, "not recorded", False)
    assert "--check all" in absent["checks of the frozen module"]["b"]["note"]


@pytest.mark.parametrize(
    ("error", "close", "differs"),
    [
        (3e-4, False, False),
        (5e-4, False, False),  # the last digits are another machine's
        (7e-4, False, True),
        (3e-4, True, True),
        (inf, False, True),
        (nan, False, True),
    ],
)
def test_errors_differ_by_verdict_or_by_more_than_twice(error: float, close: bool, differs: bool) -> None:
    trace = small_trace()
    row = rows(trace, with_error(trace, 8, error, close), "What changed the results").get(
        "FoldFrozenConvBatchnorm, round 1"
    )
    assert row is not None
    assert (row["a"]["text"], row["a"]["tone"], row["differs"]) == ("0 → 3.0e-04", "bad", differs)


def test_a_step_that_moves_the_numbers_in_one_only_differs() -> None:
    trace = small_trace()
    row = rows(trace, with_error(trace, 8, 0.0, True), "What changed the results")["FoldFrozenConvBatchnorm, round 1"]
    assert texts(row) == ("0 → 3.0e-04", "adds nothing", True)
    unmeasured = with_step(trace, 8, numerics=())
    row = rows(trace, unmeasured, "What changed the results")["FoldFrozenConvBatchnorm, round 1"]
    assert row["b"] is None


def test_memory_and_notices_differ_but_a_peak_does_not() -> None:
    trace = small_trace()
    assert trace.memory is not None
    other = replace(trace, memory=replace(trace.memory, peak_bytes=9, saves=True, step=None), notices=trace.notices[:1])
    memory = rows(trace, other, "Memory")
    assert texts(memory["saving"]) == ("does not save and reload", "saves and reloads", True)
    assert (memory["saving"]["steps"], memory["peak memory while freezing"]["differs"]) == ([8, None], False)
    assert texts(rows(trace, other, "Notices")[trace.notices[1].message]) == ("given", None, True)
    assert rows(other, trace, "Memory")["saving"]["steps"] == [None, 8 + len(trace.steps)]


def test_end_of_the_freeze_is_a_finding() -> None:
    row = rows(small_trace(), failed_trace(), "How they ended")["The freeze"]
    assert (row["a"]["text"], row["b"]["tone"], row["differs"]) == ("came to its end", "bad", True)
    assert not rows(failed_trace(), failed_trace(), "How they ended")["The freeze"]["differs"]


def test_contributions_are_compared_by_their_intervals() -> None:
    trace = small_trace()
    entry = trace.ablation[0]
    slower = replace(entry, latency=(replace(entry.latency[0], ratio=Interval(1.1, 1.05, 1.2), verdict="slower"),))
    found = rows(trace, replace(trace, ablation=(slower, trace.ablation[1])), "What each pass does on its own")
    assert texts(found["FoldConvBn"]) == ("30% less time (20 to 40%)", "10% more time (5 to 20%)", True)
    assert found["FoldConvBn"]["a"]["note"] == (
        "measurably faster; error 1.0e-02 past tolerance with it; error 0 without"
    )
    assert texts(found["FoldConvAdd"]) == ("could not be measured", "could not be measured", False)


def test_duplicates_are_summed_with_the_largest_first() -> None:
    trace = small_trace()
    found = view_data(trace)["findings"]

    def holding(*names: str, nbytes: int = 8) -> dict[str, Any]:
        rows = [{"kind": "equal", "names": [name, "x"], "nbytes": nbytes, "step": 2} for name in names]
        return found | {"duplicates": rows}

    def shown(ours: dict[str, Any], theirs: dict[str, Any]) -> list[Any]:
        kept = [one for one in finding_sections(fe.diff_traces(trace, trace), ours, theirs) if "twice" in one["none"]]
        return [(row["name"], *texts(row)) for section in kept for row in section["rows"]]

    assert shown(found, found) == []
    assert shown(holding("a"), holding("a", "b")) == [
        ("In all", "8 B", "16 B", True),
        ("b, x", None, "8 B", True),
        ("a, x", "8 B", "8 B", False),
    ]
    many = [f"n{number}" for number in range(12)]
    assert shown(holding(*many), holding(*many, nbytes=4))[-1] == ("4 more", "32 B", "16 B", True)


def test_across_backends_no_pass_and_no_time_differs_from_another() -> None:
    timed = small_trace()
    other = replace(timed, backend="inductor")
    found = sections(timed, other)
    names = [row["name"] for row in found["What made it faster"]["rows"]]
    assert names.count("ConstantPropagation") == 2
    assert not found["What made it faster"]["differs"]
    one, two = (row for row in found["What made it faster"]["rows"] if row["name"] == "ConstantPropagation")
    assert texts(one) == ("12% less time (8 to 16%)", "no such pass", False)
    assert texts(two) == ("no such pass", "12% less time (8 to 16%)", False)


def test_kernels_stand_beside_each_other_with_both_programs_in_one_list() -> None:
    trace = small_trace()
    data = comparison_data(trace, trace, charted=False)
    steps = len(trace.steps)
    assert [(one["name"], one["side"], one["step"]) for one in data["view"]["programs"]] == [
        ("A compiled with freezing", 0, 10),
        ("A compiled", 0, 10),
        ("B compiled with freezing", 1, steps + 10),
        ("B compiled", 1, steps + 10),
    ]
    first, second = data["comparison"]["programs"]
    assert first == {
        "name": "compiled with freezing",
        "method": "forward",
        "a": 0,
        "b": 2,
        "times": ["1.50 µs (1.40–1.70 µs)"] * 2,
        "ratio": None,
        "groups": [
            {
                "a": [0],
                "b": [0],
                "difference": "same",
                "a_time": "1.50 µs (1.40–1.70 µs)",
                "b_time": "1.50 µs (1.40–1.70 µs)",
                "ratio": None,
            }
        ],
    }
    assert (second["a"], second["b"], second["times"]) == (1, 3, [None, None])
    assert data["comparison"]["without_programs"] == [None, None]


def test_a_trace_without_kernels_says_why() -> None:
    bare = replace(small_trace(), programs=())
    data = comparison_data(bare, replace(small_trace(), backend="inductor"))["comparison"]
    assert data["without_programs"] == [
        "TorchScript generates no kernels: its graph is run operator by operator.",
        None,
    ]
    assert [(pair["a"], pair["b"]) for pair in data["programs"]] == [(None, 0), (None, 1)]
    assert data["programs"][0]["groups"][0]["difference"] == "only in B"
    assert comparison_data(torchscript(), inductor(), charted=False)["comparison"]["without_programs"][1] == (
        "This trace holds no generated code: Inductor reported none, or did not get that far."
    )


@given(traces())
@settings(max_examples=20)
def test_no_trace_differs_from_itself(trace: fe.Trace) -> None:
    found = comparison_data(trace, trace, charted=False)["comparison"]
    assert not any(section["differs"] for section in found["findings"])
    assert all(group["difference"] == "same" for pair in found["programs"] for group in pair["groups"])
