"""One bar for a whole recording: its phases, their widths, and a share that never decreases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import freeze_engine as fe
from freeze_engine.worker import JobProgress, RecordRequest, under_way
from freeze_engine.worker.phases import WHOLE, Course, phase_of, planned

REQUEST = RecordRequest("net.pt", Path("net.fztrace"))
MESSAGES = (
    "importing torch",
    "scripting",
    "freezing: Inline of forward",
    "compiling: layout",
    "compiling without freezing",
    "reading what was recorded",
    "running the model once",
    "preparing to run the steps",
    "latency: round 3 of 60",
    "numerics: comparing step 4",
    "timing the kernels",
    "looking at the executor's graph",
    "ablation: freezing without Pass1",
    "ablation: round 2 of 9",
    "check: idempotence",
    "writing the trace",
    "words that no phase has",
)


@pytest.mark.parametrize(
    ("changes", "has_inputs", "phases"),
    [
        (
            {},
            True,
            "Starting, Scripting, Freezing, Reading what was recorded, Measuring memory, Preparing to measure, "
            "Measuring latency, Comparing numbers, Looking at the executor's graph, Saving",
        ),
        ({}, False, "Starting, Scripting, Freezing, Reading what was recorded, Saving"),
        ({"measure": None, "via": "trace"}, True, "Starting, Tracing, Freezing, Reading what was recorded, Saving"),
        (
            {"backend": "inductor", "measure": fe.Measure(numerics=False)},
            True,
            "Starting, Compiling, Reading what was recorded, Preparing to measure, Measuring latency, Timing kernels, "
            "Saving",
        ),
        (
            {"measure": fe.Measure(latency=False, memory=False), "ablation": True, "checks": ("idempotence",)},
            True,
            "Starting, Scripting, Freezing, Reading what was recorded, Preparing to measure, Comparing numbers, "
            "Looking at the executor's graph, Freezing without each pass, Comparing numbers without each pass, "
            "Checking the frozen module, Saving",
        ),
    ],
)
def test_a_recording_goes_through_the_phases_of_its_request(changes: dict, has_inputs: bool, phases: str) -> None:
    assert ", ".join(planned(replace(REQUEST, **changes), has_inputs=has_inputs)) == phases


def test_a_phase_has_its_part_of_the_bar() -> None:
    course = Course(("Starting", "Measuring latency", "Comparing numbers", "Saving"))  # 6, 50, 15 and 2 wide
    reports = [
        ("importing torch", 0, 3, 0),
        ("loading the model", 1, 3, 27),
        ("latency: warming up eager", 0, 1000, 82),
        ("latency: round 3 of 60", 500, 1000, 424),
        ("latency: round 61, since those so far differ too much", 1000, 1000, 767),
        ("numerics: running the eager module", 0, 1000, 767),
        ("numerics: comparing step 3", 500, 1000, 869),
        ("numerics: comparing step 3", 100, 1000, 869),  # counted anew
        ("words that no phase has", 7, 7, 869),
        ("writing the trace", 0, 0, 972),
    ]
    for message, done, total, share in reports:
        course = course.advanced(message, done, total)
        assert course.done == share, message
    assert (course.phase, course.later) == ("Saving", ())


@given(st.lists(st.tuples(st.sampled_from(MESSAGES), st.integers(-5, 2000), st.integers(0, 1000))))
def test_the_share_never_decreases(reports: list[tuple[str, int, int]]) -> None:
    course, least = Course(planned(replace(REQUEST, checks=("idempotence",)))), 0
    for message, done, total in reports:
        course = course.advanced(message, done, total)
        assert least <= course.done <= WHOLE
        least = course.done


def test_cancelled_recording_names_the_phase_it_waits_for() -> None:
    assert under_way(None) == "what it is doing"
    for message, text in {
        "freezing: Inline of forward": "the pass Inline of forward",
        "freezing": "freezing",
        "latency: round 3 of 9": "measuring latency (round 3 of 9)",
        "loading the model": "starting (loading the model)",
        "check: idempotence": "checking the frozen module (idempotence)",
    }.items():
        assert under_way(JobProgress(message, 1, 3, None, phase_of(message)[0] or "")) == text
