"""Draws charts with Bokeh: figure, lines, points, intervals and colours of a theme.

No chart contains code (`CustomJS` and similar classes need ``unsafe-eval``): the viewer itself listens to the selection
and moves the lines tagged ``chosen`` and ``base``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Final, Literal, TypeAlias

from bokeh.models import (
    ColumnDataSource,
    FixedTicker,
    HoverTool,
    Label,
    Range1d,
    SingleIntervalTicker,
    Span,
    TeeHead,
    Whisker,
)
from bokeh.plotting import figure

from viewer.views.chart_data import ChartData, Mark, Series

Theme: TypeAlias = Literal["light", "dark"]
Figure: TypeAlias = Any
THEMES: Final[tuple[Theme, ...]] = ("light", "dark")

BYTE_UNITS: Final = (("B", 1.0), ("KiB", 2.0**10), ("MiB", 2.0**20), ("GiB", 2.0**30))
TIME_UNITS: Final = (("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9))
_MARKERS: Final = ("circle", "square", "diamond", "triangle")
_OUTSIDE: Final = -10
_ZERO: Final = "inverted_triangle"
_SANS: Final = "system-ui, -apple-system, Segoe UI, Roboto, sans-serif"


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of one theme; those of the series differ in lightness too, for colour-blind users."""

    text: str
    muted: str
    grid: str
    good: str
    bad: str
    background: str
    chosen: str
    series: tuple[str, ...]


PALETTES: Final[dict[Theme, Palette]] = {
    "light": Palette(
        "#1b2027",
        "#5b6573",
        "#e1e4e9",
        "#00697a",
        "#b02345",
        "#ffffff",
        "#1f5fbf",
        ("#0b6bb5", "#b84300", "#3d1d75", "#0b6e4f"),
    ),
    "dark": Palette(
        "#e4e8ee",
        "#9aa5b4",
        "#2d343f",
        "#4dd0e1",
        "#ff7f9b",
        "#14171c",
        "#79aef5",
        ("#4f9ff0", "#ff9a52", "#d9c8ff", "#57c79b"),
    ),
}


def colours(palette: Palette) -> Iterator[str]:
    """Yields every colour of a palette."""
    for value in astuple(palette):
        yield from (value,) if isinstance(value, str) else value


def step_figure(data: ChartData, palette: Palette, unit: str, **options: Any) -> Figure:
    """Returns an empty figure with the trace's steps as its x axis; passes ``options`` to Bokeh."""
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


def source_of(series: Series, number: int, scale: float, floor: float | None = None) -> ColumnDataSource:
    """Returns the columns of one series; on a logarithmic axis, exact zeros are drawn at ``floor``."""
    marker = _MARKERS[number % len(_MARKERS)]

    def drawn(values: Sequence[float]) -> list[float]:
        return [max(value / scale, floor or -math.inf) for value in values]

    columns: dict[str, list[Any]] = {
        "step": series.steps,
        "pass": series.passes,
        "value": drawn(series.values),
        "text": series.texts,
        "marker": [_ZERO if floor and value == 0 else marker for value in series.values],
        "fill": [0.0 if hollow else 1.0 for hollow in series.hollow] or [1.0] * len(series.steps),
    }
    if series.lows:
        columns["low"] = drawn(series.lows)
        columns["high"] = drawn(series.highs)
    return ColumnDataSource(columns)


def add_whiskers(plot: Figure, source: ColumnDataSource, color: str) -> None:
    """Draws a bar from ``low`` to ``high`` at every step."""
    ends = {"lower": "low", "upper": "high", "base": "step", "line_color": color}
    plot.add_layout(Whisker(source=source, **ends, upper_head=_head(color), lower_head=_head(color)))


def add_points(
    plot: Figure, series: Series, source: ColumnDataSource, palette: Palette, number: int, *, line: bool = True
) -> None:
    """Draws a series' points, with or without a ``line``, its name in the legend, and its texts as tooltips."""
    color = series_color(palette, number)
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


def add_marks(plot: Figure, marks: Sequence[Mark], palette: Palette, steps: int) -> None:
    """Draws a line at each marked step, with the labels at the top, one below the other.

    Args:
        plot: a figure with a y range.
        marks: the most important first.
        palette: of the theme.
        steps: their number; a label is on the side of the line with more room.
    """
    for place, mark in enumerate(marks):
        color = palette.good if mark.good else palette.bad
        is_left = mark.step < steps / 2
        plot.add_layout(Span(location=mark.step, dimension="height", line_color=color, line_width=1.5))
        words = Label(
            x=mark.step,
            y=plot.y_range.end,
            x_offset=4 if is_left else -4,
            y_offset=-2 - 15 * place,
            text=mark.text,
            text_align="left" if is_left else "right",
            text_baseline="top",
            text_color=color,
            text_font=_SANS,
            text_font_size="11px",
            text_font_style="bold",
            background_fill_color=palette.background,
            background_fill_alpha=0.8,
        )
        plot.add_layout(words)


def log_ticks(low: float, high: float) -> FixedTicker:
    """Returns ticks at 1, 2 and 5 of every power of ten: BokehJS labels fewer than two decades as if linear."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    return FixedTicker(ticks=[tick for tick in found if low <= tick <= high])


def finish(plot: Figure, palette: Palette, series: int) -> None:
    """Styles axes and legend; the legend is visible if there is more than one of ``series``."""
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
    legend.ncols = 2 if series > 2 else "auto"  # a row of all of them would be cut on a phone
    plot.add_layout(legend, "above")


def _head(color: str) -> TeeHead:
    return TeeHead(size=6, line_color=color)


def headroom(top: float) -> float:
    """Returns the end of an axis whose largest value is ``top``."""
    return 1.12 * top if top > 0 else 1.0


def series_color(palette: Palette, number: int) -> str:
    """Returns the colour of a chart's n-th series."""
    return palette.series[number % len(palette.series)]


def unit_of(top: float, units: Sequence[tuple[str, float]]) -> tuple[str, float]:
    """Returns the name and size of the largest of ``units`` that does not exceed ``top``."""
    return next((unit for unit in reversed(units) if top >= unit[1]), units[0])
