"""Quantised layers, and what became of them, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from freeze_engine.trace import OutputError

Outcome = Literal["quantised", "weight only", "dequantised", "undone", "float", "unknown"]
"""How a layer computes after freezing.

``quantised``: on quantised weights and activations. ``weight only``: on quantised weights and floating-point
activations, in a kernel that reads the quantised weight. ``dequantised``: each call converts its quantised weight to
floating point. ``undone``: freezing converted the quantised weight to a larger floating-point constant. ``float``: it
was not quantised. ``unknown``: the trace ends before, or does not show it.
"""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern of torch for quantised operators, at one layer.

    Attributes:
        name: what it does, in words.
        group: torch's own name of the pass that looks for it.
        step: index of that pass's step, ``None`` if the trace has none.
        matched: whether it matched.
        why: why it did not, in a sentence; empty if it matched.
    """

    name: str
    group: str
    step: int | None
    matched: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class QuantisedLayer:
    """One convolution, matrix product or embedding of a trace with quantised weights.

    Attributes:
        name: path of its module; the name of its output where the module is not known.
        method: whose graph it is in.
        step: index of the step in whose graph ``node`` is: the first one that shows the weight.
        node: id of its node there.
        op: the operator there.
        weights: paths of the attributes that its weight is made of, scales and zero points included.
        weight_before: dtype of the stored weight.
        weight_after: dtype of the weight that the last graph holds, ``None`` if unknown.
        is_packed: whether a library's layout holds it in the end.
        activation_before: dtype of the activation as the model computes it.
        activation_after: dtype that the last operator reads, ``None`` if unknown.
        kernel: the operator that computes the layer in the last graph; empty if it is not known.
        bytes_float: bytes that the weight takes as it is computed with before freezing.
        bytes_before: bytes of the stored weight, with scales and zero points.
        bytes_after: bytes of what the last graph holds of it, ``None`` if unknown.
        outcome: how it computes after freezing.
        undone_by: index of the step that converted the weight to floating point, ``None`` if none did.
        rounding: the largest error that rounding put into an element of an integer weight: half of the largest scale.
            ``None`` for other weights, and if the trace does not tell which tensor is the scale.
        patterns: torch's patterns for it, in order.
        weight_error: error of its dequantised weight against the float model's, ``None`` if that was not compared.
        output_error: the same of its output, which includes the errors of the layers before it.
    """

    name: str
    method: str
    step: int
    node: str
    op: str
    weights: tuple[str, ...]
    weight_before: str
    weight_after: str | None
    is_packed: bool
    activation_before: str
    activation_after: str | None
    kernel: str
    bytes_float: int | None
    bytes_before: int
    bytes_after: int | None
    outcome: Outcome
    undone_by: int | None = None
    rounding: float | None = None
    patterns: tuple[Pattern, ...] = ()
    weight_error: OutputError | None = None
    output_error: OutputError | None = None


@dataclass(frozen=True, slots=True)
class Conversion:
    """A quantisation or dequantisation that the last graph still computes.

    Attributes:
        node: its id.
        op: its operator.
        method: whose graph it is in.
        why: why it stays, in a sentence.
    """

    node: str
    op: str
    method: str
    why: str


@dataclass(frozen=True, slots=True)
class Quantisation:
    """What freezing made of a quantised model.

    Attributes:
        layers: those with weights, also the ones that are not quantised, in the order of the graphs.
        conversions: the quantisations and dequantisations that are left; none for a freeze that did not finish.
    """

    layers: tuple[QuantisedLayer, ...]
    conversions: tuple[Conversion, ...] = ()

    @property
    def quantised(self) -> tuple[QuantisedLayer, ...]:
        """The layers whose weight was quantised before freezing."""
        return tuple(layer for layer in self.layers if layer.outcome != "float")

    @property
    def undone(self) -> tuple[QuantisedLayer, ...]:
        """The layers whose quantised weight freezing converted to floating point."""
        return tuple(layer for layer in self.layers if layer.outcome == "undone")
