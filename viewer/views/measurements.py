"""Latency and numeric error in the form that the views read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views.wording import finite, latency_change_text, told_ratio, unseen

if TYPE_CHECKING:
    from freeze_engine.trace import Interval, Latency, Numerics, OutputError


def latency_rows(latency: tuple[Latency, ...], detection: analysis.Detection) -> list[dict[str, Any]]:
    """Returns one row per device; ``median``, ``low`` and ``high`` in ns are for drawing, ``None`` if unknown.

    Args:
        latency: of one step or baseline.
        detection: of its trace. ``unseen`` and ``change_unseen`` are the detectable difference if nothing is claimed.
    """
    return [
        {
            "device": entry.device,
            "text": analysis.duration_text(entry.median_ns.value),
            "interval": analysis.interval_text(entry.median_ns),
            "median": finite(entry.median_ns.value),
            "low": _bound(entry.median_ns, entry.median_ns.low),
            "high": _bound(entry.median_ns, entry.median_ns.high),
            "ratio": told_ratio(entry.ratio, entry.verdict, detection.to_first(entry)),
            "verdict": entry.verdict,
            "unseen": unseen(entry.verdict, detection.to_first(entry)),
            "previous": told_ratio(entry.previous, entry.change, detection.to_previous(entry)),
            "change": entry.change,
            "change_unseen": unseen(entry.change, detection.to_previous(entry)),
            "first": analysis.duration_text(entry.first_ns),
            "warmup": len(entry.warmup_ns),
            "warmup_time": analysis.duration_text(sum(entry.warmup_ns)) if entry.warmup_ns else None,
            "samples": entry.samples,
            "notes": list(entry.notes),
        }
        for entry in latency
    ]


def _bound(interval: Interval, bound: float) -> float | None:
    return finite(bound) if analysis.bounds_known(interval) else None


def latency_change_row(change: analysis.LatencyChange) -> dict[str, Any]:
    """Returns the row of a measurable difference to an earlier step."""
    return {
        "device": change.device,
        "since": change.since,
        "ratio": change.ratio.value,
        "short": analysis.ratio_short_text(change.ratio),
        "verdict": "faster" if change.ratio.value < 1 else "slower",
        "text": latency_change_text(change.ratio, change.since, change.device),
    }


@dataclass(frozen=True, slots=True)
class Errors:
    """Numeric errors of one snapshot against one reference, over all its inputs.

    Attributes:
        reference: as in `freeze_engine.trace.Numerics.reference`.
        compared: the successful comparisons, in the trace's order.
        failed: the failed ones.
    """

    reference: str
    compared: tuple[Numerics, ...]
    failed: tuple[Numerics, ...]

    @property
    def worst(self) -> Numerics | None:
        """The worst comparison: past tolerance before within, then by error; ``None`` if none succeeded."""
        return max(self.compared, key=lambda entry: (not entry.close, _sortable(entry.max_abs)), default=None)

    @property
    def close(self) -> bool:
        """Whether at least one comparison succeeded, and all are within tolerance."""
        return bool(self.compared) and all(entry.close for entry in self.compared)

    @property
    def span(self) -> tuple[float, float] | None:
        """The smallest and the largest error over the inputs, ``None`` for fewer than two comparisons."""
        if len(self.compared) < 2:
            return None
        largest = sorted((entry.max_abs for entry in self.compared), key=_sortable)
        return largest[0], largest[-1]

    @property
    def span_text(self) -> str | None:
        """The span in words."""
        return None if self.span is None else " to ".join(map(analysis.error_text, self.span))


def errors_by_reference(numerics: tuple[Numerics, ...]) -> tuple[Errors, ...]:
    """Groups the errors of one snapshot by reference."""
    return tuple(
        Errors(
            reference,
            tuple(entry for entry in numerics if entry.reference == reference and entry.error is None),
            tuple(entry for entry in numerics if entry.reference == reference and entry.error is not None),
        )
        for reference in dict.fromkeys(entry.reference for entry in numerics)
    )


def numerics_rows(numerics: tuple[Numerics, ...]) -> list[dict[str, Any]]:
    """Returns one row per reference: the worst over all inputs, and in ``inputs`` the error of each in words."""
    return [_numerics_row(errors) for errors in errors_by_reference(numerics)]


def _numerics_row(errors: Errors) -> dict[str, Any]:
    worst = errors.worst or errors.failed[0]
    return {
        "reference": errors.reference,
        "close": errors.close,
        "max_abs": analysis.error_text(worst.max_abs) if worst.outputs else None,
        "span": errors.span_text,
        "error": worst.error,
        "inputs": [
            {
                "inputs": entry.inputs,
                "close": entry.close,
                "error": entry.error,
                "outputs": [_output_row(output) for output in entry.outputs],
            }
            for entry in (*errors.compared, *errors.failed)
        ],
    }


def _output_row(output: OutputError) -> dict[str, Any]:
    return {
        "output": output.output,
        "max_abs": analysis.error_text(output.max_abs),
        "max_rel": analysis.error_text(output.max_rel),
        "sqnr": f"{output.sqnr_db:.1f} dB",
        "ulp": None if output.max_ulp is None else f"{output.max_ulp:.3g}",
        "nonfinite": output.nonfinite,
        "close": output.close,
    }


def largest_error(numerics: tuple[Numerics, ...]) -> float | None:
    """Returns the largest absolute error against eager over all outputs and inputs.

    Args:
        numerics: of one step.

    Returns:
        ``None`` if the step was not compared, or its error is not finite.
    """
    compared = [entry.max_abs for entry in numerics if entry.reference == "eager" and entry.error is None]
    return finite(max(compared, key=_sortable)) if compared else None


def _sortable(error: float) -> float:
    """Returns a sort key of an error: NaN counts as infinite."""
    return error if error == error else float("inf")


def first_past_tolerance(trace: fe.Trace) -> int | None:
    """Returns the index of the first step whose outputs differ from eager by more than torch's default tolerances.

    Args:
        trace: the recording.

    Returns:
        ``None`` if there is no such step.
    """
    found = analysis.past_tolerance(trace)
    return min((step for (_, against), step in found.items() if against == "eager"), default=None)


def apart(one: Interval | None, other: Interval | None) -> bool:
    """Returns whether two intervals are known and disjoint."""
    return one is not None and other is not None and (one.high < other.low or other.high < one.low)
