"""The charts: latency, numeric error, constants and nodes per pass, drawn by Bokeh in the browser.

No chart carries code (`CustomJS` and its kin need ``unsafe-eval``): the viewer listens to the selection and moves the
lines tagged ``chosen`` and ``base`` itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from bokeh.embed import json_item
from bokeh.models import ColumnDataSource, HoverTool, Range1d, SingleIntervalTicker, Span, TeeHead, Whisker
from bokeh.plotting import figure

import freeze_engine as fe
from viewer.view_models.chart_data import ChartData, Series, chart_data
from viewer.view_models.wording import duration_text

Theme: TypeAlias = Literal["light", "dark"]
Figure: TypeAlias = Any
THEMES: Final[tuple[Theme, ...]] = ("light", "dark")

_BYTE_UNITS: Final = (("B", 1.0), ("KiB", 2.0**10), ("MiB", 2.0**20), ("GiB", 2.0**30))
_TIME_UNITS: Final = (("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9))
_MARKERS: Final = ("circle", "square", "diamond", "triangle")
_DASHES: Final = ("dashed", "dotted")
_OUTSIDE: Final = -10
_ZERO: Final = "inverted_triangle"
_SANS: Final = "system-ui, -apple-system, Segoe UI, Roboto, sans-serif"
_BOKEH_ID: Final = re.compile(r"p\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of one theme; those of the series differ in lightness too, for colour-blind eyes."""

    text: str
    muted: str
    grid: str
    bad: str
    chosen: str
    series: tuple[str, ...]


PALETTES: Final[dict[Theme, Palette]] = {
    "light": Palette(
        "#1b2027", "#5b6573", "#e1e4e9", "#b02345", "#1f5fbf", ("#0b6bb5", "#b84300", "#3d1d75", "#0b6e4f")
    ),
    "dark": Palette(
        "#e4e8ee", "#9aa5b4", "#2d343f", "#ff7f9b", "#79aef5", ("#4f9ff0", "#ff9a52", "#d9c8ff", "#57c79b")
    ),
}


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart of a trace.

    Attributes:
        title: what it shows.
        note: what to know to read it, or why there is nothing to draw.
        figure: the Bokeh figure, ``None`` where nothing was measured.
    """

    title: str
    note: str
    figure: Figure | None


def charts(data: ChartData, theme: Theme) -> tuple[Chart, ...]:
    """Returns a trace's charts; none for a trace without steps.

    Args:
        data: what `viewer.view_models.chart_data.chart_data` made of the trace.
        theme: whose colours to use.
    """
    if not data.steps:
        return ()
    palette = PALETTES[theme]
    return (
        _latency_chart(data, palette),
        _error_chart(data, palette),
        _constants_chart(data, palette),
        _nodes_chart(data, palette),
    )


def chart_items(trace: fe.Trace) -> dict[str, list[dict[str, Any]]]:
    """Returns the charts of both themes for BokehJS's ``embed_item``; the same trace gives the same items."""
    data = chart_data(trace)
    return items_of(lambda theme: charts(data, theme))


def items_of(draw: Callable[[Theme], Sequence[Chart]]) -> dict[str, list[dict[str, Any]]]:
    """Returns charts of both themes for BokehJS's ``embed_item``.

    Args:
        draw: returns the charts in one theme.
    """
    return {
        theme: [
            {"title": chart.title, "note": chart.note, "item": chart.figure and _pinned(_item(chart.figure))}
            for chart in draw(theme)
        ]
        for theme in THEMES
    }


def _latency_chart(data: ChartData, palette: Palette) -> Chart:
    if not data.latency:
        return Chart("Latency", "Not measured.", None)
    medians = [value for series in data.latency for value in series.values]
    longest = max(high for series in data.latency for high in series.highs)
    # On a noisy machine an interval can be many times its median: it may leave the chart, the medians may not shrink.
    top = max(min(longest, 3 * max(medians)), *medians, *(median for _, median in data.baselines))
    unit, scale = _unit(top, _TIME_UNITS)
    plot = _figure(data, palette, f"median, {unit}")
    plot.y_range = Range1d(0, _headroom(top / scale))
    for number, (name, median) in enumerate(data.baselines):
        dash, label = _DASHES[number % len(_DASHES)], f"{name}, {duration_text(median)}"
        across = [plot.x_range.start, plot.x_range.end]
        plot.line(across, [median / scale] * 2, line_dash=dash, line_color=palette.muted, legend_label=label)
    for number, series in enumerate(data.latency):
        source = _source(series, number, scale)
        color = _color(palette, number)
        ends = {"lower": "low", "upper": "high", "base": "step", "line_color": color}
        plot.add_layout(Whisker(source=source, **ends, upper_head=_head(color), lower_head=_head(color)))
        _points(plot, series, source, palette, number)
    _finish(plot, palette, len(data.latency) + len(data.baselines))
    note = "Median with its 95% interval; passes that were not measured are left out."
    if longest > top:
        note += " Intervals that leave the top are longer than shown."
    return Chart("Latency", note, plot)


def _error_chart(data: ChartData, palette: Palette) -> Chart:
    if not data.errors:
        return Chart("Numeric error", "Not compared.", None)
    positive = [value for series in data.errors for value in series.values if value > 0]
    floor, top = (max(min(positive) / 10, 1e-300), min(max(positive) * 10, 1e300)) if positive else (1e-9, 1.0)
    plot = _figure(data, palette, "largest absolute error", y_axis_type="log", y_range=Range1d(floor, top))
    for number, series in enumerate(data.errors):
        shown = [max(value, floor * 1.3) for value in series.values]
        _points(plot, series, _source(series, number, 1.0, shown), palette, number)
    note = "Hollow: past tolerance. Triangles at the bottom: exactly zero."
    if data.past_tolerance is not None:
        plot.add_layout(Span(location=data.past_tolerance, dimension="height", line_color=palette.bad, line_width=1.5))
        note = f"Red line: first step past torch's tolerances against eager, step {data.past_tolerance}. {note}"
    if data.not_finite:
        note += f" Not finite, so not drawn: {data.not_finite}."
    _finish(plot, palette, len(data.errors))
    return Chart("Numeric error", note, plot)


def _constants_chart(data: ChartData, palette: Palette) -> Chart:
    if not data.constants:
        return Chart("Constants", "Unknown: they went with the process.", None)
    unit, scale = _unit(max(value for series in data.constants for value in series.values), _BYTE_UNITS)
    plot = _steps_figure(data, palette, data.constants, unit, scale)
    return Chart("Constants", "Bytes that the graph's constants hold, shared storage counted once.", plot)


def _nodes_chart(data: ChartData, palette: Palette) -> Chart:
    plot = _steps_figure(data, palette, data.nodes, "nodes", 1.0)
    return Chart("Nodes", "Nodes in the graph, nested ones included.", plot)


def _steps_figure(data: ChartData, palette: Palette, lines: Sequence[Series], unit: str, scale: float) -> Figure:
    plot = _figure(data, palette, unit)
    plot.y_range = Range1d(0, _headroom(max(value for series in lines for value in series.values) / scale))
    for number, series in enumerate(lines):
        source = _source(series, number, scale)
        plot.step("step", "value", source=source, mode="after", line_color=_color(palette, number))
        _points(plot, series, source, palette, number, line=False)
    _finish(plot, palette, len(lines))
    return plot


def _figure(data: ChartData, palette: Palette, unit: str, **options: Any) -> Figure:
    plot = figure(
        sizing_mode="stretch_both",
        tools="xpan,xbox_zoom,reset,tap",
        toolbar_location="above",
        x_range=Range1d(-0.5, max(data.steps - 0.5, 0.5)),
        x_axis_label="step",
        y_axis_label=unit,
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        **options,
    )
    plot.toolbar.logo = None
    plot.toolbar.autohide = True
    plot.toolbar_inner = True
    plot.xaxis.ticker = SingleIntervalTicker(interval=max(1, round(data.steps / 12)), num_minor_ticks=0)
    for tag, width, dash in (("chosen", 6, "solid"), ("base", 3, "dashed")):
        mark = {"line_color": palette.chosen, "line_width": width, "line_dash": dash, "line_alpha": 0.3}
        plot.add_layout(Span(location=_OUTSIDE, dimension="height", tags=[tag], **mark))
    return plot


def _source(series: Series, number: int, scale: float, shown: Sequence[float] | None = None) -> ColumnDataSource:
    marker = _MARKERS[number % len(_MARKERS)]
    columns: dict[str, list[Any]] = {
        "step": series.steps,
        "pass": series.passes,
        "value": [value / scale for value in shown or series.values],
        "text": series.texts,
        "marker": [_ZERO if shown and value == 0 else marker for value in series.values],
        "fill": [0.0 if past else 1.0 for past in series.past] or [1.0] * len(series.steps),
    }
    if series.lows:
        columns["low"] = [low / scale for low in series.lows]
        columns["high"] = [high / scale for high in series.highs]
    return ColumnDataSource(columns)


def _points(
    plot: Figure, series: Series, source: ColumnDataSource, palette: Palette, number: int, *, line: bool = True
) -> None:
    color = _color(palette, number)
    if line:
        plot.line("step", "value", source=source, line_color=color, line_alpha=0.5)
    points = plot.scatter(
        "step",
        "value",
        source=source,
        marker="marker",
        size=6,
        line_color=color,
        line_width=2,
        fill_color=color,
        fill_alpha="fill",
        nonselection_line_alpha=1.0,
        nonselection_fill_alpha="fill",
        legend_label=series.name,
    )
    plain = (place for place, marker in enumerate(source.data["marker"]) if marker != _ZERO)
    plot.legend[0].items[-1].index = next(plain, 0)  # the legend shows a point of the line, not an exact zero
    plot.add_tools(HoverTool(renderers=[points], tooltips=[("step", "@step @pass"), (series.name, "@text")]))


def _finish(plot: Figure, palette: Palette, series: int) -> None:
    for axis in plot.axis:
        axis.axis_label_text_color = axis.major_label_text_color = palette.muted
        axis.axis_label_text_font = axis.major_label_text_font = _SANS
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_font_size = axis.major_label_text_font_size = "11px"
        axis.axis_line_color = axis.major_tick_line_color = axis.minor_tick_line_color = palette.grid
    plot.ygrid.grid_line_color = palette.grid
    plot.xgrid.grid_line_color = None
    legend = plot.legend[0]
    legend.visible = series > 1
    legend.background_fill_color = legend.border_line_color = None
    legend.label_text_color, legend.label_text_font, legend.label_text_font_size = palette.text, _SANS, "11px"
    legend.orientation, legend.padding, legend.margin, legend.spacing = "horizontal", 0, 4, 14
    plot.add_layout(legend, "above")


def _head(color: str) -> TeeHead:
    return TeeHead(size=6, line_color=color)


def _headroom(top: float) -> float:
    return 1.12 * top if top > 0 else 1.0


def _color(palette: Palette, number: int) -> str:
    return palette.series[number % len(palette.series)]


def _unit(top: float, units: Sequence[tuple[str, float]]) -> tuple[str, float]:
    return next((unit for unit in reversed(units) if top >= unit[1]), units[0])


def _item(plot: Figure) -> Any:
    item = json_item(plot)
    # Classes that Panel, where it is imported, has added to Bokeh's: no figure uses them, and no page could make them.
    item["doc"].pop("defs", None)
    return item


def _pinned(item: Any) -> Any:
    """Numbers Bokeh's ids anew: its own count up over the whole process, so equal charts would differ in bytes."""
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
