"""Attributes with different fates in two freezes, in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views.overview import FATE_ORDER
from viewer.views.wording import REASONS, pass_text, shape_text

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
        yield f"{change}: {len(members)}"
        shown = members if everything else members[:_SHOWN_PATHS]
        more = len(members) - len(shown)
        if any(_because(one) for one in shown):
            for one in shown:
                yield f"  {one.path}"
                yield from (f"    {line}" for line in _because(one))
            yield from [f"  … and {more} more"] if more else []
        else:
            yield f"  {', '.join(one.path for one in shown)}{f', … and {more} more' if more else ''}"


def folded_lines(diff: fe.TraceDiff) -> Iterator[str]:
    """Yields which weights only one of torch.compile and AOTInductor folds, and by which pass; none for other pairs.

    Args:
        diff: of two traces.
    """
    if diff.across_backends or diff.before.backend == diff.after.backend:
        return
    ours, theirs = ({fate.path: fate for fate in trace.attributes} for trace in (diff.before, diff.after))
    sides = (("A", diff.before, ours, theirs), ("B", diff.after, theirs, ours))
    both = sum(fate.fate == theirs[path].fate == "folded" for path, fate in ours.items() if path in theirs)
    alone = [list(_folded_alone(*side)) for side in sides]
    yield f"both fold {both} of {len(ours)} parameters and buffers" + ("" if any(alone) else ", and neither any other")
    yield from (line for lines in alone for line in lines)
    unseen = diff.before if diff.before.backend == "inductor" else diff.after
    step = next((step for step in unseen.steps if step.name == "replace_params_with_constants"), None)
    if step is not None:
        side = "A" if unseen is diff.before else "B"
        yield f"AOTInductor begins with the parameters as constants; in {side}, {pass_text(step)} makes them constants"


def _folded_alone(
    side: str, trace: fe.Trace, ours: Mapping[str, fe.AttributeFate], theirs: Mapping[str, fe.AttributeFate]
) -> Iterator[str]:
    passes: defaultdict[str, list[str]] = defaultdict(list)
    for path, fate in ours.items():
        if fate.fate == "folded" and (path not in theirs or theirs[path].fate != "folded"):
            passes[_decider(trace, fate)].append(path)
    for decider, paths in passes.items():
        yield f"only {side} folds, by {decider}: {', '.join(paths)}"


def change_text(diff: fe.TraceDiff, one: analysis.FateDiff) -> str:
    """Describes the change of an attribute (``folded → preserved (written in place)``)."""
    if one.before is None or one.after is None:
        return f"only in {'A' if one.after is None else 'B'}, {_fate_text(one.before or one.after)}"
    if "fate" in one.fields or "reason" in one.fields:
        return f"{_fate_text(one.before)} → {_fate_text(one.after)}"
    parts = [f"{name} {old} → {new}" for name, old, new in _values(one.before, one.after) if name in one.fields]
    if "step" in one.fields and not parts:
        parts.append(f"decided by {_decider(diff.before, one.before)} → {_decider(diff.after, one.after)}")
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


def _decider(trace: fe.Trace, fate: fe.AttributeFate) -> str:
    return "no pass" if fate.step is None else pass_text(trace.steps[fate.step])
