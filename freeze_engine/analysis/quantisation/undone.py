"""The notice that TorchScript's freezing converted quantised weights back to floating point."""

from __future__ import annotations

from dataclasses import replace

from freeze_engine.analysis.name_texts import listed
from freeze_engine.analysis.quantisation.layer import QuantisedLayer
from freeze_engine.analysis.quantisation.operators import is_narrow
from freeze_engine.analysis.quantisation.outcome import quantisation_outcome
from freeze_engine.trace import Notice, Trace


def with_undone(trace: Trace) -> Trace:
    """Returns a trace of TorchScript with a notice, if freezing undid the quantisation of weights.

    Args:
        trace: as its backend made it.
    """
    found = quantisation_outcome(trace)
    layers = {layer.weights or (layer.node,): layer for layer in found.undone} if found is not None else {}
    if not layers:
        return trace
    step = max(layer.undone_by for layer in layers.values() if layer.undone_by is not None)
    names = [_weight(trace, layer) for layer in layers.values()]
    after = sum(layer.bytes_after or 0 for layer in layers.values())
    before = sum(layer.bytes_before for layer in layers.values())
    dtype = next(iter(layers.values())).weight_after or "floating-point"
    message = (
        f"Freezing undid quantisation: step {step}, {trace.steps[step].name}, computed {after:,} bytes of {dtype} "
        f"constants from {before:,} bytes of quantised weights ({listed(names)}), and the frozen module reads those. "
        "TorchScript folds every dequantisation of a constant: compile with Inductor (--backend inductor), which keeps "
        "those of quantized_decomposed."
    )
    return replace(trace, notices=(*trace.notices, Notice("dequantized", message, step)))


def _weight(trace: Trace, layer: QuantisedLayer) -> str:
    """Returns the path of a layer's quantised weight, whose scale and zero point are beside it."""
    narrow = [
        fate
        for fate in trace.attributes
        if fate.path in layer.weights and fate.dtype is not None and is_narrow(fate.dtype)
    ]
    largest = max(narrow, key=lambda fate: fate.nbytes, default=None)
    return largest.path if largest is not None else next(iter(layer.weights), layer.name)
