"""Torch's patterns for quantised operators: their names, and the conditions that fail where one did not match.

Read from ``torch/_inductor/fx_passes/quantization.py`` and ``torch/_inductor/constant_folding.py`` of torch 2.13.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from freeze_engine.analysis.name_texts import listed
from freeze_engine.analysis.quantisation.graph_values import GraphValues
from freeze_engine.analysis.quantisation.layer import Pattern
from freeze_engine.analysis.quantisation.operators import VIEWS, is_dequantise, is_narrow, is_quantise, short
from freeze_engine.trace import Node, Rewrite, Step

_NAMES: Final = {
    "dequant_promotion": "a dequantisation of its own for each reader",
    "qconv_weight_prepack": "weight prepack of a quantised convolution",
    "qlinear_weight_prepack": "weight prepack of a quantised linear",
    "linear_dynamic_fp16_weight_prepack": "weight prepack of a linear with a float16 weight",
    "_int_mm_weight_prepack": "weight prepack of an int8 matrix product",
    "qlinear_post_op_fusion": "fusion of a quantised linear with what follows",
    "_register_qconv_post_op_fusion_pass.qconv": "fusion of a quantised convolution with what follows",
    "_register_quantized_conv_lowering.qconv": "lowering to oneDNN's int8 convolution",
    "qconv_binary": "lowering to oneDNN's int8 convolution and addition",
    "qlinear_binary": "lowering to oneDNN's int8 linear and addition",
    "_register_quantized_linear_unary_lowering.qlinear": "lowering to oneDNN's int8 linear",
    "qmaxpool2d": "max pooling on integers",
    "qcat": "cat on integers",
    "qreshape": "reshape of integers",
    "pack_linear": "packing of the floating-point weight",
    "woq_int8": "int8 weight-only matrix product",
}
PREPACK: Final = "weight_prepack"
FUSION: Final = "post_op"
_UNEXPLAINED: Final = "None of torch's known conditions explains it."
_AFTER: Final = {
    "conv": "relu, hardtanh, hardswish, silu, an addition, and the quantisation of its output",
    "linear": "relu, gelu, an addition, and the quantisation of its output",
}
_ACTIVATIONS: Final = ("relu", "hardtanh", "clamp_min", "clamp_max", "sigmoid", "mul", "add", "erf", "tanh")
GROUPS: Final = ("pass_patterns[1]", "pass_patterns[3]", "pass_pattern_1")
"""The first pass that looks for a weight prepack, for a fusion, and for a weight-only kernel."""


def pattern_name(kind: str) -> str:
    """Returns a pattern's name in words; torch's own where it is not known.

    Args:
        kind: of a rewrite: the functions of torch that define the pattern, joined by dots.
    """
    return _NAMES.get(kind) or _NAMES.get(kind.rpartition(".")[2]) or kind


def matched(step: Step, rewrite: Rewrite) -> Pattern:
    """Returns a pattern that matched at a layer."""
    return Pattern(pattern_name(rewrite.kind), step.name, step.index, True)


def unmatched_prepack(values: GraphValues, node: Node, weight: str, activation: str | None) -> str:
    """Returns why torch did not pack the quantised weight of a layer.

    Args:
        values: the graph before the pass.
        node: the layer's.
        weight: its operand that is the weight.
        activation: its other operand.
    """
    origin = values.definers.get(values.unviewed(weight))
    by = short(origin.op) if origin is not None else ""
    if not is_dequantise(by):
        return (
            "The weight is not dequantised by one operator of quantized_decomposed, which torch's pattern begins with; "
            f"{_origin(origin)}."
        )
    if by != "dequantize_per_channel":
        return f"The weight is dequantised by {by}; torch's pattern wants dequantize_per_channel."
    source = values.definers.get(values.unviewed(activation)) if activation else None
    if source is None or not short(source.op).startswith("dequantize_per_tensor"):
        what = _origin(source) if source is not None else "it is an input of the graph"
        return f"The activation is not dequantised per tensor ({what}); torch packs int8 weights for such ones only."
    readers = len(values.readers.get(source.outputs[0].name, ()))
    if readers != 1:
        return f"{readers} nodes read the dequantised activation; torch's pattern wants one."
    dims = _dims(values, node.inputs[0])
    if "conv" in short(node.op) and dims is not None and dims not in (3, 4):
        return f"The activation has {dims} dimensions; torch packs quantised convolutions of 3 and 4, so in 1D and 2D."
    return _UNEXPLAINED


def unmatched_fusion(values: GraphValues, node: Node) -> str:
    """Returns why nothing was fused into a quantised operator, empty if nothing follows that could be.

    Args:
        values: the graph before the pass.
        node: the quantised operator's.
    """
    readers = values.readers.get(node.outputs[0].name, ())
    kind = "conv" if "conv" in short(node.op) else "linear"
    if len(readers) != 1:
        return f"{len(readers)} nodes read its output; torch fuses where one does." if readers else ""
    op = short(readers[0].op)
    if op in ("output", "inductor_force_stride_order"):
        return ""
    if is_quantise(op) or op in _ACTIVATIONS:
        return f"{op} follows, and none of torch's known conditions explains why it was not fused."
    return f"{op} follows; torch fuses {_AFTER[kind]}."


def unmatched_weight_only(
    values: GraphValues, node: Node, weight: str, activation: str | None, undone: Step | None
) -> str:
    """Returns why a weight-only layer does not read its quantised weight.

    Args:
        values: the graph before freezing.
        node: the layer's.
        weight: its operand that is the weight.
        activation: its other operand.
        undone: the step that converted the weight.
    """
    stored = sorted({dtype for name in values.static.get(weight, ()) if is_narrow(dtype := values.dtype(name))})
    given = values.float_dtype(activation) if activation else ""
    about = f"The weight is {'/'.join(stored)}, the activation {given or 'of unknown dtype'}"
    if undone is not None:
        return (
            f"{about}; {undone.name} (step {undone.index}) ran the conversion of the constant weight. It leaves only "
            "the conversion to bfloat16 of a stored int8 weight itself or of its transpose, and the dequantisations of "
            "quantized_decomposed."
        )
    readers = len(values.readers.get(weight, ()))
    if readers > 1:
        return f"{about}; {readers} nodes read the converted weight, and torch's pattern wants one."
    between = dict.fromkeys(reversed([short(each.op) for each in _until_stored(values, weight)]))
    if between:
        compute = "computes" if len(between) == 1 else "compute"
        return (
            f"{about}; {listed(between, joint=' and ')} {compute} the weight read. Torch's pattern wants "
            "a conversion alone there, and the scale behind the product."
        )
    scaled = {name for each in values.readers.get(node.outputs[0].name, ()) for name in each.inputs}
    if stored == ["int8"] and {given, *map(values.dtype, scaled)} == {"bfloat16"}:
        return f"{about}. {_UNEXPLAINED}"
    return f"{about}; torch has kernels for int8 weights with activations and scales of bfloat16 only."


def _until_stored(values: GraphValues, weight: str) -> Iterator[Node]:
    """Yields the nodes from a layer's weight up to the quantised one, without conversions and views."""
    seen: set[str] = set()
    while weight not in seen and not is_narrow(values.dtype(weight)) and weight in values.definers:
        seen.add(weight)
        node = values.definers[weight]
        if short(node.op) not in (*VIEWS, "convert_element_type"):
            yield node
        behind = {name: values.static.get(name, ()) for name in node.inputs}
        weight = next((name for name, made in behind.items() if any(map(is_narrow, map(values.dtype, made)))), weight)


def unmatched_int_mm(values: GraphValues, node: Node) -> str:
    """Returns why torch did not pack the weight of an int8 matrix product.

    Args:
        values: the graph before the pass.
        node: the product's.
    """
    readers = values.readers.get(node.outputs[0].name, ())
    ops = [short(each.op) for each in readers]
    if ops != ["convert_element_type"]:
        what = " and ".join(ops) or "nothing"
        return (
            f"{what} reads the product; torch's pattern wants its conversion and the two scales right after it, as "
            "symmetrically quantised activations have them."
        )
    return _UNEXPLAINED


def left_over(values: GraphValues, node: Node) -> str:
    """Returns why a quantisation or dequantisation is left in the last graph.

    Args:
        values: the last graph.
        node: the conversion's.
    """
    readers = values.readers.get(node.outputs[0].name, ())
    if is_quantise(node.op):
        source = values.definers.get(node.inputs[0]) if node.inputs else None
        if source is None:
            return "The model's input is floating point: it is quantised once, here."
        if node.op.endswith(".tensor"):
            return (
                "Its scale is computed in each call (dynamic quantisation), so that no operator before it can apply it."
            )
        return f"What it quantises is computed by {short(source.op)}, which no pattern fuses it into."
    if not readers:
        return "Its result is returned by the graph."
    names = dict.fromkeys(short(node.op) for node in readers)
    does = "computes in floating point and reads" if len(names) == 1 else "compute in floating point and read"
    return f"{listed(names, joint=' and ')} {does} its result."


def _origin(node: Node | None) -> str:
    return (
        "it is a constant"
        if node is None or node.op in ("get_attr", "prim::Constant")
        else f"it comes from {short(node.op)}"
    )


def _dims(values: GraphValues, name: str) -> int | None:
    text = values.types.get(name, "").partition("(")[2].partition("strides")[0]
    sizes = [size for size in (part.strip() for part in text.split(",")) if size and "=" not in size]
    return len(sizes) or None
