"""Attributes that did not meet the same fate in two traces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import get_args

from freeze_engine.analysis.trace_diff.join import joined
from freeze_engine.analysis.trace_diff.model import FateDiff, FateField
from freeze_engine.trace import AttributeFate, Trace

_ALL_FIELDS: tuple[FateField, ...] = get_args(FateField)
_COMMON_FIELDS: tuple[FateField, ...] = ("shape", "dtype", "fate")


def fate_diffs(before: Trace, after: Trace, same_steps: Mapping[int, int]) -> tuple[FateDiff, ...]:
    """Compares the attributes of two traces of one backend.

    Args:
        before: one trace.
        after: the other, with the first one's names.
        same_steps: by the index of a step of the second, the step of the first that it stands for.

    Returns:
        Those that differ, by path.
    """
    is_ahead = before.backend != after.backend

    def fields(old: AttributeFate, new: AttributeFate) -> tuple[FateField, ...]:
        step = None if new.step is None else same_steps.get(new.step, -1)
        if is_ahead and old.fate == new.fate == "inlined" and None in (old.step, step):
            step = old.step  # AOTInductor's graph has its parameters as constants from the start
        return _differing(_ALL_FIELDS, old, replace(new, step=step))

    return _diffs(before.attributes, after.attributes, fields)


def fates_across(before: Trace, after: Trace) -> tuple[FateDiff, ...]:
    """Compares what both backends record: Inductor knows no submodules, flags and hooks, and has types of its own."""
    ours, theirs = ([fate for fate in trace.attributes if fate.shape is not None] for trace in (before, after))
    return _diffs(ours, theirs, partial(_differing, _COMMON_FIELDS))


def _diffs(
    ours: Iterable[AttributeFate],
    theirs: Iterable[AttributeFate],
    fields: Callable[[AttributeFate, AttributeFate], tuple[FateField, ...]],
) -> tuple[FateDiff, ...]:
    rows = joined(ours, theirs, lambda fate: fate.path)
    found = (
        FateDiff(path, old, new, fields(old, new) if old and new else ())
        for path, old, new in sorted(rows, key=lambda row: row[0])
    )
    return tuple(diff for diff in found if diff.before is None or diff.after is None or diff.fields)


def _differing(names: tuple[FateField, ...], old: AttributeFate, new: AttributeFate) -> tuple[FateField, ...]:
    return tuple(name for name in names if getattr(old, name) != getattr(new, name))
