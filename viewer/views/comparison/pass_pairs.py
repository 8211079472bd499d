"""Pairs the passes of two freezes by different backends by their purpose."""

from __future__ import annotations

from typing import Any

import freeze_engine as fe
from freeze_engine import analysis


def pair_rows(diff: fe.TraceDiff) -> list[dict[str, Any]]:
    """Returns one row for each purpose that passes of at least one trace serve.

    Args:
        diff: two traces of different backends; traces of one backend give no rows.

    Returns:
        Rows with ``a`` and ``b``, with steps as numbered in the common list.
    """
    shift = len(diff.before.steps)
    rows = []
    for pair in diff.pairs:
        rows.append(
            {
                "purpose": pair.purpose,
                "why": pair.why,
                "effect": bool(pair.before.changed or pair.after.changed),
                "a": _side(diff.before, pair.before, pair.after, 0),
                "b": _side(diff.after, pair.after, pair.before, shift),
            }
        )
    return rows


def _side(trace: fe.Trace, effect: analysis.PassEffect, other: analysis.PassEffect, shift: int) -> dict[str, Any]:
    both_rewrote = bool(effect.rewrites and other.rewrites)
    return {
        "passes": _passes(trace, effect, shift),
        "changed": effect.changed,
        "removed": effect.removed,
        "added": effect.added,
        "rewrites": [[kind, count] for kind, count in effect.rewrites],
        # Modules that only one rewrote matter only if the other rewrote any; TorchScript's passes may name none.
        "only": sorted({*effect.modules} - {*other.modules}) if both_rewrote and other.modules else [],
        "instead": effect.instead,
    }


def _passes(trace: fe.Trace, effect: analysis.PassEffect, shift: int) -> list[dict[str, Any]]:
    """Returns the passes by name: the number of runs, and the first step that changed the graph, else the first."""
    steps: dict[str, list[fe.Step]] = {}
    for index in effect.steps:
        steps.setdefault(trace.steps[index].name, []).append(trace.steps[index])
    return [
        {
            "name": name,
            "count": len(found),
            "changed": sum(step.changed for step in found),
            "step": next((step for step in found if step.changed), found[0]).index + shift,
        }
        for name, found in steps.items()
    ]
