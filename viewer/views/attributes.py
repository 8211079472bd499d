"""The fate table: what became of every attribute, why, and the evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import freeze_engine as fe
from viewer.views.source_locations import source_row
from viewer.views.wording import FATES, REASONS, bytes_text, shape_text, why_text


def attribute_rows(trace: fe.Trace) -> list[dict[str, Any]]:
    """Returns one row per attribute, in the trace's order (by path)."""
    homes = {method: _definitions(trace.final(method)) for method in trace.methods}
    return [
        {
            "path": fate.path,
            "kind": fate.kind,
            "type": fate.type,
            "shape": shape_text(fate.shape),
            "dtype": fate.dtype,
            "nbytes": fate.nbytes,
            "bytes": bytes_text(fate.nbytes) if fate.nbytes else "",
            "same_as": fate.same_as,
            "fate": fate.fate,
            "minor": is_minor(fate),
            "counted": is_counted(fate),
            "reason": fate.reason and REASONS[fate.reason][0],
            "why": why_text(fate, trace.steps),
            "evidence": [evidence_row(evidence) for evidence in fate.evidence],
            "advice": fate.advice,
            "step": fate.step,
            "locations": [_location_row(location, homes) for location in fate.locations],
        }
        for fate in trace.attributes
    ]


def is_counted(fate: fe.AttributeFate) -> bool:
    """Returns whether an attribute is a parameter or a buffer; headlines and tables count only these."""
    return fate.kind in ("parameter", "buffer")


def is_minor(fate: fe.AttributeFate) -> bool:
    """Returns whether a table hides an attribute by default: any that is neither a parameter nor a buffer.

    A preserved attribute is never minor: users read the table for these.
    """
    return fate.fate != "preserved" and not is_counted(fate)


@dataclass(frozen=True, slots=True)
class AttributeCounts:
    """Number of attributes by fate; all views of a trace use the same counts.

    Attributes:
        fates: ``(fate, number of parameters and buffers)`` in a fixed order, without fates that do not occur.
        others: the same for all other attributes: submodules, flags, values.
    """

    fates: tuple[tuple[str, int], ...]
    others: tuple[tuple[str, int], ...]

    @property
    def total(self) -> int:
        """Number of parameters and buffers."""
        return sum(count for _, count in self.fates)

    @property
    def others_preserved(self) -> int:
        """Number of other attributes that are preserved."""
        return dict(self.others).get("preserved", 0)


def attribute_counts(attributes: Iterable[tuple[str, bool]]) -> AttributeCounts:
    """Counts attributes.

    Args:
        attributes: the fate of each, and the result of `is_counted`.
    """
    found = Counter(attributes)
    counted, others = (
        tuple((fate, found[fate, wanted]) for fate in FATES if found[fate, wanted]) for wanted in (True, False)
    )
    return AttributeCounts(counted, others)


def trace_counts(trace: fe.Trace) -> AttributeCounts:
    """Counts the attributes of a trace."""
    return attribute_counts((fate.fate, is_counted(fate)) for fate in trace.attributes)


def held_bytes(trace: fe.Trace) -> dict[str, int]:
    """Returns the bytes of each attribute by path; tied weights count once.

    Of tied names, the one under which most of the tensor is left gets the bytes, the first of equals; the others get 0.
    Bytes of a tensor subclass count for the tensors inside it, whose paths go on from its own.
    """
    left = ("preserved", "inlined", "folded", "dropped")
    found = {fate.path: fate.nbytes for fate in trace.attributes}
    names: dict[str, list[fe.AttributeFate]] = {}
    for fate in trace.attributes:
        names.setdefault(fate.same_as or fate.path, []).append(fate)
    for tied in names.values():
        _, *others = sorted(tied, key=lambda fate: (not is_counted(fate), left.index(fate.fate), fate.same_as != ""))
        found |= {fate.path: 0 for fate in others}
    tensors = {fate.path for fate in trace.attributes if fate.shape is not None}
    inner_owners = {path.rpartition(".")[0] for path in tensors} & tensors
    found |= dict.fromkeys(inner_owners, 0)
    return found


def counts_view(counts: AttributeCounts) -> dict[str, list[list[str | int]]]:
    """Returns the counts in the form that the views read."""
    return {"fates": [list(each) for each in counts.fates], "others": [list(each) for each in counts.others]}


def evidence_row(evidence: fe.Evidence) -> dict[str, Any]:
    """Returns the evidence for a verdict, with the node to jump to."""
    return {
        "fact": evidence.fact,
        "method": evidence.method,
        "step": evidence.step,
        "node": evidence.node,
        "op": evidence.op,
        "source": source_row(evidence.source),
        "chain": [
            {"value": link.value, "node": link.node, "op": link.op, "source": source_row(link.source)}
            for link in evidence.chain
        ],
    }


def _definitions(final: fe.Step | None) -> tuple[int | None, dict[str, str]]:
    if final is None:
        return None, {}
    return final.index, {value.name: node.id for node in final.graph.walk() for value in node.outputs}


def _location_row(
    location: fe.Location, homes: dict[str, tuple[int | None, dict[str, str]]]
) -> dict[str, str | int | None]:
    step, definitions = homes.get(location.method, (None, {}))
    return {
        "method": location.method,
        "value": location.value,
        "step": step,
        "node": definitions.get(location.value),
    }
