"""The quantised layers of a trace as rows of texts: dtypes, bytes, patterns, and what is left to convert."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views.wording import STAGES

if TYPE_CHECKING:
    from freeze_engine.trace import OutputError

_OUTCOMES: Final = {
    "quantised": "integers",
    "weight only": "weight only",
    "dequantised": "converted in each call",
    "undone": "undone",
    "float": "not quantised",
    "unknown": "unknown",
}
_MEANINGS: Final = {
    "quantised": "the kernel reads quantised weights and activations",
    "weight only": "the kernel reads the quantised weight, and floating-point activations",
    "dequantised": "each call converts the quantised weight to floating point",
    "undone": "freezing converted the weight back to a floating-point constant",
    "float": "its weight was not quantised",
    "unknown": "the trace ends before, or does not show it",
}
_TONES: Final = {"quantised": "good", "weight only": "good", "dequantised": "warn", "undone": "bad"}
ERROR_UNKNOWN: Final = (
    "The error of each layer against the float model is unknown: the recording has the quantised model only. Record it "
    "again with the float model, --float-model MODEL or fe.record(…, float_model=…)."
)
_ERROR_KNOWN: Final = (
    "Errors are those against the float model: of the weight as the layer reads it, and of its output when each model "
    "ran on the recorded inputs, which includes the errors of the layers before it."
)


def quantisation_view(trace: fe.Trace) -> dict[str, Any] | None:
    """Returns the quantised layers for display, ``None`` for a trace without any.

    Args:
        trace: the recording.
    """
    found = analysis.quantisation_outcome(trace)
    if found is None:
        return None
    several = len(trace.methods) > 1
    return {
        "sentence": sentence(found),
        "error": error_sentences(found),
        "has_errors": has_errors(found),
        "layers": [_layer(trace, layer, several) for layer in found.layers],
        "left": [
            {
                "node": each.node,
                "op": each.op,
                "step": trace.method_steps(each.method)[-1].index,
                "why": each.why,
            }
            for each in found.conversions
        ],
    }


def sentence(found: analysis.Quantisation) -> str:
    """Returns how many layers compute in which way, and the bytes of their weights."""
    counts = Counter[str](layer.outcome for layer in found.layers)
    told = "; ".join(f"{counts[outcome]} {_COUNTED[outcome]}" for outcome in _COUNTED if counts[outcome])
    layers = {layer.weights or layer.node: layer for layer in found.quantised}.values()  # shared weights count once
    before = sum(layer.bytes_before for layer in layers)
    after = [layer.bytes_after for layer in layers]
    whole = sum(each for each in after if each is not None) if None not in after else None
    held = "unknown" if whole is None else analysis.bytes_text(whole)
    weights = f"quantised weights: {analysis.bytes_text(before)} before freezing, {held} after"
    return f"{len(found.layers)} layers: {told}; {weights}." if layers else f"{len(found.layers)} layers: {told}."


def error_sentences(found: analysis.Quantisation) -> str:
    """Returns sentences on the errors, with the bound of the rounding where a layer has one."""
    count, bounded = len(found.quantised), sum(layer.rounding is not None for layer in found.quantised)
    told = _known_errors(found) if has_errors(found) else ERROR_UNKNOWN
    if not bounded:
        return told
    where = "a weight" if bounded == count else f"the weight of {bounded} of {count} quantised layers"
    return f"{told} Rounding put at most half of the largest scale into an element of {where}."


def has_errors(found: analysis.Quantisation) -> bool:
    """Returns whether a layer was compared with the float model's."""
    return any(layer.weight_error is not None or layer.output_error is not None for layer in found.layers)


def _known_errors(found: analysis.Quantisation) -> str:
    errors = [(layer.output_error.sqnr_db, layer.name) for layer in found.quantised if layer.output_error is not None]
    outputs = [(sqnr_db, name) for sqnr_db, name in errors if not math.isnan(sqnr_db)]
    missing = [layer.name for layer in found.quantised if layer.weight_error is None and layer.output_error is None]
    told = _ERROR_KNOWN
    if outputs:
        worst, name = min(outputs)
        told += (
            " All outputs equal the float model's."
            if math.isinf(worst) and worst > 0
            else f" The worst output is that of {name} ({worst:.1f} dB of signal over error)."
        )
    if missing:
        told += f" Not found in the float model: {analysis.listed(missing)}."
    return told


_COUNTED: Final = {
    "quantised": "on integers",
    "weight only": "with a quantised weight only",
    "dequantised": "converted in each call",
    "undone": "undone by freezing",
    "unknown": "unknown",
    "float": "not quantised",
}


def quantisation_lines(trace: fe.Trace) -> Iterator[str]:
    """Yields the quantised layers as lines for a terminal; nothing for a trace without any.

    Args:
        trace: the recording.
    """
    view = quantisation_view(trace)
    if view is None:
        return
    yield view["sentence"]
    for layer in view["layers"]:
        yield (
            f"{layer['name']} ({layer['op']}): {layer['outcome']}; weight {layer['weight']}, "
            f"activation {layer['activation']}, {layer['bytes']}"
        )
        if view["has_errors"]:
            yield f"  error against the float model: {'; '.join(layer['errors'])}"
        for pattern in layer["patterns"]:
            if not pattern["matched"]:
                yield f"  no {pattern['name']} ({pattern['group']}): {pattern['why']}"
    for each in view["left"]:
        yield f"left: %{each['node']}, {each['op']}: {each['why']}"
    yield view["error"]


def _layer(trace: fe.Trace, layer: analysis.QuantisedLayer, several: bool) -> dict[str, Any]:
    undone = None if layer.undone_by is None else trace.steps[layer.undone_by]
    return {
        "name": layer.name,
        "op": layer.op,
        "method": layer.method if several else "",
        "step": layer.step,
        "node": layer.node,
        "outcome": _OUTCOMES[layer.outcome] + (f" by {undone.name}" if undone is not None else ""),
        "meaning": _MEANINGS[layer.outcome],
        "tone": _TONES.get(layer.outcome, "muted"),
        "undone_by": layer.undone_by,
        "weight": _change(layer.weight_before, layer.weight_after) + (", packed" if layer.is_packed else ""),
        "activation": _change(layer.activation_before, layer.activation_after),
        "kernel": layer.kernel or "unknown",
        "bytes": _bytes(layer),
        "rounding": "unknown" if layer.rounding is None else f"≤ {analysis.error_text(layer.rounding)}",
        "errors": [_error("weight", layer.weight_error), _error("output", layer.output_error)],
        "is_quantised": layer.outcome != "float",
        "weights": list(layer.weights),
        "patterns": [
            {
                "name": each.name,
                "group": pass_label(trace, each.step, each.group),
                "step": each.step,
                "matched": each.matched,
                "why": each.why,
            }
            for each in layer.patterns
        ],
    }


def _error(what: str, error: OutputError | None) -> str:
    if error is None:
        return f"{what} unknown"
    return f"{what} {analysis.error_text(error.max_abs)}, {error.sqnr_db:.1f} dB"


def pass_label(trace: fe.Trace, step: int | None, name: str) -> str:
    """Returns a pass by its title, with torch's own name where they differ.

    Args:
        trace: the recording.
        step: of the pass, ``None`` if the trace has none.
        name: torch's own name.
    """
    stage = trace.steps[step].stage if step is not None else ""
    title = analysis.pass_title(trace.backend, stage, name) if stage in STAGES[trace.backend] else ""
    return f"{title}, {name}" if title else name


def _change(before: str, after: str | None) -> str:
    first = before or "unknown"
    return first if after == before else f"{first} → {after or 'unknown'}"


def _bytes(layer: analysis.QuantisedLayer) -> str:
    parts = [analysis.bytes_text(layer.bytes_before)]
    parts.append("unknown" if layer.bytes_after is None else analysis.bytes_text(layer.bytes_after))
    told = " → ".join(dict.fromkeys(parts))
    if layer.outcome == "float" or layer.bytes_float is None:
        return told
    return f"{told} (float: {analysis.bytes_text(layer.bytes_float)})"
