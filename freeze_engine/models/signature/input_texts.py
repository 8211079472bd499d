"""Writes the inputs of a call as texts of ``--input``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from freeze_engine.errors import ModelSpecError
from freeze_engine.requests.inputs import DTYPES, INTEGER_RANGES, Inputs, parse_input


def input_texts(inputs: Inputs) -> tuple[str, ...] | None:
    """Writes inputs as texts of ``--input``, which describe random tensors of the same shapes, dtypes and ranges.

    Args:
        inputs: of a call of the model.

    Returns:
        One text for each argument; ``None`` if one of them cannot be written so.
    """
    named = [*(("", value) for value in inputs.args), *((f"{name}=", value) for name, value in inputs.kwargs.items())]
    texts = [name + text if (text := input_text(value)) is not None else None for name, value in named]
    return None if None in texts else tuple(text for text in texts if text is not None)


def input_text(value: Any) -> str | None:
    """Writes one value as a text of ``--input``, ``None`` if there is none for it."""
    text = _tensor_text(value) if isinstance(value, torch.Tensor) else _scalar_text(value)
    if text is None:
        return None
    try:
        parse_input(text)
    except ModelSpecError:
        return None
    return text


def _scalar_text(value: Any) -> str | None:
    if type(value) is bool:
        return f"bool:{str(value).lower()}"
    return f"{type(value).__name__}:{value!r}" if type(value) in (int, float) else None


def shape_text(sizes: Sequence[int], dtype: str) -> str | None:
    """Writes sizes and a dtype as a text of ``--input``; ``None`` without sizes, or for a dtype that it lacks."""
    if not sizes or dtype not in DTYPES:
        return None
    shape = "x".join(map(str, sizes))
    return shape if dtype == "float32" else f"{shape}:{dtype}"


def _tensor_text(tensor: torch.Tensor) -> str | None:
    text = shape_text(tensor.shape, dtype := str(tensor.dtype).removeprefix("torch."))
    if text is None or dtype not in INTEGER_RANGES or not tensor.numel():
        return text
    low, high = int(tensor.min()), int(tensor.max())
    return f"{text}:{min(low, 0)}..{high + 1}"
