"""Records every graph that Inductor freezes and compiles in the user's own ``torch.compile``.

The functions of torch are replaced for the time of the capture only. A capture belongs to the thread, or async task,
that entered it: Dynamo compiles in the thread that calls the compiled function.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import math
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch

from freeze_engine.backends.common.active_captures import ActiveCaptures
from freeze_engine.backends.common.patching import Patch
from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.capture.ahead_of_time import is_packaged, note_files, note_package, user_options
from freeze_engine.backends.inductor.capture.compile_capture import CompileCapture, UnrecordedCompile
from freeze_engine.backends.inductor.capture.compile_start import asked, begin, function, guards, handed, resumed
from freeze_engine.backends.inductor.capture.dynamo_code import dynamo_patches
from freeze_engine.backends.inductor.capture.events import CompileEvents, CompileObserver
from freeze_engine.backends.inductor.capture.hooks import patches
from freeze_engine.backends.inductor.capture.pass_observer import COMPILE, Observation
from freeze_engine.backends.inductor.capture.raw import RawCompile, RawFailure
from freeze_engine.process.import_hook import after_import

_active: ActiveCaptures[CompileCapture] = ActiveCaptures("inductor_captures")
_watching: contextvars.ContextVar[Observation | None] = contextvars.ContextVar("inductor_watching", default=None)


@contextlib.contextmanager
def capturing(
    model: torch.nn.Module | None = None,
    keep_inputs: bool = False,
    observer: CompileObserver | None = None,
    freezing: bool = True,
    threads: bool = False,
) -> Iterator[CompileCapture]:
    """Records compiles until the block ends; torch is then as it was before.

    The capture does not import Inductor: if it is not imported yet, its functions are replaced once it is.

    Args:
        model: the module from which the paths of attributes start, if it is known.
        keep_inputs: whether to keep alive the tensors that the compiled graphs were first called with.
        observer: receives the events of compiles.
        freezing: whether to see the compiles with freezing, or those without it.
        threads: whether to see the compiles of all threads, and not only of this one.

    Yields:
        The capture, filled as graphs are compiled.

    Raises:
        UnsupportedTorchError: this torch lacks a private name that recording needs.
    """
    capture = CompileCapture(model, keep_inputs, observer, freezing)
    replaced = (
        _at_the_door,
        *((_around,) if torch_private.is_dynamo_imported() else ()),
        *((_inside,) if torch_private.is_imported() else ()),
    )
    with (
        _active.entered(capture, *replaced, threads=threads),
        after_import(torch_private.COMPILE_MODULE, replace_inside),
    ):
        yield capture


def replace_inside() -> None:
    """Imports Inductor and replaces its functions, unless that is done already or no capture is active."""
    _active.patch(_around)
    _active.patch(_inside)


def _around() -> tuple[Patch, ...]:
    """Notes what Dynamo writes around a graph: before it hands the graph over, and so before Inductor is imported."""
    return dynamo_patches(lambda: bool(_active.here()))


def _at_the_door() -> tuple[Patch, ...]:
    """Replaces the function that gets every graph from `torch.compile` before Inductor is imported."""
    door = torch_private.front_door()
    original = door.found

    @functools.wraps(original)
    def enter(wrapper: Any, graph: Any, *args: Any, **kwargs: Any) -> Any:
        replace_inside()
        for capture in _active.here():
            capture.graphs_seen += 1
        tokens = (
            (handed, handed.set(graph)),
            (asked, asked.set(torch_private.compile_arguments(wrapper))),
            (function, function.set(torch_private.compiled_function())),
            (resumed, resumed.set(torch_private.is_resumed())),
        )
        try:
            return original(wrapper, graph, *args, **kwargs)
        finally:
            for variable, token in tokens:
                variable.reset(token)  # type: ignore[arg-type]

    made = door.owner.__init__

    @functools.wraps(made)
    def make(wrapper: Any, *args: Any, **kwargs: Any) -> None:
        for capture in _active.here():
            capture.functions_made += 1
            _active.patch(_around)  # `torch.compile` imports Dynamo next
        made(wrapper, *args, **kwargs)

    return (Patch(door.owner, door.attribute, enter), Patch(door.owner, "__init__", make))


def _inside() -> tuple[Patch, ...]:
    torch_private.require()
    compiler = torch_private.REQUIRED["freezing_compiler"]
    found = [Patch(compiler.owner, compiler.attribute, _observed(compiler.found))]
    unfrozen = torch_private.UNFROZEN_COMPILER
    if unfrozen.found is not None:
        found.append(Patch(unfrozen.owner, unfrozen.attribute, _observed_unfrozen(unfrozen.found)))
    call = torch_private.COMPILE_CALL
    if call.found is not None:
        found.append(Patch(call.owner, call.attribute, _noting_unfrozen(call.found)))
    reasons = torch_private.OPTIONAL["recompilation_reasons"]
    if reasons.found is not None:
        found.append(Patch(reasons.owner, reasons.attribute, _noting_guards(reasons.found)))
    package = torch_private.OPTIONAL["package_files"]
    if package.found is not None:
        found.append(Patch(package.owner, package.attribute, _noting_packages(package.found)))
    return (*found, *patches(_watching.get))


def _noting_unfrozen(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps the entrance of Inductor: freezing needs the setting, and gradients off (``_compile_fx_main``, 2.13)."""

    @functools.wraps(original)
    def compile_fx(model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        # With settings of its own it calls itself again, under these settings.
        settings = kwargs.get("config_patches", args[1] if len(args) > 1 else None)
        is_watched = not settings and _watching.get() is None
        seen = [(capture, len(capture.compiles)) for capture in _active.here()] if is_watched else []
        freezing = torch_private.setting_values(("freezing",)).get("freezing")
        reason: UnrecordedCompile = "gradients" if freezing else "not_configured"
        is_frozen = freezing and not torch.is_grad_enabled()
        token = asked.set(asked.get() or {"options": user_options(settings or {})})
        try:
            return original(model, inputs, *args, **kwargs)
        finally:
            asked.reset(token)
            for capture, count in seen:
                # A torch after 2.13 may freeze all the same, for it asks AOTAutograd whether this is inference.
                if not is_frozen and len(capture.compiles) == count:
                    capture.unrecorded[reason] += 1

    return compile_fx


def _noting_packages(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps the function that puts the files of compiles into one package."""

    @functools.wraps(original)
    def package_aoti(archive: Any, files: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(archive, files, *args, **kwargs)
        for capture in _active.here():
            for compiled in capture.compiles:
                if is_packaged(compiled, files):
                    note_package(compiled, result)
                    capture.continued(compiled)
        return result

    return package_aoti


def _noting_guards(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps the function from which Dynamo gets the reason before it compiles a frame again."""

    @functools.wraps(original)
    def reasons(*args: Any, **kwargs: Any) -> Any:
        found = original(*args, **kwargs)
        if _active.here():
            guards.set((torch_private.current_compile_id(), tuple(str(reason) for reason in found or ())))
        return found

    return reasons


def _observed(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def compile_frozen(module: Any, inputs: Any, dynamo_model: Any, *args: Any, **kwargs: Any) -> Any:
        captures = _watched_by(freezing=True)
        if not captures:
            return original(module, inputs, dynamo_model, *args, **kwargs)
        compiled = _begun(captures, module, dynamo_model, torch_private.graph_number(kwargs))
        if compiled is None:
            return original(module, inputs, dynamo_model, *args, **kwargs)
        with _watched(captures, compiled, module, "fw_compiler_freezing") as watching:
            if "inner_compile" in kwargs:
                kwargs["inner_compile"] = _inner(kwargs["inner_compile"], watching)
            return original(module, inputs, dynamo_model, *args, **kwargs)

    return compile_frozen


def _observed_unfrozen(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def compile_unfrozen(module: Any, *args: Any, **kwargs: Any) -> Any:
        captures = _watched_by(freezing=False)
        if not captures or "inner_compile" not in kwargs:
            return original(module, *args, **kwargs)
        compiled = _begun(captures, module, None, None)
        if compiled is None:
            return original(module, *args, **kwargs)
        compiled.preserved = ()
        with _watched(captures, compiled, module, "compile_fx_forward") as watching:
            watching.is_lowering = True  # there is nothing to freeze
            kwargs["inner_compile"] = _inner(kwargs["inner_compile"], watching)
            return original(module, *args, **kwargs)

    return compile_unfrozen


def _begun(
    captures: tuple[CompileCapture, ...], module: Any, dynamo_model: Any, graph_id: int | None
) -> RawCompile | None:
    """Adds a starting compile to the captures that see it, `None` where its tensors cannot be read.

    A tensor of a class of the user's own may raise whatever it likes, and the compile must not fail for that.
    """
    try:
        return begin(captures, module, dynamo_model, graph_id)
    except Exception as error:  # noqa: BLE001 (the user's compile goes on; the reason is kept)
        for capture in captures:
            capture.unread.append(f"{type(error).__name__}: {error}")
        return None


def _watched_by(freezing: bool) -> tuple[CompileCapture, ...]:
    """Returns the captures that want to see a compile that begins now; a compile inside another is part of that."""
    if _watching.get() is not None:
        return ()
    return tuple(capture for capture in _active.here() if capture.freezing == freezing)


@contextlib.contextmanager
def _watched(
    captures: tuple[CompileCapture, ...], compiled: RawCompile, module: Any, function: str
) -> Iterator[Observation]:
    """Watches a compile until the block ends.

    Args:
        captures: those that see it.
        compiled: receives the raw data.
        module: AOTAutograd's graph module.
        function: of torch, that compiles.
    """
    events = CompileEvents(compiled, [capture.observer for capture in captures if capture.observer is not None])
    started_ns = events.clock_ns()
    watching = Observation(compiled, module, function, events)
    token = _watching.set(watching)
    try:
        yield watching
    except BaseException as error:
        if compiled.failure is None:
            compiled.failure = RawFailure(error, watching.stage, function)
        raise
    finally:
        _watching.reset(token)
        compiled.duration_ns = events.clock_ns() - started_ns
        events.end()


def autotuning_lines(compiled: RawCompile) -> Iterator[str]:
    """Yields a line for each set of kernels that autotuning compared: the fastest first, with the times."""
    for each in compiled.autotuned.values():
        times = (f"{name} {f'{ms * 1000:.3g} µs' if math.isfinite(ms) else 'failed'}" for name, ms in each.times_ms)
        yield f"autotuning of {each.operator}({each.shapes}), the fastest first: {', '.join(times)}"


def _inner(original: Callable[..., Any], watching: Observation) -> Callable[..., Any]:
    """Wraps the compile of the frozen graph: post-grad passes, lowering, code generation."""

    @functools.wraps(original)
    def compile_graph(module: Any, *args: Any, **kwargs: Any) -> Any:
        watching.replace_module(module)
        before = torch_private.cache_counts()
        with watching.inside(COMPILE, "compile_fx_inner"):
            result = original(module, *args, **kwargs)
        used = next((what for what, count in torch_private.cache_counts().items() if count > before[what]), "off")
        watching.compiled.cached = used == "hit"
        watching.compiled.output = weakref.ref(result)
        if watching.compiled.package is not None:
            note_files(watching.compiled, result)
        log = [f"Inductor's cache of compiled graphs: {used}", *autotuning_lines(watching.compiled)]
        watching.add_note("CompiledFxGraph", COMPILE, log, getattr(result, "source_code", None))
        return result

    return compile_graph
