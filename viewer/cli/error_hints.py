"""Remedies for failed recordings."""

from __future__ import annotations

from freeze_engine import analysis, worker


def advice(ended: worker.JobEnded, via: str | None) -> str | None:
    """Returns the remedy for a failed recording, ``None`` if none is known.

    Args:
        ended: the end of the recording.
        via: the conversion to TorchScript, as the user gave it.
    """
    if ended.outcome == "over_limit":
        return "Give it more with --memory, or let it do less: smaller inputs, --no-measure, --no-memory, fewer checks."
    if known := analysis.known_failure(ended.error or ""):
        return known.remedy
    if ended.conversion is None:
        return None
    if ended.conversion == "scripted" and via != "trace":
        return "Try --via trace: tracing takes most of what scripting refuses, and needs inputs."
    return "Try --via script: scripting reads the source, and runs nothing."
