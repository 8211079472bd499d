"""Finds inputs that a run overwrites, by their values: kernels may write without raising a tensor's version.

Inductor in torch 2.13 lowers ``onednn.qlinear_pointwise.binary`` with ``sum`` so that it writes into the other summand
(``torch/_inductor/mkldnn_ir.py``): where that is an input of the model, each call changes the caller's tensor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from freeze_engine.measure.candidate import Candidate
from freeze_engine.measure.outputs import leaves
from freeze_engine.requests.inputs import Inputs
from freeze_engine.trace import Notice


@dataclass(frozen=True, slots=True)
class Overwriting:
    """A candidate that overwrites an input.

    Attributes:
        candidate: the first one.
        place: of the input: its number or name, with the places inside of it.
        change: largest change of an element.
    """

    candidate: Candidate
    place: str
    change: float


def overwritten(given: Inputs, after: Inputs) -> Mapping[str, float]:
    """Returns the inputs whose values a run has changed, each with the largest change of an element.

    Args:
        given: the inputs.
        after: the copies of them that the run got.
    """
    before = _tensors(given)
    changes = {place: _change(before[place], tensor) for place, tensor in _tensors(after).items() if place in before}
    return {place: change for place, change in changes.items() if change}


def overwriting_notice(found: Sequence[Overwriting]) -> tuple[Notice, ...]:
    """Returns the notice on candidates that overwrite an input which the eager module leaves alone, if there are any.

    Args:
        found: by candidate, in the order of their runs.
    """
    steps = [each for each in found if isinstance(each.candidate.key, int)]
    if not found:
        return ()
    first = (steps or found)[0]
    key = first.candidate.key
    text = (
        f"The frozen model overwrites its input {first.place}: the graph of {first.candidate} is the first that does "
        f"so, by up to {first.change:.2g}, and the eager module leaves the input as it is. "
        "Pass a copy of that tensor to the frozen model, such as x.clone()."
    )
    return (Notice("overwritten_input", text, key if isinstance(key, int) else None),)


def _tensors(inputs: Inputs) -> dict[str, torch.Tensor]:
    found = [(str(index), value) for index, value in enumerate(inputs.args)] + list(inputs.kwargs.items())
    return {
        name if leaf.path == "0" and leaf.value is value else f"{name}.{leaf.path}": leaf.value
        for name, value in found
        for leaf in leaves(value)
        if isinstance(leaf.value, torch.Tensor)
    }


def _change(before: torch.Tensor, after: torch.Tensor) -> float:
    """Returns the largest change of an element, 0 where the tensors cannot be compared; NaN equals NaN."""
    is_plain = before.layout is after.layout is torch.strided and not (before.is_quantized or after.is_quantized)
    if not is_plain or before.shape != after.shape or before.dtype != after.dtype or torch.equal(before, after):
        return 0.0
    wide = torch.complex128 if before.is_complex() else torch.float64
    ours, theirs = before.to(wide), after.to(wide)
    differs = (ours != theirs) & ~(torch.isnan(ours) & torch.isnan(theirs))
    return float((ours - theirs).abs()[differs].nan_to_num(nan=torch.inf).max()) if bool(differs.any()) else 0.0
