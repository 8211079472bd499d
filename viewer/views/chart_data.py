"""The data of the charts: measured steps only."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views.measurements import Errors, errors_by_reference, first_past_tolerance
from viewer.views.missing_measurements import how_to_get
from viewer.views.wording import told_ratio

if TYPE_CHECKING:
    from freeze_engine.trace import Interval, Latency

_Place = tuple[str, str]


@dataclass(slots=True)
class Series:
    """Points of one line, in step order.

    Attributes:
        name: the legend's text.
        steps: step indices, the x axis.
        passes: pass names.
        values: the y axis, in the chart's unit.
        texts: values in words.
        lows, highs: bounds of the 95% intervals, or least and largest over several inputs, in the chart's unit; empty
            if there are none.
        hollow: whether each point is drawn hollow: past tolerance, or no measurable difference; empty means none.
    """

    name: str
    steps: list[int] = field(default_factory=list)
    passes: list[str] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    lows: list[float] = field(default_factory=list)
    highs: list[float] = field(default_factory=list)
    hollow: list[bool] = field(default_factory=list)

    def add(self, step: fe.Step, value: float, text: str, span: tuple[float, float] | None = None) -> None:
        """Appends the point of ``step``; either all points of a series have a ``span`` or none has."""
        self.steps.append(step.index)
        self.passes.append(step.name)
        self.values.append(value)
        self.texts.append(text)
        if span is not None:
            self.lows.append(span[0])
            self.highs.append(span[1])


@dataclass(frozen=True, slots=True)
class Mark:
    """A step that a chart marks.

    Attributes:
        step: its index, the x axis.
        text: its short label.
        good: whether its effect is desirable.
    """

    step: int
    text: str
    good: bool


@dataclass(frozen=True, slots=True)
class ChartData:
    """The series of the charts.

    Attributes:
        latency: medians in ns, one series per method and device.
        relative: time relative to the measured step before and to the first, two series per method and device.
        cold: first call and the calls until steady state together, in ns, two series per method and device.
        errors: largest absolute errors over all inputs, one series per method and reference.
        constants: bytes, one series per method.
        nodes: counts, one series per method.
        baselines: ``(name, median in ns)`` of eager and scripted on the first device.
        before: largest absolute error of the eager module against float64, before freezing.
        payoffs: passes that changed the latency measurably, the largest change first.
        duplicated: ``(step, bytes)`` of duplicates at the end, by the step since which they exist.
        peak_bytes: peak resident memory during the freeze above that before it, ``None`` if unknown.
        past_tolerance: the first step past torch's tolerances against eager.
        not_finite: number of infinite or NaN errors, which cannot be drawn.
        steps: number of steps in the trace.
        untimed: how to get latencies, or why measuring them failed.
        uncompared: how to get errors, or why measuring them failed.
    """

    latency: tuple[Series, ...]
    relative: tuple[Series, ...]
    cold: tuple[Series, ...]
    errors: tuple[Series, ...]
    constants: tuple[Series, ...]
    nodes: tuple[Series, ...]
    baselines: tuple[tuple[str, float], ...]
    before: float | None
    payoffs: tuple[Mark, ...]
    duplicated: tuple[tuple[int, int], ...]
    peak_bytes: int | None
    past_tolerance: Mark | None
    not_finite: int
    steps: int
    untimed: str = ""
    uncompared: str = ""


def chart_data(trace: fe.Trace, duplicates: Sequence[analysis.Duplicate] | None = None) -> ChartData:
    """Returns the series for the measurements of a trace.

    Args:
        trace: the recording.
        duplicates: result of `freeze_engine.analysis.duplicates` for it; computed by default.
    """
    compared = [numerics for step in trace.steps for numerics in step.numerics if numerics.error is None]
    weighed = analysis.knows_constants(trace)
    before = next((split.present for split in analysis.error_split(trace)), None)
    return ChartData(
        latency=_latency(trace),
        relative=_relative(trace),
        cold=_cold(trace),
        errors=_errors(trace),
        constants=_per_method(trace, _constants) if weighed else (),
        nodes=_per_method(trace, _nodes),
        baselines=tuple(
            (line.name, line.latency[0].median_ns.value)
            for line in trace.baselines
            if line.latency and math.isfinite(line.latency[0].median_ns.value)
        ),
        before=before if before is not None and math.isfinite(before) else None,
        payoffs=_payoffs(trace),
        duplicated=_duplicated(analysis.duplicates(trace) if duplicates is None else duplicates),
        peak_bytes=None if trace.memory is None else trace.memory.peak_bytes,
        past_tolerance=_past_tolerance(trace),
        not_finite=sum(not math.isfinite(numerics.max_abs) for numerics in compared),
        steps=len(trace.steps),
        untimed=how_to_get(trace, "latency"),
        uncompared=how_to_get(trace, "numerics"),
    )


def _latency(trace: fe.Trace) -> tuple[Series, ...]:
    found: dict[str, Series] = {}
    detection = analysis.detection(trace)
    for step, latency in _latencies(trace):
        median = latency.median_ns
        if not _drawable(median):
            continue
        name = f"{step.method}, {latency.device}"
        words = f"{analysis.timed_text(median)}, {analysis.claim_text(latency.verdict, detection.to_first(latency))}"
        found.setdefault(name, Series(name)).add(step, median.value, words, _bounds(median))
    return tuple(found.values())


def _bounds(median: Interval) -> tuple[float, float]:
    """Returns the ends of the bar around a time; both are the time itself if its interval is unknown."""
    return (median.low, median.high) if analysis.bounds_known(median) else (median.value, median.value)


def _latencies(trace: fe.Trace) -> Iterator[tuple[fe.Step, Latency]]:
    return ((step, latency) for step in trace.steps for latency in step.latency)


def _relative(trace: fe.Trace) -> tuple[Series, ...]:
    found: dict[_Place, Series] = {}
    detection = analysis.detection(trace)
    for step, latency in _latencies(trace):
        ratios = (
            ("the pass before", latency.previous, latency.change, detection.to_previous(latency)),
            ("the first", latency.ratio, latency.verdict, detection.to_first(latency)),
        )
        for what, ratio, verdict, smallest in ratios:
            if ratio is None or not _drawable(ratio) or verdict is None:
                continue
            series = found.setdefault((_where(step, latency), f"to {what}"), Series(""))
            series.add(
                step,
                ratio.value,
                ", ".join(filter(None, (told_ratio(ratio, verdict, smallest), analysis.claim_text(verdict, smallest)))),
                (ratio.low, ratio.high),
            )
            series.hollow.append(verdict not in ("faster", "slower"))
    return _named(found)


def _cold(trace: fe.Trace) -> tuple[Series, ...]:
    found: dict[_Place, Series] = {}
    for step, latency in _latencies(trace):
        calls = ((latency.first_ns,), "first call"), (latency.warmup_ns, "warm-up after it")
        for durations, what in calls:
            if sum(durations) <= 0:
                continue
            words = analysis.duration_text(sum(durations)) + (
                f" in {len(durations)} calls" if len(durations) > 1 else ""
            )
            found.setdefault((_where(step, latency), what), Series("")).add(step, sum(durations), words)
    return _named(found)


def _errors(trace: fe.Trace) -> tuple[Series, ...]:
    several = any(errors.span for step in trace.steps for errors in errors_by_reference(step.numerics))
    found: dict[_Place, Series] = {}
    for step in trace.steps:
        for errors in errors_by_reference(step.numerics):
            drawn = [entry for entry in errors.compared if entry.outputs and math.isfinite(entry.max_abs)]
            if not drawn:
                continue
            least, largest = min(entry.max_abs for entry in drawn), max(entry.max_abs for entry in drawn)
            series = found.setdefault((step.method, f"against {errors.reference}"), Series(""))
            series.add(step, largest, _error_words(errors, largest), (least, largest) if several else None)
            series.hollow.append(not errors.close)
    return _named(found)


def _error_words(errors: Errors, largest: float) -> str:
    verdict = "within tolerance" if errors.close else "past tolerance"
    over = f", {errors.span_text} over {len(errors.compared)} inputs" if errors.span else ""
    return f"{analysis.error_text(largest)}, {verdict}{over}"


def _where(step: fe.Step, latency: Latency) -> str:
    return f"{step.method}, {latency.device}"


def _named(found: dict[_Place, Series]) -> tuple[Series, ...]:
    """Names series by their quantity, with method and device if these are not the same for all."""
    several = len({where for where, _ in found}) > 1
    for (where, what), series in found.items():
        series.name = f"{where}, {what}" if several else what
    return tuple(found.values())


def _per_method(trace: fe.Trace, point: Callable[[fe.Step], tuple[float, str]]) -> tuple[Series, ...]:
    found: dict[str, Series] = {}
    for step in trace.steps:
        found.setdefault(step.method, Series(step.method)).add(step, *point(step))
    return tuple(found.values())


def _payoffs(trace: fe.Trace) -> tuple[Mark, ...]:
    changes = [
        change for change in analysis.latency_changes(trace) if _drawable(change.ratio) and change.ratio.value > 0
    ]
    return tuple(
        Mark(
            change.step,
            f"{_numbered(trace, change.step)} {analysis.ratio_short_text(change.ratio)}",
            change.ratio.value < 1,
        )
        for change in sorted(changes, key=lambda change: -abs(math.log(change.ratio.value)))
    )


def _past_tolerance(trace: fe.Trace) -> Mark | None:
    step = first_past_tolerance(trace)
    return None if step is None else Mark(step, _numbered(trace, step), good=False)


def _numbered(trace: fe.Trace, step: int) -> str:
    return f"{step} {trace.steps[step].name}"


def _duplicated(duplicates: Sequence[analysis.Duplicate]) -> tuple[tuple[int, int], ...]:
    nbytes = Counter[int]()
    for duplicate in duplicates:
        if duplicate.until is None:
            nbytes[duplicate.step] += duplicate.nbytes
    return tuple(sorted(nbytes.items()))


def _constants(step: fe.Step) -> tuple[float, str]:
    return step.constant_bytes, analysis.bytes_text(step.constant_bytes)


def _nodes(step: fe.Step) -> tuple[float, str]:
    nodes = sum(1 for _ in step.graph.walk())
    return nodes, f"{nodes} nodes"


def _drawable(interval: Interval) -> bool:
    return math.isfinite(interval.low + interval.value + interval.high)
