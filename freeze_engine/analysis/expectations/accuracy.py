"""Expectations about the difference between the frozen module's outputs and the eager module's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from freeze_engine.analysis.expectations.result import Finding, step_text, why_absent
from freeze_engine.analysis.final_measurements import FinalFigures, final_figures
from freeze_engine.analysis.name_texts import listed
from freeze_engine.trace import Numerics, Rewrite, Step, Trace

_Reference = Literal["eager", "float64"]
_MEASURE = "Record it with inputs, and with numerics measured (no --no-numerics; fe.Measure(numerics=True))."
_BISECT = "freezer-ui bisect MODEL --check accuracy names the rewrite that moves the numbers."


def error_within(trace: Trace, limit: float, reference: _Reference) -> Finding:
    """Expects every output of the frozen module to have at most a certain absolute error.

    Args:
        trace: the recording.
        limit: the largest error.
        reference: what it is measured against.
    """

    def within(numerics: Numerics) -> bool:
        return all(output.max_abs <= limit and not output.nonfinite for output in numerics.outputs)  # not so for NaN

    return _judged(trace, ("max_error", f"error of at most {limit:g} against {reference}"), reference, within)


def outputs_close(trace: Trace, reference: _Reference) -> Finding:
    """Expects the frozen module's outputs to be within torch's default tolerances.

    Args:
        trace: the recording.
        reference: what they are compared with.
    """
    wanted = f"outputs within torch's tolerances of {reference}"
    return _judged(trace, ("within_tolerance", wanted), reference, lambda numerics: numerics.close)


def _judged(
    trace: Trace, asked: tuple[str, str], reference: _Reference, accepts: Callable[[Numerics], bool]
) -> Finding:
    found = [
        (figures, numerics)
        for figures in final_figures(trace)
        for numerics in figures.numerics
        if numerics.reference == reference
    ]
    broken = [(figures, numerics) for figures, numerics in found if numerics.error is None and not accepts(numerics)]
    errors = [f"{figures.name}: {_shortened(each.error)}" for figures, each in found if each.error is not None]
    if broken:
        lines = [line for figures, numerics in broken for line in _lines(figures, numerics)]
        first = _first(trace, reference, accepts)
        return Finding(*asked, "failed", f"The largest error is {_largest(broken)}.", (*lines, *first), _BISECT)
    if errors:
        return Finding(*asked, "cannot tell", "The outputs could not be compared.", tuple(errors))
    if not found:
        message = f"No error against {reference} was measured."
        return Finding(*asked, "cannot tell", message, *why_absent(trace, "numerics", _MEASURE))
    evidence = tuple(line for figures, numerics in found for line in _lines(figures, numerics))
    return Finding(*asked, "ok", f"The largest error is {_largest(found)}.", evidence)


def _shortened(error: str) -> str:
    """Returns the first and last line of a message: the exception, and, after torch's traceback, the reason."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    return " … ".join(dict.fromkeys((lines[0], lines[-1]))) if lines else error


def _largest(found: list[tuple[FinalFigures, Numerics]]) -> str:
    errors = [numerics.max_abs for _, numerics in found]
    return f"{max(errors, key=lambda error: (error != error, error)):.2g}"  # NaN is the largest


def _lines(figures: FinalFigures, numerics: Numerics) -> Iterator[str]:
    for output in numerics.outputs:
        past = "" if output.close else ", past torch's tolerances"
        nonfinite = f", {output.nonfinite} non-finite elements" if output.nonfinite else ""
        yield (
            f"{figures.name}, output {output.output} ({numerics.inputs} inputs): "
            f"max abs {output.max_abs:.2g}, max rel {output.max_rel:.2g}{nonfinite}{past}"
        )


def _first(trace: Trace, reference: _Reference, accepts: Callable[[Numerics], bool]) -> Iterator[str]:
    """Names the first step that is not accepted, and what it folded."""
    for method in trace.methods:
        for step in trace.method_steps(method):
            if any(
                numerics.reference == reference and numerics.error is None and not accepts(numerics)
                for numerics in step.numerics
            ):
                yield f"first at {step_text(step)}{_folds(trace, step)}"
                break


def _folds(trace: Trace, step: Step) -> str:
    if trace.before(step) is None:
        return ", before anything was frozen"
    kinds = [f"{rewrite.kind} of {_place(rewrite)}" for rewrite in step.rewrites]
    return f": {listed(kinds, joint='; ')}" if kinds else ""


def _place(rewrite: Rewrite) -> str:
    # A dropout of the top module has no submodule, and produces nothing.
    nodes = rewrite.produced or rewrite.consumed
    return listed(rewrite.modules) or (nodes[0] if nodes else "the top module")
