"""Facts about a compile at its start: the source of its graph, its inputs and attributes, the settings."""

from __future__ import annotations

import contextvars
import weakref
from collections.abc import Mapping
from datetime import datetime, timezone
from types import MappingProxyType
from typing import Any, Final

from freeze_engine.backends.common.exported_programs import exported_class, training_layers
from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.capture import ahead_of_time
from freeze_engine.backends.inductor.capture.compile_capture import CompileCapture
from freeze_engine.backends.inductor.capture.dynamo_code import assignments, live_paths
from freeze_engine.backends.inductor.capture.raw import GraphBreak, RawCompile, RawPackage
from freeze_engine.backends.inductor.graph.graph_inputs import Inventory, graph_inputs

#: Settings of ``torch._inductor.config`` that control freezing, whether its passes run at all, what code is
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

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
#: Dynamo's graph during its compile.
handed: contextvars.ContextVar[Any] = contextvars.ContextVar("inductor_handed", default=None)
#: The function that Dynamo translates, `None` for a module's.
function: contextvars.ContextVar[torch_private.CompiledFunction | None] = contextvars.ContextVar(
    "inductor_function", default=None
)
#: Whether Dynamo translates the rest of a function, after a graph break.
resumed: contextvars.ContextVar[bool] = contextvars.ContextVar("inductor_resumed", default=False)
#: Arguments of the call that compiles.
asked: contextvars.ContextVar[Mapping[str, Any]] = contextvars.ContextVar("inductor_asked", default=_NOTHING)
#: The reasons why Dynamo compiles a frame again, by the id of that compile.
guards: contextvars.ContextVar[tuple[str | None, tuple[str, ...]]] = contextvars.ContextVar(
    "inductor_guards", default=(None, ())
)


def begin(captures: tuple[CompileCapture, ...], module: Any, dynamo_model: Any, graph_id: int | None) -> RawCompile:
    """Adds a starting compile to the captures that see it.

    Args:
        captures: those that see it; the innermost decides which modules and inputs to keep.
        module: AOTAutograd's graph module.
        dynamo_model: Dynamo's, ``None`` for a compile without freezing.
        graph_id: Inductor's number of the graph, ``None`` where it gives none.
    """
    context = torch_private.tracing_context()
    ahead = torch_private.is_ahead_of_time()
    settings = torch_private.setting_values((*SETTINGS, *(ahead_of_time.SETTINGS if ahead else ())))
    compiled_function = None if ahead else function.get()
    # Without Dynamo, torch._inductor gets a module as it is.
    compile_id = torch_private.current_compile_id()
    is_given = dynamo_model is not None and (ahead or compile_id is None)
    roots = (("", dynamo_model),) if is_given else captures[-1].roots(context, compiled_function is not None)
    held = context.params_flat_unwrap_subclasses if context is not None else None
    seen = context.module_context.nn_modules.values() if context is not None else ()
    with torch_private.without_modes():  # the bytes of a tensor in a library's layout are read from a copy
        inventory = Inventory(roots, frozenset(id(tensor) for tensor in (*(held or ()), *seen)))
    keep = not settings.get("freezing_discard_parameters")
    guarded, why = guards.get()
    # In torch 2.6 the graph has been traced anew since Dynamo handed it over, and lost what Dynamo noted.
    noted = (
        dynamo_model if torch_private.graph_notes(dynamo_model)["reason"] is not None else handed.get() or dynamo_model
    )
    dynamo_models = (dynamo_model, noted)
    notes = torch_private.graph_notes(noted)
    keeps = (keep, captures[-1].keep_inputs)
    inputs = graph_inputs(module, dynamo_models, inventory, keeps, compiled_function) if dynamo_model else ()
    if ahead:
        inputs = (*inputs, *ahead_of_time.constant_inputs(module, inventory))
    compiled = RawCompile(
        model=compiled_function.name if compiled_function is not None else _model_name(module, roots, ahead),
        is_function=compiled_function is not None,
        is_resumed=resumed.get(),
        has_own_backend=compile_id is not None and handed.get() is None,
        root=weakref.ref(roots[0][1]) if len(roots) == 1 else None,
        compile_id=compile_id,
        graph_id=graph_id,
        settings=settings,
        end=_graph_break(notes["reason"]),
        guards=why if guarded == compile_id else (),
        inputs=inputs,
        attributes=tuple(inventory.attributes.values()),
        asked=asked.get(),
        training=tuple(training_layers(roots)),
        live=live_paths(context, notes, inventory),
        assigned=assignments(context, notes, inventory),
        package=RawPackage() if ahead else None,
        created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
    )
    for capture in captures:
        capture.compiles.append(compiled)
    return compiled


def _model_name(module: Any, roots: tuple[tuple[str, Any], ...], ahead: bool) -> str:
    if ahead:
        return exported_class(module.graph) or "exported program"
    return type(roots[0][1]).__name__ if roots else "graph"


def _graph_break(reason: Any) -> GraphBreak | None:
    if reason is None:
        return None
    frames = list(getattr(reason, "user_stack", None) or ())
    broken = bool(getattr(reason, "graph_break", False))
    if not frames:
        return GraphBreak(str(reason.reason), "", 0, "", broken)
    last = frames[-1]
    return GraphBreak(str(reason.reason), last.filename, last.lineno or 0, last.name, broken)
