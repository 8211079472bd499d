"""Numbers of constant tensors that a trace keeps: a histogram, the zeros, and the first elements."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from contextvars import ContextVar
from functools import cache, lru_cache
from typing import Final

import numpy
import torch

from freeze_engine.tensors.statistics import Scratch, Statistics, as_numbers
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


def value_summary(elements: torch.Tensor, statistics: Statistics, size: int, scratch: Scratch) -> ValueSummary:
    """Sums up the numbers of a tensor. The histogram is made of at most `SAMPLED` elements, spread over all of it.

    Args:
        elements: dense, flat, on the CPU; of a sparse tensor the stored ones.
        statistics: of these elements.
        size: number of elements of the whole tensor.
        scratch: memory to work in.
    """
    histogram, counted = _histogram(elements, statistics, scratch) if statistics.count else ((), 0)
    return ValueSummary(
        zeros=size - statistics.nonzero,
        nans=statistics.nans,
        histogram=histogram,
        counted=counted,
        # One object for every NaN, as a trace has it that was read from a file: two summaries can then be equal.
        first=tuple(math.nan if math.isnan(number) else number for number in as_numbers(elements[:FIRST]).tolist()),
    )


@cache
def _places() -> torch.Tensor:
    """Returns one place in each of `SAMPLED` parts of equal length 1, the same in every run.

    Places at equal distances would see only some columns of a matrix whose width is a multiple of the distance.
    """
    generator = torch.Generator().manual_seed(0)
    return torch.arange(SAMPLED, dtype=torch.float64) + torch.rand(SAMPLED, dtype=torch.float64, generator=generator)


@lru_cache(maxsize=16)
def _places_in(count: int) -> torch.Tensor:
    """Returns the places to look at among so many elements; a network has many tensors of few sizes."""
    return (_places() * (count / SAMPLED)).long().clamp_(max=count - 1)


def _histogram(elements: torch.Tensor, statistics: Statistics, scratch: Scratch) -> tuple[tuple[int, ...], int]:
    """Returns the counts of the bins, and the number of elements looked at."""
    # NumPy's calls take a third of the time of torch's, which counts for the many small tensors of a model.
    numbers = scratch.numbers(_sampled(elements)).numpy()
    counted = len(numbers)
    if statistics.nonfinite:
        numbers = numbers[numpy.isfinite(numbers)]
    low, high = statistics.minimum, statistics.maximum
    # In units of the range, which itself may be too large for a float.
    scale = max(abs(low), abs(high)) or 1.0
    width = high / scale - low / scale
    if not width > 0:
        return (len(numbers), *(0,) * (BINS - 1)), counted
    numbers /= scale
    numbers -= low / scale
    numbers /= width
    numbers *= BINS
    places = torch.from_numpy(numpy.minimum(numbers.astype(numpy.uint8), BINS - 1))
    return tuple(torch.bincount(places, minlength=BINS).tolist()), counted


def _sampled(elements: torch.Tensor) -> torch.Tensor:
    count = elements.numel()
    if count <= SAMPLED:
        return elements
    places = _places_in(count).to(elements.device)
    # Indexing does the same for any dtype, in five times the time.
    return elements.index_select(0, places) if elements.dtype is torch.float32 else elements[places]
