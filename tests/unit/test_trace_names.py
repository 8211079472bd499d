"""Processes that write into one folder at the same time do not overwrite each other's traces."""

from __future__ import annotations

import os
import time
from pathlib import Path

from freeze_engine.captures.trace_names import TraceNames


def test_a_run_replaces_the_traces_of_an_ended_run(tmp_path: Path) -> None:
    (tmp_path / "job-1.fztrace").write_text("of yesterday")
    names = TraceNames(tmp_path, "job", None, time.time_ns())
    assert (names.of(1), names.of(12)) == ("job-1.fztrace", "job-12.fztrace")


def test_a_run_leaves_the_traces_of_another_that_goes_on_alone(tmp_path: Path) -> None:
    first = TraceNames(tmp_path, "job", None, time.time_ns())
    (tmp_path / first.of(1)).write_text("of the first")
    first.take(1)
    second = TraceNames(tmp_path, "job", None, time.time_ns())
    assert second.of(1) == f"job-run{os.getpid()}-1.fztrace"
    (tmp_path / second.of(1)).write_text("of the second")
    second.take(1)
    third = TraceNames(tmp_path, "job", None, time.time_ns())
    assert third.of(1) == f"job-run{os.getpid()}.2-1.fztrace"
    first._release()
    assert TraceNames(tmp_path, "job", None, time.time_ns()).of(1) == "job-1.fztrace"
    second._release()


def test_a_child_with_the_number_of_an_ended_child_of_this_run_takes_another_name(tmp_path: Path) -> None:
    began_ns = time.time_ns()
    assert TraceNames(tmp_path, "job", 1234, began_ns).of(1) == "job-p1234-1.fztrace"
    (tmp_path / "job-p1234-1.fztrace").write_text("of the ended child")
    assert TraceNames(tmp_path, "job", 1234, began_ns).of(2) == "job-p1234.2-2.fztrace"
    minute_ns = 60 * 10**9
    assert TraceNames(tmp_path, "job", 1234, time.time_ns() + minute_ns).of(1) == "job-p1234-1.fztrace"
