from __future__ import annotations

import json
import math
from dataclasses import replace

from hypothesis import given, settings

import freeze_engine as fe
from tests.builders import empty_trace, small_trace, traces
from viewer.charts import PALETTES, THEMES, chart_items, charts
from viewer.view_models.chart_data import Series, chart_data


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
            "79.0 µs (77.5–81.3 µs), no measurable difference",
        ],
        lows=[88_500.5, 78_500.0, 77_500.0],
        highs=[92_251.0, 82_250.5, 81_250.5],
    )


def test_errors_leave_out_what_could_not_be_compared():
    data = chart_data(small_trace())
    (errors,) = data.errors
    assert (errors.name, errors.steps, errors.past) == ("forward, against eager", [0, 6, 8], [False, False, True])
    assert (data.past_tolerance, data.not_finite) == (8, 0)


def test_each_method_is_a_series():
    data = chart_data(small_trace())
    assert [(series.name, series.values) for series in data.nodes] == [
        ("forward", [19, 24, 21, 18, 18, 17, 17, 17]),
        ("describe", [4, 4, 4, 4]),
    ]
    assert data.baselines == (("eager", 95_000.0), ("scripted", 91_000.0))


def test_an_infinite_error_is_told_and_not_drawn():
    trace = small_trace()
    outputs = (fe.OutputError("0", math.inf, math.inf, 0.0, 3, False),)
    steps = list(trace.steps)
    steps[8] = replace(steps[8], numerics=(fe.Numerics("eager", outputs),))
    data = chart_data(replace(trace, steps=tuple(steps)))
    assert (data.errors[0].steps, data.not_finite, data.past_tolerance) == ([0, 6], 1, 8)
    error = charts(data, "light")[1]
    assert error.note.endswith("Not finite, so not drawn: 1.")


def test_four_charts_and_what_they_say():
    titles = [(chart.title, chart.note) for chart in charts(chart_data(small_trace()), "light")]
    assert titles == [
        ("Latency", "Median with its 95% interval; passes that were not measured are left out."),
        (
            "Numeric error",
            "Red line: first step past torch's tolerances against eager, step 8. Hollow: past tolerance. "
            "Triangles at the bottom: exactly zero.",
        ),
        ("Constants", "Bytes that the graph's constants hold, shared storage counted once."),
        ("Nodes", "Nodes in the graph, nested ones included."),
    ]


def test_a_chart_without_measurements_has_no_figure():
    latency, error, constants, nodes = charts(chart_data(unmeasured(small_trace())), "dark")
    assert (latency.figure, latency.note) == (None, "Not measured.")
    assert (error.figure, error.note) == (None, "Not compared.")
    assert constants.figure is not None
    assert nodes.figure is not None


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
    assert [len(items[theme]) for theme in THEMES] == [4 if trace.steps else 0] * 2


def test_themes_differ_in_their_colours():
    items = chart_items(small_trace())
    for theme in THEMES:
        other = PALETTES["dark" if theme == "light" else "light"]
        text = json.dumps(items[theme])
        assert PALETTES[theme].chosen in text
        assert other.chosen not in text
