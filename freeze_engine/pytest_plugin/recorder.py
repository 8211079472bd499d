"""Records the freezes of tests, and fails a test whose freezes are not as expected."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from freeze_engine.analysis.expectations.expectations import Expectations
from freeze_engine.analysis.expectations.result import findings_text
from freeze_engine.captures.block import capture
from freeze_engine.captures.captured import Captured
from freeze_engine.errors import FreezerError
from freeze_engine.pytest_plugin.expected import read_expectations, with_marks
from freeze_engine.serde import save
from freeze_engine.sweep.folder import (
    ROWS,
    TRACES,
    UNFINISHED,
    finish_row,
    holds_something_else,
    is_sweep,
    sweep_name,
    write_manifest,
)
from freeze_engine.sweep.row import SweepRow, read_row
from freeze_engine.sweep.table import can_write_table, write_table
from freeze_engine.sweep.trace_row import trace_columns
from freeze_engine.trace import Trace

_CAPTURED: Final = pytest.StashKey[Captured]()
_DIGITS: Final = 32
_NAME: Final = "the freezes of a test run"


class FreezeRecorder:
    """A plugin of pytest that records each test.

    Args:
        config: of the test run.
        folder: of the traces; it becomes a folder like that of a sweep, with a row for each freeze.

    Raises:
        pytest.UsageError: the folder holds something else, or an expectation cannot be read.
    """

    def __init__(self, config: pytest.Config, folder: Path) -> None:
        self._folder = folder.absolute()
        # With pytest-xdist, the process that hands out the tests runs none.
        self._is_first = not hasattr(config, "workerinput")
        self._unfinished = self._folder / UNFINISHED / str(os.getpid())  # modules are collected by each of its workers
        try:
            self._expected = read_expectations(
                [*config.getini("freezer_expect"), *config.getoption("--freezer-expect")]
            )
            if self._is_first:
                prepare(self._folder)
        except FreezerError as error:
            raise pytest.UsageError(f"--freezer-record: {error}") from error

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, object, object]:
        """Records what a module freezes as it is imported."""
        if not isinstance(collector, pytest.Module):
            return (yield)
        with capture(threads=True) as captured:
            result = yield
        self._keep(collector.nodeid, captured.traces)
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Records a test with its fixtures."""
        with capture(threads=True) as captured:
            item.stash[_CAPTURED] = captured
            result = yield
        del item.stash[_CAPTURED]  # else the traces of all tests stay in memory until the end of the run
        self._keep(item.nodeid, captured.traces)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Fails a test that has passed if one of its freezes was not as expected."""
        result = yield
        expected = with_marks(self._expected, reversed(list(item.iter_markers("freezer"))))
        if not expected.empty:
            text = _failures(item.stash[_CAPTURED].traces, expected)
            if text:
                pytest.fail(text, pytrace=False)
        return result

    def pytest_sessionfinish(self) -> None:
        """Writes the table of all tests' freezes."""
        if not self._is_first:
            return
        rows = sorted(
            (read_row(path.read_text(encoding="utf-8")) for path in (self._folder / ROWS).glob("*.json")),
            key=lambda row: (row.options, row.created),
        )
        write_manifest(self._folder, _NAME, ((row.key, row.label) for row in rows))
        shutil.rmtree(self._folder / UNFINISHED, ignore_errors=True)
        if can_write_table():
            write_table(self._folder, rows)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Says how many freezes were recorded, and how to look at them."""
        count = sum(1 for _ in (self._folder / ROWS).glob("*.json"))
        if count:
            told = f"{count} recorded in {self._folder}; to look at them: freezer-ui {shlex.quote(str(self._folder))}"
        else:
            told = "the tests froze nothing"
        terminalreporter.line(f"freezes: {told}")

    def _keep(self, test: str, traces: Sequence[Trace]) -> None:
        for number, trace in enumerate(traces, 1):
            name = test if len(traces) == 1 else f"{test} ({number})"
            key = hashlib.sha256(name.encode()).hexdigest()[:_DIGITS]
            save(trace, self._unfinished)
            finish_row(self._folder, _row(key, name, trace), self._unfinished)


def _row(key: str, test: str, trace: Trace) -> SweepRow:
    failure = trace.failure
    row = SweepRow(
        key=key,
        model=trace.name or "model",
        options=test,
        backend=trace.backend,
        spec=trace.call,
        status="recorded" if failure is None else "failed",
        reason="" if failure is None else f"{failure.type}: {failure.message.strip().partition(chr(10))[0]}",
        created=trace.created,
    )
    figures: dict[str, Any] = trace_columns(trace)
    return replace(row, **figures)


def prepare(folder: Path) -> None:
    """Makes the folder, and empties that of an earlier run.

    Raises:
        FreezerError: it is a folder with something else, also a sweep's.
    """
    try:
        if is_sweep(folder) and sweep_name(folder) == _NAME:
            for part in (ROWS, TRACES, UNFINISHED):
                shutil.rmtree(folder / part, ignore_errors=True)
        elif is_sweep(folder) or holds_something_else(folder):
            raise FreezerError(f"{folder} holds something else; choose a folder that is empty or not there")
        for part in (ROWS, TRACES, UNFINISHED):
            (folder / part).mkdir(parents=True, exist_ok=True)
        write_manifest(folder, _NAME, ())
    except OSError as error:
        raise FreezerError(f"{folder}: the folder cannot be made: {error.strerror}") from error


def _failures(traces: Sequence[Trace], expected: Expectations) -> str:
    parts = []
    # A freeze that raised has failed its test already, unless the test wants that.
    for trace in (trace for trace in traces if trace.failure is None):
        found = [finding for finding in expected.evaluate(trace) if finding.outcome != "ok"]
        if found:
            head = f"the freeze of {trace.name or 'a model'} ({trace.backend}) is not as expected"
            parts.append("\n".join([head, *findings_text(found)]))
    return "\n\n".join(parts)
