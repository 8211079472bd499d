"""Checks a sweep: each recording against expectations, and all of them against an earlier sweep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from freeze_engine.analysis.expectations.expectations import Expectations
from freeze_engine.analysis.expectations.result import Finding
from freeze_engine.errors import TraceFileError
from freeze_engine.serde import load
from freeze_engine.sweep.change_kinds import CHANGES, ChangeKind
from freeze_engine.sweep.compare import SweepChange, diff_sweeps
from freeze_engine.sweep.folder import Sweep
from freeze_engine.sweep.row import SweepRow

_BASELINE: Final = "baseline"


@dataclass(frozen=True, slots=True)
class CheckedRow:
    """A recording with the answers to its expectations.

    Attributes:
        row: the recording.
        findings: one for each expectation; of changes since the baseline only those that became worse.
        failed_before: whether the freeze failed, as it did in the baseline, which is no failure of the check.
    """

    row: SweepRow
    findings: tuple[Finding, ...]
    failed_before: bool = False

    @property
    def failures(self) -> tuple[Finding, ...]:
        """Findings that are not ok."""
        return tuple(finding for finding in self.findings if finding.outcome != "ok")


def check_sweep(
    found: Sweep,
    expected: Expectations,
    baseline: Sweep | None = None,
    watched: Sequence[ChangeKind] = CHANGES,
) -> tuple[CheckedRow, ...]:
    """Checks all recordings of a sweep.

    Args:
        found: the sweep.
        expected: of each recording. The freeze must have come to its end, unless it did not in the baseline either.
        baseline: an earlier sweep; ``None`` for none.
        watched: what must not be worse than in the baseline.

    Returns:
        One entry for each recording, those that the sweep has not made yet and those that only the baseline has last.
    """
    diff = None if baseline is None else diff_sweeps(baseline.rows, found.rows)
    changes = () if diff is None else tuple(change for change in diff.worse if change.kind in watched)
    failed = () if diff is None else tuple(id(after) for before, after in diff.pairs if not before.is_recorded)
    checked = [_checked(found, row, expected, changes, id(row) in failed) for row in found.rows]
    waiting = [
        CheckedRow(SweepRow(key=label, model=label, options="", backend="", status="killed"), (_missing(),))
        for label in found.waiting
    ]
    gone = () if diff is None else diff.gone
    return (*checked, *waiting, *(CheckedRow(row, (_gone(),)) for row in gone if "freeze" in watched))


def _checked(
    found: Sweep, row: SweepRow, expected: Expectations, changes: Sequence[SweepChange], was_failing: bool
) -> CheckedRow:
    findings = [_freeze(row, was_failing)]
    if not expected.empty and row.is_recorded:
        findings += _of_trace(found.trace_path(row), expected)
    for change in changes:
        if change.after is row:
            wanted = f"{change.kind.replace('_', ' ')} no worse than in the baseline"
            findings.append(Finding(f"{_BASELINE}_{change.kind}", wanted, "failed", _sentence(change.message)))
    return CheckedRow(row, tuple(findings), was_failing and not row.is_recorded)


def _of_trace(path: Path | None, expected: Expectations) -> Iterator[Finding]:
    if path is None or not path.is_file():
        yield Finding("trace", "the trace is there", "cannot tell", f"There is no file {path}.")
        return
    try:
        trace = load(path)
    except TraceFileError as error:
        yield Finding("trace", "the trace can be read", "cannot tell", _sentence(str(error)))
    else:
        yield from expected.evaluate(trace)


def _freeze(row: SweepRow, was_failing: bool) -> Finding:
    wanted = "the freeze comes to its end"
    if row.is_recorded:
        return Finding("freeze", wanted, "ok", "It did.")
    message = _sentence(f"{row.status.replace('_', ' ')}: {row.reason}")
    if was_failing:
        return Finding("freeze", f"{wanted}, or did not in the baseline either", "ok", message)
    return Finding("freeze", wanted, "failed", message, (), f"To see why: {row.command}" if row.command else "")


def _missing() -> Finding:
    remedy = "Run freezer-ui sweep again: it goes on."
    return Finding("freeze", "it is recorded", "cannot tell", "It is not recorded yet.", (), remedy)


def _gone() -> Finding:
    return Finding(f"{_BASELINE}_freeze", "it is recorded, as in the baseline", "cannot tell", "This sweep has none.")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith(".") else ".")
