"""Latency and numeric error as the views show them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import freeze_engine as fe
from viewer.view_models.wording import (
    duration_text,
    error_text,
    finite,
    interval_text,
    latency_change_text,
    ratio_text,
)


def latency_rows(latency: tuple[fe.Latency, ...]) -> list[dict[str, Any]]:
    """Returns one row per device; ``median``, ``low`` and ``high`` in ns are for drawing, ``None`` if unbounded."""
    return [
        {
            "device": entry.device,
            "text": duration_text(entry.median_ns.value),
            "interval": interval_text(entry.median_ns),
            "median": finite(entry.median_ns.value),
            "low": finite(entry.median_ns.low),
            "high": finite(entry.median_ns.high),
            "ratio": entry.ratio and ratio_text(entry.ratio),
            "verdict": entry.verdict,
            "first": duration_text(entry.first_ns),
            "warmup": len(entry.warmup_ns),
            "samples": entry.samples,
            "notes": list(entry.notes),
        }
        for entry in latency
    ]


def latency_change_row(change: fe.LatencyChange) -> dict[str, Any]:
    """Returns a measurable difference to an earlier step."""
    return {
        "device": change.device,
        "since": change.since,
        "ratio": f"{change.ratio:.2f}×",
        "verdict": "faster" if change.ratio < 1 else "slower",
        "text": latency_change_text(change.ratio, change.since, change.device),
    }


def numerics_rows(numerics: tuple[fe.Numerics, ...]) -> list[dict[str, Any]]:
    """Returns one row per reference, with the error of every output in words."""
    return [
        {
            "reference": entry.reference,
            "close": entry.close,
            "max_abs": error_text(entry.max_abs) if entry.outputs else None,
            "error": entry.error,
            "outputs": [
                {
                    "output": output.output,
                    "max_abs": error_text(output.max_abs),
                    "max_rel": error_text(output.max_rel),
                    "sqnr": f"{output.sqnr_db:.1f} dB",
                    "nonfinite": output.nonfinite,
                    "close": output.close,
                }
                for output in entry.outputs
            ],
        }
        for entry in numerics
    ]


def told_metrics(trace: fe.Trace) -> tuple[fe.StepMetrics, ...]:
    """Returns `freeze_engine.step_metrics`, without latency changes that the steps' own verdicts do not bear out.

    Intervals alone can part two steps, neither of which differs from the first one by its verdict: that holds among all
    comparisons of the trace, and the views must not say both.
    """
    return tuple(
        replace(
            entry,
            latency_changes=tuple(
                change
                for change in entry.latency_changes
                if any(_differs(trace.steps[index], change.device) for index in (change.step, change.since))
            ),
        )
        for entry in fe.step_metrics(trace)
    )


def _differs(step: fe.Step, device: str) -> bool:
    return any(entry.device == device and entry.verdict in ("faster", "slower") for entry in step.latency)


def first_past_tolerance(metrics: tuple[fe.StepMetrics, ...], reference: str = "eager") -> int | None:
    """Returns the index of the first step whose outputs torch's default tolerances reject, ``None`` if none is.

    Args:
        metrics: what `freeze_engine.step_metrics` returned.
        reference: what the outputs are held against, as in `freeze_engine.Numerics.reference`.
    """
    return next((entry.step for entry in metrics if reference in entry.past_tolerance), None)
