"""The charts: latency, cold start, numeric error, constants and nodes per pass, for BokehJS to draw."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from bokeh.embed import json_item
from bokeh.models import BasicTickFormatter, Range1d, Span

import freeze_engine as fe
from freeze_engine import analysis
from viewer.charts.drawing import (
    BYTE_UNITS,
    PALETTES,
    TIME_UNITS,
    Figure,
    Palette,
    Theme,
    add_marks,
    add_points,
    add_whiskers,
    colours,
    finish,
    headroom,
    log_ticks,
    series_color,
    source_of,
    step_figure,
    unit_of,
)
from viewer.views.chart_data import ChartData, Mark, Series, chart_data

_ASIDE: Final = 0.14
_SHOWN: Final = 3
_MOST_LINES: Final = 12
"""Most series, and most baselines, that a chart draws: a figure of hundreds takes minutes to make."""

_WORDS_SHARE: Final = 0.08
"""Share of a chart's height that one label takes."""

_DARK: Final = dict(zip(colours(PALETTES["light"]), colours(PALETTES["dark"]), strict=True))
"""The dark theme's colour for each of the light one."""

_LIGHT_COLOUR: Final = re.compile("|".join(_DARK))
_BOKEH_ID: Final = re.compile(r"p\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart of a trace.

    Attributes:
        title: names the quantity.
        note: explains the chart, or why there is none.
        figure: the Bokeh figure, ``None`` without measurements.
    """

    title: str
    note: str
    figure: Figure | None


def charts(data: ChartData, theme: Theme) -> tuple[Chart, ...]:
    """Returns a trace's charts; none for a trace without steps.

    Args:
        data: result of `viewer.views.chart_data.chart_data` for the trace.
        theme: selects the colours.
    """
    if not data.steps:
        return ()
    palette = PALETTES[theme]
    drawn = (
        (_latency_chart, data.latency),
        *(((_relative_chart, data.relative),) if data.relative else ()),
        (_error_chart, data.errors),
        *(((_cold_chart, data.cold),) if data.cold else ()),
        (_constants_chart, data.constants),
        (_nodes_chart, data.nodes),
    )
    shown = _legible(data)
    return tuple(_counted(draw(shown, palette), len(series)) for draw, series in drawn)


def _legible(data: ChartData) -> ChartData:
    """Leaves out the series that no chart has room for."""
    return replace(
        data,
        latency=data.latency[:_MOST_LINES],
        relative=data.relative[:_MOST_LINES],
        cold=data.cold[:_MOST_LINES],
        errors=data.errors[:_MOST_LINES],
        constants=data.constants[:_MOST_LINES],
        nodes=data.nodes[:_MOST_LINES],
        baselines=tuple(sorted(data.baselines, key=lambda baseline: -baseline[1])[:_MOST_LINES]),
    )


def _counted(chart: Chart, series: int) -> Chart:
    """Adds how many series were left out."""
    if series <= _MOST_LINES:
        return chart
    return replace(chart, note=f"{chart.note} Shown are the first {_MOST_LINES} of {series:,} lines.")


def chart_items(
    trace: fe.Trace, duplicates: Sequence[analysis.Duplicate] | None = None
) -> dict[str, list[dict[str, Any]]]:
    """Returns the charts of both themes for BokehJS's ``embed_item``; the same trace gives the same items.

    Args:
        trace: the recording.
        duplicates: result of `freeze_engine.analysis.duplicates` for it; computed by default.
    """
    return items_of(charts(chart_data(trace, duplicates), "light"))


def items_of(light: Sequence[Chart]) -> dict[str, list[dict[str, Any]]]:
    """Returns charts of both themes for BokehJS's ``embed_item``.

    Bokeh takes long to make a figure, so the dark one is the light one with other colours.

    Args:
        light: the charts in the light theme.
    """
    items = [
        {"title": chart.title, "note": chart.note, "item": chart.figure and _pinned(_item(chart.figure))}
        for chart in light
    ]
    return {"light": items, "dark": _recoloured(items)}


def _sentence(what: str, why: str) -> str:
    return f"{what}: {why.removesuffix('.')}."


def _latency_chart(data: ChartData, palette: Palette) -> Chart:
    if not data.latency:
        return Chart("Latency", _sentence("Not measured", data.untimed), None)
    medians = [value for series in data.latency for value in series.values]
    longest = max(high for series in data.latency for high in series.highs)
    # On a noisy machine an interval can be many times its median: it may exceed the chart, to keep medians legible.
    top = max(min(longest, 3 * max(medians)), *medians, *(median for _, median in data.baselines))
    unit, scale = unit_of(top, TIME_UNITS)
    plot = step_figure(data, palette, f"median, {unit}")
    marks = data.payoffs[:_SHOWN]
    plot.y_range = Range1d(0, headroom(top / scale) * (1 + _WORDS_SHARE * len(marks)))
    for _, median in data.baselines:
        _line_across(plot, palette, median / scale)
    for number, series in enumerate(data.latency):
        source = source_of(series, number, scale)
        add_whiskers(plot, source, series_color(palette, number))
        add_points(plot, series, source, palette, number)
    add_marks(plot, marks, palette, data.steps)
    finish(plot, palette, len(data.latency))
    note = "Median with its 95% interval; passes that were not measured are left out."
    if data.payoffs:
        note = f"{_payoff_words(data.payoffs)} {note}"
    if longest > top:
        note += " Intervals that leave the top are longer than shown."
    if data.baselines:
        lines = ", ".join(f"{name} {analysis.duration_text(median)}" for name, median in data.baselines)
        note += f" Dashed, from the top: {lines}."
    return Chart("Latency", note, plot)


def _payoff_words(payoffs: Sequence[Mark]) -> str:
    most = f", the {_SHOWN} largest of {len(payoffs)} changes" if len(payoffs) > _SHOWN else ""
    return f"Lines: passes that saved time (teal) or cost time (red), where the difference is measurable{most}."


def _relative_chart(data: ChartData, palette: Palette) -> Chart:
    values = [value for series in data.relative for value in series.values]
    far = max(abs(value - 1) for value in values)
    spread = max(0.04, min(3 * far, _reach(data.relative)), 1.1 * far)
    plot = step_figure(data, palette, "times as long", y_range=Range1d(max(0.0, 1 - 1.1 * spread), 1 + 1.1 * spread))
    plot.add_layout(Span(location=1, dimension="width", line_color=palette.muted, line_width=1))
    for number, series in enumerate(data.relative):
        source = source_of(series, number, 1.0)
        source.data["step"] = [step + (_ASIDE if number % 2 else -_ASIDE) for step in series.steps]
        add_whiskers(plot, source, series_color(palette, number))
        add_points(plot, series, source, palette, number, line=False)
    finish(plot, palette, len(data.relative))
    note = (
        "Below 1 is faster, with 95% intervals. Filled: measurable. Hollow: no measurable difference; a point's label "
        "says which one would have shown."
    )
    return Chart("Latency against other passes", note, plot)


def _reach(lines: Sequence[Series]) -> float:
    """Returns the largest distance of the ratios' intervals from 1."""
    return max(abs(bound - 1) for series in lines for bound in (*series.lows, *series.highs))


def _cold_chart(data: ChartData, palette: Palette) -> Chart:
    note = "What a fresh copy takes until it runs steadily: compilation and profiling."
    values = [value for series in data.cold for value in series.values]
    unit, scale = unit_of(max(values), TIME_UNITS)
    ends = Range1d(min(values) / scale / 2, max(values) / scale * 2)
    plot = step_figure(data, palette, unit, y_axis_type="log", y_range=ends)
    plot.yaxis.ticker = log_ticks(ends.start, ends.end)
    plot.yaxis.formatter = BasicTickFormatter()
    for number, series in enumerate(data.cold):
        add_points(plot, series, source_of(series, number, scale), palette, number)
    finish(plot, palette, len(data.cold))
    return Chart("Cold start", note, plot)


def _error_chart(data: ChartData, palette: Palette) -> Chart:
    if not data.errors:
        return Chart("Numeric error", _sentence("Not compared", data.uncompared), None)
    known = [value for series in data.errors for value in (*series.values, *series.lows)] + [data.before or 0.0]
    positive = [value for value in known if value > 0]
    floor, top = (max(min(positive) / 10, 1e-300), min(max(positive) * 10, 1e300)) if positive else (1e-9, 1.0)
    plot = step_figure(data, palette, "largest absolute error", y_axis_type="log", y_range=Range1d(floor, top))
    if data.before:
        _line_across(plot, palette, data.before)
    for number, series in enumerate(data.errors):
        source = source_of(series, number, 1.0, floor * 1.3)
        if series.lows:
            add_whiskers(plot, source, series_color(palette, number))
        add_points(plot, series, source, palette, number)
    finish(plot, palette, len(data.errors))
    return Chart("Numeric error", _error_note(data, plot, palette), plot)


def _error_note(data: ChartData, plot: Figure, palette: Palette) -> str:
    note = "Hollow: past tolerance. Triangles at the bottom: exactly zero."
    if data.before:
        note = f"Dashed: {analysis.error_text(data.before)}, eager against float64, there before freezing. {note}"
    if any(series.lows for series in data.errors):
        note = f"The worst of all inputs; bars go down to the best. {note}"
    if data.past_tolerance is not None:
        add_marks(plot, [data.past_tolerance], palette, data.steps)
        note = f"Red line: the first step past torch's tolerances against eager. {note}"
    return f"{note} Not finite, so not drawn: {data.not_finite}." if data.not_finite else note


def _line_across(plot: Figure, palette: Palette, value: float) -> None:
    plot.add_layout(Span(location=value, dimension="width", line_dash="dashed", line_color=palette.muted))


def _constants_chart(data: ChartData, palette: Palette) -> Chart:
    if not data.constants:
        return Chart("Constants", "Unknown: they went with the process.", None)
    unit, scale = unit_of(max(value for series in data.constants for value in series.values), BYTE_UNITS)
    plot = _steps_figure(data, palette, data.constants, unit, scale)
    note = "Bytes that the graph's constants hold, shared storage counted once."
    if data.duplicated:
        held = (f"{analysis.bytes_delta_text(nbytes)} since step {step}" for step, nbytes in data.duplicated)
        found = analysis.listed(held, most=_SHOWN)
        note += f" Held more than once in the final graph: {found}."
    if data.peak_bytes:
        note += f" Resident at the peak of the freeze: {analysis.bytes_text(data.peak_bytes)} more than before it."
    return Chart("Constants", note, plot)


def _nodes_chart(data: ChartData, palette: Palette) -> Chart:
    plot = _steps_figure(data, palette, data.nodes, "nodes", 1.0)
    return Chart("Nodes", "Nodes in the graph, nested ones included.", plot)


def _steps_figure(data: ChartData, palette: Palette, lines: Sequence[Series], unit: str, scale: float) -> Figure:
    plot = step_figure(data, palette, unit)
    plot.y_range = Range1d(0, headroom(max(value for series in lines for value in series.values) / scale))
    for number, series in enumerate(lines):
        source = source_of(series, number, scale)
        plot.step("step", "value", source=source, mode="after", line_color=series_color(palette, number))
        add_points(plot, series, source, palette, number, line=False)
    finish(plot, palette, len(lines))
    return plot


def _item(plot: Figure) -> Any:
    item = json_item(plot)
    # Classes that Panel adds to Bokeh's when imported: no figure uses them, and no page could create them.
    item["doc"].pop("defs", None)
    return item


def _recoloured(value: Any) -> Any:
    """Returns a copy with the colours of the dark theme in place of those of the light one."""
    if isinstance(value, list):
        return [_recoloured(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _recoloured(entry) for key, entry in value.items()}
    return _LIGHT_COLOUR.sub(lambda found: _DARK[found[0]], value) if isinstance(value, str) else value


def _pinned(item: Any) -> Any:
    """Renumbers Bokeh's ids: Bokeh counts them over the whole process, so equal charts would differ in bytes."""
    names: dict[str, str] = {}

    def pin(value: Any) -> Any:
        if isinstance(value, list):
            return [pin(entry) for entry in value]
        if isinstance(value, dict):
            return {key: rename(entry) if key in ("id", "root_id") else pin(entry) for key, entry in value.items()}
        return value

    def rename(name: Any) -> Any:
        if not isinstance(name, str) or not _BOKEH_ID.fullmatch(name):
            return name
        return names.setdefault(name, f"c{len(names)}")

    return pin(item)
