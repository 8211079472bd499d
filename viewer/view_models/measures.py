"""Latency and numeric error as the views show them."""

from __future__ import annotations

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


def first_past_tolerance(trace: fe.Trace, reference: str = "eager") -> int | None:
    """Returns the index of the first step whose outputs torch's default tolerances reject, ``None`` if none is.

    Args:
        trace: the recording.
        reference: what the outputs are held against, as in `freeze_engine.Numerics.reference`.
    """
    found = fe.past_tolerance(trace)
    return min((step for (_, against), step in found.items() if against == reference), default=None)
