from __future__ import annotations

from dataclasses import replace
from math import inf, nan
from typing import Literal

from freeze_engine.analysis.error_breakdown import AddedError, ErrorSplit, error_split, largest_error
from freeze_engine.trace import Baseline, Numerics, OutputError, Step, Trace
from tests.builders import empty_trace, small_trace

Reference = Literal["eager", "float64"]


def _error(reference: Reference, *errors: float, close: bool = True, inputs: str = "given") -> Numerics:
    outputs = tuple(OutputError(str(index), error, 0.0, 90.0, 0, close) for index, error in enumerate(errors))
    return Numerics(reference, outputs, inputs=inputs)


def _trace(*steps: tuple[Numerics, ...], eager: tuple[Numerics, ...] = ()) -> Trace:
    trace = small_trace()
    graph = trace.steps[0].graph
    made = tuple(
        Step(index, "stage", f"pass {index}", "forward", graph, changed=True, numerics=numerics)
        for index, numerics in enumerate(steps)
    )
    return replace(trace, steps=made, baselines=(Baseline("eager", numerics=eager),))


def test_error_is_split_into_start_and_steps() -> None:
    trace = _trace(
        (_error("eager", 0.0), _error("float64", 1e-3)),
        (),
        (_error("eager", 0.0, 2e-3), _error("float64", 1.5e-3)),
        (_error("eager", 1e-3), _error("float64", 1e-3)),
        (_error("eager", 4e-3, close=False), _error("float64", 5e-3, close=False)),
        eager=(_error("eager", 0.0), _error("float64", 1e-3)),
    )
    assert error_split(trace) == (
        ErrorSplit(
            "forward",
            present=1e-3,
            total=5e-3,
            frozen=4e-3,
            added=(AddedError(2, 0.0, 2e-3), AddedError(4, 1e-3, 4e-3)),
            present_close=True,
            first_past=4,
        ),
    )


def test_the_worst_input_decides() -> None:
    lucky, unlucky = _error("eager", 0.0), _error("eager", 0.5, close=False, inputs="wide")
    double = (_error("float64", 0.0), _error("float64", 0.25, close=False, inputs="wide"))
    trace = _trace((_error("eager", 0.0),), (lucky, unlucky), eager=double)
    assert error_split(trace) == (
        ErrorSplit("forward", 0.25, None, 0.5, (AddedError(1, 0.0, 0.5),), present_close=False, first_past=1),
    )


def test_nan_error_counts_as_infinite() -> None:
    assert largest_error((_error("eager", nan), _error("eager", 1.0)), "eager") == inf
    (split,) = error_split(_trace((_error("eager", 0.0),), (_error("eager", nan, close=False),)))
    assert split.added == (AddedError(1, 0.0, inf),)


def test_a_model_that_does_not_run_in_float64_has_an_unknown_error_before() -> None:
    failed = Numerics("float64", (), "RuntimeError: no double kernel")
    (split,) = error_split(_trace((_error("eager", 0.0), failed), eager=(_error("eager", 0.0), failed)))
    assert split == ErrorSplit("forward", None, None, 0.0)


def test_uncompared_trace_has_no_split() -> None:
    assert error_split(empty_trace()) == ()
    assert error_split(_trace((), (Numerics("eager", (), "RuntimeError: no"),))) == ()
    assert largest_error((), "eager") is None
