"""Records every freeze in the user's own code.

The functions of ``torch._C`` that freeze are replaced for the time of the capture, so that code which took a
reference to ``torch.jit.freeze`` beforehand is recorded as well: it looks those up when it runs. The functions
of ``torch.jit`` are replaced too, only to note which of them was called and what they raise before they
freeze anything (for a module in training mode, or one that was not scripted).

All captures of a freeze's thread, inner and outer, record the freeze.
"""

from __future__ import annotations

import contextlib
import functools
import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import torch

from freeze_engine.backends.common import torch_private
from freeze_engine.backends.common.active_captures import ActiveCaptures
from freeze_engine.backends.common.observer import SILENT, RecordingObserver
from freeze_engine.backends.common.patching import Patch
from freeze_engine.backends.torchscript.capture.freeze_capture import FreezeCapture
from freeze_engine.backends.torchscript.capture.hooks import (
    freeze_module,
    note_error,
    optimize_for_inference,
    optimize_frozen_graph,
    unrecorded,
)
from freeze_engine.backends.torchscript.capture.user_calls import UserCall, outermost

_FREEZING_PASSES: Final[Mapping[str, str]] = {
    "_jit_pass_quant_finalize": "torch.ao.quantization's TorchScript quantisation (quantize_jit, quantize_dynamic_jit)",
    "_jit_pass_optimize_for_mobile": "torch.utils.mobile_optimizer.optimize_for_mobile",
    "_jit_pass_vulkan_optimize_for_mobile": "torch.utils.mobile_optimizer.optimize_for_mobile",
    "_jit_pass_metal_optimize_for_mobile": "torch.utils.mobile_optimizer.optimize_for_mobile",
}
"""Passes that call torch's C++ ``freeze_module`` themselves (quantization/finalize.cpp, xnnpack_rewrite.cpp), and the
functions of Python that run them."""

_active: ActiveCaptures[FreezeCapture] = ActiveCaptures("active_captures")


@contextlib.contextmanager
def capturing(
    observer: RecordingObserver = SILENT, disabled_passes: tuple[str, ...] = (), threads: bool = False
) -> Iterator[FreezeCapture]:
    """Records freezes until the block ends; torch is then as it was before.

    Args:
        observer: receives the events of the freezes.
        disabled_passes: names of the passes to disable.
        threads: whether to see the freezes of all threads, and not only of this one.

    Yields:
        The capture, filled as freezes happen.

    Raises:
        UnsupportedTorchError: this torch lacks a private name that recording needs.
    """
    torch_private.require()
    capture = FreezeCapture(observer, disabled_passes)
    with _active.entered(capture, _patches, threads=threads):
        yield capture


def _patches() -> tuple[Patch, ...]:
    bindings, source = torch_private.binding_module(), torch_private.freeze_source_module()
    inner = (
        ("_freeze_module", freeze_module),
        ("_jit_pass_optimize_frozen_graph", optimize_frozen_graph),
        ("_jit_pass_optimize_for_inference", optimize_for_inference),
    )
    patches = [Patch(bindings, name, _recorded(torch_private.private(name), record)) for name, record in inner]
    patches.append(
        Patch(bindings, "_jit_clear_class_registry", _settling(torch_private.private("_jit_clear_class_registry")))
    )
    for name in ("freeze", "run_frozen_optimizations", "optimize_for_inference"):
        wrapper = _named_call(getattr(source, name))
        patches += [Patch(owner, name, wrapper) for owner in (source, torch.jit)]
    for name, caller in _FREEZING_PASSES.items():
        if (opaque := torch_private.optional(name)) is not None:
            patches.append(Patch(bindings, name, _named_only(opaque, caller)))
    load = _noting_frozen(torch.jit.load)
    patches += [Patch(owner, "load", load) for owner in (torch_private.serialization_module(), torch.jit)]
    return tuple(patches)


def _recorded(original: Callable[..., Any], record: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        captures = _active.here()
        if captures:
            return record(captures, original, *args, **kwargs)
        return unrecorded(original, *args, **kwargs)

    return call


def _named_only(original: Callable[..., Any], caller: str) -> Callable[..., Any]:
    """Wraps a pass that freezes inside, which cannot be recorded: notes that it did."""

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = unrecorded(original, *args, **kwargs)
        for capture in _active.here():
            capture.inside_passes.append(caller)
        return result

    return call


def _noting_frozen(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps ``torch.jit.load``, to note the modules that were frozen before they were saved."""

    @functools.wraps(original)
    def load(f: Any, *args: Any, **kwargs: Any) -> Any:
        module = original(f, *args, **kwargs)
        # Freezing takes the flag away, and nothing else does (freeze_module.cpp).
        if not hasattr(module, "training"):
            for capture in _active.here():
                capture.loaded_frozen.append(str(f) if isinstance(f, (str, os.PathLike)) else "the loaded module")
        return module

    return load


def _settling(original: Callable[..., Any]) -> Callable[..., Any]:
    """torch's own tests make it forget all classes; the methods of a module must not be touched after that."""

    @functools.wraps(original)
    def call() -> Any:
        for capture in _active.here():
            capture.settle()
        return original()

    return call


def _named_call(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a function of ``torch.jit``: notes the outermost call and what it raises."""

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        captures = _active.here()
        if not captures or outermost.get() is not None:
            return original(*args, **kwargs)
        current = UserCall(f"torch.jit.{original.__name__}", args, kwargs)
        token = outermost.set(current)
        started = time.perf_counter_ns()
        try:
            return original(*args, **kwargs)
        except BaseException as error:
            note_error(captures, current, error)
            raise
        finally:
            if current.freeze is not None:
                current.freeze.duration_ns += time.perf_counter_ns() - started
            outermost.reset(token)
            if current.freeze is not None:
                for capture in captures:
                    capture.ended(current.freeze)

    return call
