"""The summary of one trace or two as Markdown, for the comment of a pull request.

Names, code and messages come from untrusted models: their Markdown, HTML and mentions are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import freeze_engine as fe
from freeze_engine import analysis
from viewer.text.printable import printable
from viewer.text.summary_changes import change_lines
from viewer.views.summary import about_text, pass_name, pass_row

_SPECIAL: Final = re.compile(r"([\\`*_\[\]|~#!])")
#: A space without width, as an entity: the terminal shows the character itself as an escape.
_NO_WIDTH: Final = "&#8203;"


def markdown_text(text: str) -> str:
    """Returns a text as Markdown that shows it literally: no markup, no HTML, no mention of a person."""
    escaped = _SPECIAL.sub(r"\\\1", " ".join(printable(text, "\n\t").split()))
    escaped = escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return escaped.replace("@", f"@{_NO_WIDTH}")


def summary_markdown(trace: fe.Trace) -> str:
    """Renders the summary of a trace.

    Args:
        trace: the recording; also an empty one, or one whose freeze failed.

    Returns:
        Markdown that ends in a newline, the same for equal traces.
    """
    summary = fe.summarize(trace)
    parts = [
        f"### Freezing {_name(trace)}",
        f"**{markdown_text(summary.sentence)}**",
        *_actions(summary.actions),
        *_passes(trace, summary),
        f"<sub>{markdown_text(about_text(trace))}</sub>",
    ]
    return "\n\n".join(parts) + "\n"


def comparison_markdown(first: fe.Trace, second: fe.Trace) -> str:
    """Renders two traces: the differences first, then both verdicts, then the next actions for the second.

    Args:
        first: the trace before the change, A.
        second: the trace after it, B.
    """
    ours, theirs = fe.summarize(first), fe.summarize(second)
    changes = [f"- {markdown_text(line)}" for line in change_lines(first, second, ours, theirs)]
    verdicts = [("A", first, ours), ("B", second, theirs)]
    table = _table(("", "Verdict"), [(f"{side}: {trace.name}", each.sentence) for side, trace, each in verdicts])
    parts = [
        f"### Freezing {_name(second)}: what changed",
        "\n".join(changes),
        table,
        *_actions(theirs.actions),
        f"<sub>{markdown_text(about_text(second))}</sub>",
    ]
    return "\n\n".join(parts) + "\n"


def _name(trace: fe.Trace) -> str:
    return markdown_text(trace.name) or "an unnamed model"


def _actions(actions: Sequence[analysis.Action]) -> Iterator[str]:
    if not actions:
        return
    yield "**What would help**"
    items = []
    for number, action in enumerate(actions, 1):
        texts = [("Why", action.evidence), ("Fix", action.fix), ("Gain", action.gain)]
        lines = [f"   - {label}: {markdown_text(text)}" for label, text in texts]
        items.append("\n".join([f"{number}. **{markdown_text(action.title)}**", *lines]))
    yield "\n".join(items)


def _passes(trace: fe.Trace, summary: fe.Summary) -> Iterator[str]:
    if not summary.passes:
        return
    rows = [_cells(pass_row(effects, trace)) for effects in summary.passes]
    yield "<details><summary>The passes that mattered</summary>"
    yield _table(("Pass", "Operations", "Constants", "Time", "Error against eager"), rows)
    yield "</details>"


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    past = ", past tolerance" if row["past_tolerance"] else ""
    times = ", ".join(each["text"] for each in row["times"])
    return (
        f"{row['step']} {pass_name(row)}",
        row["nodes_text"],
        row["constants_text"] or "",
        times,
        f"{row['error_text'] or ''}{past}",
    )


def _table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *([markdown_text(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
