"""The suite's own check of every trace that a recording finishes."""

from __future__ import annotations

from dataclasses import replace

import pytest

import freeze_engine as fe
from freeze_engine.backends.common.partial_trace import attach_trace
from tests.builders import small_trace
from tests.finished_traces import FinishedTraces


def broken() -> fe.Trace:
    small = small_trace()
    return replace(small, steps=(small.steps[0], small.steps[0], *small.steps[2:]))


@pytest.mark.makes_broken_traces
def test_a_broken_trace_is_noticed_once(finished_traces: FinishedTraces) -> None:
    attach_trace(ValueError(), small_trace())
    assert finished_traces.take() == []
    attach_trace(ValueError(), broken())
    assert finished_traces.take() == [f"trace {broken().name!r}: {problem}" for problem in fe.problems(broken())]
    assert finished_traces.take() == []
    attach_trace(ValueError(), broken())  # left for the check at the end of the test, which the mark silences
