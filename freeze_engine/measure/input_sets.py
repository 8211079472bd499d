"""Inputs beside the user's, of the same shapes and dtypes, so that one lucky input hides no error.

What a model accepts is not known. So integers stay within the range of the given ones (an index stays valid), what is
in order stays in order with its ends (offsets, positions), floats that are never negative stay so, a tensor of few
different numbers keeps to these (a mask), and non-finite elements stay where they are. A model may refuse them still.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from freeze_engine.requests.inputs import Inputs
from freeze_engine.tensors.tree_map import map_inputs

GIVEN = "given"

_MASK_VALUES = 4
_WIDE_OCTAVES = 6.0
_SEED = 0x5EED  # not one that users take: the same would draw their own inputs again

Draw = Callable[[torch.Tensor, torch.Generator], torch.Tensor]
"""Draws float64 elements from finite ones."""


@dataclass(frozen=True, slots=True)
class InputSet:
    """Inputs to compare on.

    Attributes:
        name: ``given``, ``similar``, ``wide``, ``similar 2``, …
        inputs: the inputs.
    """

    name: str
    inputs: Inputs


def input_sets(given: Inputs, count: int) -> tuple[InputSet, ...]:
    """Returns the given inputs, and generated ones: in turns similar to them, and of wide magnitudes.

    Without floats all are similar. Similar floats are normal with the mean and deviation of the given ones, within
    their range; where these are all equal, the deviation is their magnitude, or 1. Wide ones have the same root mean
    square, and magnitudes that spread over twelve octaves.

    Args:
        given: the user's.
        count: how many sets, the given one included.

    Returns:
        That many, fewer where the given ones cannot be varied. The same inputs give the same sets.
    """
    kinds = _FLOAT_KINDS if _has_floats(given) else _FLOAT_KINDS[:1]
    found = [InputSet(GIVEN, given)]
    for number in range(count - 1):
        turn, kind = divmod(number, len(kinds))
        name, draw = kinds[kind]
        drawing = _Drawing(draw, torch.Generator().manual_seed(_SEED + number))
        drawn = map_inputs(given, drawing)
        if drawing.varied:
            found.append(InputSet(f"{name} {turn + 1}" if turn else name, drawn))
    return tuple(found)


@dataclass(slots=True)
class _Drawing:
    """Draws a tensor like a given one; what it cannot draw stays as it is.

    Attributes:
        draw: for floats.
        generator: where the randomness comes from.
        varied: whether anything it returned differs from what it was given.
    """

    draw: Draw
    generator: torch.Generator
    varied: bool = False

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        replica = tensor.detach().clone()
        dense = tensor.layout is torch.strided and not (tensor.is_quantized or tensor.is_meta or tensor.is_nested)
        if not dense or tensor.numel() == 0 or tensor.dtype == torch.uint64:
            return replica
        replica.copy_(self._drawn(tensor.detach().cpu()))
        self.varied |= not torch.equal(replica, tensor)
        return replica

    def _drawn(self, values: torch.Tensor) -> torch.Tensor:
        if values.dtype == torch.bool:
            return _flags(values, self.generator)
        if values.is_floating_point():
            return _floats(values.to(torch.float64), self.draw, self.generator)
        if values.is_complex():
            parts = torch.view_as_real(values.resolve_conj().to(torch.complex128))
            return torch.view_as_complex(_floats(parts, self.draw, self.generator))
        return _integers(values.to(torch.int64), self.generator)


def _floats(values: torch.Tensor, draw: Draw, generator: torch.Generator) -> torch.Tensor:
    finite = torch.isfinite(values)
    known = values[finite]
    if known.numel() == 0:
        return values
    distinct = torch.unique(known)
    if 1 < distinct.numel() <= _MASK_VALUES < known.numel():
        chosen = torch.randint(distinct.numel(), values.shape, generator=generator)
        return torch.where(finite, distinct[chosen], values)
    drawn = values.clone()
    drawn[finite] = draw(known, generator)
    return drawn


def _similar(known: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    drawn = known.mean() + _deviation(known) * torch.randn(known.shape, generator=generator, dtype=known.dtype)
    low, high = known.aminmax()
    return drawn if low == high else drawn.clamp(low, high)


def _wide(known: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    normal = torch.randn(known.shape, generator=generator, dtype=known.dtype)
    octaves = _WIDE_OCTAVES * (2 * torch.rand(known.shape, generator=generator, dtype=known.dtype) - 1)
    drawn = normal * octaves.exp2()
    scale = known.square().mean().sqrt() or torch.ones(())
    drawn *= scale / drawn.square().mean().sqrt()
    return drawn.abs() if known.min() >= 0 and known.max() > 0 else drawn


def _deviation(known: torch.Tensor) -> torch.Tensor:
    spread = known.std(correction=0)
    if spread > 0:
        return spread
    magnitude = known.abs().max()
    return magnitude if magnitude > 0 else torch.ones(())


def _integers(values: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    low, high = (int(end) for end in values.aminmax())
    if low == high:
        return values
    end = min(high + 1, torch.iinfo(torch.int64).max)
    drawn = torch.randint(low, end, values.shape, generator=generator)
    in_order = values.dim() > 0 and values.shape[-1] > 1 and bool((values[..., 1:] >= values[..., :-1]).all())
    if in_order:
        drawn = drawn.sort(dim=-1).values
        drawn[..., 0], drawn[..., -1] = values[..., 0], values[..., -1]
    return drawn


def _flags(values: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    share = float(values.to(torch.float64).mean())
    return torch.rand(values.shape, generator=generator) < (share if 0 < share < 1 else 0.5)


def _has_floats(inputs: Inputs) -> bool:
    found: list[bool] = []

    def look(tensor: torch.Tensor) -> torch.Tensor:
        found.append(tensor.is_floating_point() or tensor.is_complex())
        return tensor

    map_inputs(inputs, look)
    return any(found)


_FLOAT_KINDS = (("similar", _similar), ("wide", _wide))
