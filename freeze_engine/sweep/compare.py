"""Compares two sweeps: what became worse, ordered by how much it hurts, and what became better."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from freeze_engine.analysis.name_texts import listed
from freeze_engine.analysis.number_texts import bytes_text, duration_text, error_text
from freeze_engine.sweep.change_kinds import CHANGES, ChangeKind
from freeze_engine.sweep.row import SweepRow

#: A smaller growth of the constants is no finding: padding and alignment differ between versions of torch.
_BYTES_SHARE: Final = 0.01
_ERROR_GROWTH: Final = 10.0


@dataclass(frozen=True, slots=True)
class SweepChange:
    """A difference between two recordings of the same thing.

    Attributes:
        kind: what changed.
        is_worse: whether it became worse.
        before, after: the recordings.
        message: what it was and what it is, in a few words.
        weight: how much, within the kind; the largest hurts most.
    """

    kind: ChangeKind
    is_worse: bool
    before: SweepRow
    after: SweepRow
    message: str
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class SweepDiff:
    """The difference of two sweeps.

    Attributes:
        pairs: recordings of the same thing, in the order of the second sweep.
        worse: what became worse, what hurts most first.
        better: what became better.
        gone: recordings that only the first one has.
        new: recordings that only the second one has.
    """

    pairs: tuple[tuple[SweepRow, SweepRow], ...]
    worse: tuple[SweepChange, ...]
    better: tuple[SweepChange, ...]
    gone: tuple[SweepRow, ...]
    new: tuple[SweepRow, ...]


def diff_sweeps(before: Sequence[SweepRow], after: Sequence[SweepRow]) -> SweepDiff:
    """Compares the rows of two sweeps.

    Args:
        before: of the first one.
        after: of the second one. A row goes with the one of the same model, options, backend and environment; where the
            environments have other names, with the only one of the same model, options and backend.
    """
    pairs = tuple(_pairs(before, after))
    changes = [change for one, other in pairs for change in _changes(one, other)]
    ordered = sorted(changes, key=lambda change: (CHANGES.index(change.kind), -change.weight, change.after.label))
    matched = {id(row) for pair in pairs for row in pair}
    return SweepDiff(
        pairs=pairs,
        worse=tuple(change for change in ordered if change.is_worse),
        better=tuple(change for change in ordered if not change.is_worse),
        gone=tuple(row for row in before if id(row) not in matched),
        new=tuple(row for row in after if id(row) not in matched),
    )


def _pairs(before: Sequence[SweepRow], after: Sequence[SweepRow]) -> Iterator[tuple[SweepRow, SweepRow]]:
    exact = {(_subject(row), row.environment): row for row in before}
    first, second = (Counter(map(_subject, rows)) for rows in (before, after))
    alone = {_subject(row): row for row in before if first[_subject(row)] == 1}
    for row in after:
        subject = _subject(row)
        found = exact.get((subject, row.environment)) or (alone.get(subject) if second[subject] == 1 else None)
        if found is not None:
            yield found, row


def _subject(row: SweepRow) -> tuple[str, str, str]:
    return row.model, row.options, row.backend


def _changes(before: SweepRow, after: SweepRow) -> Iterator[SweepChange]:
    if before.is_recorded != after.is_recorded:
        failed, is_worse = (after, True) if before.is_recorded else (before, False)
        status = failed.status.replace("_", " ")
        text = f"{status}: {failed.reason}" if is_worse else f"recorded; it was {status}: {failed.reason}"
        yield SweepChange("freeze", is_worse, before, after, text)
    if not (before.is_recorded and after.is_recorded):
        return
    for compare in (_accuracy, _attributes, _latency, _checks, _bytes):
        yield from compare(before, after)
    yield from _count("graph_breaks", "graph breaks", lambda row: row.graph_breaks, before, after)
    yield from _count("near_misses", "near misses", lambda row: row.near_misses, before, after)
    yield from _notices(before, after)


def _accuracy(before: SweepRow, after: SweepRow) -> Iterator[SweepChange]:
    one, other = before.max_abs_error, after.max_abs_error
    if one is None or other is None:
        return
    text = f"largest error {error_text(one)} → {error_text(other)}"
    if before.is_close != after.is_close:
        is_worse = after.is_close is False
        yield SweepChange("accuracy", is_worse, before, after, f"{text}, {_tolerance(is_worse)}", max(one, other))
    elif before.is_close is False and not _are_similar(one, other):
        yield SweepChange("accuracy", other > one, before, after, f"{text}, past tolerance in both", max(one, other))


def _tolerance(is_worse: bool) -> str:
    return "now past torch's tolerances" if is_worse else "now within torch's tolerances"


def _are_similar(one: float, other: float) -> bool:
    if one != one or other != other:  # NaN
        return (one != one) == (other != other)
    return max(one, other) <= _ERROR_GROWTH * min(one, other)


def _attributes(before: SweepRow, after: SweepRow) -> Iterator[SweepChange]:
    if before.frozen is None or after.frozen is None:
        return
    lost = sorted(set(after.preserved_names) - set(before.preserved_names))
    gained = sorted(set(before.preserved_names) - set(after.preserved_names))
    if lost:
        text = f"frozen before and not now: {listed(lost)}"
        yield SweepChange("attributes", True, before, after, text, len(lost))
    if gained:
        text = f"frozen now and not before: {listed(gained)}"
        yield SweepChange("attributes", False, before, after, text, len(gained))
    if not lost and not gained and before.frozen != after.frozen:
        text = f"frozen {before.frozen} → {after.frozen}"
        difference = before.frozen - after.frozen
        yield SweepChange("attributes", difference > 0, before, after, text, abs(difference))


def _latency(before: SweepRow, after: SweepRow) -> Iterator[SweepChange]:
    """Compares times; as of two traces, both the times and the ratios within the own run must be apart."""
    one, other = _bounds(before, "latency_ns"), _bounds(after, "latency_ns")
    first, second = _bounds(before, "latency_ratio"), _bounds(after, "latency_ratio")
    if one is None or other is None or first is None or second is None or before.device != after.device:
        return
    slower = other[0] > one[2] and second[0] > first[2]
    faster = other[2] < one[0] and second[2] < first[0]
    if slower or faster:
        text = f"{duration_text(one[1])} → {duration_text(other[1])} ({other[1] / one[1]:.2f}×)"
        text += f", relative to {after.latency_against}: {first[1]:.2f}× → {second[1]:.2f}×"
        weight = max(other[1] / one[1], one[1] / other[1])
        yield SweepChange("latency", slower, before, after, text, weight)


def _bounds(row: SweepRow, name: str) -> tuple[float, float, float] | None:
    low, value, high = (getattr(row, f"{name}{end}") for end in ("_low", "", "_high"))
    return None if low is None or value is None or high is None else (low, value, high)


def _checks(before: SweepRow, after: SweepRow) -> Iterator[SweepChange]:
    failing = sorted(set(after.checks_failed) & set(before.checks_passed))
    passing = sorted(set(before.checks_failed) & set(after.checks_passed))
    if failing:
        yield SweepChange("checks", True, before, after, f"failing now: {listed(failing)}", len(failing))
    if passing:
        yield SweepChange("checks", False, before, after, f"passing now: {listed(passing)}", len(passing))


def _bytes(before: SweepRow, after: SweepRow) -> Iterator[SweepChange]:
    one, other = before.bytes_after, after.bytes_after
    if one is None or other is None or abs(other - one) <= _BYTES_SHARE * max(one, 1):
        return
    text = f"{bytes_text(one)} → {bytes_text(other)} after the freeze"
    yield SweepChange("bytes", other > one, before, after, text, abs(other - one) / max(one, 1))


def _count(
    kind: ChangeKind, noun: str, count: Callable[[SweepRow], int | None], before: SweepRow, after: SweepRow
) -> Iterator[SweepChange]:
    one, other = count(before), count(after)
    if one is not None and other is not None and one != other:
        yield SweepChange(kind, other > one, before, after, f"{noun} {one} → {other}", abs(other - one))


def _notices(before: SweepRow, after: SweepRow) -> Iterator[SweepChange]:
    # Graph breaks have a kind of their own.
    first, second = (set(row.notice_codes) - {"graph_break"} for row in (before, after))
    new, gone = sorted(second - first), sorted(first - second)
    if new:
        yield SweepChange("notices", True, before, after, f"new notices: {listed(new)}", len(new))
    if gone:
        yield SweepChange("notices", False, before, after, f"notices gone: {listed(gone)}", len(gone))
