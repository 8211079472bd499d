"""Checks a sweep: each recording against expectations, and all of them against an earlier sweep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from freeze_engine.analysis.expectations.expectations import Expectations
from freeze_engine.analysis.expectations.result import Finding
from freeze_engine.serde import load
from freeze_engine.sweep.change_kinds import CHANGES, ChangeKind
from freeze_engine.sweep.compare import SweepDiff, diff_sweeps
from freeze_engine.sweep.folder import Sweep
from freeze_engine.sweep.row import SweepRow

_BASELINE: Final = "baseline"


@dataclass(frozen=True, slots=True)
class CheckedRow:
    """A recording with the answers to its expectations.

    Attributes:
        row: the recording.
        findings: one for each expectation; of changes since the baseline only those that became worse.
    """

    row: SweepRow
    findings: tuple[Finding, ...]

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
    checked = [CheckedRow(row, tuple(_findings(found, row, expected, diff, watched))) for row in found.rows]
    waiting = [
        CheckedRow(SweepRow(key=label, model=label, options="", backend="", status="killed"), (_missing(),))
        for label in found.waiting
    ]
    gone = () if diff is None else diff.gone
    return (*checked, *waiting, *(CheckedRow(row, (_gone(),)) for row in gone if "freeze" in watched))


def _findings(
    found: Sweep, row: SweepRow, expected: Expectations, diff: SweepDiff | None, watched: Sequence[ChangeKind]
) -> Iterator[Finding]:
    yield _freeze(row, diff)
    if not expected.empty and row.is_recorded:
        path = found.trace_path(row)
        if path is None or not path.is_file():
            yield Finding("trace", "the trace is there", "cannot tell", f"There is no file {path}.")
        else:
            yield from expected.evaluate(load(path))
    changes = () if diff is None else diff.worse
    for change in changes:
        if change.after is row and change.kind in watched:
            wanted = f"{change.kind.replace('_', ' ')} no worse than in the baseline"
            yield Finding(f"{_BASELINE}_{change.kind}", wanted, "failed", _sentence(change.message))


def _freeze(row: SweepRow, diff: SweepDiff | None) -> Finding:
    wanted = "the freeze comes to its end"
    if row.is_recorded:
        return Finding("freeze", wanted, "ok", "It did.")
    message = _sentence(f"{row.status.replace('_', ' ')}: {row.reason}")
    was_failing = diff is not None and any(after is row and not before.is_recorded for before, after in diff.pairs)
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
