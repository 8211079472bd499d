"""Numbers of constant tensors that a trace keeps: a histogram, the zeros, and the first elements."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from contextvars import ContextVar
from functools import cache
from typing import Final

import torch

from freeze_engine.trace import ValueSummary

MOST_SUMMARIES: Final = 2000
"""Constants of one trace that are summed up, in the order they are met: about a megabyte before compression."""

SAMPLED: Final = 1 << 16
"""Elements of a tensor that its histogram is made of, at most."""

BINS: Final = 32
FIRST: Final = 12

_kept: ContextVar[bool] = ContextVar("values_kept", default=True)


def values_are_kept() -> bool:
    """Returns whether a trace that is begun now keeps numbers of its constants."""
    return _kept.get()


@contextlib.contextmanager
def keeping_values(kept: bool) -> Iterator[None]:
    """Decides for the traces begun in the block whether they keep numbers of their constants.

    Args:
        kept: whether they do.
    """
    token = _kept.set(kept)
    try:
        yield
    finally:
        _kept.reset(token)


def value_summary(elements: torch.Tensor, ends: tuple[float, float] | None, *, zeros: int, nans: int) -> ValueSummary:
    """Sums up the numbers of a tensor. The histogram is made of at most `SAMPLED` elements, spread over all of it.

    Args:
        elements: dense, flat, on the CPU; of a sparse tensor the stored ones.
        ends: the smallest and the largest finite element, ``None`` if there is none.
        zeros: elements of the whole tensor that are zero.
        nans: elements that are not a number.
    """
    histogram, counted = _histogram(elements, ends) if ends is not None else ((), 0)
    return ValueSummary(
        zeros=zeros,
        nans=nans,
        histogram=histogram,
        counted=counted,
        # One object for every NaN, as a trace has it that was read from a file: two summaries can then be equal.
        first=tuple(math.nan if math.isnan(number) else number for number in as_numbers(elements[:FIRST]).tolist()),
    )


def as_numbers(elements: torch.Tensor) -> torch.Tensor:
    """Returns elements of any dtype as float64, those of complex numbers as magnitudes."""
    return (elements.abs() if elements.is_complex() else elements).to(torch.float64)


@cache
def _places() -> torch.Tensor:
    """Returns one place in each of `SAMPLED` parts of equal length 1, the same in every run.

    Places at equal distances would see only some columns of a matrix whose width is a multiple of the distance.
    """
    generator = torch.Generator().manual_seed(0)
    return torch.arange(SAMPLED, dtype=torch.float64) + torch.rand(SAMPLED, dtype=torch.float64, generator=generator)


def _histogram(elements: torch.Tensor, ends: tuple[float, float]) -> tuple[tuple[int, ...], int]:
    """Returns the counts of the bins, and the number of elements looked at."""
    count = elements.numel()
    sampled = elements
    if count > SAMPLED:
        sampled = elements[(_places() * (count / SAMPLED)).long().clamp(max=count - 1)]
    numbers = as_numbers(sampled)
    finite = numbers[torch.isfinite(numbers)]
    low, high = ends
    # In units of the range, which itself may be too large for a float.
    scale = max(abs(low), abs(high)) or 1.0
    width = high / scale - low / scale
    places = ((finite / scale - low / scale) / width * BINS).long() if width > 0 else torch.zeros(len(finite)).long()
    counts = torch.bincount(places.clamp(0, BINS - 1), minlength=BINS)
    return tuple(counts.tolist()), len(sampled)
