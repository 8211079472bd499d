"""The passes that paid off in two traces, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views.comparison.aspects import Times, times
from viewer.views.comparison.cells import (
    Cell,
    Row,
    Section,
    both,
    cell,
    joined,
    pass_name,
    places,
    ratio_cell,
    row,
    section,
)
from viewer.views.measurements import apart

if TYPE_CHECKING:
    from freeze_engine.trace import Latency

CLAIMED = ("faster", "slower")
_NOTE = (
    "A ratio holds within its own run, so two of them can be compared. Times of different runs differ only where the "
    "pace of the runs does not explain it."
)


def payoff_section(diff: fe.TraceDiff) -> Section | None:
    """Returns the latency of both results, of all passes together, and of each pass with a claim in either trace."""
    rows = [*_whole_rows(diff), *_loss_rows(diff), *_pass_rows(diff), *map(_result_row, times(diff))]
    return section("What made it faster", rows, "not measured", _NOTE)


def _result_row(found: Times) -> Row:
    # Across backends the speed of the two runs cannot be separated from the effect of the freezes.
    cells = both(lambda latency: cell(analysis.timed_text(latency.median_ns)), found.before, found.after)
    return row("Time of the result", cells, found.differ and found.comparable, where=f"{found.method}, {found.device}")


def _whole_rows(diff: fe.TraceDiff) -> Iterator[Row]:
    """Yields each method's last measured step against its first; across backends the first steps are other graphs."""
    ours, theirs = _detections(diff)
    for (method, device), one, other in joined(_last(diff.before), _last(diff.after)):
        differs = not diff.across_backends and _ratios_apart(one, other)
        yield row(
            "All passes together",
            (_whole(ours, one), _whole(theirs, other)),
            differs,
            where=f"{method}, {device}",
        )


def _last(trace: fe.Trace) -> dict[tuple[str, str], Latency]:
    return {
        (step.method, latency.device): latency
        for step in trace.steps
        for latency in step.latency
        if latency.ratio is not None
    }


def _detections(diff: fe.TraceDiff) -> tuple[analysis.Detection, analysis.Detection]:
    return analysis.detection(diff.before), analysis.detection(diff.after)


def _whole(detection: analysis.Detection, latency: Latency | None) -> Cell | None:
    if latency is None or latency.ratio is None:
        return None
    return ratio_cell(latency.ratio, latency.verdict, detection.to_first(latency))


def _ratios_apart(one: Latency | None, other: Latency | None) -> bool:
    return one is not None and other is not None and apart(one.ratio, other.ratio)


def _loss_rows(diff: fe.TraceDiff) -> Iterator[Row]:
    ours, theirs = (
        {loss.device: loss.ratio for loss in analysis.freezing_losses(t)} for t in (diff.before, diff.after)
    )
    for device, one, other in joined(ours, theirs):
        cells = both(lambda ratio: cell(analysis.ratio_text(ratio), "freezing lost time", "bad"), one, other)
        yield row("Compiled with freezing, against without", cells, (one is None) != (other is None), where=device)


def _pass_rows(diff: fe.TraceDiff) -> list[Row]:
    """Returns the passes with a claimed change of latency in either trace, the largest saving first."""
    found: list[tuple[float, Row]] = []
    several = len({step.method for step in diff.steps}) > 1
    ours, theirs = _detections(diff)
    for step in diff.steps:
        sides = (_by_device(diff.before, step.before), _by_device(diff.after, step.after))
        for device, one, other in joined(*sides):
            claims = [each.previous for each in (one, other) if each and each.previous and each.change in CLAIMED]
            if not claims:
                continue
            cells = (_pass(ours, one, step.before), _pass(theirs, other, step.after))
            alone = not diff.across_backends and None in (step.before, step.after)
            differs = alone or apart(one.previous if one else None, other.previous if other else None)
            where = f"{step.method}, {device}" if several else device
            entry = row(pass_name(step), cells, differs, places(diff, step), where)
            found.append((min(claim.value for claim in claims), entry))
    return [entry for _, entry in sorted(found, key=lambda pair: pair[0])]


def _by_device(trace: fe.Trace, place: int | None) -> dict[str, Latency]:
    return {} if place is None else {latency.device: latency for latency in trace.steps[place].latency}


def _pass(detection: analysis.Detection, latency: Latency | None, place: int | None) -> Cell | None:
    if place is None:
        return cell("no such pass", tone="muted")
    if latency is None or latency.previous is None or latency.change is None:
        return None
    return ratio_cell(latency.previous, latency.change, detection.to_previous(latency))
