"""Operators of quantised models: which compute, convert, or only view; and the dtype in a type's text."""

from __future__ import annotations

import re
from typing import Final

#: As ``c10::toString(ScalarType)`` writes them (c10/core/ScalarType.h, torch 2.13).
_DTYPES: Final = {
    "Byte": "uint8",
    "Char": "int8",
    "Short": "int16",
    "Int": "int32",
    "Long": "int64",
    "Half": "float16",
    "Float": "float32",
    "Double": "float64",
    "BFloat16": "bfloat16",
    "Bool": "bool",
    "QInt8": "qint8",
    "QUInt8": "quint8",
}
_TYPE: Final = re.compile(r"(\w+)\(([^)\]]*)")
WIDE: Final = ("float64", "float32", "float16", "bfloat16")
#: Integers of up to 16 bits, which `quantized_decomposed` takes for weights, and floating point of up to 8. Wider
#: integers are indices and sums: torch's ``qint32`` is for biases.
_NARROW: Final = re.compile(
    r"u?int([1-8]|16)|q?u?int8|quint4x2|quint2x4|bits(8|1x8|2x4|4x2)|float[48]_\w+",
)
ITEM_BYTES: Final = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2}

#: Operators with a weight, by their names without namespace and overload; the places among the values that they read
#: where the weight may stand. Of two places, the other one has the activation.
COMPUTE: Final[dict[str, tuple[int, ...]]] = {
    **dict.fromkeys(("convolution", "_convolution", "conv1d", "conv2d", "conv3d", "linear"), (1,)),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), (1,)),
    **dict.fromkeys(("mm", "bmm", "matmul", "_int_mm"), (0, 1)),
    **dict.fromkeys(("addmm", "baddbmm"), (1, 2)),
    "_scaled_mm": (1,),
    **dict.fromkeys(("embedding", "embedding_bag"), (0,)),
    **dict.fromkeys(("_weight_int8pack_mm", "_weight_int4pack_mm", "_weight_int4pack_mm_for_cpu"), (1,)),
    **dict.fromkeys(("qconv_pointwise", "qconv2d_pointwise", "qlinear_pointwise"), (1,)),
}
#: Places of the weight's scales and zero points, for the operators that take them as operands of their own.
SCALES: Final[dict[str, tuple[int, ...]]] = {
    "_scaled_mm": (3,),
    **dict.fromkeys(("_weight_int8pack_mm", "_weight_int4pack_mm", "_weight_int4pack_mm_for_cpu"), (2,)),
    **dict.fromkeys(("qconv_pointwise", "qconv2d_pointwise", "qlinear_pointwise"), (2, 3)),
}
#: Integers that ``_weight_int4pack_mm`` and its like pack into one element of the weight, by the dtype of the weight.
INT4_IN: Final = {"int32": 8, "uint8": 2}
#: Names of operators, and of the lowerings that replace them, that read a quantised weight.
QUANTISED_KERNELS: Final = ("qconv", "qlinear", "int_mm", "int8pack", "int4pack", "woq", "_scaled_mm", "qembedding")
VIEWS: Final = frozenset(
    (
        *("view", "reshape", "permute", "t", "transpose", "expand", "clone", "contiguous", "flatten", "squeeze"),
        *("unsqueeze", "alias", "slice", "detach", "to", "numpy_T", "inductor_force_stride_order"),
    )
)
CONVERSIONS: Final = ("quantize_per_tensor", "quantize_per_channel", "quantize_per_token", "quantize_affine")


def short(op: str) -> str:
    """Returns an operator's name without namespace and overload (``aten.mm.default`` → ``mm``)."""
    if "::" in op:
        return op.rpartition("::")[2]
    parts = op.split(".")
    return parts[-1] if parts[0] == "torch" or len(parts) < 2 else parts[1]


def is_quantise(op: str) -> bool:
    """Returns whether an operator quantises a floating-point tensor."""
    return short(op).startswith(CONVERSIONS)


def is_dequantise(op: str) -> bool:
    """Returns whether an operator converts a quantised tensor to floating point."""
    return short(op).startswith("dequantize")


def reads_quantised(op: str) -> bool:
    """Returns whether an operator, or a lowering, computes on a quantised weight."""
    return any(part in short(op) for part in QUANTISED_KERNELS)


def is_int4_packed(op: str) -> bool:
    """Returns whether an operator reads a weight of integers of 4 bits, several in each element."""
    return "int4pack" in short(op)


def dtype_of(type_text: str) -> str:
    """Returns torch's name of the dtype in the text of a type, empty if it has none."""
    match = _TYPE.match(type_text)
    if match is None:
        return ""
    return _DTYPES.get(match[1]) or (match[1] if match[1].startswith(("float", "int", "uint")) else "")


def elements_of(type_text: str) -> int | None:
    """Returns the number of elements in the text of a type, ``None`` if it does not say."""
    match = _TYPE.match(type_text)
    if match is None:
        return None
    count = 1
    for size in match[2].partition("strides")[0].split(","):
        size = size.strip()
        if size.isdecimal():
            count *= int(size)
        elif size and "=" not in size:
            return None
    return count


def is_narrow(dtype: str) -> bool:
    """Returns whether a dtype is one of quantised weights.

    Args:
        dtype: torch's name without the prefix; empty if it is unknown.
    """
    return _NARROW.fullmatch(dtype) is not None
