"""Sources of the numeric error: the model before freezing, and the steps that added to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from freeze_engine.analysis.step_metrics import past_tolerance
from freeze_engine.trace import Numerics, Step, Trace
from freeze_engine.trace.baselines import EAGER

Reference = Literal["eager", "float64"]


@dataclass(frozen=True, slots=True)
class AddedError:
    """A step whose outputs are further from eager's than those of the step before it that was compared.

    Attributes:
        step: its index.
        before: largest absolute error before it, over all outputs and inputs.
        after: the same after it.
    """

    step: int
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class ErrorSplit:
    """The error of one method, taken apart. Errors are the largest absolute ones over all outputs and inputs.

    Attributes:
        method: the method.
        present: error of the eager module against double precision: there before anything is frozen; ``None`` where the
            model does not run in float64.
        total: error of the last step against double precision; ``None`` as well.
        frozen: error of the last step against eager: what freezing added altogether.
        added: the steps at which the error against eager grew, in order. The growths need not add up to ``frozen``:
            rounding errors of different steps may cancel.
        present_close: whether the eager module is within torch's tolerances of double precision; ``None`` as above.
        first_past: the first step past torch's tolerances against eager, ``None`` if there is none.
    """

    method: str
    present: float | None
    total: float | None
    frozen: float | None
    added: tuple[AddedError, ...] = ()
    present_close: bool | None = None
    first_past: int | None = None


def error_split(trace: Trace) -> tuple[ErrorSplit, ...]:
    """Splits the error into the part from before freezing and the parts that steps added.

    Args:
        trace: the recording, measured or not.

    Returns:
        One entry for each method with steps that were compared.
    """
    past = past_tolerance(trace)
    return tuple(
        _split(trace, method, steps, past.get((method, "eager")))
        for method in trace.methods
        if (steps := _compared(trace.method_steps(method)))
    )


def _split(trace: Trace, method: str, steps: list[Step], first_past: int | None) -> ErrorSplit:
    eager = next((baseline.numerics for baseline in trace.baselines if baseline.name == EAGER), ())
    double = [entry for entry in eager if entry.reference == "float64" and entry.error is None]
    return ErrorSplit(
        method,
        present=largest_error(eager, "float64"),
        total=largest_error(steps[-1].numerics, "float64"),
        frozen=largest_error(steps[-1].numerics, "eager"),
        added=_added(steps),
        present_close=all(entry.close for entry in double) if double else None,
        first_past=first_past,
    )


def _added(steps: list[Step]) -> tuple[AddedError, ...]:
    found = []
    level = 0.0
    for step in steps:
        error = largest_error(step.numerics, "eager")
        if error is None:
            continue
        if error > level:
            found.append(AddedError(step.index, level, error))
        level = error
    return tuple(found)


def largest_error(numerics: tuple[Numerics, ...], reference: Reference) -> float | None:
    """Returns the largest absolute error over all inputs and outputs, ``inf`` for one that is no number.

    Args:
        numerics: of one step or baseline.
        reference: what it is against.

    Returns:
        The error, ``None`` where nothing was compared.
    """
    errors = [
        math.inf if math.isnan(entry.max_abs) else entry.max_abs
        for entry in numerics
        if entry.reference == reference and entry.error is None
    ]
    return max(errors, default=None)


def _compared(steps: tuple[Step, ...]) -> list[Step]:
    return [step for step in steps if any(entry.error is None for entry in step.numerics)]
