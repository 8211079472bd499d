"""What the tests of the Inductor backend share: fresh caches, and recordings of the models."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
import torch._inductor.freezing
import torch._inductor.fx_passes.binary_folding
import torch._inductor.utils
from torch import nn

import freeze_engine as fe

_utils = torch._inductor.utils
# Its name up to torch 2.7 was fresh_inductor_cache.
fresh_cache = _utils.fresh_cache if hasattr(_utils, "fresh_cache") else _utils.fresh_inductor_cache


@contextlib.contextmanager
def fresh() -> Iterator[None]:
    """Forgets what was compiled before, here and on the disk, and compiles in this process."""
    torch.compiler.reset()
    with fresh_cache(), torch._inductor.config.patch(compile_threads=1):
        yield
    torch.compiler.reset()


def record(model: nn.Module, *args: Any, measure: fe.Measure | None = None, **options: Any) -> fe.Recording:
    """Records a module; the caller has `fresh` around it."""
    return fe.record(model, fe.Inputs(args), backend="inductor", options=fe.InductorOptions(**options), measure=measure)


def image() -> torch.Tensor:
    return torch.linspace(-1, 1, 2 * 3 * 8 * 8).reshape(2, 3, 8, 8)


def rows(*shape: int) -> torch.Tensor:
    return torch.linspace(-1, 1, torch.Size(shape).numel()).reshape(shape)
