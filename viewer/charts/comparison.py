"""The charts of two traces: both are in one figure, and each pass has one place on the axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from bokeh.models import ColumnDataSource, HoverTool, Scatter

import freeze_engine as fe
from viewer.charts.figures import Chart, charts, items_of
from viewer.views.chart_data import ChartData, Series, chart_data

_ASIDE: Final = 0.14
_RUNS: Final = " A and B were taken in different runs: compare how each goes, not how high it lies."


def chart_items(diff: fe.TraceDiff, rows: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Returns the charts of two traces for both themes, as `viewer.charts.figures.chart_items` does for one.

    Args:
        diff: the two traces.
        rows: one per pass, with ``a`` and ``b`` its indices in the common list of steps; their order is the x axis.
    """
    data = _joined(diff, rows)
    return items_of([_aligned(chart, data) for chart in charts(data, "light")])


def _joined(diff: fe.TraceDiff, rows: Sequence[Mapping[str, Any]]) -> ChartData:
    places = [{row[side]: place for place, row in enumerate(rows) if row[side] is not None} for side in ("a", "b")]
    shift = len(diff.before.steps)
    ours, theirs = (chart_data(trace, duplicates=()) for trace in (diff.before, diff.after))
    marked = [
        [
            [_placed("A", series, places[0], 0) for series in one],
            [_placed("B", series, places[1], shift) for series in other],
        ]
        for one, other in (
            (ours.latency, theirs.latency),
            (ours.errors, theirs.errors),
            (ours.constants, theirs.constants),
            (ours.nodes, theirs.nodes),
        )
    ]
    latency, errors, constants, nodes = (tuple(_alternating(*pair)) for pair in marked)
    return ChartData(
        latency,
        relative=(),  # a run's ratios are valid only within it
        cold=(),
        errors=errors,
        constants=constants,
        nodes=nodes,
        baselines=(),  # eager's time differs from run to run
        before=None,
        payoffs=(),  # the findings show those of both
        duplicated=(),
        peak_bytes=None,
        past_tolerance=None,  # hollow points show it for both
        not_finite=ours.not_finite + theirs.not_finite,
        steps=len(rows),
        untimed=ours.untimed,
        uncompared=ours.uncompared,
    )


def _alternating(ours: list[Series], theirs: list[Series]) -> list[Series]:
    """Returns A's and B's series alternately, so that two of one kind get different colours and marks."""
    longest = max(len(ours), len(theirs))
    return [series for place in range(longest) for group in (ours, theirs) for series in group[place : place + 1]]


def _placed(side: str, series: Series, places: Mapping[int, int], shift: int) -> Series:
    names = [f"{name} ({side} {step})" for name, step in zip(series.passes, series.steps, strict=True)]
    return replace(
        series,
        name=f"{side}: {series.name}",
        steps=[places[step + shift] for step in series.steps],
        passes=names,
    )


def _set_apart(plot: Any, source: ColumnDataSource, second: bool) -> None:
    """Moves A's points slightly to the left and B's to the right, and dashes B's lines, to keep equal ones visible."""
    source.data["step"] = [step + (_ASIDE if second else -_ASIDE) for step in source.data["step"]]
    for renderer in plot.renderers:
        if second and renderer.data_source is source and not isinstance(renderer.glyph, Scatter):
            renderer.glyph.line_dash = "dashed"


def _aligned(chart: Chart, data: ChartData) -> Chart:
    if chart.figure is None:
        return chart
    chart.figure.xaxis.axis_label = "pass, those of both traces side by side"
    for tool in chart.figure.select(HoverTool):
        tool.tooltips = [("pass", "@pass"), tool.tooltips[-1]]
        source = tool.renderers[0].data_source
        _set_apart(chart.figure, source, tool.tooltips[-1][0].startswith("B"))
    return replace(chart, note=chart.note + _RUNS) if chart.title == "Latency" else chart
