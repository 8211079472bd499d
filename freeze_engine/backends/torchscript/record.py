"""Makes traces of a model's freeze, and of the freezes in a capture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import torch

from freeze_engine.analysis.quantisation.undone import with_undone
from freeze_engine.backends.common.disabled_pass_errors import disabled_passes_text
from freeze_engine.backends.common.environment import environment, utc_now
from freeze_engine.backends.common.observer import FREEZING, PHASES, RecordingObserver
from freeze_engine.backends.common.partial_trace import attach_trace, leaving_trace
from freeze_engine.backends.common.torch_private import class_name, cpp_module
from freeze_engine.backends.common.unread import unread
from freeze_engine.backends.torchscript.capture.capture import capturing
from freeze_engine.backends.torchscript.capture.freeze_capture import FreezeCapture
from freeze_engine.backends.torchscript.capture.pass_driver import check_disabled_passes
from freeze_engine.backends.torchscript.capture.raw import RawFreeze
from freeze_engine.backends.torchscript.capture.scripting import to_script_module
from freeze_engine.backends.torchscript.graph.attribute_reads import read_paths
from freeze_engine.backends.torchscript.graph.module_slots import check_names, module_attributes
from freeze_engine.backends.torchscript.replay.measure import RunnableFreeze, measure_steps
from freeze_engine.backends.torchscript.trace_builder import LiveStep, TraceBuilder
from freeze_engine.errors import FreezerError
from freeze_engine.measure.peak_memory import peak_memory
from freeze_engine.process.garbage import collection_paused
from freeze_engine.recorder.trace_builder import Recorder
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import Measure, ModuleOptions, TorchScriptOptions
from freeze_engine.trace import InputSpec, Notice, Trace

UNREADABLE_NAME: Final = "unreadable_name"


@dataclass(frozen=True, slots=True)
class Frozen:
    """A recorded freeze.

    Attributes:
        module: what torch returned.
        source: what was frozen.
        trace: the recording.
        live: the steps that can be run, by index.
    """

    module: torch.jit.ScriptModule
    source: torch.jit.ScriptModule
    trace: Trace
    live: dict[int, LiveStep]


def record_module(
    model: torch.nn.Module,
    inputs: Inputs | None,
    options: TorchScriptOptions,
    module_options: ModuleOptions,
    measure: Measure | None,
    observer: RecordingObserver,
) -> Frozen:
    """Freezes a module with TorchScript and records it.

    Args:
        model: in eval mode, or already a ScriptModule.
        inputs: for measuring and tracing.
        options: how to freeze.
        module_options: how the module gets into TorchScript, and what to call it.
        measure: what to measure, ``None`` to record only.
        observer: receives the events of the recording.

    Raises:
        BaseException: whatever scripting, freezing or measuring raises, unchanged; once a freeze has begun,
            `freeze_engine.partial_trace` has what was recorded by then.
    """
    check_disabled_passes(options.disabled_passes)
    is_traced = module_options.via == "trace" and not isinstance(model, torch.jit.ScriptModule)
    observer.progress("tracing" if is_traced else "scripting", 0, PHASES)
    name = module_options.name or _name_of(model)
    if observer.watches:
        specs = tuple(_specs(inputs)) if inputs is not None else ()
        head = Trace(name, "torchscript", module_options.call or "", _asked(options), specs, environment(), ())
        observer.trace_grew(replace(head, created=utc_now()))
    ready = to_script_module(model, inputs, module_options.via, module_options.check_inputs)
    check_names(module_attributes(cpp_module(ready.module)))
    observer.progress(FREEZING, 1, PHASES)
    with capturing(observer, options.disabled_passes) as freezes:
        try:
            with peak_memory(measure is not None and measure.memory) as peak:
                module = _freeze(ready.module, options)
        except BaseException as error:
            _attach_freeze(error, freezes, module_options, inputs)
            raise
    observer.progress("reading what was recorded", 2, PHASES)
    freeze = freezes.freezes[0]
    recorder = _recorder(freeze, name, module_options.call, inputs)
    recorder.notices += ready.notices
    if options.disabled_passes:
        recorder.notices.append(Notice("left_out", disabled_passes_text(options.disabled_passes, freeze.call)))
    recorder.on_step = observer.step_added
    with collection_paused():
        build = TraceBuilder(freeze, recorder)
        build.run()
    if measure is not None and inputs is not None:
        observer.trace_built(_finished(recorder, freeze))
        subject = RunnableFreeze(
            model, ready.module, module, inputs, _kept(freeze), build.live, build.read_runtime, peak.nbytes
        )
        with leaving_trace(lambda: _finished(recorder, freeze)):
            measure_steps(recorder, subject, measure, observer.progress)
    return Frozen(module, ready.module, _finished(recorder, freeze), build.live)


def trace_of(freeze: RawFreeze) -> Trace:
    """Makes the trace of a captured freeze; what of the capture cannot be read is left out, and a notice says why."""
    recorder = _recorder(freeze, _model_name(freeze), None, None)
    try:
        check_names(freeze.slots)
    except FreezerError as refused:
        recorder.notices.append(Notice(UNREADABLE_NAME, str(refused)))
        return _finished(recorder, freeze)
    try:
        with collection_paused():
            TraceBuilder(freeze, recorder).run()
    except Exception as error:  # noqa: BLE001 (one freeze that cannot be read must not cost the traces of the others)
        recorder.notices.append(unread(error))
    return _finished(recorder, freeze)


def _finished(recorder: Recorder, freeze: RawFreeze) -> Trace:
    return with_undone(recorder.finish(freeze.duration_ns, freeze.created))


def _freeze(module: torch.jit.ScriptModule, options: TorchScriptOptions) -> torch.jit.ScriptModule:
    frozen: torch.jit.ScriptModule = torch.jit.freeze(module, _preserved(options), options.optimize_numerics)
    if options.optimize_for_inference:
        frozen = torch.jit.optimize_for_inference(frozen, list(options.other_methods))
    return frozen


def _preserved(options: TorchScriptOptions) -> list[str]:
    return list(dict.fromkeys((*options.preserved_attrs, *options.other_methods)))


def _asked(options: TorchScriptOptions) -> tuple[tuple[str, str], ...]:
    """Returns the request in the form of a trace, before any of it runs."""
    asked = {"optimize_numerics": options.optimize_numerics, "preserved_attrs": _preserved(options)}
    if options.optimize_for_inference:
        asked["optimize_for_inference"] = True
    if options.disabled_passes:
        asked["disabled_passes"] = list(options.disabled_passes)
    return tuple((key, repr(value)) for key, value in sorted(asked.items()))


def _attach_freeze(
    error: BaseException, freezes: FreezeCapture, module_options: ModuleOptions, inputs: Inputs | None
) -> None:
    if not freezes.freezes:
        return
    freeze = freezes.freezes[0]
    recorder = _recorder(freeze, module_options.name or _model_name(freeze), module_options.call, inputs)
    TraceBuilder(freeze, recorder).run()
    attach_trace(error, _finished(recorder, freeze))


def _recorder(freeze: RawFreeze, name: str, call: str | None, inputs: Inputs | None) -> Recorder:
    specs = tuple(_specs(inputs)) if inputs is not None else ()
    options = tuple((key, repr(value)) for key, value in sorted(freeze.options.items()))
    head = Trace(name, "torchscript", call or _call_text(freeze), options, specs, environment(), ())
    return Recorder(head, read_paths)


def _call_text(freeze: RawFreeze) -> str:
    """Writes the captured call as Python."""
    return f"{freeze.call}({', '.join(['mod', *(f'{name}={value!r}' for name, value in freeze.given.items())])})"


def _kept(freeze: RawFreeze) -> tuple[str, ...]:
    slots = module_attributes(freeze.result)
    return tuple(path for path in freeze.slots if path in slots and slots[path].kind != "submodule")


def _specs(inputs: Inputs) -> Iterator[InputSpec]:
    named: list[tuple[str, Any]] = [(str(index), value) for index, value in enumerate(inputs.args)]
    for name, value in (*named, *inputs.kwargs.items()):
        if isinstance(value, torch.Tensor):
            dtype = str(value.dtype).removeprefix("torch.")
            shape = None if value.is_nested else tuple(value.shape)  # of which the parts have one each
            yield InputSpec(name, "Tensor", shape, dtype, str(value.device))
        else:
            yield InputSpec(name, type(value).__name__)


def _name_of(model: torch.nn.Module) -> str:
    return model.original_name if isinstance(model, torch.jit.ScriptModule) else type(model).__name__


def _model_name(freeze: RawFreeze) -> str:
    if freeze.source is None:
        return "graph"
    return class_name(freeze.source).rpartition(".")[2]
