"""Verdicts: all causes that keep an attribute on the frozen module, each sufficient alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from freeze_engine.trace import Evidence, Reason

WILDCARD = "torch's wildcard"
"""Marks evidence of a write that torch's alias analysis cannot separate from the attribute."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One thing that keeps an attribute on the frozen module, even without the other causes.

    Attributes:
        reason: in the words of the trace.
        evidence: the first is the deciding one.
        step: index of the step that decided, if one did.
        other: path of the attribute that this one is kept with: one in the same memory, one of the same class, one
            that a submodule holds, or a submodule that is assigned; empty if there is none.
        remedy: advice against it, where only its finder knows it; see
            `freeze_engine.backends.torchscript.attributes.advice`.
    """

    reason: Reason
    evidence: tuple[Evidence, ...] = ()
    step: int | None = None
    other: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """All causes that keep one attribute.

    Attributes:
        causes: at least one; the first decided. The attribute freezes when all of them are gone.
    """

    causes: tuple[Cause, ...]

    @property
    def reason(self) -> Reason:
        """Reason of the cause that decided."""
        return self.causes[0].reason

    @property
    def step(self) -> int | None:
        """Index of the step that decided, if one did."""
        return self.causes[0].step

    @property
    def without_class(self) -> Verdict:
        """The causes that also keep the submodule around it: all but a shared class, unless there is no other."""
        return Verdict(tuple(cause for cause in self.causes if cause.reason != "shared_class") or self.causes)

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Evidence of all causes, the deciding one first."""
        return tuple(dict.fromkeys(each for cause in self.causes for each in cause.evidence))


def verdict_of(causes: Iterable[Cause]) -> Verdict | None:
    """Returns the verdict of some causes, ``None`` if there are none.

    A cause is left out if all its evidence names writes that an earlier cause names, or if it has the remedy of one.
    """
    kept: list[Cause] = []
    written: set[tuple[object, ...]] = set()
    for cause in causes:
        places = {place_of(evidence) for evidence in cause.evidence if evidence.node}
        if (places and places <= written) or (cause.remedy and any(each.remedy == cause.remedy for each in kept)):
            continue
        kept.append(cause)
        if cause.reason in ("set_in_method", "mutated_in_place", "unresolved_path"):
            written |= places
    return Verdict(tuple(kept)) if kept else None


def place_of(evidence: Evidence) -> tuple[object, ...]:
    """Returns the key of a write: its source line, or its node where it has no line."""
    source = evidence.source
    return (source.file, source.line) if source else (evidence.method, evidence.step, evidence.node)
