from __future__ import annotations

import json
import math
from dataclasses import replace

from hypothesis import given, settings

import freeze_engine as fe
from freeze_engine.trace import Numerics, OutputError
from tests.builders import empty_trace, small_trace, traces
from viewer.charts import figures
from viewer.charts.drawing import PALETTES, THEMES, colours
from viewer.charts.figures import Chart, chart_items, charts
from viewer.views.chart_data import ChartData, Mark, Series, chart_data


def chart_of(data: ChartData, title: str) -> Chart:
    return next(chart for chart in charts(data, "light") if chart.title == title)


def output(max_abs: float) -> OutputError:
    return OutputError("0", max_abs, max_abs, 90.0, 0, max_abs < 1e-4)


def on_inputs(trace: fe.Trace, step: int, errors: dict[str, float]) -> fe.Trace:
    """Returns a trace in which one step was compared with eager on several inputs."""
    numerics = tuple(Numerics("eager", (output(error),), None, name) for name, error in errors.items())
    steps = tuple(replace(one, numerics=numerics) if one.index == step else one for one in trace.steps)
    return replace(trace, steps=steps)


def unmeasured(trace: fe.Trace) -> fe.Trace:
    steps = tuple(replace(step, latency=(), numerics=()) for step in trace.steps)
    return replace(trace, steps=steps, baselines=())


def test_only_measured_steps_are_points():
    (latency,) = chart_data(small_trace()).latency
    assert latency == Series(
        name="forward, cpu",
        steps=[0, 6, 10],
        passes=["input", "ConstantPropagation", "FoldFrozenConvBatchnorm"],
        values=[90_000.5, 80_000.0, 79_000.0],
        texts=[
            "90.0 µs (88.5–92.3 µs), baseline",
            "80.0 µs (78.5–82.3 µs), faster",
            "79.0 µs (77.5–81.3 µs), no measurable difference (one of 11% or more would have shown)",
        ],
        lows=[88_500.5, 78_500.0, 77_500.0],
        highs=[92_251.0, 82_250.5, 81_250.5],
    )


def test_errors_leave_out_what_could_not_be_compared():
    data = chart_data(small_trace())
    (errors,) = data.errors
    assert (errors.name, errors.steps, errors.hollow) == ("against eager", [0, 6, 8], [False, False, True])
    assert (data.past_tolerance, data.not_finite) == (Mark(8, "8 FoldFrozenConvBatchnorm", good=False), 0)


def test_each_method_is_a_series():
    data = chart_data(small_trace())
    assert [(series.name, series.values) for series in data.nodes] == [
        ("forward", [19, 24, 21, 18, 18, 17, 17, 17]),
        ("describe", [4, 4, 4, 4]),
    ]
    assert data.baselines == (("eager", 95_000.0), ("scripted", 91_000.0))


def test_a_chart_draws_as_many_lines_as_anybody_can_read():
    trace = small_trace()
    first, second = trace.steps[0], trace.steps[10]
    (measured,), errors = second.latency, first.numerics
    baselines = tuple(replace(trace.baselines[0], name=f"way {number}") for number in range(50))
    steps = tuple(
        replace(
            first,
            index=number,
            method=f"part{number}",
            numerics=errors,
            latency=tuple(replace(measured, device=f"cuda:{device}") for device in range(4)),
        )
        for number in range(40)
    )
    data = chart_data(replace(trace, steps=steps, baselines=baselines, attributes=()))
    drawn = {chart.title: chart for chart in charts(data, "light")}
    for title, lines in (("Latency", 160), ("Cold start", 320), ("Numeric error", 40), ("Nodes", 40)):
        assert f"Shown are the first 12 of {lines:,} lines." in drawn[title].note
        assert len(drawn[title].note) < 1000
    for chart in drawn.values():
        assert len(chart.figure.renderers) + len(chart.figure.center) < 60
    assert not any("Shown are" in chart.note for chart in charts(chart_data(trace), "light"))


def test_infinite_error_is_listed_and_not_drawn():
    trace = small_trace()
    outputs = (OutputError("0", math.inf, math.inf, 0.0, 3, False),)
    steps = list(trace.steps)
    steps[8] = replace(steps[8], numerics=(Numerics("eager", outputs),))
    data = chart_data(replace(trace, steps=tuple(steps)))
    assert (data.errors[0].steps, data.not_finite) == ([0, 6], 1)
    assert data.past_tolerance == Mark(8, "8 FoldFrozenConvBatchnorm", good=False)
    error = chart_of(data, "Numeric error")
    assert error.note.endswith("Not finite, so not drawn: 1.")


def test_ratios_to_the_pass_before_and_to_the_first_are_two_series():
    before, first = chart_data(small_trace()).relative
    assert before == Series(
        name="to the pass before",
        steps=[6, 10],
        passes=["ConstantPropagation", "FoldFrozenConvBatchnorm"],
        values=[0.88, 0.97],
        texts=[
            "12% less time (8 to 16%), faster",
            "3% less time (7% less to 1% more), no measurable difference (one of 11% or more would have shown)",
        ],
        lows=[0.84, 0.97 - 0.04],
        highs=[0.92, 1.01],
        hollow=[False, True],
    )
    assert (first.name, first.steps, first.hollow) == ("to the first", [6, 10], [False, True])


def test_methods_and_devices_get_series_of_their_own():
    trace = small_trace()
    both = tuple(
        replace(step, latency=(*step.latency, *(replace(entry, device="cuda:0") for entry in step.latency)))
        for step in trace.steps
    )
    assert [series.name for series in chart_data(replace(trace, steps=both)).cold] == [
        "forward, cpu, first call",
        "forward, cpu, warm-up after it",
        "forward, cuda:0, first call",
        "forward, cuda:0, warm-up after it",
    ]


def test_a_cold_start_stands_apart_from_steady_state():
    first, warmup = chart_data(small_trace()).cold
    assert (first.values, first.texts[0]) == ([900_000] * 3, "900 µs")
    assert (warmup.values, warmup.texts[0]) == ([420_000] * 3, "420 µs in 2 calls")


def test_errors_over_several_inputs_have_a_span():
    trace = on_inputs(small_trace(), 8, {"given": 1e-6, "generated 1": 3e-4, "generated 2": 2e-5})
    (errors,) = chart_data(trace).errors
    assert (errors.steps, errors.lows, errors.highs) == ([0, 6, 8], [0.0, 0.0, 1e-6], [0.0, 0.0, 3e-4])
    assert errors.texts[2] == "3.0e-04, past tolerance, 1.0e-06 to 3.0e-04 over 3 inputs"


def test_duplicates_are_listed_by_step():
    data = replace(chart_data(small_trace()), duplicated=((2, 64), (4, 8), (6, 8), (8, 8)), peak_bytes=None)
    note = chart_of(data, "Constants").note
    assert note.endswith(
        "Held more than once in the final graph: +64 B since step 2, +8 B since step 4, +8 B since step 6 and 1 more."
    )


def test_the_error_from_before_freezing_is_a_line():
    trace = small_trace()
    eager = replace(trace.baselines[0], numerics=(Numerics("float64", (output(2e-7),)),))
    data = chart_data(replace(trace, baselines=(eager,)))
    assert data.before == 2e-7
    assert "Dashed: 2.0e-07, eager against float64" in chart_of(data, "Numeric error").note


def test_the_charts_and_what_they_say():
    titles = [(chart.title, chart.note) for chart in charts(chart_data(small_trace()), "light")]
    assert titles == [
        (
            "Latency",
            "Lines: passes that saved time (teal) or cost time (red), where the difference is measurable. "
            "Median with its 95% interval; passes that were not measured are left out. "
            "Dashed, from the top: eager 95.0 µs, scripted 91.0 µs.",
        ),
        (
            "Latency against other passes",
            "Below 1 is faster, with 95% intervals. Filled: measurable. Hollow: no measurable difference; a point's "
            "label says which one would have shown.",
        ),
        (
            "Numeric error",
            "Red line: the first step past torch's tolerances against eager. Hollow: past tolerance. "
            "Triangles at the bottom: exactly zero.",
        ),
        ("Cold start", "What a fresh copy takes until it runs steadily: compilation and profiling."),
        (
            "Constants",
            "Bytes that the graph's constants hold, shared storage counted once. "
            "Resident at the peak of the freeze: 1.00 MiB more than before it.",
        ),
        ("Nodes", "Nodes in the graph, nested ones included."),
    ]


def test_a_chart_without_measurements_has_no_figure_and_says_how_to_get_one():
    latency, error, constants, nodes = charts(chart_data(unmeasured(small_trace())), "dark")
    assert (latency.figure, latency.note) == (
        None,
        "Not measured: leave out --no-latency and --no-measure.",
    )
    assert (error.figure, error.note) == (
        None,
        "Not compared: leave out --no-numerics and --no-measure.",
    )
    assert constants.figure is not None
    assert nodes.figure is not None


def test_the_dark_charts_are_those_that_are_drawn_dark():
    drawn = [figures._pinned(figures._item(chart.figure)) for chart in charts(chart_data(small_trace()), "dark")]
    assert [chart["item"] for chart in chart_items(small_trace())["dark"]] == drawn
    assert len({*colours(PALETTES["light"])}) == len([*colours(PALETTES["light"])])


def test_a_trace_without_steps_has_no_charts():
    assert chart_items(empty_trace()) == {"light": [], "dark": []}


def test_the_same_trace_gives_the_same_items():
    first, second = (json.dumps(chart_items(small_trace())) for _ in range(2))
    assert first == second


def test_items_are_json_without_code():
    text = json.dumps(chart_items(small_trace()), allow_nan=False)
    assert "CustomJS" not in text


@given(traces())
@settings(max_examples=15)  # figures are slow to make
def test_every_trace_has_charts(trace):
    items = json.loads(json.dumps(chart_items(trace), allow_nan=False))
    data = chart_data(trace)
    drawn = 4 + bool(data.relative) + bool(data.cold) if trace.steps else 0
    assert [len(items[theme]) for theme in THEMES] == [drawn] * 2


def test_themes_differ_in_their_colours():
    items = chart_items(small_trace())
    for theme in THEMES:
        other = PALETTES["dark" if theme == "light" else "light"]
        text = json.dumps(items[theme])
        assert PALETTES[theme].chosen in text
        assert other.chosen not in text
