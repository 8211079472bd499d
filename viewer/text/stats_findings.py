"""Findings of ``freezer-ui stats``: latency, numeric error, checks of the frozen module, memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import freeze_engine as fe
from freeze_engine import analysis
from viewer.text.table import paragraph, table_lines
from viewer.views.findings import (
    ablation_rows,
    check_rows,
    duplicate_rows,
    duplicate_rows_between,
    error_rows,
    memory_rows,
    payoff_rows,
    unseen_change,
    whole_rows,
)
from viewer.views.missing_measurements import absent_rows

_SHOWN: Final = 4
_TIDIED: Final = " (only tidied up)"


def paid_off(trace: fe.Trace, metrics: Sequence[fe.StepMetrics]) -> Iterator[str]:
    """Yields the passes that changed the latency measurably, the largest saving first, and the effect of all passes."""
    whole = whole_rows(trace)
    rows = payoff_rows(metrics)
    several = len({row["device"] for row in whole}) > 1
    if whole and not rows:
        unseen = unseen_change(trace)
        yield "no pass changed the latency measurably" + (f" ({unseen})" if unseen else "")
    yield from table_lines(
        [
            {
                ">step": str(row["step"]),
                "pass": _pass(trace, row["step"]) + (_TIDIED if metrics[row["step"]].only_tidied else ""),
                "time": row["text"],
                "against": f"step {row['since']}",
                "device": row["device"] if several else "",
            }
            for row in rows
        ]
    )
    for row in whole:
        method = f" of {row['method']}" if len(trace.methods) > 1 else ""
        said = row["words"] or _claim(row)
        yield f"all passes{method} together on {row['device']}: {said}"
        yield from (line for note in row["notes"] for line in paragraph(f"  {note}", "    "))


def moved_the_numbers(trace: fe.Trace) -> Iterator[str]:
    """Yields the steps that added to the error, and the errors before freezing and at the end."""
    for method in error_rows(trace):
        of = f" of {method['method']}" if len(trace.methods) > 1 else ""
        if not method["added"]:
            yield f"no pass{of} moved the outputs away from eager's"
        yield from table_lines(
            [
                {
                    ">step": str(row["step"]),
                    "pass": _pass(trace, row["step"]),
                    "error against eager": f"{row['from']} → {row['to']}",
                    "over the inputs": row["span"] or "",
                    "torch's tolerances": _tolerance(row),
                }
                for row in method["added"]
            ]
        )
        yield f"at the end{of}: {method['frozen']} against eager, {method['total'] or 'unknown'} against float64"
        if method["present"] is not None:
            yield f"before freezing{of}: {method['present']}, eager against float64"


def checks(trace: fe.Trace) -> Iterator[str]:
    """Yields the checks of the frozen module, the failed ones first, with the evidence for a failure."""
    rows = check_rows(trace)
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        yield from paragraph(f"{row['verdict']:8}  {row['name']:{width}}  {row['message']}", " " * (width + 12))
        if row["verdict"] == "failed":
            for line in row["details"]:
                yield from paragraph(f"            {line}", " " * 14)


def memory(trace: fe.Trace) -> Iterator[str]:
    """Yields the memory ledger, the duplicates at the end, and the temporary ones."""
    for row in memory_rows(trace):
        since = "" if row["step"] is None else f" (since step {row['step']}, {_pass(trace, row['step'])})"
        note = f", {row['note']}" if row["note"] else ""
        yield from paragraph(f"{row['label']}: {row['value']}{since}{note}", "  ")
    found = analysis.duplicates(trace)
    rows = duplicate_rows(found)
    for row in rows[:_SHOWN]:
        names = _first(row["names"])
        where = f"since step {row['step']}, {_pass(trace, row['step'])}"
        yield from paragraph(f"held more than once at the end: {row['bytes']}, {names}: {row['kind']}, {where}", "  ")
    if len(rows) > _SHOWN:
        yield f"… and {len(rows) - _SHOWN} smaller ones"
    for row in duplicate_rows_between(found):
        start, end = (f"step {index}, {_pass(trace, index)}" for index in (row["step"], row["until"]))
        where = f"from {start}, to {end}"
        yield from paragraph(f"held more than once in between: {row['bytes']}, {_first(row['names'])}, {where}", "  ")


def _first(names: Sequence[str]) -> str:
    return analysis.listed(names)


def ablation(trace: fe.Trace, metrics: Sequence[fe.StepMetrics]) -> Iterator[str]:
    """Yields the contribution of each pass: the freeze with it against the freeze without it."""
    rows = ablation_rows(trace, metrics)
    yield from table_lines(
        [
            {
                "pass": row["name"] + (_TIDIED if row["tidied"] else ""),
                "time with it, against without": ", ".join(map(_payoff, row["latency"])),
                "error with": _judged(row["with"], row["close_with"]),
                "error without": _judged(row["without"], row["close_without"]),
            }
            for row in rows
            if row["error"] is None
        ]
    )
    for row in rows:
        if row["error"] is not None:
            yield from paragraph(f"{row['name']}: could not be measured: {row['error']}", "  ")


def absent(trace: fe.Trace) -> Iterator[str]:
    """Yields missing measurements and checks, and how to get them."""
    yield from (f"{what}: {how}" for what, how in absent_rows(trace))


def _pass(trace: fe.Trace, index: int) -> str:
    step = trace.steps[index]
    method = f", {step.method}" if len(trace.methods) > 1 else ""
    return step.name + ("" if step.round is None else f" (round {step.round})") + method


def _tolerance(row: Mapping[str, Any]) -> str:
    if row["close"]:
        return "within"
    return "past, the first" if row["first_past"] else "past"


def _payoff(row: Mapping[str, Any]) -> str:
    return " ".join(filter(None, (row["text"], _claim(row))))


def _claim(row: Mapping[str, Any]) -> str:
    return row["verdict"] if row["unseen"] is None else f"{row['verdict']} ({row['unseen']})"


def _judged(error: str | None, close: bool | None) -> str:
    if error is None:
        return ""
    return error if close is not False else f"{error} past"
