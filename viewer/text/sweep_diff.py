"""The difference of two sweeps as text and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from freeze_engine.sweep import SweepChange, SweepDiff, SweepRow
from viewer.text.printable import printable

TITLES: Final = {
    "freeze": "the freeze fails",
    "accuracy": "the error is past tolerance",
    "attributes": "no longer frozen",
    "graph_breaks": "new graph breaks",
    "latency": "slower by more than noise",
    "checks": "a check fails",
    "bytes": "more bytes",
    "near_misses": "more near misses",
    "notices": "new notices",
}
"""Names of the kinds of changes where something became worse."""

BETTER_TITLES: Final = {
    "freeze": "recorded now",
    "accuracy": "within tolerance now",
    "attributes": "frozen now",
    "graph_breaks": "fewer graph breaks",
    "latency": "faster by more than noise",
    "checks": "a check passes now",
    "bytes": "fewer bytes",
    "near_misses": "fewer near misses",
    "notices": "fewer notices",
}
"""The same where it became better."""

_MOST: Final = 20


def sweep_diff_text(diff: SweepDiff, *, is_whole: bool = False) -> str:
    """Returns the difference of two sweeps as lines, what hurts most first.

    Args:
        diff: the difference.
        is_whole: whether to list also what became better beyond the first few.
    """
    lines = _part("worse", diff.worse, TITLES, len(diff.worse))
    lines += _part("better", diff.better, BETTER_TITLES, len(diff.better) if is_whole else _MOST)
    lines += _rows("only in the first", diff.gone)
    lines += _rows("only in the second", diff.new)
    lines.append(
        f"{len(diff.pairs)} recordings compared: {_counted(diff.worse)} worse, {_counted(diff.better)} better, "
        f"{len(diff.gone)} only in the first, {len(diff.new)} only in the second"
    )
    return "".join(f"{printable(line)}\n" for line in lines)


def sweep_diff_document(diff: SweepDiff) -> dict[str, Any]:
    """Returns the difference of two sweeps for JSON."""
    return {
        "compared": len(diff.pairs),
        "worse": [_change(change) for change in diff.worse],
        "better": [_change(change) for change in diff.better],
        "only_in_first": [row.label for row in diff.gone],
        "only_in_second": [row.label for row in diff.new],
    }


def _change(change: SweepChange) -> dict[str, Any]:
    traces = {"before": change.before.trace, "after": change.after.trace}
    return {"kind": change.kind, "recording": change.after.label, "message": change.message, "traces": traces}


def _part(name: str, changes: Sequence[SweepChange], titles: dict[str, str], most: int) -> list[str]:
    lines: list[str] = []
    kind = ""
    for change in changes[:most]:
        if change.kind != kind:
            kind = change.kind
            lines.append(f"{name}: {titles[kind]}")
        lines.append(f"  {change.after.label}: {change.message}")
    if len(changes) > most:
        lines.append(f"  and {len(changes) - most} more: --all lists them")
    return lines


def _rows(title: str, rows: Sequence[SweepRow]) -> list[str]:
    return [title, *(f"  {row.label}" for row in rows)] if rows else []


def _counted(changes: Sequence[SweepChange]) -> int:
    """Returns the number of recordings that some changes are of."""
    return len({id(change.after) for change in changes})
