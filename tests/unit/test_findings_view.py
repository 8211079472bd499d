"""What a trace answers at a glance, as the views get it."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import freeze_engine as fe
from freeze_engine.analysis import Duplicate
from freeze_engine.trace import Check, Claim, Constant, Interval, MemoryLedger, Notice, Numerics, OutputError, Value
from tests.builders import empty_trace, failed_trace, small_trace
from viewer.charts.figures import charts
from viewer.views import view_data
from viewer.views.chart_data import chart_data
from viewer.views.findings import duplicate_rows, duplicate_rows_between
from viewer.views.missing_measurements import absent_rows


def findings(trace: fe.Trace) -> dict:
    return view_data(trace)["findings"]


def timed(index: int, trace: fe.Trace, low: float, high: float, change: Claim) -> fe.Trace:
    """Returns a trace in which one step's latency differs from that of the step before."""
    steps = list(trace.steps)
    middle = (low + high) / 2
    latency = replace(steps[index].latency[0], previous=Interval(middle, low, high), change=change)
    steps[index] = replace(steps[index], latency=(latency,))
    return replace(trace, steps=tuple(steps))


def test_largest_saving_comes_first_and_costs_come_last():
    trace = timed(10, small_trace(), 0.48, 0.52, "faster")
    assert findings(trace)["payoffs"] == [
        {
            "step": 10,
            "since": 6,
            "device": "cpu",
            "text": "50% less time (48 to 52%)",
            "value": 0.5,
            "low": 0.48,
            "high": 0.52,
        },
        {
            "step": 6,
            "since": 0,
            "device": "cpu",
            "text": "12% less time (8 to 16%)",
            "value": 0.88,
            "low": 0.84,
            "high": 0.92,
        },
    ]
    slower = timed(10, small_trace(), 1.1, 1.3, "slower")
    assert [row["step"] for row in findings(slower)["payoffs"]] == [6, 10]


def test_a_difference_that_was_not_claimed_did_not_pay_off():
    trace = timed(6, small_trace(), 0.5, 0.6, "no measurable difference")
    assert findings(trace)["payoffs"] == []


def test_all_passes_together_are_the_last_measured_step_against_the_first():
    (whole,) = findings(small_trace())["whole"]
    assert (whole["method"], whole["step"], whole["verdict"]) == ("forward", 10, "no measurable difference")
    assert (whole["text"], whole["notes"]) == ("3% less time (7% less to 1% more)", ["2 outliers left out"])


def test_unbounded_ratio_is_stated_and_not_drawn():
    trace = timed(6, small_trace(), 0.5, inf, "faster")
    (row,) = findings(trace)["payoffs"]
    assert (row["low"], row["value"], row["high"]) == (0.5, None, None)


def test_the_error_is_split_into_what_was_there_and_what_a_step_added():
    trace = small_trace()
    eager = replace(trace.baselines[0], numerics=(Numerics("float64", (error(2e-7),)),))
    assert findings(replace(trace, baselines=(eager,)))["errors"] == [
        {
            "method": "forward",
            "present": "2.0e-07",
            "present_close": True,
            "total": None,
            "frozen": "3.0e-04",
            "added": [
                {
                    "step": 8,
                    "from": "0",
                    "to": "3.0e-04",
                    "span": None,
                    "worst": None,
                    "close": False,
                    "first_past": True,
                }
            ],
        }
    ]


def test_of_several_inputs_the_worst_is_named():
    trace = small_trace()
    numerics = (
        Numerics("eager", (error(1e-6),)),
        Numerics("eager", (error(nan),), None, "generated 1"),
        Numerics("eager", (), "RuntimeError: no", "generated 2"),
    )
    steps = tuple(replace(step, numerics=numerics) if step.index == 8 else step for step in trace.steps)
    (method,) = findings(replace(trace, steps=steps))["errors"]
    assert method["added"][0] == {
        "step": 8,
        "from": "0",
        "to": "inf",
        "span": "1.0e-06 to nan",
        "worst": "generated 1",
        "close": False,
        "first_past": True,
    }


def error(max_abs: float) -> OutputError:
    return OutputError("0", max_abs, max_abs, 90.0, 0, max_abs < 1e-4)


def test_failed_checks_come_first():
    checks = (
        Check("determinism", "passed", "The same."),
        Check("round_trip", "unknown", "It could not be run."),
        Check("stale_weights", "failed", "Ignored.", ("conv.weight",)),
    )
    assert findings(replace(small_trace(), checks=checks))["checks"] == [
        {"name": "stale weights", "verdict": "failed", "message": "Ignored.", "details": ["conv.weight"]},
        {"name": "round trip", "verdict": "unknown", "message": "It could not be run.", "details": []},
        {"name": "determinism", "verdict": "passed", "message": "The same.", "details": []},
    ]


def test_memory_ledger_contains_peak_files_and_serializability():
    ledger = MemoryLedger(1_048_576, 4096, 2048, False, "RuntimeError: no", 8)
    rows = findings(replace(small_trace(), memory=ledger))["memory"]
    assert rows == [
        fact("peak memory while freezing", "1.00 MiB", "above the start of the freeze"),
        fact("saved file", "4.00 KiB → 2.00 KiB", "−2.00 KiB"),
        {**fact("saving", "does not save and reload", "RuntimeError: no"), "tone": "bad", "step": 8},
    ]
    unsaved = MemoryLedger(None, None, 2048, True)
    assert findings(replace(small_trace(), memory=unsaved))["memory"] == [
        fact("saved file", "does not save → 2.00 KiB", ""),
        {**fact("saving", "saves and reloads", "the reloaded module gives the same outputs"), "tone": "good"},
    ]
    assert findings(replace(small_trace(), memory=MemoryLedger()))["memory"] == []
    flat = replace(small_trace(), memory=MemoryLedger(0))
    assert findings(flat)["memory"] == [
        fact("peak memory while freezing", "none", "the process held no more memory than before the freeze")
    ]
    assert not any("Resident at the peak" in chart.note for chart in charts(chart_data(flat), "light"))


def test_past_duplicates_are_distinguished_from_present_ones():
    found = [
        Duplicate(2, "forward", "equal", ("a", "b"), ("a.w", "b.w"), 64, 6),
        Duplicate(2, "forward", "equal", ("c", "d"), ("c.w", "a.w"), 16, 6),
        Duplicate(4, "forward", "split", ("e", "f"), (), 8),
    ]
    assert [(row["step"], row["names"], row["nbytes"]) for row in duplicate_rows(found)] == [(4, ["e", "f"], 8)]
    assert duplicate_rows_between(found) == [
        {"step": 2, "until": 6, "bytes": "+80 B", "names": ["a.w", "b.w", "c.w"]},
    ]
    assert chart_data(small_trace(), found).duplicated == ((4, 8),)


def test_packed_weights_are_reported_if_they_grew_much():
    def weight(op: str, inputs: tuple[str, ...], name: str, nbytes: int | None) -> fe.Node:
        constant = Constant((1,), "float32", "cpu", nbytes) if nbytes is not None else None
        return fe.Node(name, op, inputs, (Value(name, "Tensor"),), (), constant=constant)

    def packed(*nbytes: int, own: int = 16_384) -> fe.Trace:
        names = [f"_mkl_reorder_linear_weight_{index}" for index in range(len(nbytes))]
        before = [
            weight("get_attr", (), "kept", own),
            weight("aten.permute.default", ("kept",), "turned", None),
            *(weight("mkl._mkl_reorder_linear_weight", ("turned",), name, None) for name in names),
        ]
        after = [weight("get_attr", (), name, size) for name, size in zip(names, nbytes, strict=True)]
        steps = [
            fe.Step(index, "freezing_passes", "constant_fold", "forward", fe.GraphSnapshot((), tuple(nodes), ()), True)
            for index, nodes in enumerate((before, after, after))
        ]
        return replace(empty_trace(), steps=tuple(steps))

    size = 5_836_932
    assert findings(packed(size, size + 1))["memory"] == [
        {
            **fact(
                "packed by MKL",
                "11.1 MiB",
                "2 linears' weights, 32.0 KiB before: MKL reserves 5.57 MiB or more for each, however small it is; "
                "what it never writes takes no memory",
            ),
            "step": 1,
        }
    ]
    assert findings(packed(size))["memory"][0]["note"].startswith("one linear's weight, 16.0 KiB before: ")
    assert findings(packed(size, own=size - 1000))["memory"] == []
    assert findings(replace(packed(size), backend="torchscript"))["memory"] == []


def fact(label: str, value: str, note: str) -> dict:
    return {"label": label, "value": value, "note": note, "tone": "plain", "step": None}


def test_ablation_is_sorted_by_what_a_pass_saves_and_failures_come_last():
    rows = findings(small_trace())["ablation"]
    assert [(row["name"], row["error"]) for row in rows] == [
        ("FoldConvBn", None),
        ("FoldConvAdd", "RuntimeError: left out"),
    ]
    first = rows[0]
    judged = (first["with"], first["without"], first["close_with"], first["close_without"])
    assert first["latency"] == [
        {
            "device": "cpu",
            "verdict": "faster",
            "unseen": None,
            "text": "30% less time (20 to 40%)",
            "value": 0.7,
            "low": 0.6,
            "high": 0.8,
        }
    ]
    assert judged == ("1.0e-02", "0", False, True)


def test_missing_measurements_name_their_remedy():
    bare = replace(small_trace(), call="fe.record(…)", inputs=(), checks=(), memory=None, ablation=())
    steps = tuple(replace(step, latency=(), numerics=()) for step in bare.steps)
    assert absent_rows(replace(bare, steps=steps)) == [
        ["latency", "give inputs (--input 1x3x224x224), and leave out --no-latency and --no-measure"],
        ["numeric error", "give inputs (--input 1x3x224x224), and leave out --no-numerics and --no-measure"],
        [
            "memory during the freeze, and whether it saves",
            "give inputs (--input 1x3x224x224), and leave out --no-memory and --no-measure",
        ],
        ["checks of the frozen module", "--check all, or fe.record(…, checks=fe.CHECKS)"],
        ["what each pass does on its own", "--ablation, or fe.record(…, ablation=True)"],
    ]


def test_of_a_capture_one_line_says_who_measures():
    bare = replace(small_trace(), call="torch.jit.freeze(mod)", inputs=(), checks=(), memory=None, ablation=())
    steps = tuple(replace(step, latency=(), numerics=()) for step in bare.steps)
    assert absent_rows(replace(bare, steps=steps)) == [
        [
            "latency, numeric error, memory during the freeze, checks, and what each pass does on its own",
            "a capture only records; fe.record(model, inputs) and freezer-ui record measure as well",
        ]
    ]


def test_refused_inputs_get_the_advice_to_give_others():
    said = "Nothing was compared: the model does not run on the inputs (TypeError: no mask)."
    steps = tuple(replace(step, numerics=()) for step in small_trace().steps)
    refused = replace(small_trace(), steps=steps, baselines=(), notices=(Notice("nothing_ran", said),))
    advice = "TypeError: no mask. Record it with inputs that the model takes."
    assert absent_rows(refused) == [["numeric error", advice]]


def test_a_trace_that_holds_all_of_it_lacks_nothing():
    assert absent_rows(small_trace()) == absent_rows(empty_trace()) == absent_rows(failed_trace()) == []
