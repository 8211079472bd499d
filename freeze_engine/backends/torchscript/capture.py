"""Records every freeze that the user's own code does.

The functions of ``torch._C`` that freeze are replaced for the time of the capture, so that code which took a
reference to ``torch.jit.freeze`` beforehand is recorded as well: it looks those up when it runs. The functions
of ``torch.jit`` are replaced too, only to know which of them was called and to see what they raise before they
freeze anything (a module in training mode, a module that was not scripted).

A capture belongs to the thread (and async task) that entered it: a freeze is recorded by all captures, inner and
outer, that its own thread is inside of. Freezes of several threads take turns while torch's log is captured, as
file descriptor 2 is one per process.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch

from freeze_engine.backends import _torch_private as torch_private
from freeze_engine.backends._patching import Patch, patched
from freeze_engine.backends.torchscript.log import captured_log
from freeze_engine.backends.torchscript.log_clock import LogClock
from freeze_engine.backends.torchscript.passes import OPTIMIZE_FROZEN_GRAPH, Driver
from freeze_engine.backends.torchscript.raw import RawFailure, RawFreeze, live_snapshot, method_graph

FREEZE_MODULE = "freeze_module"
INPUT = "input"

_active: contextvars.ContextVar[tuple[FreezeCapture, ...]] = contextvars.ContextVar("active_captures", default=())
_log_lock = threading.RLock()
_patch_lock = threading.Lock()
_patches = contextlib.ExitStack()
_patch_users = 0
_clock = LogClock()


class FreezeCapture:
    """The freezes seen by one ``with`` block, in the order they began."""

    def __init__(self) -> None:
        self.freezes: list[RawFreeze] = []

    def begin(self, freeze: RawFreeze) -> None:
        """Adds a freeze that has just begun."""
        self.freezes.append(freeze)

    def find(self, graph: Any) -> RawFreeze | None:
        """Returns the latest freeze that has this live graph, or ``None``."""
        return next((freeze for freeze in reversed(self.freezes) if freeze.method_of(graph)), None)


class _Call:
    """One call of a function of ``torch.jit`` by the user, while it runs."""

    def __init__(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.name = name
        self.args = args
        self.kwargs = kwargs
        self.freeze: RawFreeze | None = None


_call: contextvars.ContextVar[_Call | None] = contextvars.ContextVar("outermost_call", default=None)


@contextlib.contextmanager
def capturing() -> Iterator[FreezeCapture]:
    """Records freezes until the block ends; torch is then as it was before.

    Yields:
        The capture, filled as freezes happen.

    Raises:
        UnsupportedTorchError: this torch lacks a private name that recording needs.
    """
    torch_private.require()
    capture = FreezeCapture()
    _install()
    token = _active.set((*_active.get(), capture))
    try:
        yield capture
    finally:
        _active.reset(token)
        _uninstall()


def _install() -> None:
    global _patch_users
    with _patch_lock:
        if _patch_users == 0:
            _patches.enter_context(patched(_all_patches()))
        _patch_users += 1


def _uninstall() -> None:
    global _patch_users
    with _patch_lock:
        _patch_users -= 1
        if _patch_users == 0:
            _patches.close()


def _all_patches() -> tuple[Patch, ...]:
    bindings, source = torch_private.binding_module(), torch_private.freeze_source_module()
    inner = (
        ("_freeze_module", _freeze_module),
        ("_jit_pass_optimize_frozen_graph", _optimize_frozen_graph),
        ("_jit_pass_optimize_for_inference", _optimize_for_inference),
    )
    patches = [Patch(bindings, name, _recorded(torch_private.private(name), record)) for name, record in inner]
    for name in ("freeze", "run_frozen_optimizations", "optimize_for_inference"):
        wrapper = _named_call(getattr(source, name))
        patches += [Patch(owner, name, wrapper) for owner in (source, torch.jit)]
    return tuple(patches)


def _recorded(original: Callable[..., Any], record: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        captures = _active.get()
        return record(captures, original, *args, **kwargs) if captures else original(*args, **kwargs)

    return call


def _named_call(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a function of ``torch.jit``: notes the outermost call and what it raises."""

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        captures = _active.get()
        if not captures or _call.get() is not None:
            return original(*args, **kwargs)
        current = _Call(f"torch.jit.{original.__name__}", args, kwargs)
        token = _call.set(current)
        started = time.perf_counter_ns()
        try:
            return original(*args, **kwargs)
        except BaseException as error:
            _note_error(captures, current, error)
            raise
        finally:
            if current.freeze is not None:
                current.freeze.duration_ns += time.perf_counter_ns() - started
            _call.reset(token)

    return call


def _note_error(captures: tuple[FreezeCapture, ...], call: _Call, error: BaseException) -> None:
    freeze = call.freeze
    if freeze is None:
        module = call.args[0] if call.args else call.kwargs.get("mod")
        source = torch_private.cpp_module(module) if isinstance(module, torch.jit.ScriptModule) else None
        freeze = _begin(captures, source, {})
        if source is not None:
            _note_inputs(freeze, source, ("forward",))
    if freeze.failure is None:
        freeze.failure = RawFailure(error, INPUT, call.name, None)


def _begin(captures: tuple[FreezeCapture, ...], source: Any, options: dict[str, Any]) -> RawFreeze:
    call = _call.get()
    freeze = RawFreeze(call.name if call else "torch._C", source, options)
    if call:
        call.freeze = freeze
        freeze.options.update(_call_options(call))
    for capture in captures:
        capture.begin(freeze)
    return freeze


def _call_options(call: _Call) -> dict[str, Any]:
    names = {
        "torch.jit.freeze": ("mod", "preserved_attrs", "optimize_numerics"),
        "torch.jit.run_frozen_optimizations": ("mod", "optimize_numerics", "preserved_methods"),
        "torch.jit.optimize_for_inference": ("mod", "other_methods"),
    }[call.name]
    return {
        name: value
        for name, value in {**dict(zip(names, call.args, strict=False)), **call.kwargs}.items()
        if name != "mod"
    }


def _known(captures: tuple[FreezeCapture, ...], graph: Any) -> RawFreeze | None:
    # Captures of one thread share their freezes, but an inner one may have begun after the freeze.
    return next((found for capture in captures if (found := capture.find(graph))), None)


def _freeze_module(
    captures: tuple[FreezeCapture, ...], original: Callable[..., Any], module: Any, *args: Any, **kwargs: Any
) -> Any:
    preserved = tuple(args[0] if args else kwargs.get("preservedAttrs", ()))
    freeze = _begin(captures, module, {"preserved_attrs": list(preserved)})
    freeze.preserved = preserved
    methods = ("forward", *preserved)
    _note_inputs(freeze, module, methods)
    with _log_lock, captured_log(_clock) as log:
        freeze.log = log
        freeze.freeze_started_ns = time.monotonic_ns()
        try:
            result = original(module, *args, **kwargs)
        except BaseException as error:
            freeze.failure = RawFailure(error, FREEZE_MODULE, FREEZE_MODULE, None)
            raise
        finally:
            freeze.freeze_ended_ns = time.monotonic_ns()
    if _call.get() is None:
        freeze.duration_ns += freeze.freeze_ended_ns - freeze.freeze_started_ns
    freeze.result = result
    freeze.graphs.clear()
    freeze.adopt(result, methods)
    freeze.frozen = {method: live_snapshot(graph, None) for method, graph in freeze.graphs.items()}
    return result


def _note_inputs(freeze: RawFreeze, module: Any, methods: tuple[str, ...]) -> None:
    freeze.adopt(module, methods)
    freeze.inputs = {method: live_snapshot(graph, None) for method, graph in freeze.graphs.items()}


def _optimize_frozen_graph(
    captures: tuple[FreezeCapture, ...], original: Callable[..., Any], graph: Any, optimize_numerics: bool = True
) -> None:
    freeze = _known(captures, graph)
    if freeze is None:
        freeze = _begin_with_graph(captures, graph)
    method = freeze.method_of(graph) or "forward"
    freeze.options.setdefault("optimize_numerics", optimize_numerics)
    Driver(freeze, method, graph, original).optimize_frozen_graph(freeze.result, optimize_numerics)


def _begin_with_graph(captures: tuple[FreezeCapture, ...], graph: Any) -> RawFreeze:
    """Begins the record of a graph that was frozen before the capture, or loaded from a file."""
    call = _call.get()
    freeze = (call and call.freeze) or _begin(captures, None, {})
    module = (call.args[0] if call.args else call.kwargs.get("mod")) if call else None
    methods = ("forward", *(freeze.options.get("preserved_methods") or ()))
    if isinstance(module, torch.jit.ScriptModule):
        freeze.source = freeze.result = torch_private.cpp_module(module)
        freeze.adopt(freeze.source, methods)
    if freeze.method_of(graph) is None:
        freeze.graphs[f"graph{len(freeze.graphs)}" if freeze.graphs else "forward"] = graph
    for method, known in freeze.graphs.items():
        freeze.inputs.setdefault(method, live_snapshot(known, None))
    return freeze


def _optimize_for_inference(
    captures: tuple[FreezeCapture, ...], original: Callable[..., Any], module: Any, other_methods: Any = ()
) -> None:
    methods = (*(("forward",) if torch_private.method(module, "forward") else ()), *other_methods)
    graphs = {method: method_graph(module, method) for method in methods}
    if module.hasattr("training") or not all(graph is not None for graph in graphs.values()):
        # torch freezes a copy here and throws it away (jit/api/module.cpp), or raises: either way it has the word.
        original(module, list(other_methods))
        return
    freeze = next((found for graph in graphs.values() if (found := _known(captures, graph))), None)
    if freeze is None:
        freeze = _begin(captures, module, {"other_methods": list(other_methods)})
        freeze.result = module
    call = _call.get()
    if call is not None:
        call.freeze = freeze
    freeze.options["optimize_for_inference"] = True
    for method, graph in graphs.items():
        if freeze.method_of(graph) is None:
            freeze.graphs[method] = graph
            freeze.inputs[method] = live_snapshot(graph, None)
        Driver(freeze, freeze.method_of(graph) or method, graph, original).optimize_for_inference()


__all__ = ["FREEZE_MODULE", "INPUT", "OPTIMIZE_FROZEN_GRAPH", "FreezeCapture", "capturing"]
