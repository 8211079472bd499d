"""Writes the type of a value in the format of TorchScript's printer."""

from __future__ import annotations

from typing import Any

import torch

#: As ``c10::toString(ScalarType)`` (c10/core/ScalarType.h, torch 2.13).
_SCALARS = {
    torch.uint8: "Byte",
    torch.int8: "Char",
    torch.int16: "Short",
    torch.int32: "Int",
    torch.int64: "Long",
    torch.float16: "Half",
    torch.float32: "Float",
    torch.float64: "Double",
    torch.complex32: "ComplexHalf",
    torch.complex64: "ComplexFloat",
    torch.complex128: "ComplexDouble",
    torch.bool: "Bool",
    torch.bfloat16: "BFloat16",
}

UNKNOWN = "unknown"
"""The text for a value of unknown type."""


def type_text(value: Any) -> str:
    """Describes a value by its type.

    Args:
        value: a real or fake tensor, a number, symbolic or not, a sequence of these, or anything else.

    Returns:
        Text such as ``Float(64, 3, 7, 7, strides=[147, 49, 7, 1], device=cpu)``; sizes that are not known before
        the run are Inductor's symbols (``s0``).
    """
    if isinstance(value, torch.Tensor):
        return _tensor_text(value)
    if isinstance(value, (list, tuple)):
        return f"({', '.join(type_text(each) for each in value)})"
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return f"{type(value).__name__}({value})"
    return "None" if value is None else type(value).__name__


def _tensor_text(tensor: torch.Tensor) -> str:
    name = _SCALARS.get(tensor.dtype, str(tensor.dtype).removeprefix("torch."))
    sizes = [str(size) for size in tensor.shape]
    if tensor.layout is torch.strided:
        sizes.append(f"strides=[{', '.join(str(stride) for stride in tensor.stride())}]")
    else:
        sizes.append(f"layout={str(tensor.layout).removeprefix('torch.')}")
    return f"{name}({', '.join([*sizes, f'device={tensor.device}'])})"
