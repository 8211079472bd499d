"""The table of a sweep as text."""

from __future__ import annotations

from collections.abc import Sequence

from freeze_engine import analysis
from freeze_engine.sweep import SweepRow
from viewer.text.sweep_summary import sweep_sentences
from viewer.text.table import paragraph, table_lines


def sweep_text(rows: Sequence[SweepRow]) -> str:
    """Returns the table of some recordings, why some are missing, and the outcome in sentences.

    Args:
        rows: in the order of the table.
    """
    lines = table_lines([_cells(row) for row in rows])
    reasons = [f"{row.label}: {row.status.replace('_', ' ')}: {row.reason}" for row in rows if not row.is_recorded]
    sentences = [line for sentence in sweep_sentences(rows) for line in paragraph(sentence, "  ")]
    return "\n".join([*lines, "", *reasons, *sentences]) + "\n"


def row_line(row: SweepRow) -> str:
    """Returns the result of one recording as a line."""
    if not row.is_recorded:
        return f"{row.label}: {row.status.replace('_', ' ')}: {row.reason}"
    told = [f"{row.label}: recorded in {row.time_s:.1f} s", latency_text(row), error_text(row)]
    return ", ".join(text for text in told if text)


def latency_text(row: SweepRow) -> str:
    """Returns the time after the freeze relative to before, with its interval; empty if it was not measured."""
    ratio, low, high = row.latency_ratio, row.latency_ratio_low, row.latency_ratio_high
    return "" if ratio is None or low is None or high is None else f"{ratio:.2f}× ({low:.2f}–{high:.2f})"


def error_text(row: SweepRow) -> str:
    """Returns the largest error, and whether it is past tolerance; empty if it was not measured."""
    if row.max_abs_error is None:
        return ""
    past = " past tolerance" if row.is_close is False else ""
    return f"error {analysis.error_text(row.max_abs_error)}{past}"


def _cells(row: SweepRow) -> dict[str, str]:
    used = (row.frozen or 0) + (row.preserved or 0)
    return {
        "recording": row.label,
        "status": row.status.replace("_", " "),
        ">time": latency_text(row),
        ">error": error_text(row).removeprefix("error "),
        ">bytes": "" if row.bytes_after is None else analysis.bytes_text(row.bytes_after),
        ">frozen": "" if row.frozen is None else f"{row.frozen} of {used}",
        ">near misses": "" if row.near_misses is None else str(row.near_misses),
        ">notices": "" if row.notices is None else str(row.notices),
        ">took": f"{row.time_s:.1f} s",
    }
