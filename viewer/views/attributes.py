"""The fate table: what became of every attribute, why, and the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views.source_locations import source_row
from viewer.views.value_summaries import tensor_row
from viewer.views.wording import REASONS, shape_text, why_text

if TYPE_CHECKING:
    from freeze_engine.trace import Evidence, Location


def attribute_rows(trace: fe.Trace) -> list[dict[str, Any]]:
    """Returns one row per attribute, in the trace's order (by path)."""
    drawn = _digests(trace)
    homes = {method: _definitions(trace.final(method)) for method in trace.methods}
    return [
        {
            "path": fate.path,
            "kind": fate.kind,
            "type": fate.type,
            "shape": shape_text(fate.shape),
            "dtype": fate.dtype,
            "nbytes": fate.nbytes,
            "bytes": analysis.bytes_text(fate.nbytes) if fate.nbytes else "",
            "same_as": fate.same_as,
            "digest": fate.tensor.digest if fate.tensor is not None else None,
            "tensor": None if fate.tensor is None or fate.tensor.digest in drawn else tensor_row(fate.tensor),
            "fate": fate.fate,
            "minor": is_minor(fate),
            "counted": analysis.is_counted(fate),
            "reason": fate.reason and REASONS[fate.reason][0],
            "why": why_text(fate, trace.steps),
            "evidence": [evidence_row(evidence) for evidence in fate.evidence],
            "advice": fate.advice,
            "step": fate.step,
            "locations": [_location_row(location, homes) for location in fate.locations],
        }
        for fate in trace.attributes
    ]


def _digests(trace: fe.Trace) -> set[str | None]:
    """Returns the digests of the constants in the graphs: the page finds their summaries there."""
    graphs = {id(step.graph): step.graph for step in trace.steps}
    kept = (node.constant for graph in graphs.values() for node in graph.walk())
    return {constant.digest for constant in kept if constant is not None and constant.values is not None}


def is_minor(fate: fe.AttributeFate) -> bool:
    """Returns whether a table hides an attribute by default: any that is neither a parameter nor a buffer.

    A preserved attribute is never minor: users read the table for these.
    """
    return fate.fate != "preserved" and not analysis.is_counted(fate)


def counts_view(counts: analysis.AttributeCounts) -> dict[str, list[list[str | int]]]:
    """Returns the counts in the form that the views read."""
    return {"fates": [list(each) for each in counts.fates], "others": [list(each) for each in counts.others]}


def evidence_row(evidence: Evidence) -> dict[str, Any]:
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
    location: Location, homes: dict[str, tuple[int | None, dict[str, str]]]
) -> dict[str, str | int | None]:
    step, definitions = homes.get(location.method, (None, {}))
    return {
        "method": location.method,
        "value": location.value,
        "step": step,
        "node": definitions.get(location.value),
    }
