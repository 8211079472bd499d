"""`record()`: freezes a model and records it as a trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from freeze_engine.errors import FreezerError
from freeze_engine.opening.existing import existing_kind, open_existing
from freeze_engine.requests.arguments import (
    as_inputs,
    call_text,
    check_measure,
    known_checks,
    options_for,
    refuse_of_existing,
    warn_of_existing,
)
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import (
    AOTInductorOptions,
    CheckName,
    InductorOptions,
    Measure,
    ModuleOptions,
    Options,
    Progress,
    TorchScriptOptions,
)
from freeze_engine.requests.without_effect import check_loading, check_via
from freeze_engine.trace import AliasAnalysis, Backend, Trace
from freeze_engine.trace.rules.texts import with_plain_texts

if TYPE_CHECKING:
    import torch

    from freeze_engine.backends.common.observer import RecordingObserver
    from freeze_engine.backends.inductor.graph.live import LiveGraph
    from freeze_engine.backends.torchscript.trace_builder import LiveStep

_DEFAULT_MEASURE = Measure()


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded freeze.

    Attributes:
        module: what torch returned, from this very run: a ScriptModule, a loaded package, or a compiled module. The
            last is frozen for inputs like the recorded ones; torch compiles it anew for others, and where gradients are
            on. ``None`` if something was read that existed already.
        trace: the recording.
        live: the graphs of the steps that can be run, by step index.
        others: recordings of the further freezes that a check made, where they had another result, by the check's name:
            to compare with ``trace`` (`diff_traces`).
    """

    module: Any
    trace: Trace
    live: Mapping[int, LiveStep | LiveGraph] = field(repr=False)
    others: Mapping[str, Trace] = field(default_factory=dict, repr=False)

    def aliases(self, step: int) -> AliasAnalysis | None:
        """Runs torch's alias analysis on the graph of a step.

        Args:
            step: index of the step.

        Returns:
            Alias sets and writes; ``None`` where the trace has none and the graph cannot be run, and for Inductor,
            whose graphs are functional and have no alias analysis.

        Raises:
            FreezerError: there is no such step.
        """
        if not 0 <= step < len(self.trace.steps):
            raise FreezerError(f"there is no step {step}: the trace has steps 0 to {len(self.trace.steps) - 1}")
        recorded = self.trace.steps[step]
        if self.trace.uses_inductor or recorded.aliases is not None or step not in self.live:
            return recorded.aliases
        from freeze_engine.backends.torchscript.attributes.alias_text import alias_analysis
        from freeze_engine.backends.torchscript.graph.rebuild import without_leftovers

        return alias_analysis(self.live[step].graph, without_leftovers(recorded.graph))


def record(
    model: torch.nn.Module | torch.export.ExportedProgram | str | Path,
    inputs: Inputs | Sequence[Any] | torch.Tensor | None = None,
    *,
    backend: Backend = "torchscript",
    options: Options | None = None,
    measure: Measure | None = _DEFAULT_MEASURE,
    via: Literal["script", "trace"] | None = None,
    check_inputs: Sequence[tuple[object, ...]] = (),
    map_location: str | None = None,
    imports: Sequence[str] = (),
    checks: Sequence[CheckName] = (),
    ablation: bool = False,
    float_model: torch.nn.Module | torch.export.ExportedProgram | str | Path | None = None,
    progress: Progress | None = None,
    name: str | None = None,
    call: str | None = None,
) -> Recording:
    """Freezes a model and records what every pass does.

    Args:
        model: an `nn.Module` in eval mode, a ScriptModule, an exported program, a module that was exported (also a
            quantised one), or a MODEL spec (a file, ``package.module:factory``, ``example:NAME``). A file that was
            frozen already, or what torch's logs keep of a compile, is only read
            (`freeze_engine.opening.open_existing`): nothing is run or measured.
        inputs: what to measure on, and to trace with: a tuple of arguments, `Inputs`, or a single tensor. Without
            inputs (and where the spec brings none) nothing is measured. Inductor compiles for them, and needs some.
        backend: ``"torchscript"`` (``torch.jit.freeze``), ``"inductor"`` (``torch.compile`` with freezing) or
            ``"aotinductor"`` (``torch._inductor.aoti_compile_and_package`` with freezing).
        options: `TorchScriptOptions`, `InductorOptions` or `AOTInductorOptions`, whichever the backend takes.
        measure: what to measure, ``None`` to record only.
        via: how an `nn.Module` gets into TorchScript, ``"script"`` or ``"trace"``; by default scripted, unless the spec
            or an exported module needs tracing. For Inductor only the TorchScript that is measured to compare with.
        check_inputs: further inputs to trace with, for TorchScript; another graph from them adds a notice.
        map_location: device to which the model of a MODEL spec is loaded, such as ``"cpu"``.
        imports: modules to import before a MODEL spec is loaded, such as ``torchao.quantization.pt2e``, which registers
            the operators of a saved quantised program.
        checks: the checks to run on the frozen module, of `freeze_engine.CHECKS`; the results are
            `Trace.checks`.
        ablation: whether to measure what each pass contributes, by freezing again without it; the result is
            `Trace.ablation`.
        float_model: the model that a quantised ``model`` was made from, or its MODEL spec: both run once on the inputs,
            and the weight and output of each layer are compared; the result is `Trace.layer_errors`.
        progress: called as ``progress(message, done, total)``, where ``done`` and ``total`` count units of one phase.
        name: the model's name in the trace.
        call: the call or command to show in the trace.

    Returns:
        The frozen module and its trace.

    Raises:
        FreezerError: the model or the inputs cannot be used.
        Exception: whatever torch raises, unchanged; `partial_trace` has the trace up to there.
    """
    if isinstance(model, (str, Path)) and existing_kind(model) is not None:
        refuse_of_existing(model, checks=checks, ablation=ablation, float_model=float_model)
        warn_of_existing(
            model,
            inputs=inputs,
            backend=None if backend == "torchscript" else backend,
            options=options,
            measure=None if measure == _DEFAULT_MEASURE else measure,
            via=via,
            check_inputs=check_inputs or None,
            map_location=map_location,
            imports=imports or None,
        )
        return Recording(None, open_existing(model, name=name, call=call), {})
    from freeze_engine.backends.common.exported_programs import holds_exported
    from freeze_engine.backends.common.observer import RecordingObserver, silent
    from freeze_engine.models.loading import check_module, load_model, of_program

    options = options_for(backend, options)
    check_measure(measure)
    check_loading((model, float_model), _is_spec, map_location, imports)
    check_via(via, options, measure)
    given = as_inputs(inputs)
    spec = repr(str(model)) if _is_spec(model) else name or type(model).__name__
    asked_via = via
    if isinstance(model, (str, Path)):
        loaded = load_model(str(model), map_location=map_location, imports=imports)
        model, given, name, via = loaded.module, given or loaded.inputs, name or loaded.name, via or loaded.via
        if isinstance(options, TorchScriptOptions):
            options = replace(options, preserved_attrs=options.preserved_attrs or loaded.preserved_attrs)
    elif not hasattr(model, "modules"):
        loaded = of_program(model)
        model, given, name, via = loaded.module, given or loaded.inputs, name or loaded.name, via or loaded.via
        spec = name
    module = check_module(model)
    via = via or ("trace" if holds_exported(module) else None)
    call = call or call_text(spec, options, asked_via, checks, ablation, imports, _as_python(float_model))
    module_options = ModuleOptions(
        via or "script",
        tuple(check_inputs),
        name,
        call,
        known_checks(checks),
        ablation,
        float_module(float_model, map_location=map_location, imports=imports),
    )
    return record_loaded(module, given, options, module_options, measure, RecordingObserver(progress or silent))


def _is_spec(model: object) -> bool:
    return isinstance(model, (str, Path))


def record_loaded(
    model: torch.nn.Module,
    inputs: Inputs | None,
    options: Options,
    module_options: ModuleOptions,
    measure: Measure | None,
    observer: RecordingObserver,
) -> Recording:
    """Freezes a module with the backend that the options are of, and records it.

    Args:
        model: the module.
        inputs: for measuring, tracing and compiling.
        options: how to freeze.
        module_options: how the module gets to the freeze, and what to call it.
        measure: what to measure, ``None`` to record only.
        observer: receives the events of the recording.

    Raises:
        FreezerError: the model or the inputs cannot be used.
        Exception: whatever torch raises, unchanged.
    """
    from freeze_engine.backends.common.quantised_programs import quantisation_notices
    from freeze_engine.tensors.values import keeping_values

    notices = quantisation_notices(model)
    finish = _compared_layers(model, inputs, module_options)
    with keeping_values(measure is None or measure.values):
        recording = _recorded(model, inputs, options, module_options, measure, observer)
    trace = finish(recording.trace)
    return replace(recording, trace=replace(trace, notices=(*trace.notices, *notices)))


def _compared_layers(
    model: torch.nn.Module, inputs: Inputs | None, module_options: ModuleOptions
) -> Callable[[Trace], Trace]:
    """Compares the layers with those of the float model now, since a compile may discard weights.

    Returns:
        The function that puts the result into the trace.
    """
    if module_options.float_model is None:
        return lambda trace: trace
    if inputs is None:
        raise FreezerError("float_model needs inputs: both models run on them; pass some")
    from freeze_engine.measure.layer_errors import layers_compared

    return layers_compared(model, module_options.float_model, inputs)


def float_module(
    float_model: torch.nn.Module | torch.export.ExportedProgram | str | Path | None,
    *,
    map_location: str | None = None,
    imports: Sequence[str] = (),
    trusted: bool = True,
) -> torch.nn.Module | None:
    """Returns the module of a float model.

    Args:
        float_model: as of `record`.
        map_location, imports, trusted: how a MODEL spec is loaded.

    Raises:
        FreezerError: it cannot be used, or is in training mode.
    """
    from freeze_engine.backends.common.exported_programs import holds_exported
    from freeze_engine.models.loading import check_module, load_model, of_program

    if float_model is None:
        return None
    if isinstance(float_model, (str, Path)):
        spec = str(float_model)
        module = load_model(spec, map_location=map_location, imports=imports, trusted=trusted).module
    else:
        module = check_module(float_model if hasattr(float_model, "modules") else of_program(float_model).module)
    if module.training and not holds_exported(module):
        raise FreezerError("float_model is in training mode, as the quantised model is not: call its .eval() first")
    return module


def _as_python(float_model: object) -> str | None:
    """Returns the argument ``float_model`` as the call of a trace shows it."""
    if float_model is None:
        return None
    return repr(str(float_model)) if isinstance(float_model, (str, Path)) else type(float_model).__name__


def _recorded(
    model: torch.nn.Module,
    inputs: Inputs | None,
    options: Options,
    module_options: ModuleOptions,
    measure: Measure | None,
    observer: RecordingObserver,
) -> Recording:
    if module_options.check_inputs and not isinstance(options, TorchScriptOptions):
        raise FreezerError("check_inputs are further inputs for torch.jit.trace, which Inductor does not call")
    if module_options.ablation:
        from freeze_engine.diagnose.ablation.variants import check_ablation

        check_ablation(inputs, options, measure)
    if isinstance(options, AOTInductorOptions):
        return _recorded_package(model, inputs, options, module_options, measure, observer)
    if isinstance(options, InductorOptions):
        from freeze_engine.backends.inductor.record import record_module as record_compile

        if inputs is None:
            raise FreezerError("backend='inductor' needs inputs: torch compiles a module by calling it; pass some")
        compiled = record_compile(model, inputs, options, module_options, measure, observer)
        recording, source = Recording(compiled.module, with_plain_texts(compiled.trace), compiled.live), model
    else:
        from freeze_engine.backends.torchscript.record import record_module

        frozen = record_module(model, inputs, options, module_options, measure, observer)
        recording, source = Recording(frozen.module, with_plain_texts(frozen.trace), frozen.live), frozen.source
    if not (module_options.checks or module_options.ablation):
        return recording
    from freeze_engine.diagnose.ablation.run import run_ablation
    from freeze_engine.diagnose.checks.context import CheckContext
    from freeze_engine.diagnose.checks.run import run_checks

    context = CheckContext(model, source, recording.module, inputs, options, module_options, recording.trace)
    if module_options.ablation and measure is not None:
        context = replace(context, trace=run_ablation(context, measure, observer))
    found = run_checks(context, observer)
    others = {name: with_plain_texts(other) for name, other in found.others.items()}
    return replace(recording, trace=with_plain_texts(found.trace), others=others)


def _recorded_package(
    model: torch.nn.Module,
    inputs: Inputs | None,
    options: AOTInductorOptions,
    module_options: ModuleOptions,
    measure: Measure | None,
    observer: RecordingObserver,
) -> Recording:
    from freeze_engine.backends.inductor.record_package import record_package

    if inputs is None:
        raise FreezerError("backend='aotinductor' needs inputs: torch exports a module by calling it; pass some")
    if module_options.checks:
        raise FreezerError("checks look into a frozen module, and a package is compiled code: use backend='inductor'")
    made = record_package(model, inputs, options, module_options, measure, observer)
    return Recording(made.module, with_plain_texts(made.trace), made.live)
