"""Builds the rows that show the findings of two traces side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views.findings import ratio_row

if TYPE_CHECKING:
    from freeze_engine.trace import Interval

Cell: TypeAlias = dict[str, Any]
Cells: TypeAlias = tuple[Cell | None, Cell | None]
Row: TypeAlias = dict[str, Any]
Section: TypeAlias = dict[str, Any]
Tone: TypeAlias = Literal["good", "bad", "warn", "muted", "plain"]
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def cell(text: str, note: str = "", tone: Tone = "plain", details: Sequence[str] = ()) -> Cell:
    """Returns a cell: one trace's value of a finding.

    Args:
        text: the value in short.
        note: more about the value.
        tone: whether it is good or bad.
        details: lines shown on demand.
    """
    return {"text": text, "note": note, "tone": tone, "details": list(details), "ratio": None}


def ratio_cell(ratio: Interval, verdict: str, smallest: float) -> Cell:
    """Returns the cell of a time ratio, with its interval and verdict.

    Args:
        ratio: the ratio.
        verdict: the claim about it.
        smallest: the smallest difference that the measurement would have found.
    """
    found = ratio_row(ratio)
    claimed = verdict in ("faster", "slower")
    tone: Tone = "good" if verdict == "faster" else "bad" if verdict == "slower" else "muted"
    note = f"measurably {verdict}" if claimed else analysis.claim_text(verdict, smallest)
    text = "" if analysis.tells_nothing(verdict, smallest) else found["text"]
    return cell(text, note, tone) | {"ratio": found | {"verdict": verdict}}


def row(
    name: str, cells: Cells, differs: bool, steps: tuple[int | None, int | None] = (None, None), where: str = ""
) -> Row:
    """Returns one finding as a row.

    Args:
        name: its subject.
        cells: of both traces, ``None`` for a trace without it.
        differs: whether the cells differ beyond noise.
        steps: its pass in A and in B, as numbered in the common list, ``None`` if it belongs to no pass.
        where: distinguishes it from others of that name.
    """
    return {"name": name, "where": where, "steps": list(steps), "a": cells[0], "b": cells[1], "differs": differs}


def both(make: Callable[[_Value], Cell | None], one: _Value | None, other: _Value | None) -> Cells:
    """Returns the cells of two values, ``None`` for ``None``."""
    return None if one is None else make(one), None if other is None else make(other)


def section(title: str, rows: Iterable[Row], none: str, note: str = "") -> Section | None:
    """Returns the findings of one kind, the differing ones first; ``None`` if neither trace has any.

    Args:
        title: of the section.
        rows: its findings.
        none: text of a cell that is ``None``.
        note: explains the section.
    """
    found = sorted(rows, key=lambda one: not one["differs"])
    if not found:
        return None
    return {"title": title, "note": note, "none": none, "differs": any(one["differs"] for one in found), "rows": found}


def joined(
    ours: Mapping[_Key, _Value], theirs: Mapping[_Key, _Value]
) -> Iterator[tuple[_Key, _Value | None, _Value | None]]:
    """Yields each key of either mapping with both values."""
    for key in dict.fromkeys((*ours, *theirs)):
        yield key, ours.get(key), theirs.get(key)


def pass_name(step: analysis.StepDiff) -> str:
    """Returns the name of a pass, with its round if it has several."""
    return step.name if step.round is None else f"{step.name}, round {step.round}"


def places(diff: fe.TraceDiff, step: analysis.StepDiff) -> tuple[int | None, int | None]:
    """Returns the steps of a pass in both traces, as numbered in the common list."""
    return step.before, in_common(diff, step.after)


def in_common(diff: fe.TraceDiff, step: int | None) -> int | None:
    """Returns the number of a step of B in the common list."""
    return None if step is None else step + len(diff.before.steps)
