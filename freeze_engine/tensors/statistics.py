"""Statistics of the finite elements of a tensor, added up chunk by chunk."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy
import torch

_CHUNK_ELEMENTS = 1 << 20
#: Beyond, ``torch.var_mean`` takes as long as all the rest: it goes element by element, by Welford's algorithm.
_FEW_ELEMENTS = 1 << 12
#: torch sums rows of this length alike with any number of threads (``GRAIN_SIZE`` of ATen, torch 2.13).
_ROW_ELEMENTS = 1 << 14
#: Their order and zeros are those of the same numbers as float64.
_EXACT = (torch.float32, torch.float64)


def as_numbers(elements: torch.Tensor) -> torch.Tensor:
    """Returns elements of any dtype as float64, those of complex numbers as magnitudes."""
    return (elements.abs() if elements.is_complex() else elements).to(torch.float64)


class Scratch:
    """Memory for a chunk of numbers, used again and again: fresh pages take longer than a conversion."""

    def __init__(self) -> None:
        with torch.inference_mode(False):
            self._numbers = torch.empty(_CHUNK_ELEMENTS, dtype=torch.float64, device="cpu")
        self._facts = numpy.empty(_CHUNK_ELEMENTS, dtype=bool)

    def numbers(self, chunk: torch.Tensor) -> torch.Tensor:
        """Returns a chunk as float64, which may be overwritten, and is by the next call."""
        if chunk.is_complex():
            return as_numbers(chunk)
        return self._numbers[: chunk.numel()].copy_(chunk)

    def nonzero(self, chunk: torch.Tensor) -> int:
        """Counts the elements of a chunk of real numbers that are not zero, those that are no numbers included."""
        # `torch.count_nonzero` takes five times as long.
        facts = numpy.not_equal(chunk.numpy(), 0, out=self._facts[: chunk.numel()])
        return int(numpy.count_nonzero(facts))


@dataclass(slots=True)
class Statistics:
    """Merges the moments of chunks.

    Attributes:
        count: of finite elements, of which ``minimum``, ``maximum``, ``mean`` and ``squares`` (the sum of squared
            deviations) are.
        nonfinite, nans, nonzero: counts.
    """

    count: int = 0
    minimum: float = math.inf
    maximum: float = -math.inf
    mean: float = 0.0
    squares: float = 0.0
    nonfinite: int = 0
    nans: int = 0
    nonzero: int = 0

    def add(self, chunk: torch.Tensor, scratch: Scratch) -> None:
        """Adds elements of any dtype."""
        numbers = scratch.numbers(chunk)
        # Of a tensor on a GPU the numbers are here.
        shown = chunk if chunk.dtype in _EXACT and chunk.is_cpu else numbers
        if not shown.numel():
            return
        self.nonzero += scratch.nonzero(shown)
        low, high = _ends(shown, numbers)
        if not (math.isfinite(low) and math.isfinite(high)):
            finite = numbers[torch.isfinite(numbers)]
            self.nonfinite += numbers.numel() - finite.numel()
            self.nans += int(torch.isnan(numbers).sum())
            numbers = finite
            low, high = _ends(finite, finite) if finite.numel() else (math.inf, -math.inf)
        count = numbers.numel()
        if count == 0:
            return
        mean, squares = _moments(numbers)
        self.minimum, self.maximum = min(self.minimum, low), max(self.maximum, high)
        if self.count == 0:
            self.count, self.mean, self.squares = count, mean, squares
            return
        delta = mean - self.mean
        self.squares += squares + delta * delta * self.count * count / (self.count + count)
        self.count += count
        self.mean += delta * (count / self.count)


def statistics_of(elements: torch.Tensor, scratch: Scratch) -> Statistics:
    """Returns the statistics of a flat tensor."""
    statistics = Statistics()
    for chunk in torch.split(elements, _CHUNK_ELEMENTS) if elements.numel() > _CHUNK_ELEMENTS else (elements,):
        statistics.add(chunk, scratch)
    return statistics


def _ends(elements: torch.Tensor, numbers: torch.Tensor) -> tuple[float, float]:
    low, high = (end.item() for end in torch.aminmax(elements))
    if low and high:
        return low, high
    # A zero has the sign that it has among the numbers.
    low, high = (end.item() for end in torch.aminmax(numbers))
    return low, high


def _moments(numbers: torch.Tensor) -> tuple[float, float]:
    """Returns the mean, and the sum of squared deviations from it; overwrites the numbers."""
    count = numbers.numel()
    total = _sum(numbers) if count > _FEW_ELEMENTS else math.inf
    if not math.isfinite(total):  # few elements, or too large to be added up
        variance, mean = (float(moment) for moment in torch.var_mean(numbers, correction=0))
        return mean, variance * count if variance >= 0 else math.nan  # torch's overflow can be negative
    average = total / count
    return average, _sum(numbers.sub_(average).square_())


def _sum(numbers: torch.Tensor) -> float:
    """Returns the sum; infinity where it, or a part of it, is not a float64."""
    whole = numbers.numel() // _ROW_ELEMENTS * _ROW_ELEMENTS
    rows = numbers[:whole].view(-1, _ROW_ELEMENTS).sum(1).tolist()
    try:
        return math.fsum((*rows, float(numbers[whole:].sum())))
    except (OverflowError, ValueError):
        return math.inf
