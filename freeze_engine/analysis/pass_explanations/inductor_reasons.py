"""Why passes of Inductor changed nothing, from the conditions in torch's Python (torch 2.13)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from freeze_engine.analysis.pass_explanations.entry import Occasion
from freeze_engine.trace import Node

CONV = ("aten.convolution",)
MATMULS = ("aten.mm", "aten.addmm")
RNN = ("aten.mkldnn_rnn_layer",)
BINARIES = ("aten.add", "aten.sub", "aten.mul", "aten.div")
#: Operators of ``noop_registry`` in post_grad.py.
MAY_BE_NO_OP = (
    *("aten.slice", "aten.slice_scatter", "aten.repeat", "aten.constant_pad_nd", "prims.convert_element_type"),
    *("prims.device_put", "aten.ceil", "aten.floor", "aten.round", "aten.trunc", "aten.pow", "aten.cat", "aten.view"),
    *("aten.copy", "aten.alias", "aten.clone"),
)
PACKED_LINEAR = ("mkldnn._linear_pointwise",)
PACKED_WEIGHTS = (
    *("mkldnn._reorder_convolution_weight", "mkldnn._reorder_convolution_transpose_weight"),
    *("mkldnn._reorder_linear_weight", "mkldnn._reorder_mkldnn_rnn_layer_weight", "mkl._mkl_reorder_linear_weight"),
)
_LOWERED = ("mkldnn", "mkl.", "aten.mm", "aten.addmm", "aten.bmm", "aten.cumsum", "aten.amax", "aten.cat")
_QUANTIZED = ("quantize", "onednn.q", "int_mm", "int8", "int4")
_HALF = ("Half(", "BFloat16(")
_DEVICE = re.compile(r"\bdevice=(\w+)")


def has_no_patterns(occasion: Occasion) -> str | None:
    """The recording found no pattern registered for this group."""
    return "torch has no patterns for it here." if "has no patterns" in occasion.step.log else None


def not_quantized(occasion: Occasion) -> str | None:
    """No operator is a quantized one."""
    return None if occasion.graph.has_part(*_QUANTIZED) else "The graph has no quantized operator."


def not_half(occasion: Occasion) -> str | None:
    """No convolution or matrix product computes in half precision."""
    nodes = occasion.graph.of(*CONV, *MATMULS)
    half = any(value.type.startswith(_HALF) for node in nodes for value in node.outputs)
    return None if half else "No convolution or matrix product computes in half precision."


def no_binary_beside(occasion: Occasion) -> str | None:
    """No operation with two operands reads a convolution's or matrix product's output."""
    graph = occasion.graph
    # torch's pattern looks through a reshape after a matrix product.
    found = graph.readers_of(BINARIES, (*CONV, *MATMULS, "aten.reshape", "aten.view"))
    if found:
        return None
    return "No addition, subtraction, multiplication or division reads the output of a convolution or matrix product."


def matmuls_on_cpu(occasion: Occasion) -> str | None:
    """The matrix products run on the CPU, where torch does not join them by default."""
    graph = occasion.graph
    if graph.has("prims.convert_element_type", *CONV, *RNN) or graph.has_part(*_QUANTIZED):
        return None
    if devices(graph.of(*MATMULS)) != {"cpu"}:
        return None
    return (
        "The graph has no type conversion, and its matrix products are on the CPU, where torch joins those of one "
        "input only with torch._inductor.config.cpp.enable_concat_linear."
    )


def nothing_on_cpu(occasion: Occasion) -> str | None:
    """No convolution or matrix product runs on the CPU, for which torch packs weights."""
    found = devices(occasion.graph.of(*CONV, *MATMULS))
    if not found or "cpu" in found:
        return None
    return f"torch packs weights for the CPU; these operators are on {' and '.join(sorted(found))}."


def no_gpu(occasion: Occasion) -> str | None:
    """No node is on a GPU."""
    found = devices(occasion.graph.nodes())
    return None if found - {"cpu", "meta"} else "The graph has no tensor on a GPU."


def no_two_packed(occasion: Occasion) -> str | None:
    """No weight is packed twice."""
    packed = [(node.op, node.inputs, node.attributes) for node in occasion.graph.of(*PACKED_WEIGHTS)]
    if not packed:
        return "The graph has no packed weight."
    return "No weight is packed twice." if len(set(packed)) == len(packed) else None


def nothing_known_before(occasion: Occasion) -> str | None:
    """No result is known before the model runs: in the joint graph, weights are inputs."""
    graph = occasion.graph
    if graph.computes_from_constants or graph.has("get_attr"):
        return None
    return "The graph constructs no tensor (full, zeros, arange, …) and holds no constant, so no value is known."


def nothing_batched_on_cpu(occasion: Occasion) -> str | None:
    """Matrix products on the CPU, none of them batched: neither attention nor padding."""
    graph = occasion.graph
    others = ("aten.bmm", "aten.matmul", "prims.convert_element_type", "prims.iota", "aten.scatter", "aten.randperm")
    if graph.has(*others) or devices(graph.of(*MATMULS)) != {"cpu"}:
        return None
    return "The graph has no batched matrix product, as attention has; torch pads the others for a GPU only."


def no_scaled_softmax(occasion: Occasion) -> str | None:
    """No softmax reads a scaled value."""
    scaled = occasion.graph.readers_of(("aten.amax",), ("aten.mul", "aten.div", "prims.convert_element_type"))
    return None if scaled else "No softmax reads the output of a multiplication or division directly."


def nothing_to_lower(occasion: Occasion) -> str | None:
    """Nothing that the patterns of lowering begin with."""
    if occasion.graph.has_part(*_LOWERED, *_QUANTIZED):
        return None
    return "The graph has no packed convolution or linear, matrix product, cumsum, softmax or quantized operator."


def local_already(occasion: Occasion) -> str | None:
    """Each node comes right before its first reader."""
    graph = occasion.graph
    if graph.has_part("copy_", "rand", "bernoulli", "_c10d", "wait_tensor") or not graph.is_local:
        return None
    return "Each node comes right before the first node that reads it already."


def in_order(occasion: Occasion) -> str | None:
    """Each node comes after what it reads."""
    return "Each node comes after what it reads already." if occasion.graph.is_ordered else None


def nothing_around_packed_linear(occasion: Occasion) -> str | None:
    """No reshape and no addition reads the output of a packed linear."""
    graph = occasion.graph
    if graph.has_part(*_QUANTIZED) or graph.readers_of(("aten.reshape", "aten.view", "aten.add"), PACKED_LINEAR):
        return None
    return "The graph has no quantized operator, and no reshape or addition reads the output of a packed linear."


def devices(nodes: Iterable[Node]) -> set[str]:
    """Returns the devices of the results of some nodes (``cpu``, ``cuda``), as far as their types name them."""
    return {found for node in nodes for value in node.outputs for found in _DEVICE.findall(value.type)}
