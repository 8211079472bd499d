"""Latency and numeric error of two freezes, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from freeze_engine import analysis
from viewer.views.comparison.aspects import Errors, Times

if TYPE_CHECKING:
    from freeze_engine.trace import Latency, Numerics


def latency_lines(rows: Iterable[Times]) -> Iterator[str]:
    """Yields the verdict of each pair of times, and both times with their intervals."""
    for row in rows:
        yield f"{row.method} on {row.device}: {time_verdict(row)}"
        for side, latency in (("A", row.before), ("B", row.after)):
            yield f"  {side}  {_latency(latency)}"


def error_lines(rows: Iterable[Errors]) -> Iterator[str]:
    """Yields the largest error of each side."""
    for row in rows:
        before, after = _error(row.before), _error(row.after)
        both = f"{before} in both" if before == after else f"{before} → {after}"
        differs = " (only one is within torch's tolerances)" if row.differ else ""
        yield f"{row.method} against {row.reference}: {both}{differs}"


def time_verdict(row: Times) -> str:
    """Returns whether two times differ beyond their intervals and the machines' speeds, in words."""
    if row.before is None or row.after is None:
        return "measured in only one of them"
    if not row.apart:
        smallest = analysis.smallest_apart(row.before.median_ns, row.after.median_ns)
        return f"no difference beyond the intervals ({analysis.unseen_text(smallest)})"
    word = "faster" if row.after.median_ns.value < row.before.median_ns.value else "slower"
    if row.ratios_overlap:
        return f"B is {word}, but so is its first step: it may be the machine's pace"
    return f"B is {word}: the intervals are apart"


def _latency(latency: Latency | None) -> str:
    if latency is None:
        return "not measured"
    first = "" if latency.ratio is None else f", {analysis.ratio_text(latency.ratio, 'its own first step')}"
    return f"{analysis.timed_text(latency.median_ns)}{first}"


def _error(numerics: Numerics | None) -> str:
    if numerics is None:
        return "not compared"
    if numerics.error is not None:
        return f"could not be compared: {analysis.plain_refusal(numerics.error)}"
    return f"max abs {analysis.error_text(numerics.max_abs)}{'' if numerics.close else ', past tolerance'}"
