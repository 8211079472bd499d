"""Passes of two backends by purpose, in words: they cannot be aligned by name."""

from __future__ import annotations

from collections.abc import Iterator

import freeze_engine as fe
from freeze_engine import analysis


def purpose_lines(diff: fe.TraceDiff, everything: bool) -> Iterator[str]:
    """Yields each purpose with the effects of both backends.

    Args:
        diff: of two traces of different backends; traces of one backend give no lines.
        everything: whether to list also the purposes for which neither changed the graph.
    """
    for pair in diff.pairs:
        if everything or pair.before.changed or pair.after.changed:
            yield pair.purpose
            yield f"  A  {_effect_text(diff.before, pair.before)}"
            yield f"  B  {_effect_text(diff.after, pair.after)}"


def _effect_text(trace: fe.Trace, effect: analysis.PassEffect) -> str:
    if not effect.steps:
        return effect.instead or "no pass for it"
    names = ", ".join(dict.fromkeys(trace.steps[index].name for index in effect.steps))
    if not effect.changed:
        return f"{names}: without effect"
    nodes = " ".join(f"{sign}{number}" for sign, number in (("+", effect.added), ("−", effect.removed)) if number)
    rewrites = ", ".join(f"{count} {kind}" for kind, count in effect.rewrites)
    return f"{names}: {'; '.join(filter(None, (nodes, rewrites))) or 'changed something'}"
