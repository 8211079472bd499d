"""Why a model refuses its inputs, in words; and which traces lack figures that they were to have."""

from __future__ import annotations

from dataclasses import replace

import pytest

import freeze_engine as fe
from freeze_engine.analysis import unmeasured
from freeze_engine.analysis.missing_measurements import STILL_MEASURED, nothing_measured, nothing_ran, why_absent
from freeze_engine.analysis.refused_inputs import plain_refusal
from freeze_engine.trace import Notice
from tests.builders import failed_trace, small_trace
from viewer.views.missing_measurements import how_to_get

_INTERPRETER = (
    "RuntimeError: The following operation failed in the TorchScript interpreter.\n"
    'Traceback of TorchScript (most recent call last):\n  File "net.py", line 9, in forward\n        return self.l(x)\n'
    "               ~~~~~~ <--- HERE\n"
)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("TypeError: M.forward() missing 1 required positional argument: 'mask'", "forward() is missing mask"),
        (
            "TypeError: M.forward() missing 3 required positional arguments: 'x', 'y', and 'mask'",
            "forward() is missing x, y and mask",
        ),
        (
            "TypeError: M.forward() missing 1 required keyword-only argument: 'mask'",
            "forward() is missing mask",
        ),
        (
            "RuntimeError: forward() is missing value for argument 'mask'. Declaration: forward(…)",
            "forward() is missing mask",
        ),
        (
            "TypeError: M.forward() takes 2 positional arguments but 4 were given",
            "forward() takes 1 input, and 3 were given",
        ),
        (
            "TypeError: M.forward() takes from 2 to 3 positional arguments but 4 were given",
            "forward() takes 2 inputs, and 3 were given",
        ),
        (
            "TypeError: M.forward() takes 1 positional argument but 2 were given",
            "forward() takes no inputs, and 1 were given",
        ),
        (
            "RuntimeError: forward() expected at most 3 argument(s) but received 4 argument(s). Declaration: …",
            "forward() takes 2 inputs, and 3 were given",
        ),
        ("TypeError: M.forward() got an unexpected keyword argument 'y'", "forward() has no input y"),
        ("TypeError: M.forward() got multiple values for argument 'x'", "forward() gets its input x twice"),
        (
            "RuntimeError: forward() Expected a value of type 'Tensor (inferred)' for argument 'mask' but instead "
            "found type 'int'.\nPosition: 2\nCast error details: Unable to cast 3 to Tensor",
            "forward() takes a value of type Tensor for mask, and got one of type int",
        ),
        (f"{_INTERPRETER}RuntimeError: shapes differ\n", "RuntimeError: shapes differ"),
        (f"{_INTERPRETER}RuntimeError: RuntimeError: on meta\n\nAt:\n  f.py", "RuntimeError: on meta"),
        ("ValueError: one\ntwo", "ValueError: one"),
        ("torch.OutOfMemoryError: no room", "torch.OutOfMemoryError: no room"),
        ("", ""),
    ],
)
def test_a_refusal_is_put_plainly(error: str, words: str) -> None:
    assert plain_refusal(error) == words


def test_a_long_text_is_cut() -> None:
    assert len(plain_refusal("ValueError: " + "x" * 5000)) == 300


def bare() -> fe.Trace:
    trace = small_trace()
    steps = tuple(replace(step, latency=(), numerics=()) for step in trace.steps)
    return replace(trace, steps=steps, baselines=(), notices=())


_ERROR = "TypeError: M.forward() missing 1 required positional argument: 'mask'"


@pytest.mark.parametrize(
    ("notices", "told"),
    [
        ((), None),
        ((nothing_ran("timed on cpu", _ERROR),), "not measured: forward() is missing mask"),
        ((nothing_ran("compared", _ERROR),), "not measured: forward() is missing mask"),
        ((nothing_measured("no step can be run"),), "not measured: no step can be run"),
        (
            (Notice("nothing_ran", f"Nothing was compared: the model does not run on the inputs ({_ERROR})."),),
            "not measured: forward() is missing mask",
        ),
        (
            (Notice("device_not_measured", "No latency was taken on cuda:0: the model is on cpu. Move it."),),
            "not measured: No latency was taken on cuda:0: the model is on cpu",
        ),
        ((Notice("nothing_ran", "in words of another version"),), None),
        ((Notice("tracer_warning", "Nothing was timed: the sun shone."),), None),
    ],
)
def test_the_notices_say_what_could_not_be_measured(notices: tuple[Notice, ...], told: str | None) -> None:
    found = unmeasured(replace(bare(), notices=notices))
    assert (found and str(found)) == told


def test_figures_that_are_there_are_not_called_missing() -> None:
    timed = replace(small_trace(), notices=(nothing_ran("timed on cuda:0", _ERROR),))
    assert unmeasured(timed) is None


def test_only_errors_are_missing() -> None:
    steps = tuple(
        replace(step, numerics=tuple(replace(each, outputs=(), error="no numbers") for each in step.numerics))
        for step in small_trace().steps
    )
    found = unmeasured(replace(small_trace(), steps=steps, baselines=(), notices=()))
    assert found is not None
    assert str(found) == "not compared with eager: no numbers"


def test_a_recording_that_ended_early_has_its_failure() -> None:
    assert unmeasured(replace(failed_trace(), notices=(nothing_ran("timed on cpu", _ERROR),))) is None


def test_a_trace_that_is_written_before_its_figures_says_so() -> None:
    early = replace(small_trace(), notices=(Notice(STILL_MEASURED, "The recording was still being measured."),))
    bare = replace(
        early,
        steps=tuple(replace(step, latency=(), numerics=()) for step in early.steps),
        baselines=(),
        call="fe.record(model, inputs)",
    )
    for kind in ("latency", "numerics"):
        assert why_absent(bare, kind) == "still being measured when this was written"
        assert how_to_get(bare, kind) == "open the recording again when it has finished"
    assert "still being measured" in fe.summarize(bare).sentence
