"""The findings of a trace as lines of text: which pass paid off, which moved the numbers, what it did to memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import freeze_engine as fe
from viewer.view_models.findings import duplicate_rows, error_rows, memory_rows
from viewer.view_models.wording import latency_change_text, pass_text

_SHOWN_DUPLICATES: Final = 4
_SHOWN_NAMES: Final = 3


def finding_lines(trace: fe.Trace, metrics: tuple[fe.StepMetrics, ...]) -> Iterator[str]:
    """Yields one line per finding.

    Args:
        trace: the recording.
        metrics: what `freeze_engine.step_metrics` returned for it.
    """
    for entry in metrics:
        where = pass_text(trace.steps[entry.step])
        for change in entry.latency_changes:
            word = "faster" if change.ratio.value < 1 else "slower"
            yield f"{word}: {where}: {latency_change_text(change.ratio, change.since, change.device)}"
        for reference in entry.past_tolerance:
            yield f"past tolerance: {where} is the first, against {reference}"
    yield from _errors(trace)
    yield from _memory(trace)


def _errors(trace: fe.Trace) -> Iterator[str]:
    for row in error_rows(trace):
        before = "unknown" if row["present"] is None else row["present"]
        yield f"largest error of {row['method']}: {before} against float64 before freezing, {row['total']} after it"
        for added in row["added"]:
            worst = f", worst on {added['worst']} inputs" if added["worst"] else ""
            where = pass_text(trace.steps[added["step"]])
            yield f"  {where}: error against eager from {added['from']} to {added['to']}{worst}"


def _memory(trace: fe.Trace) -> Iterator[str]:
    for fact in memory_rows(trace):
        note = f" ({fact['note']})" if fact["note"] else ""
        step = "" if fact["step"] is None else f", since {pass_text(trace.steps[fact['step']])}"
        yield f"memory, {fact['label']}: {fact['value']}{note}{step}"
    rows = sorted(zip(fe.duplicates(trace), duplicate_rows(trace), strict=True), key=lambda pair: -pair[0].nbytes)
    for duplicate, row in rows[:_SHOWN_DUPLICATES]:
        more = f" and {len(row['names']) - _SHOWN_NAMES} more" if len(row["names"]) > _SHOWN_NAMES else ""
        names = ", ".join(row["names"][:_SHOWN_NAMES]) + more
        yield f"held more than once: {row['bytes']}, {names}: {row['kind']}, {pass_text(trace.steps[duplicate.step])}"
    if len(rows) > _SHOWN_DUPLICATES:
        yield f"  and {len(rows) - _SHOWN_DUPLICATES} smaller ones"
