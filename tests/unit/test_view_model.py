from __future__ import annotations

import json
from dataclasses import replace
from typing import Literal, cast

import pytest
from hypothesis import given, settings

import freeze_engine as fe
from freeze_engine.analysis import bytes_delta_text, bytes_text, duration_text, error_text, interval_text
from freeze_engine.trace import Baseline, Claim, Failure, InputSpec, Interval, Latency, Location, Notice, Reason
from tests.builders import empty_trace, failed_trace, small_trace, traces
from viewer.charts.figures import chart_items
from viewer.views import view_data
from viewer.views.attributes import is_minor
from viewer.views.environment import input_text
from viewer.views.wording import FATES, REASONS, shape_text, why_text


@pytest.fixture(scope="module")
def view() -> dict:
    return view_data(small_trace())


def test_a_view_has_these_parts(view):
    assert list(view) == [
        "name", "backend", "torch", "methods", "stages", "summary", "glossary", "overview", "fates", "others",
        "failure", "unmeasured", "first_step", "environment", "findings", "quantisation", "programs", "comparisons",
        "steps", "attributes",
        "pass_texts", "aliases", "codes", "by_line", "sources",
    ]  # fmt: skip


def test_the_overview_sums_up(view):
    facts = [{key: fact[key] for key in fact if key != "kind"} for fact in view["overview"]]
    assert facts == [
        {
            "label": "operations",
            "value": "24 → 17",
            "note": "after inlining, in forward",
            "tone": "plain",
            "step": None,
        },
        {"label": "constants", "value": "80 B", "note": "in the final graph of forward", "tone": "plain", "step": None},
        {
            "label": "latency, cpu",
            "value": "no measurable difference",
            "note": "one of 11% or more would have shown",
            "tone": "plain",
            "step": None,
        },
        {
            "label": "saved most",
            "value": "ConstantPropagation",
            "note": "12% less time (8 to 16%)",
            "tone": "good",
            "step": 6,
        },
        {
            "label": "accuracy",
            "value": "past tolerance",
            "note": "since 8 FoldFrozenConvBatchnorm",
            "tone": "bad",
            "step": 8,
        },
    ]
    assert [fact["label"] for fact in view["overview"] if fact["kind"] == "payoff"] == ["saved most"]
    assert (view["fates"], view["others"]) == (
        [["folded", 2], ["preserved", 1], ["dropped", 1]],
        [["inlined", 1], ["folded", 1], ["preserved", 2], ["dropped", 1]],
    )


def test_forward_comes_first_whatever_torch_froze_first():
    trace = small_trace()
    names = {"forward": "encode", "describe": "forward"}
    steps = tuple(replace(step, method=names.get(step.method, step.method)) for step in trace.steps)
    view = view_data(replace(trace, steps=steps))
    assert view["methods"] == ["forward", "encode"]
    assert view["steps"][view["first_step"]]["method"] == "forward"
    assert view["overview"][0]["note"].endswith("in forward")


def test_latency_change_without_a_verdict_is_not_shown():
    trace = small_trace()
    quiet = tuple(
        replace(step, latency=tuple(replace(entry, change="no measurable difference") for entry in step.latency[:1]))
        for step in trace.steps
    )
    assert [step["index"] for step in view_data(trace)["steps"] if step["latency_changes"]] == [6]
    assert [step["index"] for step in view_data(replace(trace, steps=quiet))["steps"] if step["latency_changes"]] == []


@pytest.mark.parametrize(
    ("path", "kind", "fate", "minor"),
    [
        ("layer1.training", "attribute", "dropped", True),
        ("conv._reversed_padding_repeated_twice", "attribute", "inlined", True),
        ("layer1", "submodule", "inlined", True),
        ("layer1", "submodule", "preserved", False),
        ("training", "attribute", "preserved", False),
        ("scale", "attribute", "inlined", True),
        ("scale", "attribute", "preserved", False),
        ("training.weight", "parameter", "inlined", False),
        ("_mean", "buffer", "dropped", False),
    ],
)
def test_plain_attribute_is_minor_unless_preserved(path, kind, fate, minor):
    assert is_minor(fe.AttributeFate(path, kind, "bool", None, None, 0, fate)) is minor


def test_a_step_that_folded(view):
    assert view["steps"][8] == {
        "index": 8,
        "stage": "optimize_frozen_graph",
        "name": "FoldFrozenConvBatchnorm",
        "title": "",
        "method": "forward",
        "round": 1,
        "before": 7,
        "changed": True,
        "does": [[name for name, _ in view["pass_texts"]].index("FoldFrozenConvBatchnorm")],
        "why_not": "",
        "executable": True,
        "nodes": 17,
        "added": 2,
        "removed": 3,
        "modified": 2,
        "tidied": False,
        "duration": "8.01 µs",
        "latency": [],
        "latency_changes": [],
        "numerics": [
            {
                "reference": "eager",
                "close": False,
                "max_abs": "3.0e-04",
                "span": None,
                "error": None,
                "inputs": [
                    {
                        "inputs": "given",
                        "close": False,
                        "error": None,
                        "outputs": [
                            {
                                "output": "0",
                                "max_abs": "3.0e-04",
                                "max_rel": "1.2e-03",
                                "sqnr": "96.5 dB",
                                "ulp": "12",
                                "nonfinite": 0,
                                "close": False,
                            }
                        ],
                    }
                ],
            },
            {
                "reference": "float64",
                "close": False,
                "max_abs": None,
                "span": None,
                "error": "RuntimeError: expected scalar type Float but found Double",
                "inputs": [
                    {
                        "inputs": "given",
                        "close": False,
                        "error": "RuntimeError: expected scalar type Float but found Double",
                        "outputs": [],
                    }
                ],
            },
        ],
        "error": 0.0003,
        "past_tolerance": ["eager"],
        "constants": "80 B",
        "constants_delta": "±0",
        "rewrites": [
            {
                "kind": "conv_bn",
                "consumed": ["self.block.conv.weight", "self.block.bn.weight", "y", "normed"],
                "produced": ["weight_fused_bn", "bias_fused_bn", "y"],
                "attributes": ["block.conv.weight", "block.bn.weight"],
                "modules": ["block.conv", "block.bn"],
            }
        ],
        "near_misses": [],
        "aliases": None,
        "code": 0,
        "log": [],
        "notes": [],
        "notices": ["The constant %weight_fused_bn lives on cpu."],
    }


def test_a_measured_step(view):
    assert view["steps"][6]["latency"] == [
        {
            "device": "cpu",
            "text": "80.0 µs",
            "interval": "78.5–82.3 µs",
            "median": 80000.0,
            "low": 78500.0,
            "high": 82250.5,
            "ratio": "12% less time (8 to 16%)",
            "verdict": "faster",
            "unseen": None,
            "previous": "12% less time (8 to 16%)",
            "change": "faster",
            "change_unseen": None,
            "first": "900 µs",
            "warmup": 2,
            "warmup_time": "420 µs",
            "samples": 40,
            "notes": ["2 outliers left out"],
        }
    ]
    assert view["steps"][6]["latency_changes"] == [
        {
            "device": "cpu",
            "since": 0,
            "ratio": 0.88,
            "short": "−12%",
            "verdict": "faster",
            "text": "12% less time than step 0 (8 to 16%) on cpu",
        }
    ]


def test_unmeasured_figure_has_no_number(view):
    first = view["steps"][0]
    assert (first["duration"], first["before"], first["constants_delta"]) == (None, None, None)
    assert view["steps"][1]["latency"] == view["steps"][1]["numerics"] == []


def test_a_near_miss_stands_with_its_step(view):
    assert view["steps"][9]["near_misses"] == [
        {
            "kind": "conv_add",
            "node": "sum",
            "neighbour": "y",
            "reason": "operand not constant",
            "detail": "%seen.1 is written by aten::add_, so it is not a constant.",
            "advice": "Add a constant instead of the counter.",
            "saves": "",
        }
    ]


def test_alias_analyses_and_codes_are_kept_once(view):
    assert [step["aliases"] for step in view["steps"] if step["aliases"] is not None] == [0, 1]
    assert view["aliases"][0] == {
        "entries": [
            ["seen", "points to", ["count"]],
            ["seen.1", "points to", ["seen", "count"]],
            ["block", "contains", ["WILDCARD for type Tensor"]],
        ],
        "writes": [
            {
                "node": "seen.1",
                "op": "aten::add_",
                "targets": ["count", "seen"],
                "source": {"file": "/home/zoë/model.py", "line": 4, "column": 8},
            }
        ],
    }
    assert len(view["codes"]) == 2


def test_an_attribute_that_is_written(view):
    place = {"file": "/home/zoë/model.py", "line": 3, "column": 8}
    assert next(row for row in view["attributes"] if row["path"] == "count") == {
        "path": "count",
        "kind": "buffer",
        "type": "Tensor",
        "shape": "1",
        "dtype": "float32",
        "nbytes": 4,
        "bytes": "4 B",
        "same_as": "",
        "digest": None,
        "tensor": None,
        "fate": "preserved",
        "minor": False,
        "counted": True,
        "reason": "written in place",
        "why": "A preserved method writes its memory in place.",
        "evidence": [
            {
                "fact": "attribute: count in %count has inplace writer",
                "method": "forward",
                "step": 2,
                "node": "seen.1",
                "op": "aten::add_",
                "source": {"file": "/home/zoë/model.py", "line": 4, "column": 8},
                "chain": [
                    {"value": "seen", "node": "seen", "op": "aten::view", "source": place},
                    {"value": "count", "node": "count", "op": "prim::GetAttr", "source": place},
                ],
            }
        ],
        "advice": "Move the write out of forward, or keep it on purpose with preserved_attrs=['count'].",
        "step": 4,
        "locations": [],
    }


def test_a_folded_attribute_says_where_it_went(view):
    row = next(row for row in view["attributes"] if row["path"] == "block.bn.weight")
    assert row["why"] == (
        "It was inlined, then merged into another constant by step 8, FoldFrozenConvBatchnorm (forward, round 1)."
    )
    assert row["locations"] == [
        {"method": "forward", "value": "weight_fused_bn", "step": 10, "node": "weight_fused_bn"},
        {"method": "forward", "value": "bias_fused_bn", "step": 10, "node": "bias_fused_bn"},
    ]


def test_removed_location_is_not_linked():
    trace = small_trace()
    lost = replace(trace.attributes[4], locations=(Location("forward", "elsewhere"), Location("missing_method", "x")))
    (row,) = view_data(replace(trace, attributes=(lost,)))["attributes"]
    assert row["locations"] == [
        {"method": "forward", "value": "elsewhere", "step": 10, "node": None},
        {"method": "missing_method", "value": "x", "step": None, "node": None},
    ]


def test_the_environment_says_how_the_trace_was_made(view):
    environment = view["environment"]
    assert environment["call"] == 'torch.jit.freeze(scripted, ["meta.version", "describe"])'
    assert environment["inputs"] == [["0", "Tensor 1×1×8×8 float32 on cpu"], ["flag", "bool"]]
    assert environment["machine"][4] == ["GPU", "none"]
    assert [baseline["name"] for baseline in environment["baselines"]] == ["eager", "scripted"]


def test_a_failed_trace_shows_the_graph_before_the_failing_pass():
    failure = view_data(failed_trace())["failure"]
    assert failure["step"] == 2  # the last step of forward; the last step of all is one of another method
    assert (failure["type"], failure["name"], failure["method"]) == ("RuntimeError", "AttributePropagation", "forward")


def test_a_failure_before_any_step_of_its_method_points_at_the_last_step():
    trace = failed_trace()
    assert trace.failure is not None
    failure = replace(trace.failure, method="describe_more")
    assert view_data(replace(trace, failure=failure))["failure"]["step"] == 3


@pytest.mark.parametrize(
    ("failure", "title", "message", "sign"),
    [
        (("RuntimeError", "no"), "The freeze failed in Fold", "RuntimeError: no", "failed"),
        (("SIGSEGV", "the process was ended"), "The process died (SIGSEGV) in Fold", "The process was ended", "died"),
        (("exit code 7", "ended"), "The process died (exit code 7) in Fold", "Ended", "died"),
        (("time limit", "not done"), "The time limit was reached in Fold", "Not done", "time limit"),
        (("memory limit", "it took"), "The memory limit was reached in Fold", "It took", "memory limit"),
        (("cancelled", "it was"), "The recording was cancelled in Fold", "It was", "cancelled"),
        (
            ("KeyboardInterrupt", ""),
            "The recording was cancelled in Fold",
            "It was interrupted: by Ctrl-C, or from the dashboard.",
            "cancelled",
        ),
    ],
)
def test_end_of_a_recording_is_described_in_words(failure, title, message, sign):
    kind, text = failure
    ended = Failure(kind, text, stage="optimize_frozen_graph", name="Fold", method="forward", step=3)
    view = view_data(replace(small_trace(), failure=ended))["failure"]
    assert (view["title"], view["message"], view["sign"], view["log"]) == (title, message, sign, None)
    assert bool(view["left"]) is (failure[0] not in ("RuntimeError", "KeyboardInterrupt"))
    assert "No pass had run" in view_data(replace(empty_trace(), failure=replace(ended, step=None)))["failure"]["left"]
    compiled = view_data(replace(small_trace(), backend="inductor", failure=ended))["failure"]
    assert compiled == view | {"left": ""}


@pytest.mark.parametrize(
    ("kind", "stage", "name", "title"),
    [
        ("SIGSEGV", "build", "reading what was recorded", "The process died (SIGSEGV) while reading what was recorded"),
        (
            "time limit",
            "measure",
            "latency: round 3 of 80",
            "The time limit was reached while measuring latency: round 3 of 80",
        ),
        ("SIGKILL", "measure", "writing the trace", "The process died (SIGKILL) while writing the trace"),
        ("RuntimeError", "measure", "numerics: x", "The recording failed while measuring numerics: x"),
    ],
)
def test_failure_after_the_freeze_names_no_pass(kind, stage, name, title):
    ended = Failure(kind, "why", stage=stage, name=name, method=None, step=3)
    view = view_data(replace(small_trace(), failure=ended))["failure"]
    assert (view["title"], view["step"]) == (title, 3)
    assert view["left"]


def test_last_words_stand_with_the_failure_and_not_with_a_pass():
    trace = small_trace()
    words = Notice("last_words", "The last that was logged:\nFatal\n  here", 3)
    failure = Failure("SIGSEGV", "ended", "build", "reading", None, 3)
    view = view_data(replace(trace, notices=(*trace.notices, words), failure=failure))
    assert view["failure"]["log"] == "Fatal\n  here"
    assert [step["notices"] for step in view["steps"]] == [step["notices"] for step in view_data(trace)["steps"]]
    assert view["environment"]["notices"][-1] == {
        "code": "last_words",
        "message": "The last that was logged:",
        "quoted": "Fatal\n  here",
        "step": 3,
    }


def test_an_empty_trace_has_a_view():
    view = view_data(empty_trace())
    assert (view["overview"], view["steps"], view["attributes"], view["fates"]) == ([], [], [], [])


def test_an_unmeasured_trace_says_so():
    trace = small_trace()
    steps = tuple(replace(step, latency=(), numerics=()) for step in trace.steps)
    facts = view_data(replace(trace, steps=steps, baselines=()))["overview"]
    assert [(fact["label"], fact["value"]) for fact in facts[2:]] == [
        ("latency", "not measured"),
        ("accuracy", "not compared"),
    ]


@given(traces())
@settings(max_examples=30)
def test_every_trace_has_a_json_view(trace):
    view = view_data(trace)
    assert json.loads(json.dumps(view, allow_nan=False)) == view


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1024, "1.00 KiB"),
        (102_236_160, "97.5 MiB"),
        (5 * 2**40, "5.00 TiB"),
        (-2048, "−2.00 KiB"),
    ],
)
def test_bytes(nbytes, text):
    assert bytes_text(nbytes) == text


def test_a_difference_of_bytes_has_a_sign():
    assert [bytes_delta_text(nbytes) for nbytes in (0, 512, -512)] == ["±0", "+512 B", "−512 B"]


@pytest.mark.parametrize(
    ("duration_ns", "text"),
    [(0, "0.00 ns"), (950, "950 ns"), (1240, "1.24 µs"), (12_345_678, "12.3 ms"), (3e9, "3.00 s")],
)
def test_durations(duration_ns, text):
    assert duration_text(duration_ns) == text


def test_an_interval_has_the_unit_of_its_value():
    assert interval_text(Interval(1_100_000.0, 950_000.0, 1_250_000.0)) == "0.95–1.25 ms"
    assert interval_text(Interval(995_000.0, 375_000.0, 2_900_000.0)) == "375–2900 µs"
    for low, high in ((332_000.0, 1_100_000.0), (800_000.0, 3_001_000.0), (0.0, 1e6), (1e-30, 1e30)):
        assert interval_text(Interval(1_000_000.0, low, high)) == "interval unknown, as on a busy machine"


def test_errors():
    assert [error_text(error) for error in (0.0, 2.4e-7, float("inf"), float("nan"))] == [
        "0",
        "2.4e-07",
        "inf",
        "nan",
    ]


def test_shapes():
    assert [shape_text(shape) for shape in (None, (), (0, 3), (64, 3, 7, 7))] == ["", "scalar", "0×3", "64×3×7×7"]


def test_an_input_in_one_line():
    assert input_text(InputSpec("0", "Tensor", (), "int64", "cuda:0")) == "Tensor scalar int64 on cuda:0"


def test_every_fate_and_reason_has_words():
    (attribute,) = [fate for fate in small_trace().attributes if fate.path == "count"]
    words = {why_text(replace(attribute, reason=cast(Reason, reason)), ()) for reason in REASONS}
    assert len(words) == len(REASONS)
    assert set(FATES) == {"inlined", "folded", "preserved", "dropped"}
    assert why_text(replace(attribute, reason=None), ()) == REASONS["unknown"][1]


@pytest.mark.parametrize(
    ("make", "step"),
    [(small_trace, 8), (empty_trace, None), (failed_trace, view_data(failed_trace())["failure"]["step"])],
)
def test_a_view_opens_where_something_happened(make, step):
    assert view_data(make())["first_step"] == step


@pytest.mark.parametrize(
    ("failure", "known"),
    [
        (Failure("RuntimeError", "refused", "freeze_module", "Fold", "forward", 3), True),
        (Failure("SIGSEGV", "ended", "freeze_module", "Fold", "forward", 3), False),
        (Failure("time limit", "ended", "freeze_module", "Fold", "forward", 3), False),
        (Failure("SIGKILL", "ended", "measure", "latency: step 3", None, 3), True),
    ],
)
def test_constants_that_went_with_the_process_are_not_said_to_be_none(failure, known):
    trace = replace(small_trace(), failure=failure)
    if not known:
        trace = replace(trace, steps=tuple(replace(step, constant_bytes=0) for step in trace.steps))
    view = view_data(trace)
    fact = next(fact for fact in view["overview"] if fact["label"] == "constants")
    assert (fact["value"] == "unknown") is not known
    assert {step["constants"] == "unknown" for step in view["steps"]} == {not known}
    assert any(step["constants_delta"] for step in view["steps"]) is known
    constants = [chart for chart in chart_items(trace)["light"] if chart["title"] == "Constants"]
    assert [chart["item"] is not None for chart in constants] == [known]


def test_inductor_trace_shows_its_stages_and_notes() -> None:
    trace = small_trace()
    logged = tuple(replace(step, log=("one", "two", "three", "four")) for step in trace.steps)
    compiled = view_data(replace(trace, backend="inductor", steps=logged))
    assert list(compiled["stages"])[:3] == ["input", "joint_graph", "layout"]
    assert [step["notes"] for step in compiled["steps"]] == [["one", "two", "three"]] * len(logged)
    frozen = view_data(replace(trace, steps=logged))
    assert [step["notes"] for step in frozen["steps"]] == [[]] * len(logged)


_TIMES = "eager → compiled with freezing (4.00–6.00 ms → 1.00–3.00 ms)"


@pytest.mark.parametrize(
    ("first", "last", "value", "note", "tone"),
    [
        ((0.9, 1.1), (0.4, 0.5), "5.00 ms → 2.00 ms", f"measurably faster, {_TIMES}", "good"),
        ((0.9, 1.1), (1.2, 1.3), "5.00 ms → 2.00 ms", f"measurably slower, {_TIMES}", "bad"),
        (
            (0.2, 1.1),
            (0.1, 0.5),
            "no measurable difference",
            f"the rounds differ too much to tell, as on a busy machine; 5.00 ms → 2.00 ms, {_TIMES}",
            "plain",
        ),
        (None, (0.1, 0.5), "5.00 ms → 2.00 ms", f"measurably faster, {_TIMES}", "good"),
        (
            None,
            (0.1, 1.5),
            "no measurable difference",
            f"the rounds differ too much to tell, as on a busy machine; 5.00 ms → 2.00 ms, {_TIMES}",
            "plain",
        ),
    ],
)
def test_times_end_to_end_lead_only_where_they_measurably_differ(first, last, value, note, tone) -> None:
    def timed(milliseconds: int, bounds: tuple[float, float] | None) -> tuple[Latency, ...]:
        ratio = bounds and Interval(sum(bounds) / 2, *bounds)
        verdict: Claim | Literal["baseline"] = (
            "baseline" if ratio is None else "faster" if ratio.high < 1 else "no measurable difference"
        )
        median = Interval(*(each * 1e6 for each in (milliseconds, milliseconds - 1, milliseconds + 1)))
        return (Latency("cpu", 1, (), 10, median, ratio, verdict),)

    baselines = (Baseline("eager", timed(5, first)), Baseline("compiled with freezing", timed(2, last)))
    told = view_data(replace(small_trace(), backend="inductor", baselines=baselines))["overview"]
    assert [fact for fact in told if fact["label"].startswith("latency")] == [
        {"kind": "plain", "label": "latency, cpu", "value": value, "note": note, "tone": tone, "step": None}
    ]


def test_a_claim_on_time_is_in_percent_of_the_time_before_freezing():
    steps = list(small_trace().steps)
    (latency,) = steps[10].latency
    steps[10] = replace(steps[10], latency=(replace(latency, ratio=Interval(0.92, 0.9, 0.94), verdict="faster"),))
    shown = view_data(replace(small_trace(), steps=tuple(steps)))
    (fact,) = [fact for fact in shown["overview"] if fact["label"] == "latency, cpu"]
    assert (fact["value"], fact["note"]) == ("8% less time per call", "than before freezing (6 to 10%)")
    (whole,) = shown["findings"]["whole"]
    assert whole["words"] == "8% less time per call (6 to 10%) than before freezing"
