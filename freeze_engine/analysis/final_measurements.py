"""Measurements of a freeze's results, in contrast to those of its passes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from freeze_engine.trace import Latency, Numerics, Step, Trace
from freeze_engine.trace.baselines import COMPILED_FROZEN, PACKAGED, result_baseline


@dataclass(frozen=True, slots=True)
class FinalFigures:
    """The measurements of one result.

    Attributes:
        method: its name.
        step: index of the step whose graph was measured; ``None`` for the compiled module, or the package, as a whole.
        latency: one per device; the ratio is to the first step of the same trace.
        numerics: one per reference and kind of inputs.
        whole: name of the baseline, if the result is measured as a whole.
    """

    method: str
    step: int | None
    latency: tuple[Latency, ...]
    numerics: tuple[Numerics, ...]
    whole: str = COMPILED_FROZEN

    @property
    def name(self) -> str:
        """Describes the measurements in a few words."""
        if self.step is not None:
            return f"{self.method} after step {self.step}"
        return f"the {self.whole}" if self.whole == PACKAGED else f"the model {self.whole}"


def final_figures(trace: Trace) -> tuple[FinalFigures, ...]:
    """Returns the measurements of a freeze's results.

    Args:
        trace: the recording, measured or not.

    Returns:
        For TorchScript one per method whose last graph was measured; for Inductor those of the compiled module. Empty
        where nothing was measured, or only graphs that a later pass has changed.
    """
    if trace.uses_inductor:
        whole = result_baseline(trace.backend)
        return tuple(
            FinalFigures("forward", None, baseline.latency, baseline.numerics, whole)
            for baseline in trace.baselines
            if baseline.name == whole
        )
    return tuple(_finals(trace))


def _finals(trace: Trace) -> Iterator[FinalFigures]:
    for method in trace.methods:
        latency, numerics = _last(trace, method, "latency"), _last(trace, method, "numerics")
        measured = latency or numerics
        if measured is not None:
            yield FinalFigures(
                method, measured.index, latency.latency if latency else (), numerics.numerics if numerics else ()
            )


def _last(trace: Trace, method: str, figures: str) -> Step | None:
    """Returns the last step that has figures of a kind, if no later step changed the graph."""
    last = trace.final(method)
    for step in reversed(trace.method_steps(method)):
        if last is None or step.graph != last.graph:
            return None
        if getattr(step, figures):
            return step
    return None
