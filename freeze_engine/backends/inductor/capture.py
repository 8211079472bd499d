"""Records every graph that Inductor freezes and compiles, around the user's own ``torch.compile``.

The functions of torch are replaced for the time of the capture only. A capture belongs to the thread, or async task,
that entered it: Dynamo compiles in the thread that calls the compiled function.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from typing import Any

import torch

from freeze_engine.backends._patching import Patch, patched
from freeze_engine.backends.inductor import private
from freeze_engine.backends.inductor.hooks import patches
from freeze_engine.backends.inductor.inventory import Inventory, graph_inputs, outermost, source_path
from freeze_engine.backends.inductor.observation import COMPILE, Observation
from freeze_engine.backends.inductor.raw import GraphBreak, RawCompile, RawFailure

#: Settings of ``torch._inductor.config`` that decide how freezing goes, whether its passes run at all, what code is
#: generated, or how it rounds.
SETTINGS = (
    "freezing",
    "freezing_discard_parameters",
    "fx_graph_cache",
    "fx_graph_remote_cache",
    "force_disable_caches",
    "layout_optimization",
    "force_layout_optimization",
    "pattern_matcher",
    "epilogue_fusion",
    "emulate_precision_casts",
    "max_autotune",
    "max_autotune_gemm",
    "cpp_wrapper",
    "enable_linear_binary_folding",
    "cpp.weight_prepack",
    "cpp.simdlen",
    "cpp.enable_floating_point_contract_flag",
    "triton.cudagraphs",
)

_active: contextvars.ContextVar[tuple[CompileCapture, ...]] = contextvars.ContextVar("inductor_captures", default=())
_watching: contextvars.ContextVar[Observation | None] = contextvars.ContextVar("inductor_watching", default=None)
_handed: contextvars.ContextVar[Any] = contextvars.ContextVar("inductor_handed", default=None)
_guards: contextvars.ContextVar[tuple[str | None, tuple[str, ...]]] = contextvars.ContextVar(
    "inductor_guards", default=(None, ())
)
_patch_lock = threading.Lock()
_patches = contextlib.ExitStack()
_patch_users = 0
_is_inside = False


class CompileCapture:
    """The compiles seen by one ``with`` block, in the order they began.

    Args:
        model: the module whose paths attributes are named by, where it is known.
        keep_inputs: whether to keep alive the tensors that the compiled graphs were first called with.
        told: is told the stage of a compile whenever another one begins.
        freezing: whether to see the compiles with freezing, or those without it.
    """

    def __init__(
        self,
        model: torch.nn.Module | None = None,
        keep_inputs: bool = False,
        told: Callable[[str], None] | None = None,
        freezing: bool = True,
    ) -> None:
        self.compiles: list[RawCompile] = []
        self.freezing = freezing
        self.told = told
        self.keep_inputs = keep_inputs
        self._model = model
        self._roots: list[weakref.ref[torch.nn.Module]] = []

    def roots(self, context: Any) -> tuple[tuple[str, torch.nn.Module], ...]:
        """Returns the outermost modules that a graph comes from, each with the prefix of its paths.

        After a graph break inside a submodule, Dynamo compiles that module's own ``forward``; its paths are still
        those from the outermost module that the capture has seen.
        """
        if self._model is not None:
            return (("", self._model),)
        held = dict(context.module_context.nn_modules) if context is not None else {}
        named = {name: module for name, module in held.items() if not _is_subgraph(name, module)}
        modules = {id(module): name for name, module in named.items()}
        known = [root for reference in self._roots if (root := reference()) is not None]
        found = outermost([*known, *named.values()])
        self._roots = [weakref.ref(root) for root in found]
        mine = [root for root in found if any(id(module) in modules for module in root.modules())]
        if len(mine) == 1:
            return (("", mine[0]),)
        return tuple((source_path(modules.get(id(root), ""))[0], root) for root in mine)


def _is_subgraph(name: str, module: Any) -> bool:
    """Whether Dynamo made a module itself, for a branch or the like: it has no name in the user's code."""
    return isinstance(module, torch.fx.GraphModule) and not source_path(name)[0]


@contextlib.contextmanager
def capturing(
    model: torch.nn.Module | None = None,
    keep_inputs: bool = False,
    told: Callable[[str], None] | None = None,
    freezing: bool = True,
) -> Iterator[CompileCapture]:
    """Records compiles until the block ends; torch is then as it was before.

    Inductor is not imported for it: where that has not been done, its functions are replaced when the first graph is
    handed to it.

    Args:
        model: the module whose paths attributes are named by, where it is known.
        keep_inputs: whether to keep alive the tensors that the compiled graphs were first called with.
        told: is told the stage of a compile whenever another one begins.
        freezing: whether to see the compiles with freezing, or those without it.

    Yields:
        The capture, filled as graphs are compiled.

    Raises:
        UnsupportedTorchError: this torch lacks a private name that recording needs.
    """
    capture = CompileCapture(model, keep_inputs, told, freezing)
    _install()
    _active.set((*_active.get(), capture))
    try:
        yield capture
    finally:
        _active.set(tuple(each for each in _active.get() if each is not capture))
        _uninstall()


def _install() -> None:
    global _patch_users
    with _patch_lock:
        if _patch_users == 0:
            with contextlib.ExitStack() as stack:
                stack.enter_context(patched((_at_the_door(),)))
                if private.is_imported():
                    stack.enter_context(patched(_all_patches()))
                _patches.enter_context(stack.pop_all())
        _patch_users += 1


def _uninstall() -> None:
    global _patch_users, _is_inside
    with _patch_lock:
        _patch_users -= 1
        if _patch_users == 0:
            _patches.close()
            _is_inside = False


def _at_the_door() -> Patch:
    """Replaces what `torch.compile` hands every graph to before Inductor is imported."""
    door = private.front_door()
    original = door.found

    @functools.wraps(original)
    def enter(wrapper: Any, graph: Any, *args: Any, **kwargs: Any) -> Any:
        replace_inside()
        token = _handed.set(graph)
        try:
            return original(wrapper, graph, *args, **kwargs)
        finally:
            _handed.reset(token)

    return Patch(door.owner, door.attribute, enter)


def replace_inside() -> None:
    """Replaces the functions of Inductor, which imports it, unless that is done or nothing is captured."""
    with _patch_lock:
        if _patch_users and not _is_inside:
            _patches.enter_context(patched(_all_patches()))


def _all_patches() -> tuple[Patch, ...]:
    global _is_inside
    private.require()
    _is_inside = True
    compiler = private.REQUIRED["freezing_compiler"]
    found = [Patch(compiler.owner, compiler.attribute, _observed(compiler.found))]
    unfrozen = private.UNFROZEN_COMPILER
    if unfrozen.found is not None:
        found.append(Patch(unfrozen.owner, unfrozen.attribute, _observed_unfrozen(unfrozen.found)))
    reasons = private.OPTIONAL["recompilation_reasons"]
    if reasons.found is not None:
        found.append(Patch(reasons.owner, reasons.attribute, _noting_guards(reasons.found)))
    return (*found, *patches(_watching.get))


def _noting_guards(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps the function that Dynamo asks, before it compiles a frame again, why it has to."""

    @functools.wraps(original)
    def reasons(*args: Any, **kwargs: Any) -> Any:
        found = original(*args, **kwargs)
        if _active.get():
            _guards.set((private.current_compile_id(), tuple(str(reason) for reason in found or ())))
        return found

    return reasons


def _observed(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def compile_frozen(module: Any, inputs: Any, dynamo_model: Any, *args: Any, **kwargs: Any) -> Any:
        captures = _watched_by(freezing=True)
        if not captures:
            return original(module, inputs, dynamo_model, *args, **kwargs)
        compiled = _begin(captures, module, dynamo_model, kwargs.get("graph_id"))
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
        compiled = _begin(captures, module, None, None)
        compiled.preserved = ()  # there is nothing to freeze: what comes next is lowering
        with _watched(captures, compiled, module, "compile_fx_forward") as watching:
            kwargs["inner_compile"] = _inner(kwargs["inner_compile"], watching)
            return original(module, *args, **kwargs)

    return compile_unfrozen


def _watched_by(freezing: bool) -> tuple[CompileCapture, ...]:
    """Returns the captures that want to see a compile that begins now; a compile inside another is part of that."""
    if _watching.get() is not None:
        return ()
    return tuple(capture for capture in _active.get() if capture.freezing == freezing)


@contextlib.contextmanager
def _watched(
    captures: tuple[CompileCapture, ...], compiled: RawCompile, module: Any, function: str
) -> Iterator[Observation]:
    """Holds for the time of a compile.

    Args:
        captures: that see it.
        compiled: gets what is seen.
        module: AOTAutograd's graph module.
        function: of torch, that compiles.
    """
    started_ns = time.perf_counter_ns()
    watching = Observation(compiled, module, [capture.told for capture in captures if capture.told is not None])
    token = _watching.set(watching)
    try:
        yield watching
    except BaseException as error:
        if compiled.failure is None:
            compiled.failure = RawFailure(error, watching.stage, function)
        raise
    finally:
        _watching.reset(token)
        compiled.duration_ns = time.perf_counter_ns() - started_ns


def _begin(captures: tuple[CompileCapture, ...], module: Any, dynamo_model: Any, graph_id: int | None) -> RawCompile:
    context = private.tracing_context()
    settings = private.setting_values(SETTINGS)
    roots = captures[-1].roots(context)
    held = context.params_flat_unwrap_subclasses if context is not None else None
    seen = context.module_context.nn_modules.values() if context is not None else ()
    inventory = Inventory(roots, frozenset(id(tensor) for tensor in (*(held or ()), *seen)))
    keep = not settings.get("freezing_discard_parameters")
    compile_id = private.current_compile_id()
    guarded, guards = _guards.get()
    # In torch 2.6 the graph has been traced anew since Dynamo handed it over, and lost what Dynamo noted.
    noted = dynamo_model if private.graph_notes(dynamo_model)["reason"] is not None else _handed.get() or dynamo_model
    dynamo_models = (dynamo_model, noted)
    compiled = RawCompile(
        model=type(roots[0][1]).__name__ if roots else "graph",
        root=weakref.ref(roots[0][1]) if len(roots) == 1 else None,
        compile_id=compile_id,
        graph_id=graph_id,
        settings=settings,
        end=_graph_break(private.graph_notes(noted)["reason"]),
        guards=guards if guarded == compile_id else (),
        inputs=graph_inputs(module, dynamo_models, inventory, keep, captures[-1].keep_inputs) if dynamo_model else (),
        attributes=tuple(inventory.attributes.values()),
        created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
    )
    for capture in captures:
        capture.compiles.append(compiled)
    return compiled


def _graph_break(reason: Any) -> GraphBreak | None:
    if reason is None:
        return None
    frames = list(getattr(reason, "user_stack", None) or ())
    broken = bool(getattr(reason, "graph_break", False))
    if not frames:
        return GraphBreak(str(reason.reason), "", 0, "", broken)
    last = frames[-1]
    return GraphBreak(str(reason.reason), last.filename, last.lineno or 0, last.name, broken)


def _inner(original: Callable[..., Any], watching: Observation) -> Callable[..., Any]:
    """Wraps the compile of the frozen graph: post-grad passes, lowering, code generation."""

    @functools.wraps(original)
    def compile_graph(module: Any, *args: Any, **kwargs: Any) -> Any:
        watching.replace_module(module)
        before = private.cache_counts()
        with watching.inside(COMPILE, "compile_fx_inner"):
            result = original(module, *args, **kwargs)
        used = next((what for what, count in private.cache_counts().items() if count > before[what]), "off")
        watching.compiled.cached = used == "hit"
        watching.compiled.output = weakref.ref(result)
        log = [f"Inductor's cache of compiled graphs: {used}"]
        watching.add_note("CompiledFxGraph", COMPILE, log, getattr(result, "source_code", None))
        return result

    return compile_graph
