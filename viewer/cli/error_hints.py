"""What to do about an error of torch's that many users meet, and whose own words do not tell."""

from __future__ import annotations

from typing import Final

import freeze_engine as fe

_SCRIPTING: Final = "scripting"

#: Part of torch's text (2.6 to 2.13), and what to do.
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


def advice(ended: fe.JobEnded, via: str | None) -> str | None:
    """Returns what to do about a failed recording, ``None`` where torch's own words have to do.

    Args:
        ended: how the recording ended.
        via: how the module was to get into TorchScript, as the user said it.
    """
    if ended.outcome == "over_limit":
        return "Give it more with --memory, or let it do less: smaller inputs, --no-measure, --no-memory, fewer checks."
    error = ended.error or ""
    for text, remedy in _KNOWN:
        if text in error:
            return remedy
    if ended.died_in == _SCRIPTING and via != "trace" and ended.outcome == "failed" and not ended.is_refusal:
        return "Tracing takes most of what scripting refuses: give inputs, and --via trace."
    return None
