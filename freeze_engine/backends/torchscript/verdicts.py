"""Why an attribute was preserved: every cause that keeps it by itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from freeze_engine.trace import Evidence, Reason

WILDCARD = "torch's wildcard"
"""How evidence says that torch only cannot tell whether an attribute is what is written."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Something that keeps an attribute, whatever else does.

    Attributes:
        reason: in the words of the trace.
        evidence: the first is the deciding one.
        step: index of the step that decided, if one did.
        other: path of the attribute that this one is kept with: one in the same memory, one of the same class, one
            that a submodule holds, or a submodule that is assigned; empty if there is none.
        remedy: what to do against it, where only its finder knows; see `freeze_engine.backends.torchscript.advice`.
    """

    reason: Reason
    evidence: tuple[Evidence, ...] = ()
    step: int | None = None
    other: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why one attribute was preserved.

    Attributes:
        causes: the first decided; taking any one away changes nothing while there is another.
    """

    causes: tuple[Cause, ...]

    @property
    def reason(self) -> Reason:
        """That of the cause that decided."""
        return self.causes[0].reason

    @property
    def step(self) -> int | None:
        """Index of the step that decided, if one did."""
        return self.causes[0].step

    @property
    def without_class(self) -> Verdict:
        """What keeps the submodule around it, too: that is not the class, unless there is nothing else."""
        return Verdict(tuple(cause for cause in self.causes if cause.reason != "shared_class") or self.causes)

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """That of all causes, the deciding one first."""
        return tuple(dict.fromkeys(each for cause in self.causes for each in cause.evidence))


def verdict_of(causes: Iterable[Cause]) -> Verdict | None:
    """Returns the verdict that rests on some causes; ``None`` without any.

    What others keep goes without the attribute's own writes where it rests on these alone.
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
    """Returns what two mentions of one write have in common: its line, or its node where that has none."""
    source = evidence.source
    return (source.file, source.line) if source else (evidence.method, evidence.step, evidence.node)
