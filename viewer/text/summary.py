"""The summary of a trace as text for a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import freeze_engine as fe
from viewer.text.summary_changes import change_lines
from viewer.text.table import paragraph, table_lines
from viewer.views.summary import about_text, pass_name, pass_row


def summary_lines(summary: fe.Summary) -> Iterator[str]:
    """Yields the verdict and the next actions.

    Args:
        summary: result of `freeze_engine.summarize` for a trace.
    """
    yield from paragraph(summary.sentence)
    if not summary.actions:
        return
    yield "What would help:"
    for number, action in enumerate(summary.actions, 1):
        yield from paragraph(f"{number}. {action.title}", "   ")
        yield from paragraph(f"   Why: {action.evidence}", "     ")
        yield from paragraph(f"   Fix: {action.fix}", "     ")
        yield from paragraph(f"   Gain: {action.gain}", "     ")


def summary_text(trace: fe.Trace) -> str:
    """Renders the whole summary of a trace: verdict, next actions, the passes that mattered.

    Args:
        trace: the recording; also an empty one, or one whose freeze failed.

    Returns:
        Lines that end in a newline, the same for equal traces.
    """
    summary = fe.summarize(trace)
    passes = [_pass_cells(pass_row(effects, trace)) for effects in summary.passes]
    parts = [
        [trace.name or "unnamed model", *summary_lines(summary)],
        ["Passes that mattered:", *(f"  {line}" for line in table_lines(passes))] if passes else [],
        paragraph(about_text(trace)),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def comparison_text(first: fe.Trace, second: fe.Trace) -> str:
    """Renders what changed from one trace to another, then the summary of the second.

    Args:
        first, second: the traces A and B.
    """
    changes = change_lines(first, second, fe.summarize(first), fe.summarize(second))
    lines = [f"  {line}" for change in changes for line in paragraph(change, "  ")]
    return "\n".join(["What changed from A to B:", *lines]) + "\n\n" + summary_text(second)


def next_command(path: Path) -> str:
    """Returns the line with the command that shows a trace."""
    return f"Look at it: freezer-ui {shlex.quote(str(path))}"


def _pass_cells(row: dict[str, object]) -> dict[str, str]:
    times = row["times"]
    assert isinstance(times, list)
    return {
        ">step": str(row["step"]),
        "pass": pass_name(row),
        ">operations": str(row["nodes_text"]),
        "constants": str(row["constants_text"] or ""),
        "time": ", ".join(each["text"] for each in times),
        "error against eager": str(row["error_text"] or "") + (", past tolerance" if row["past_tolerance"] else ""),
    }
