"""The proven facts of a trace that its summary consists of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from freeze_engine.analysis.attribute_counting import held_bytes, is_counted, trace_counts
from freeze_engine.analysis.error_breakdown import largest_error
from freeze_engine.analysis.final_measurements import final_figures
from freeze_engine.analysis.step_metrics import past_tolerance
from freeze_engine.trace import ASSUMED, AttributeFate, SourceRef, Trace

Manner = Literal["itself", "assumed", "around"]


@dataclass(frozen=True, slots=True)
class FrozenFact:
    """The fates of the weights and buffers.

    Attributes:
        total: all of them.
        frozen: those inlined or folded.
        preserved: those that are still attributes, or inputs of the compiled graph.
        dropped: those that nothing uses.
    """

    total: int
    frozen: int
    preserved: int
    dropped: int


@dataclass(frozen=True, slots=True)
class KeptFact:
    """Attributes that stay for one reason at one place of the source.

    Attributes:
        paths: theirs, the largest first.
        kind: ``weight`` or ``buffer`` if all are one kind, else ``attribute``.
        reason: as in `AttributeFate.reason`.
        source: the line that decided, ``None`` if unknown.
        nbytes: bytes of all, tied weights counted once.
        is_requested: whether the user asked for it.
        manner: what the line does: it writes or assigns them (``itself``), torch only assumes so (``assumed``), or it
            assigns a submodule that they are read from (``around``).
    """

    paths: tuple[str, ...]
    kind: str
    reason: str
    source: SourceRef | None
    nbytes: int
    is_requested: bool
    manner: Manner = "itself"


@dataclass(frozen=True, slots=True)
class ErrorFact:
    """The numeric error of one frozen method, over all its outputs and inputs.

    Attributes:
        method: its name.
        reference: ``eager``, or ``the scripted model`` if no eager module was given.
        max_abs: largest absolute error; ``inf`` for one that is no number.
        is_identical: whether all outputs are equal.
        is_close: whether torch's default tolerances accept all outputs.
        step: index of the method's first step past tolerance, ``None`` if there is none.
    """

    method: str
    reference: str
    max_abs: float
    is_identical: bool
    is_close: bool
    step: int | None = None


_REQUESTED = ("requested", "ancestor_of_requested")
_FOR_OTHERS = ("aliases_preserved", "shared_class", "module_preserved")
_KINDS = {"parameter": "weight", "buffer": "buffer"}


def frozen_fact(trace: Trace) -> FrozenFact | None:
    """Counts what became of the weights and buffers, ``None`` if the trace does not contain it."""
    if not trace.is_recording or (not trace.attributes and (trace.failure is not None or not trace.steps)):
        return None
    counts = dict(trace_counts(trace).fates)
    preserved, dropped = counts.get("preserved", 0), counts.get("dropped", 0)
    total = sum(counts.values())
    return FrozenFact(total, total - preserved - dropped, preserved, dropped)


def kept_facts(trace: Trace) -> tuple[KeptFact, ...]:
    """Returns the weights and buffers that stay, grouped by reason and line.

    Those that the user did not ask for come first, and of these the ones that do not stay for the sake of others.
    """
    held = held_bytes(trace)
    groups: dict[tuple[str, SourceRef | None, Manner], list[AttributeFate]] = {}
    for fate in trace.attributes:
        if fate.fate == "preserved" and is_counted(fate):
            groups.setdefault((fate.reason or "unknown", deciding_source(fate), manner(fate)), []).append(fate)
    facts = [_kept(held, reason, source, fates) for (reason, source, _), fates in groups.items()]
    return tuple(
        sorted(facts, key=lambda fact: (fact.is_requested, fact.reason in _FOR_OTHERS, -fact.nbytes, fact.paths))
    )


def deciding_source(fate: AttributeFate) -> SourceRef | None:
    """Returns the line of the first evidence that has one."""
    return next((evidence.source for evidence in fate.evidence if evidence.source is not None), None)


def manner(fate: AttributeFate) -> Manner:
    """Returns what the line of `deciding_source` does to an attribute that stays."""
    first = next((evidence for evidence in fate.evidence if evidence.source is not None), None)
    if fate.reason == "mutated_in_place" and first is not None and ASSUMED in first.fact:
        return "assumed"
    around = fate.kind != "submodule" and first is not None and first != fate.evidence[0]
    return "around" if fate.reason == "set_in_method" and around else "itself"


def _kept(held: dict[str, int], reason: str, source: SourceRef | None, fates: list[AttributeFate]) -> KeptFact:
    kinds = {_KINDS[fate.kind] for fate in fates}
    return KeptFact(
        paths=tuple(sorted((fate.path for fate in fates), key=lambda path: (-held[path], path))),
        kind=kinds.pop() if len(kinds) == 1 else "attribute",
        reason=reason,
        source=source,
        nbytes=sum(held[fate.path] for fate in fates),
        is_requested=reason in _REQUESTED,
        manner=manner(fates[0]),
    )


def error_facts(trace: Trace) -> tuple[ErrorFact, ...]:
    """Returns the error of each frozen method, ``forward`` first; empty if the final graphs were not compared."""
    return tuple(sorted(_errors(trace), key=lambda fact: fact.method != "forward"))


def _errors(trace: Trace) -> Iterator[ErrorFact]:
    is_scripted = any(notice.code == "reference_is_scripted" for notice in trace.notices)
    past = past_tolerance(trace)
    for final in final_figures(trace):
        compared = [each for each in final.numerics if each.reference == "eager" and each.error is None]
        if not compared:
            continue
        outputs = [output for each in compared for output in each.outputs]
        largest = largest_error(final.numerics, "eager") or 0.0
        is_close = all(each.close for each in compared)
        yield ErrorFact(
            method=final.method,
            reference="the scripted model" if is_scripted else "eager",
            max_abs=largest,
            is_identical=largest == 0.0 and is_close and not any(output.nonfinite for output in outputs),
            is_close=is_close,
            step=None if is_close else past.get((final.method, "eager")),
        )
