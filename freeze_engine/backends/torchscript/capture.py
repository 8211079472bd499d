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
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch

from freeze_engine.backends import _torch_private as torch_private
from freeze_engine.backends._patching import Patch, patched
from freeze_engine.backends.torchscript.attributes import module_attributes
from freeze_engine.backends.torchscript.live import live_nodes, module_path
from freeze_engine.backends.torchscript.log import captured_log
from freeze_engine.backends.torchscript.log_clock import LogClock
from freeze_engine.backends.torchscript.logged_steps import FREEZE_MODULE, INPUT
from freeze_engine.backends.torchscript.passes import Driver
from freeze_engine.backends.torchscript.raw import (
    LiveSnapshot,
    RawFailure,
    RawFreeze,
    graph_text,
    is_unprintable,
    live_snapshot,
    method_graph,
)
from freeze_engine.backends.torchscript.watcher import SILENT, FreezeNotes, MethodNotes, Watcher

_active: contextvars.ContextVar[tuple[FreezeCapture, ...]] = contextvars.ContextVar("active_captures", default=())
_log_lock = threading.RLock()


def _renew_lock() -> None:
    """In a forked child no thread is left that could let go of the lock."""
    global _log_lock
    _log_lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)

_patch_lock = threading.Lock()
_patches = contextlib.ExitStack()
_patch_users = 0
_clock = LogClock()


class FreezeCapture:
    """The freezes seen by one ``with`` block, in the order they began.

    Args:
        watcher: told how they go.
        without: names of the passes to leave out.
    """

    def __init__(self, watcher: Watcher = SILENT, without: tuple[str, ...] = ()) -> None:
        self.freezes: list[RawFreeze] = []
        self._watcher = watcher
        self._without = without
        #: Reads all that only live modules tell; called before torch forgets its classes.
        self.settle: Callable[[], object] = lambda: None

    def begin(self, freeze: RawFreeze) -> None:
        """Adds a freeze that has just begun."""
        self.freezes.append(freeze)
        if self._watcher is not SILENT:
            freeze.watcher = self._watcher
        if self._without:
            freeze.without = self._without
            freeze.options["without"] = list(self._without)

    def find(self, graph: Any) -> RawFreeze | None:
        """Returns the latest freeze that has this live graph, or ``None``.

        A freeze that failed left the module as it was: what happens to that later is none of its own.
        """
        alive = (freeze for freeze in reversed(self.freezes) if freeze.failure is None)
        return next((freeze for freeze in alive if freeze.method_of(graph)), None)


class _Call:
    """One call of a function of ``torch.jit`` by the user, while it runs."""

    def __init__(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.name = name
        self.args = args
        self.kwargs = kwargs
        self.freeze: RawFreeze | None = None

    @property
    def module(self) -> Any:
        """The C++ module that was passed, ``None`` if it was no ScriptModule."""
        given = self.args[0] if self.args else self.kwargs.get("mod")
        return torch_private.cpp_module(given) if isinstance(given, torch.jit.ScriptModule) else None


_call: contextvars.ContextVar[_Call | None] = contextvars.ContextVar("outermost_call", default=None)


@contextlib.contextmanager
def capturing(watcher: Watcher = SILENT, without: tuple[str, ...] = ()) -> Iterator[FreezeCapture]:
    """Records freezes until the block ends; torch is then as it was before.

    Args:
        watcher: told how they go.
        without: names of the passes to leave out.

    Yields:
        The capture, filled as freezes happen.

    Raises:
        UnsupportedTorchError: this torch lacks a private name that recording needs.
    """
    torch_private.require()
    capture = FreezeCapture(watcher, without)
    _install()
    _active.set((*_active.get(), capture))
    try:
        yield capture
    finally:
        # Captures may end in another order than they began.
        _active.set(tuple(each for each in _active.get() if each is not capture))
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
    patches.append(
        Patch(bindings, "_jit_clear_class_registry", _settling(torch_private.private("_jit_clear_class_registry")))
    )
    for name in ("freeze", "run_frozen_optimizations", "optimize_for_inference"):
        wrapper = _named_call(getattr(source, name))
        patches += [Patch(owner, name, wrapper) for owner in (source, torch.jit)]
    return tuple(patches)


def _recorded(original: Callable[..., Any], record: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        captures = _active.get()
        if captures:
            return record(captures, original, *args, **kwargs)
        # A freeze of a thread without a capture must not get into the log of one with.
        with _log_lock:
            return original(*args, **kwargs)

    return call


def _settling(original: Callable[..., Any]) -> Callable[..., Any]:
    """torch's own tests make it forget all classes; the methods of a module must not be touched after that."""

    @functools.wraps(original)
    def call() -> Any:
        for capture in _active.get():
            capture.settle()
        return original()

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
        freeze = _begin(captures, call.module, {})
        if call.module is not None:
            _note_inputs(freeze, call.module, ("forward",))
    if freeze.failure is None:
        freeze.failure = RawFailure(error, INPUT, call.name, None)


def _begin(captures: tuple[FreezeCapture, ...], source: Any, options: dict[str, Any]) -> RawFreeze:
    call = _call.get()
    freeze = RawFreeze(call.name if call else "torch._C._freeze_module", source, options)
    freeze.slots = module_attributes(source) if source is not None else {}
    if call:
        call.freeze = freeze
        freeze.given = _call_options(call)
        freeze.options.update(freeze.given)
    else:
        freeze.given = dict(options)
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


def _freezes_of(captures: tuple[FreezeCapture, ...], graph: Any) -> tuple[RawFreeze, ...]:
    """Returns the freezes that a pass over ``graph`` belongs to, begun anew in a capture that has not seen it."""
    found = dict.fromkeys(capture.find(graph) for capture in captures)
    missing = tuple(capture for capture in captures if capture.find(graph) is None)
    if missing:
        found[_begin_with_graph(missing, graph)] = None
    return tuple(freeze for freeze in found if freeze is not None)


def _freeze_module(
    captures: tuple[FreezeCapture, ...], original: Callable[..., Any], module: Any, *args: Any, **kwargs: Any
) -> Any:
    preserved = tuple(args[0] if args else kwargs.get("preservedAttrs", ()))
    freeze = _begin(captures, module, {"preserved_attrs": list(preserved)})
    freeze.preserved = preserved
    if kwargs.get("preserveParameters", args[2] if len(args) > 2 else False):
        freeze.options["preserve_parameters"] = True
    methods = ("forward", *preserved)
    _note_inputs(freeze, module, methods)
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
    if _call.get() is None:
        freeze.duration_ns += freeze.freeze_ended_ns - freeze.freeze_started_ns
    freeze.result = result
    freeze.graphs.clear()
    freeze.adopt(result, methods)
    freeze.frozen = {method: live_snapshot(graph, None) for method, graph in freeze.graphs.items()}
    freeze.watcher.module_frozen({method: snapshot.text for method, snapshot in freeze.frozen.items()})
    return result


def _tell_beginning(freeze: RawFreeze) -> None:
    """Tells what would be needed to read torch's log without this process; that time is none of the freeze's."""
    if not freeze.watcher.watches:
        return
    started = time.perf_counter_ns()
    methods = []
    for method, snapshot in freeze.inputs.items():
        graph = freeze.inlined(method)
        modules = tuple(module_path(node) for node in live_nodes(graph))
        methods.append(MethodNotes(method, snapshot.text, graph_text(graph), modules))
    freeze.watcher.freeze_begins(FreezeNotes(tuple(methods), tuple(freeze.slots)))
    if _call.get() is not None:
        freeze.duration_ns -= time.perf_counter_ns() - started


@contextlib.contextmanager
def _log_of(freeze: RawFreeze) -> Iterator[None]:
    """Captures torch's log, except where torch could not print the constants it would log and the freeze would fail."""
    if any(is_unprintable(tensor) for slot in freeze.slots.values() for tensor in slot.tensors):
        yield
        return
    with captured_log(_clock, freeze.watcher.log_file) as log:
        freeze.log = log
        yield


def _note_inputs(freeze: RawFreeze, module: Any, methods: tuple[str, ...]) -> None:
    freeze.adopt(module, methods)
    # The freeze works on a copy, and torch numbers the values of a copy anew: so does this one.
    copies = {method: graph.copy() for method, graph in freeze.graphs.items()}
    freeze.inputs = {method: LiveSnapshot(graph_text(copy), copy) for method, copy in copies.items()}


def _optimize_frozen_graph(
    captures: tuple[FreezeCapture, ...], original: Callable[..., Any], graph: Any, optimize_numerics: bool = True
) -> None:
    freezes = _freezes_of(captures, graph)
    for freeze in freezes:
        freeze.options.setdefault("optimize_numerics", optimize_numerics)
    modules = (freeze.result for freeze in freezes if freeze.result is not None)
    Driver(freezes, graph, original).optimize_frozen_graph(next(modules, None), optimize_numerics)


def _begin_with_graph(captures: tuple[FreezeCapture, ...], graph: Any) -> RawFreeze:
    """Begins the record of a graph that was frozen before the capture, or loaded from a file."""
    call = _call.get()
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


def _optimize_for_inference(
    captures: tuple[FreezeCapture, ...], original: Callable[..., Any], module: Any, other_methods: Any = ()
) -> None:
    methods = (*(("forward",) if torch_private.method(module, "forward") else ()), *other_methods)
    graphs = {method: method_graph(module, method) for method in methods}
    if module.hasattr("training") or not all(graph is not None for graph in graphs.values()):
        # torch freezes a copy here and throws it away (jit/api/module.cpp), or raises: either way it has the word.
        original(module, list(other_methods))
        return
    freezes = _continued(captures, module, graphs)
    for freeze in freezes:
        freeze.options["optimize_for_inference"] = True
        for method, graph in graphs.items():
            _add_graph(freeze, method, graph)
    for graph in graphs.values():
        Driver(freezes, graph, original).optimize_for_inference()


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
    call = _call.get()
    if call is not None:
        call.freeze = next(iter(found))
    return tuple(found)
