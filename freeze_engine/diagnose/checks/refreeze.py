"""Freezes the same module again and records that as the first time, hidden from the user's captures."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from dataclasses import replace

import torch

from freeze_engine.backends.common.active_captures import apart
from freeze_engine.backends.common.deprecation import undeprecated
from freeze_engine.backends.common.observer import SILENT
from freeze_engine.backends.common.torch_private import cpp_module, method, private, script_module
from freeze_engine.backends.inductor.record import record_module as record_compile
from freeze_engine.backends.torchscript.capture.capture import capturing
from freeze_engine.backends.torchscript.record import record_module, trace_of
from freeze_engine.diagnose.checks.context import CheckContext
from freeze_engine.requests.options import InductorOptions, TorchScriptOptions
from freeze_engine.tensors.module_copy import replica
from freeze_engine.trace import Trace


def frozen_anew(context: CheckContext) -> Trace:
    """Freezes a copy of the source module in the same way once more.

    Inductor compiles it anew, since a cache would return the first compile's code.

    Args:
        context: the first freeze.
    """
    source, module_options = replica(context.source), replace(context.module_options, checks=(), ablation=False)
    options = context.options
    if isinstance(options, InductorOptions):
        inputs, anew = context.inputs, replace(options, force_disable_caches=True)
        assert inputs is not None
        with warnings.catch_warnings():
            # The user did not ask for this compile; torch 2.13 warns about each one.
            warnings.filterwarnings("ignore", "dynamo_pgo force disabled")
            return _apart(lambda: record_compile(source, inputs, anew, module_options, None, SILENT).trace)
    return _apart(lambda: record_module(source, context.inputs, options, module_options, None, SILENT).trace)


def frozen_again(module: torch.jit.ScriptModule, options: TorchScriptOptions) -> Trace:
    """Freezes a module that is frozen already.

    ``torch.jit.freeze`` (torch/jit/_freeze.py, torch 2.13) asks the module for ``training``, which a frozen one has no
    more, and ends with an ``AttributeError``. So this runs only the part after that.

    Args:
        module: the frozen module; it stays as it is, torch freezes a copy.
        options: how it was frozen.
    """
    preserved = list(dict.fromkeys((*options.preserved_attrs, *options.other_methods)))

    def freeze() -> Trace:
        with capturing(disabled_passes=options.disabled_passes) as freezes:
            again = script_module(private("_freeze_module")(cpp_module(module), preserved))
            methods = [name for name in preserved if method(cpp_module(again), name) is not None]
            torch.jit.run_frozen_optimizations(  # type: ignore[attr-defined]
                again, options.optimize_numerics, methods
            )
            if options.optimize_for_inference:
                torch.jit.optimize_for_inference(again, list(options.other_methods))
        return trace_of(freezes.freezes[0])

    return _apart(freeze)


def saved_and_loaded(module: torch.jit.ScriptModule) -> torch.jit.ScriptModule:
    """Returns a module as it comes back from a file."""
    file = io.BytesIO()
    with undeprecated():
        torch.jit.save(module, file)
        file.seek(0)
        loaded: torch.jit.ScriptModule = torch.jit.load(file)  # type: ignore[no-untyped-call]
    return loaded


def _apart(make: Callable[[], Trace]) -> Trace:
    with undeprecated():
        return apart(make)
