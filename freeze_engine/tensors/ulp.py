"""Distance of two tensors in units in the last place."""

from __future__ import annotations

import math

import torch

_PATTERNS = {
    torch.float16: torch.int16,
    torch.bfloat16: torch.int16,
    torch.float32: torch.int32,
    torch.float64: torch.int64,
}


def max_ulp(actual: torch.Tensor, expected: torch.Tensor) -> float | None:
    """Counts how many numbers of their dtype lie between two tensors' elements, at most.

    The bit patterns of IEEE 754 numbers of one sign are in the order of the numbers (B. Dawson, "Comparing Floating
    Point Numbers", 2012), so the distance is a difference of integers; across zero it is the sum of both distances to
    zero, and +0 and -0 are one number.

    Args:
        actual: a dense tensor.
        expected: of the same shape and dtype.

    Returns:
        The largest distance; ``inf`` where one element is NaN or infinite and the other is not the same. ``None`` for
        dtypes other than float16, bfloat16, float32 and float64.
    """
    pattern = _PATTERNS.get(actual.dtype)
    if pattern is None or expected.dtype != actual.dtype:
        return None
    if actual.numel() == 0:
        return 0.0
    same = (actual == expected) | (torch.isnan(actual) & torch.isnan(expected))
    if bool((~(torch.isfinite(actual) & torch.isfinite(expected)) & ~same).any()):
        return math.inf
    ours, theirs = (_magnitude(side, pattern) for side in (actual, expected))
    apart = torch.signbit(actual) != torch.signbit(expected)
    # Within one sign the difference fits an int64; the sum across zero may not.
    distance = (ours - theirs).abs().to(torch.float64)
    across = ours.to(torch.float64) + theirs.to(torch.float64)
    return float(torch.where(apart, across, distance).masked_fill_(same, 0.0).max().item())


def _magnitude(tensor: torch.Tensor, pattern: torch.dtype) -> torch.Tensor:
    """Returns the position of each element's magnitude among the numbers of its dtype; 0 for zero."""
    bits = tensor.contiguous().view(pattern).to(torch.int64)
    return bits & torch.iinfo(pattern).max
