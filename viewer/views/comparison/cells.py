"""What two traces say of one thing: the rows in which their findings stand side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypeVar

import freeze_engine as fe
from viewer.views.findings import ratio_row

Cell: TypeAlias = dict[str, Any]
Cells: TypeAlias = tuple[Cell | None, Cell | None]
Row: TypeAlias = dict[str, Any]
Section: TypeAlias = dict[str, Any]
Tone: TypeAlias = Literal["good", "bad", "warn", "muted", "plain"]
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def cell(text: str, note: str = "", tone: Tone = "plain", details: Sequence[str] = ()) -> Cell:
    """Returns what one trace says of something.

    Args:
        text: in short.
        note: more about it.
        tone: whether it is good or bad.
        details: lines that are shown on demand.
    """
    return {"text": text, "note": note, "tone": tone, "details": list(details), "ratio": None}


def ratio_cell(ratio: fe.Interval, verdict: str, smallest: float) -> Cell:
    """Returns a time ratio of one trace, with its interval and what was claimed of it.

    Args:
        ratio: the ratio.
        verdict: what it claims.
        smallest: the smallest difference that would have been found.
    """
    found = ratio_row(ratio)
    claimed = verdict in ("faster", "slower")
    tone: Tone = "good" if verdict == "faster" else "bad" if verdict == "slower" else "muted"
    note = f"measurably {verdict}" if claimed else fe.claim_text(verdict, smallest)
    return cell(found["text"], note, tone) | {"ratio": found | {"verdict": verdict}}


def row(
    name: str, cells: Cells, differs: bool, steps: tuple[int | None, int | None] = (None, None), where: str = ""
) -> Row:
    """Returns one finding.

    Args:
        name: what it is of.
        cells: what the traces say, ``None`` for one that says nothing.
        differs: whether that is another thing in each, beyond the noise.
        steps: the pass in A and in B that it is of, as numbered in the common list, ``None`` where it is of none.
        where: what else tells it from others of that name.
    """
    return {"name": name, "where": where, "steps": list(steps), "a": cells[0], "b": cells[1], "differs": differs}


def both(make: Callable[[_Value], Cell | None], one: _Value | None, other: _Value | None) -> Cells:
    """Returns the cells of two things, none for what is ``None``."""
    return None if one is None else make(one), None if other is None else make(other)


def section(title: str, rows: Iterable[Row], none: str, note: str = "") -> Section | None:
    """Returns the findings of one kind, what differs first; ``None`` where neither trace has any.

    Args:
        title: of the section.
        rows: its findings.
        none: what a cell says that is ``None``.
        note: what to know to read it.
    """
    found = sorted(rows, key=lambda one: not one["differs"])
    if not found:
        return None
    return {"title": title, "note": note, "none": none, "differs": any(one["differs"] for one in found), "rows": found}


def joined(
    ours: Mapping[_Key, _Value], theirs: Mapping[_Key, _Value]
) -> Iterator[tuple[_Key, _Value | None, _Value | None]]:
    """Yields what either has, with what the other has of the same key."""
    for key in dict.fromkeys((*ours, *theirs)):
        yield key, ours.get(key), theirs.get(key)


def pass_name(step: fe.StepDiff) -> str:
    """Returns what a pass is called, with its round where it has several."""
    return step.name if step.round is None else f"{step.name}, round {step.round}"


def places(diff: fe.TraceDiff, step: fe.StepDiff) -> tuple[int | None, int | None]:
    """Returns the two steps of a pass, as numbered in the common list."""
    return step.before, in_common(diff, step.after)


def in_common(diff: fe.TraceDiff, step: int | None) -> int | None:
    """Returns the number of a step of B in the common list."""
    return None if step is None else step + len(diff.before.steps)
