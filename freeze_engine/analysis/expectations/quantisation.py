"""The expectation that quantised weights stay quantised."""

from __future__ import annotations

from freeze_engine.analysis.expectations.result import Finding, counted, step_text
from freeze_engine.analysis.name_texts import listed
from freeze_engine.analysis.number_texts import bytes_text
from freeze_engine.analysis.quantisation.layer import QuantisedLayer
from freeze_engine.analysis.quantisation.outcome import may_be_quantised, quantisation_outcome
from freeze_engine.trace import Trace


def stays_quantised(trace: Trace) -> Finding:
    """Expects that freezing converts no quantised weight to floating point.

    Args:
        trace: the recording.
    """
    asked = ("stays_quantised", "every quantised weight stays quantised")
    found = quantisation_outcome(trace)
    if found is None or not found.quantised:
        if may_be_quantised(trace):
            message = "The trace has quantised tensors or operators, but does not show a layer with a quantised weight."
            return Finding(*asked, "cannot tell", message)
        message = "The trace has no layer with a quantised weight."
        return Finding(*asked, "cannot tell", message, remedy="Record the quantised model.")
    unknown = [layer for layer in found.quantised if layer.outcome == "unknown"]
    if found.undone:
        count = f"{len(found.undone)} of {counted(len(found.quantised), 'quantised layer')}"
        lines = tuple(_line(trace, layer) for layer in found.undone)
        notice = next((each.message for each in trace.notices if each.code == "dequantized"), "")
        remedy = notice.partition("reads those. ")[2] or "Compile without freezing."
        return Finding(*asked, "failed", f"Freezing undid the quantisation of {count}.", lines, remedy)
    if unknown:
        names = listed(layer.name for layer in unknown)
        return Finding(*asked, "cannot tell", f"The trace does not show what became of {names}.")
    count = counted(len(found.quantised), "quantised layer")
    return Finding(*asked, "ok", f"Freezing kept the weight of {count}.")


def _line(trace: Trace, layer: QuantisedLayer) -> str:
    after = "unknown" if layer.bytes_after is None else bytes_text(layer.bytes_after)
    place = "" if layer.undone_by is None else f", by {step_text(trace.steps[layer.undone_by])}"
    dtypes = f"{layer.weight_before} → {layer.weight_after or 'unknown'}"
    return f"{layer.name}: {dtypes}, {bytes_text(layer.bytes_before)} → {after}{place}"
