"""The freeze without one pass, for either backend."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from freeze_engine.backends.common.observer import SILENT
from freeze_engine.backends.inductor.replay.module_state import State
from freeze_engine.backends.torchscript.capture.pass_driver import OPTIONAL
from freeze_engine.backends.torchscript.replay.module_state import joined, restorer, written_buffers
from freeze_engine.diagnose.checks.context import CheckContext
from freeze_engine.errors import FreezerError
from freeze_engine.measure.candidate import cloned, inference
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import AOTInductorOptions, InductorOptions, Measure, Options, TorchScriptOptions
from freeze_engine.tensors.module_copy import replica
from freeze_engine.trace import Trace

Restore = Callable[[], None]


def check_ablation(inputs: Inputs | None, options: Options, measure: Measure | None) -> None:
    """Checks, before any freezing, that the contributions of the passes can be measured.

    Raises:
        FreezerError: there are no inputs or no measurements, or the module can be frozen only once.
    """
    if isinstance(options, AOTInductorOptions):
        raise FreezerError("ablation runs frozen modules, and a package is compiled code: use backend='inductor'")
    if inputs is None:
        raise FreezerError("ablation runs the model: give inputs")
    if measure is None or not (measure.latency or measure.numerics):
        raise FreezerError("ablation compares latency and error: measure at least one of them")
    if isinstance(options, InductorOptions) and options.discard_parameters:
        raise FreezerError(
            "ablation freezes the module once for each pass, and discard_parameters takes its parameters at once: "
            "leave out one of the two"
        )


def optional_passes(trace: Trace) -> tuple[tuple[str, str], ...]:
    """Returns stage and name of the passes that changed something and can be disabled, each once."""
    if trace.backend == "torchscript":
        named = [(step.stage, name) for step in trace.steps if step.changed for name in step.passes]
        return tuple(dict.fromkeys(each for each in named if each[1] in OPTIONAL))
    from freeze_engine.backends.inductor.capture.disabled_passes import can_be_disabled

    stages = {name: stage for stage, name in reversed([(step.stage, step.name) for step in trace.steps])}
    names = dict.fromkeys(step.name for step in trace.steps if step.changed and can_be_disabled(step.stage, step.name))
    return tuple((stages[name], name) for name in names)


def frozen_without(context: CheckContext, name: str) -> Any:
    """Freezes the module again without one pass, and returns torch's result.

    Args:
        context: the whole freeze.
        name: of the pass.
    """
    options, module_options = context.options, context.module_options
    disabled = (*options.disabled_passes, name)
    if isinstance(options, TorchScriptOptions):
        from freeze_engine.backends.torchscript.record import record_module

        return record_module(
            context.source, None, replace(options, disabled_passes=disabled), module_options, None, SILENT
        ).module
    from freeze_engine.backends.inductor.record import record_module as record_compile

    assert context.inputs is not None
    return record_compile(
        context.model, context.inputs, replace(options, disabled_passes=disabled), module_options, None, SILENT
    ).module


def restores(context: CheckContext) -> Callable[[Any], Restore | None]:
    """Returns a function that makes, for a frozen module, the function that resets its state before a run."""
    assert context.inputs is not None
    if isinstance(context.options, InductorOptions):
        written = _written(context)
        shared = State(context.source, written).restore if written else None
        return lambda module: shared
    kept = tuple(
        fate.path for fate in context.trace.attributes if fate.fate == "preserved" and fate.kind != "submodule"
    )
    source: Any = context.source
    written_through = restorer(source, written_buffers(source, context.inputs))
    return lambda module: joined(restorer(module, kept), written_through)


def _written(context: CheckContext) -> frozenset[str]:
    """Returns the paths of the attributes that running the model writes."""
    assert context.inputs is not None
    model, inputs = replica(context.model), cloned(context.inputs)
    state = State(model)
    with inference():
        model(*inputs.args, **inputs.kwargs)
    return state.changed()
