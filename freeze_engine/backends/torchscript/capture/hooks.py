"""Replacements for torch's freezing functions, which run the originals and record them.

Each gets the captures that see the call, and torch's function; its result or exception is what the user
gets. Freezes of several threads take turns while torch's log is captured, as file descriptor 2 is one per process.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from freeze_engine.backends.common import torch_private
from freeze_engine.backends.common.observer import FreezeNotes, MethodNotes
from freeze_engine.backends.torchscript.capture.freeze_capture import FreezeCapture
from freeze_engine.backends.torchscript.capture.pass_driver import PassDriver
from freeze_engine.backends.torchscript.capture.raw import (
    LiveSnapshot,
    RawFailure,
    RawFreeze,
    graph_text,
    live_snapshot,
    method_graph,
)
from freeze_engine.backends.torchscript.capture.user_calls import UserCall, outermost
from freeze_engine.backends.torchscript.graph.live import is_unprintable, module_path
from freeze_engine.backends.torchscript.graph.live_walk import live_nodes
from freeze_engine.backends.torchscript.graph.module_slots import module_attributes
from freeze_engine.backends.torchscript.graph.stages import FREEZE_MODULE, INPUT
from freeze_engine.backends.torchscript.log.growth_clock import LogClock
from freeze_engine.backends.torchscript.log.stderr_capture import captured_log

_log_lock = threading.RLock()
_clock = LogClock()


def _renew_lock() -> None:
    """In a forked child no thread is left that could release the lock."""
    global _log_lock
    _log_lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def unrecorded(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Runs a freeze of a thread without a capture, which must not appear in another thread's captured log."""
    with _log_lock:
        return original(*args, **kwargs)


def freeze_module(
    captures: tuple[FreezeCapture, ...], original: Callable[..., Any], module: Any, *args: Any, **kwargs: Any
) -> Any:
    """Replaces ``torch._C._freeze_module``."""
    preserved = tuple(args[0] if args else kwargs.get("preservedAttrs", ()))
    methods = ("forward", *preserved)
    freeze = None
    try:
        freeze = _begin(captures, module, {"preserved_attrs": list(preserved)})
        _note_inputs(freeze, module, methods)
    except Exception as error:  # noqa: BLE001 (a tensor of the user's class may raise; the user's freeze goes on)
        for capture in captures:
            capture.drop(freeze, error)
        return unrecorded(original, module, *args, **kwargs)
    freeze.preserved = preserved
    if kwargs.get("preserveParameters", args[2] if len(args) > 2 else False):
        freeze.options["preserve_parameters"] = True
    freeze.freeze_started_ns = time.monotonic_ns()
    _tell_beginning(freeze)
    with _log_lock, _log_of(freeze):
        freeze.freeze_started_ns = time.monotonic_ns()
        try:
            result = original(module, *args, **kwargs)
        except BaseException as error:
            freeze.failure = RawFailure(error, FREEZE_MODULE, FREEZE_MODULE, None)
            raise
        finally:
            freeze.freeze_ended_ns = time.monotonic_ns()
    if outermost.get() is None:
        freeze.duration_ns += freeze.freeze_ended_ns - freeze.freeze_started_ns
    freeze.result = result
    freeze.graphs.clear()
    freeze.adopt(result, methods)
    freeze.frozen = {method: live_snapshot(graph, None) for method, graph in freeze.graphs.items()}
    freeze.observer.module_frozen({method: snapshot.text for method, snapshot in freeze.frozen.items()})
    return result


def optimize_frozen_graph(
    captures: tuple[FreezeCapture, ...], original: Callable[..., Any], graph: Any, optimize_numerics: bool = True
) -> None:
    """Replaces ``torch._C._jit_pass_optimize_frozen_graph``."""
    freezes = _freezes_of(captures, graph)
    for freeze in freezes:
        freeze.options.setdefault("optimize_numerics", optimize_numerics)
    modules = (freeze.result for freeze in freezes if freeze.result is not None)
    PassDriver(freezes, graph, original).optimize_frozen_graph(next(modules, None), optimize_numerics)


def optimize_for_inference(
    captures: tuple[FreezeCapture, ...], original: Callable[..., Any], module: Any, other_methods: Any = ()
) -> None:
    """Replaces ``torch._C._jit_pass_optimize_for_inference``."""
    methods = (*(("forward",) if torch_private.method(module, "forward") else ()), *other_methods)
    graphs = {method: method_graph(module, method) for method in methods}
    if module.hasattr("training") or not all(graph is not None for graph in graphs.values()):
        # torch freezes a copy here and discards it (jit/api/module.cpp), or raises: either way its own function runs.
        original(module, list(other_methods))
        return
    freezes = _continued(captures, module, graphs)
    for freeze in freezes:
        freeze.options["optimize_for_inference"] = True
        for method, graph in graphs.items():
            _add_graph(freeze, method, graph)
    for graph in graphs.values():
        PassDriver(freezes, graph, original).optimize_for_inference()


def note_error(captures: tuple[FreezeCapture, ...], call: UserCall, error: BaseException) -> None:
    """Notes the exception of a user's call; if nothing was frozen before it, the trace consists of that alone."""
    freeze = call.freeze
    if freeze is None:
        freeze = _begin(captures, call.module, {})
        if call.module is not None:
            _note_inputs(freeze, call.module, ("forward",))
    if freeze.failure is None:
        freeze.failure = RawFailure(error, INPUT, call.name, None)


def _begin(captures: tuple[FreezeCapture, ...], source: Any, options: dict[str, Any]) -> RawFreeze:
    call = outermost.get()
    freeze = RawFreeze(call.name if call else "torch._C._freeze_module", source, options)
    freeze.slots = module_attributes(source) if source is not None else {}
    if call:
        call.freeze = freeze
        freeze.given = call.options
        freeze.options.update(freeze.given)
    else:
        freeze.given = dict(options)
    for capture in captures:
        capture.begin(freeze)
    return freeze


def _note_inputs(freeze: RawFreeze, module: Any, methods: tuple[str, ...]) -> None:
    freeze.adopt(module, methods)
    # The freeze works on a copy, and torch numbers the values of a copy anew: so does this one.
    copies = {method: graph.copy() for method, graph in freeze.graphs.items()}
    freeze.inputs = {method: LiveSnapshot(graph_text(copy), copy) for method, copy in copies.items()}


def _tell_beginning(freeze: RawFreeze) -> None:
    """Notifies the observer of what reading torch's log without this process needs; not counted as freezing time."""
    if not freeze.observer.watches:
        return
    started = time.perf_counter_ns()
    methods = []
    for method, snapshot in freeze.inputs.items():
        graph = freeze.inlined(method)
        modules = tuple(module_path(node) for node in live_nodes(graph))
        methods.append(MethodNotes(method, snapshot.text, graph_text(graph), modules))
    freeze.observer.freeze_begins(FreezeNotes(tuple(methods), tuple(freeze.slots)))
    if outermost.get() is not None:
        freeze.duration_ns -= time.perf_counter_ns() - started


@contextlib.contextmanager
def _log_of(freeze: RawFreeze) -> Iterator[None]:
    """Captures torch's log, except where torch could not print the constants it would log and the freeze would fail.

    Nor can it be captured where no file can be opened for it (too many open files): the user's freeze goes on without.
    """
    with contextlib.ExitStack() as stack:
        if not any(is_unprintable(tensor) for slot in freeze.slots.values() for tensor in slot.tensors):
            with contextlib.suppress(OSError):
                freeze.log = stack.enter_context(captured_log(_clock, freeze.observer.log_file))
        yield


def _freezes_of(captures: tuple[FreezeCapture, ...], graph: Any) -> tuple[RawFreeze, ...]:
    """Returns the freezes that a pass over ``graph`` belongs to, begun anew in a capture that has not seen it."""
    found = dict.fromkeys(capture.find(graph) for capture in captures)
    missing = tuple(capture for capture in captures if capture.find(graph) is None)
    if missing:
        found[_begin_with_graph(missing, graph)] = None
    return tuple(freeze for freeze in found if freeze is not None)


def _begin_with_graph(captures: tuple[FreezeCapture, ...], graph: Any) -> RawFreeze:
    """Begins the record of a graph that was frozen before the capture, or loaded from a file."""
    call = outermost.get()
    module = call.module if call else None
    if call and call.freeze in [freeze for capture in captures for freeze in capture.freezes]:
        freeze = call.freeze
    else:
        freeze = _begin(captures, module, {})
    if module is not None:
        freeze.source = freeze.result = module
        freeze.slots = module_attributes(module)
        freeze.adopt(module, ("forward", *(freeze.options.get("preserved_methods") or ())))
    _add_graph(freeze, f"graph{len(freeze.graphs)}" if freeze.graphs else "forward", graph)
    for method, known in freeze.graphs.items():
        freeze.inputs.setdefault(method, live_snapshot(known, None))
    return freeze


def _add_graph(freeze: RawFreeze, method: str, graph: Any) -> None:
    if freeze.method_of(graph) is None:
        freeze.graphs[method] = graph
        freeze.inputs[method] = live_snapshot(graph, None)


def _continued(captures: tuple[FreezeCapture, ...], module: Any, graphs: dict[str, Any]) -> tuple[RawFreeze, ...]:
    """Returns the freezes of this module, begun anew in a capture that has not seen it."""
    found: dict[RawFreeze, None] = {}
    missing = []
    for capture in captures:
        known = next((freeze for graph in graphs.values() if (freeze := capture.find(graph))), None)
        if known is None:
            missing.append(capture)
        else:
            found[known] = None
    if missing:
        freeze = _begin(tuple(missing), module, {})
        freeze.result = module
        found[freeze] = None
    call = outermost.get()
    if call is not None:
        call.freeze = next(iter(found))
    return tuple(found)
