"""What the charts draw: only what was measured, missing steps left out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import freeze_engine as fe
from viewer.view_models.failure import knows_constants
from viewer.view_models.measures import first_past_tolerance
from viewer.view_models.wording import bytes_text, duration_text, error_text, interval_text


@dataclass(slots=True)
class Series:
    """Points of one line, in step order.

    Attributes:
        name: the legend's text.
        steps: step indices, the x axis.
        passes: pass names.
        values: the y axis, in the chart's unit.
        texts: values in words.
        lows, highs: bounds of the 95% intervals, in the chart's unit; empty where there are none.
        past: whether each point is past tolerance; empty where that is no question.
    """

    name: str
    steps: list[int] = field(default_factory=list)
    passes: list[str] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    lows: list[float] = field(default_factory=list)
    highs: list[float] = field(default_factory=list)
    past: list[bool] = field(default_factory=list)

    def add(self, step: fe.Step, value: float, text: str) -> None:
        """Appends the point of ``step``."""
        self.steps.append(step.index)
        self.passes.append(step.name)
        self.values.append(value)
        self.texts.append(text)


@dataclass(frozen=True, slots=True)
class ChartData:
    """The series of the four charts.

    Attributes:
        latency: medians in ns, one series per method and device.
        errors: largest absolute errors, one series per method and reference.
        constants: bytes, one series per method.
        nodes: counts, one series per method.
        baselines: ``(name, median in ns)`` of eager and scripted on the first device.
        past_tolerance: index of the first step that eager's tolerances reject.
        not_finite: how many errors were infinite or not a number, and so cannot be drawn.
        steps: number of steps in the trace.
    """

    latency: tuple[Series, ...]
    errors: tuple[Series, ...]
    constants: tuple[Series, ...]
    nodes: tuple[Series, ...]
    baselines: tuple[tuple[str, float], ...]
    past_tolerance: int | None
    not_finite: int
    steps: int


def chart_data(trace: fe.Trace) -> ChartData:
    """Returns the series that a trace has measurements for."""
    compared = [numerics for step in trace.steps for numerics in step.numerics if numerics.error is None]
    weighed = knows_constants(trace.failure)
    return ChartData(
        latency=_latency(trace),
        errors=_errors(trace),
        constants=_per_method(trace, _constants) if weighed else (),
        nodes=_per_method(trace, _nodes),
        baselines=tuple(
            (line.name, line.latency[0].median_ns.value)
            for line in trace.baselines
            if line.latency and math.isfinite(line.latency[0].median_ns.value)
        ),
        past_tolerance=first_past_tolerance(trace),
        not_finite=sum(not math.isfinite(numerics.max_abs) for numerics in compared),
        steps=len(trace.steps),
    )


def _latency(trace: fe.Trace) -> tuple[Series, ...]:
    found: dict[str, Series] = {}
    for step in trace.steps:
        for latency in step.latency:
            median = latency.median_ns
            if not math.isfinite(median.low + median.value + median.high):
                continue
            name = f"{step.method}, {latency.device}"
            series = found.setdefault(name, Series(name))
            words = f"{duration_text(median.value)} ({interval_text(median)}), {latency.verdict}"
            series.add(step, median.value, words)
            series.lows.append(median.low)
            series.highs.append(median.high)
    return tuple(found.values())


def _errors(trace: fe.Trace) -> tuple[Series, ...]:
    found: dict[str, Series] = {}
    for step in trace.steps:
        for numerics in step.numerics:
            if numerics.error is not None or not numerics.outputs or not math.isfinite(numerics.max_abs):
                continue
            name = f"{step.method}, against {numerics.reference}"
            verdict = "within tolerance" if numerics.close else "past tolerance"
            series = found.setdefault(name, Series(name))
            series.add(step, numerics.max_abs, f"{error_text(numerics.max_abs)}, {verdict}")
            series.past.append(not numerics.close)
    return tuple(found.values())


def _per_method(trace: fe.Trace, point: Callable[[fe.Step], tuple[float, str]]) -> tuple[Series, ...]:
    found: dict[str, Series] = {}
    for step in trace.steps:
        found.setdefault(step.method, Series(step.method)).add(step, *point(step))
    return tuple(found.values())


def _constants(step: fe.Step) -> tuple[float, str]:
    return step.constant_bytes, bytes_text(step.constant_bytes)


def _nodes(step: fe.Step) -> tuple[float, str]:
    nodes = sum(1 for _ in step.graph.walk())
    return nodes, f"{nodes} nodes"
