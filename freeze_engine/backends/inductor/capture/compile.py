"""Calls `torch.compile` according to the options."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import torch

from freeze_engine.backends.inductor import torch_private
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import InductorOptions


def compiled_once(model: torch.nn.Module, inputs: Inputs, options: InductorOptions, freezing: bool = True) -> Any:
    """Compiles a module by calling it once, without gradients.

    The compile is separate from all other compiles of its class, before and after.

    Args:
        model: in eval mode.
        inputs: what to call it with.
        options: how to compile.
        freezing: whether with freezing.

    Returns:
        What ``torch.compile`` returned.
    """
    backend = torch_private.isolated_backend(options.mode, options.dynamic)
    # With it, others' recompilations do not count for the limit either; new in torch 2.13.
    known = inspect.signature(torch.compile).parameters
    apart: dict[str, Any] = {"isolate_recompiles": True} if "isolate_recompiles" in known else {}
    compiled = torch.compile(model, backend=backend, dynamic=options.dynamic, fullgraph=options.fullgraph, **apart)
    call_once(compiled, inputs, options, freezing)
    return compiled


def call_once(compiled: Any, inputs: Inputs, options: InductorOptions, freezing: bool = True) -> None:
    """Calls a compiled module under the settings for its compile."""
    with torch.no_grad(), torch_private.inductor_config().patch({**settings(options), "freezing": freezing}):
        compiled(*inputs.args, **inputs.kwargs)


def compile_in_this_thread() -> None:
    """Makes Inductor, if it is loaded, compile without its pools from now on.

    A fork of this process has the pools, but none of their threads, and would wait for these for ever
    (``AsyncCompile.pool``, torch 2.13).
    """
    if "torch._inductor" in sys.modules:
        torch_private.inductor_config().compile_threads = 1


def settings(options: InductorOptions) -> dict[str, Any]:
    """Returns the options as settings of ``torch._inductor.config``."""
    found: dict[str, Any] = {"freezing": True}
    if options.discard_parameters:
        found["freezing_discard_parameters"] = True
    if options.max_autotune is not None:
        found["max_autotune"] = options.max_autotune
    if options.force_disable_caches:
        found["force_disable_caches"] = True
    return found
