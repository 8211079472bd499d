"""Shared by the tests of the Inductor backend: fresh caches, and recordings of the models."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any
from unittest import mock

import pytest
import torch
import torch._inductor.freezing
import torch._inductor.fx_passes.binary_folding
import torch._inductor.graph
import torch._inductor.utils
from torch import nn

import freeze_engine as fe
from freeze_engine.backends.inductor.capture.capture import capturing
from freeze_engine.backends.inductor.graph.live import LiveGraph
from freeze_engine.backends.inductor.record import trace_of
from freeze_engine.trace import Trace

_utils = torch._inductor.utils
# Its name up to torch 2.7 was fresh_inductor_cache.
fresh_cache = _utils.fresh_cache if hasattr(_utils, "fresh_cache") else _utils.fresh_inductor_cache


@contextlib.contextmanager
def fresh() -> Iterator[None]:
    """Clears the compile caches in memory and on the disk, and compiles in this process."""
    torch.compiler.reset()
    with fresh_cache(), torch._inductor.config.patch(compile_threads=1):
        yield
    torch.compiler.reset()


def record(model: nn.Module, *args: Any, measure: fe.Measure | None = None, **options: Any) -> fe.Recording:
    """Records a module; the caller must be inside `fresh`."""
    return fe.record(model, fe.Inputs(args), backend="inductor", options=fe.InductorOptions(**options), measure=measure)


def plant_wrong_rewrite(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patches the pass that recovers precision so that it turns each ReLU into a negation."""

    def wrong(module: torch.fx.GraphModule) -> None:
        for node in module.graph.find_nodes(op="call_function", target=torch.ops.aten.relu.default):
            node.target = torch.ops.aten.neg.default

    folding = torch._inductor.fx_passes.binary_folding
    monkeypatch.setattr(folding, "recover_original_precision_folded_computation_ops", wrong)


def image() -> torch.Tensor:
    return torch.linspace(-1, 1, 2 * 3 * 8 * 8).reshape(2, 3, 8, 8)


def rows(*shape: int) -> torch.Tensor:
    return torch.linspace(-1, 1, torch.Size(shape).numel()).reshape(shape)


class _EnoughError(BaseException):
    """Ends a compile before the slow code generation; a `BaseException`, for Dynamo wraps an `Exception`."""


def passes(model: nn.Module, *args: Any, **how: Any) -> tuple[Trace, Mapping[int, LiveGraph]]:
    """Records every pass that Inductor runs over the graph of a module, and stops before lowering.

    Args:
        model: the module.
        args: arguments of the call.
        how: further arguments of ``torch.compile``.

    Returns:
        The trace, which ends with a failure in lowering, and the steps that can be run.
    """
    lowering = mock.patch.object(torch._inductor.graph.GraphLowering, "run", side_effect=_EnoughError)
    freezing = torch._inductor.config.patch(freezing=True)
    stopped = contextlib.suppress(_EnoughError)
    with fresh(), torch.no_grad(), freezing, lowering, capturing(keep_inputs=True) as seen, stopped:
        torch.compile(model, **how)(*args)
    trace, (live,) = trace_of(seen.compiles)
    assert fe.problems(trace) == ()
    return trace, live
