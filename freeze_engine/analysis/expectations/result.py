"""The result of one expectation, and the phrases that findings share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from freeze_engine.analysis.missing_measurements import Kind, unmeasured
from freeze_engine.trace import Node, SourceRef, Step, Trace

Outcome = Literal["ok", "failed", "cannot tell"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one expectation.

    Attributes:
        name: the field of `Expectations` that it comes from; ``freeze`` for the one that always applies.
        expected: what was expected, in a few words.
        outcome: ``cannot tell`` if the trace does not show it; that is no success.
        message: one sentence: what the trace shows.
        evidence: the facts behind the message, one per line: which attribute or node, where, and why.
        remedy: what to do about it; empty where there is nothing to do, or nothing is known.
    """

    name: str
    expected: str
    outcome: Outcome
    message: str
    evidence: tuple[str, ...] = ()
    remedy: str = ""


def findings_text(findings: Sequence[Finding]) -> Iterator[str]:
    """Formats findings as lines: what was expected, what was found, why, and the remedy.

    Args:
        findings: in the order of the text.
    """
    for finding in findings:
        yield f"{finding.outcome}: {finding.expected}"
        yield f"  {finding.message}"
        yield from (f"    {line}" for line in finding.evidence)
        if finding.remedy:
            yield f"  → {finding.remedy}"


def why_absent(trace: Trace, kind: Kind, remedy: str) -> tuple[tuple[str, ...], str]:
    """Returns why there are no figures of a kind, as evidence, and what to do.

    Args:
        trace: the recording.
        kind: of the figures.
        remedy: what to do if the user did not request them.
    """
    found = unmeasured(trace)
    if found is None or kind not in found.kinds:
        return (), remedy
    return (found.reason,), found.remedy


def step_text(step: Step) -> str:
    """Returns the name of a step for use in a sentence (``step 14, FoldConvBn (forward, round 1)``)."""
    where = step.method if step.round is None else f"{step.method}, round {step.round}"
    return f"step {step.index}, {step.name} ({where})"


def source_text(trace: Trace, source: SourceRef | None) -> str:
    """Returns ``file:line``, followed by the text of that line if the trace has it; empty for no source."""
    if source is None:
        return ""
    line = trace.source_line(source)
    return f"{source.file}:{source.line}" + ("" if line is None else f": {line.strip()}")


def step_nodes(trace: Trace, step: Step) -> dict[str, Node]:
    """Returns the nodes of the graph after a step by their ids, and those of the one before that are gone."""
    earlier = trace.before(step)
    before = earlier.graph.walk() if earlier is not None else ()
    return {node.id: node for node in (*before, *step.graph.walk())}


def counted(number: int, noun: str) -> str:
    """Returns a number with its noun (``1 attribute``, ``3 attributes``)."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
