"""Runs a module and its frozen form with some weights changed, and checks whether the frozen form follows."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

import torch

from freeze_engine.backends.common.torch_private import cpp_module
from freeze_engine.backends.inductor.replay.module_state import State
from freeze_engine.backends.torchscript.graph.module_slots import module_attributes
from freeze_engine.backends.torchscript.replay.module_state import joined, restorer
from freeze_engine.diagnose.checks.context import CheckContext
from freeze_engine.measure.candidate import CandidateError, cloned, inference, reported
from freeze_engine.measure.outputs import leaves
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import InductorOptions

Outcome = Literal["noticed", "compiled again", "in part", "ignored", "no effect"]
"""Of a change: the outputs follow; torch compiles again for it; they follow only partly; they stay as they were; the
source module's own outputs stay as they were, too."""

Change = Callable[[], AbstractContextManager[None]]
"""Makes a change, and puts it back."""

_WARM_UP = 2
#: See `torch.compiler.set_stance` (``torch/_dynamo/eval_frame.py``, torch 2.6 to 2.13): torch's message names it.
_STANCE = "fail_on_recompile"


class _RecompiledError(Exception):
    """A call would have compiled the module again."""


class Probe:
    """A module and its frozen form, to be run side by side.

    Args:
        context: the freeze.
        inputs: what to run on.

    Attributes:
        run_s: time that running both takes, in s.
    """

    def __init__(self, context: CheckContext, inputs: Inputs) -> None:
        self._context = context
        self._inputs = inputs
        self._reset = _state(context)
        for _ in range(_WARM_UP):
            self._both(nullcontext)
        began_s = time.monotonic()
        self._expected, self._before = self._both(nullcontext)
        self.run_s = time.monotonic() - began_s

    def is_repeatable(self) -> bool:
        """Returns whether both give the same outputs, to the bit, for the same inputs."""
        expected, before = self._both(nullcontext)
        return _same(expected, self._expected) and _same(before, self._before)

    def outcome(self, change: Change) -> Outcome:
        """Runs both while something is changed.

        Args:
            change: what is changed.

        Raises:
            CandidateError: the change cannot be made, or one of the two cannot be run with it.
        """
        try:
            with reported():
                expected, after = self._both(change)
        except CandidateError as error:
            if isinstance(error.__cause__, _RecompiledError):
                return "compiled again"
            raise
        if _same(expected, self._expected):
            return "no effect"
        if _same(after, self._before):
            return "ignored"
        left = _distance(after, expected)
        allowed = 0.1 * _distance(self._expected, expected) + 10 * _distance(self._before, self._expected)
        return "in part" if left > allowed else "noticed"

    def _both(self, change: Change) -> tuple[tuple[object, ...], tuple[object, ...]]:
        """Returns the outputs of the source module and of the frozen one."""
        found = []
        for run in (self._context.source, self._frozen):
            try:
                self._reset()
                with change(), inference():
                    given = cloned(self._inputs)
                    found.append(tuple(_kept(leaf.value) for leaf in leaves(run(*given.args, **given.kwargs))))
            finally:
                self._reset()
        return found[0], found[1]

    def _frozen(self, *args: Any, **kwargs: Any) -> object:
        """Runs the frozen module without letting torch compile anything for it."""
        if not isinstance(self._context.options, InductorOptions):
            return self._context.result(*args, **kwargs)
        try:
            with torch.compiler.set_stance(_STANCE):
                return self._context.result(*args, **kwargs)
        except RuntimeError as error:
            if _STANCE in str(error):
                raise _RecompiledError from error
            raise


def _state(context: CheckContext) -> Callable[[], None]:
    """Returns what puts back whatever running the modules writes."""
    source = context.source
    if not isinstance(source, torch.jit.ScriptModule):
        return State(source).restore
    kept = [path for path, slot in module_attributes(cpp_module(context.result)).items() if slot.kind != "submodule"]
    buffers = [path for path, _ in source.named_buffers()]
    own = restorer(source, dict.fromkeys((*kept, *buffers)))
    return joined(own, restorer(context.result, kept)) or (lambda: None)


def _kept(value: object) -> object:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def _same(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """Returns whether two outputs are equal to the bit."""
    return len(one) == len(other) and all(map(_same_value, one, other))


def _same_value(one: object, other: object) -> bool:
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return type(one) is type(other) and bool(one == other)
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.layout is not torch.strided or one.is_quantized:
        return torch.equal(_dense(one), _dense(other))
    return torch.equal(*(each.contiguous().reshape(-1).view(torch.uint8) for each in (one, other)))


def _dense(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.dequantize() if tensor.is_quantized else tensor.to_dense()


def _distance(one: tuple[object, ...], other: tuple[object, ...]) -> float:
    """Returns the largest difference of the floating-point tensors in two outputs."""
    pairs = ((a, b) for a, b in zip(one, other, strict=True) if isinstance(a, torch.Tensor))
    return max(
        (
            float((a.double() - b.double()).abs().max())
            for a, b in pairs
            if isinstance(b, torch.Tensor) and a.is_floating_point() and a.numel() and a.shape == b.shape
        ),
        default=0.0,
    )
