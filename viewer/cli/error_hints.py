"""Remedies for frequent errors of torch whose messages name none."""

from __future__ import annotations

from typing import Final

from freeze_engine import worker

#: Part of torch's message (2.6 to 2.13), and the remedy.
_KNOWN: Final = (
    (
        "'RecursiveScriptModule' object has no attribute 'training'",
        "It is frozen already, and torch.jit.freeze takes no frozen module: give the one that it was made from.",
    ),
    (
        "only implemented for modules in eval mode",
        "Call model.eval() where the model is built, or before it is saved.",
    ),
    (
        "Unknown name: ",
        "--preserve and --other-method take names of the model's own attributes and methods, as in a.b.",
    ),
)


def advice(ended: worker.JobEnded, via: str | None) -> str | None:
    """Returns the remedy for a failed recording, ``None`` if none is known.

    Args:
        ended: the end of the recording.
        via: the conversion to TorchScript, as the user gave it.
    """
    if ended.outcome == "over_limit":
        return "Give it more with --memory, or let it do less: smaller inputs, --no-measure, --no-memory, fewer checks."
    error = ended.error or ""
    for text, remedy in _KNOWN:
        if text in error:
            return remedy
    if ended.conversion is None:
        return None
    if ended.conversion == "scripted" and via != "trace":
        return "Try --via trace: tracing takes most of what scripting refuses, and needs inputs."
    return "Try --via script: scripting reads the source, and runs nothing."
