"""Remedies for frequent errors of torch whose messages name none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class KnownFailure:
    """An error of torch, and what to do about it.

    Attributes:
        text: a part of torch's message (2.6 to 2.13).
        title: what to do, as a short imperative.
        remedy: the cause and what to do, in sentences.
    """

    text: str
    title: str
    remedy: str


_KNOWN: Final = (
    KnownFailure(
        "'RecursiveScriptModule' object has no attribute 'training'",
        "Freeze the module that this one was made from",
        "It is frozen already, and torch.jit.freeze takes no frozen module: give the one that it was made from.",
    ),
    KnownFailure(
        "only implemented for modules in eval mode",
        "Call eval() before freezing",
        "Call model.eval() where the model is built, or before it is saved.",
    ),
    KnownFailure(
        "Freezing expects a ScriptModule",
        "Script the module before freezing",
        "torch.jit.freeze takes ScriptModules: freeze torch.jit.script(model), or torch.jit.trace(model, inputs).",
    ),
    KnownFailure(
        "Unknown name: ",
        "Preserve names that the model has",
        "--preserve and --other-method take names of the model's own attributes and methods, as in a.b.",
    ),
)


def known_failure(error: str) -> KnownFailure | None:
    """Returns the known error that a text has, ``None`` if there is none.

    Args:
        error: the text of an exception.
    """
    return next((each for each in _KNOWN if each.text in error), None)
