"""Attributes with different fates in two freezes, in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views.comparison.folds import decider_text
from viewer.views.overview import FATE_ORDER
from viewer.views.wording import REASONS, shape_text

if TYPE_CHECKING:
    from freeze_engine.trace import Evidence

_SHOWN_PATHS: Final = 8


def fate_lines(diff: fe.TraceDiff, everything: bool) -> Iterator[str]:
    """Yields each kind of change, with its attributes, and the evidence for those that are preserved.

    Args:
        diff: of two traces.
        everything: whether to list all attributes of a group.
    """
    groups: defaultdict[str, list[analysis.FateDiff]] = defaultdict(list)
    for one in diff.attributes:
        groups[change_text(diff, one)].append(one)
    for change, members in sorted(groups.items(), key=lambda group: _weight(group[1][0])):
        members.sort(key=lambda one: not is_weight(one))
        yield f"{change}: {_count_text(members)}"
        shown = members if everything else members[:_SHOWN_PATHS]
        more = len(members) - len(shown)
        if any(_because(one) for one in shown):
            for one in shown:
                yield f"  {one.path}"
                yield from (f"    {line}" for line in _because(one))
            yield from [f"  … and {more} more"] if more else []
        else:
            yield f"  {analysis.listed((one.path for one in members), len(shown))}"


def is_weight(one: analysis.FateDiff) -> bool:
    """Returns whether an attribute is a parameter or buffer in one of the traces."""
    return any(analysis.is_counted(fate) for fate in (one.before, one.after) if fate)


def _count_text(members: Sequence[analysis.FateDiff]) -> str:
    """Counts parameters and buffers, and what else there is (``4``, ``4, and 1 other attribute``)."""
    weights = sum(map(is_weight, members))
    others = len(members) - weights
    rest = f"{others} other attribute{'' if others == 1 else 's'}" if others else ""
    return ", and ".join(filter(None, (str(weights) if weights else "", rest)))


def change_text(diff: fe.TraceDiff, one: analysis.FateDiff) -> str:
    """Describes the change of an attribute (``folded → preserved (written in place)``)."""
    if one.before is None or one.after is None:
        return f"only in {'A' if one.after is None else 'B'}, {_fate_text(one.before or one.after)}"
    if "fate" in one.fields or "reason" in one.fields:
        return f"{_fate_text(one.before)} → {_fate_text(one.after)}"
    parts = [f"{name} {old} → {new}" for name, old, new in _values(one.before, one.after) if name in one.fields]
    if "step" in one.fields and not parts:
        parts.append(f"decided by {decider_text(diff.before, one.before)} → {decider_text(diff.after, one.after)}")
    if "locations" in one.fields and not parts:
        parts.append(f"{one.before.fate}, now held by other constants")
    return "; ".join(parts) or f"type {one.before.type} → {one.after.type}"


def _weight(one: analysis.FateDiff) -> tuple[int, int, int]:
    """Returns the sort key: a different fate first, then attributes of only one trace, then other differences."""
    rank = 1 if not one.fields else 0 if {"fate", "reason"} & set(one.fields) else 2
    before, after = (FATE_ORDER.index(fate.fate) if fate else -1 for fate in (one.before, one.after))
    return rank, before, after


def _because(one: analysis.FateDiff) -> Iterator[str] | tuple[str, ...]:
    if one.before is None or one.after is None or not {"fate", "reason"} & set(one.fields):
        return ()
    return tuple(
        f"{side}: {evidence.op + ': ' if evidence.op else ''}{evidence.fact}{_place(evidence)}"
        for side, fate in (("A", one.before), ("B", one.after))
        if fate.fate == "preserved"
        for evidence in fate.evidence[:1]
    )


def _place(evidence: Evidence) -> str:
    return f", {evidence.source.file}:{evidence.source.line}" if evidence.source else ""


def _fate_text(fate: fe.AttributeFate | None) -> str:
    if fate is None:
        return "unknown"
    return fate.fate if fate.fate != "preserved" else f"preserved ({REASONS[fate.reason or 'unknown'][0]})"


def _values(before: fe.AttributeFate, after: fe.AttributeFate) -> tuple[tuple[str, object, object], ...]:
    return (
        ("kind", before.kind, after.kind),
        ("shape", shape_text(before.shape), shape_text(after.shape)),
        ("dtype", before.dtype, after.dtype),
        ("nbytes", before.nbytes, after.nbytes),
    )
