"""`record()` and `capture()`: from a model, or from the user's own code, to traces."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal

import torch

from freeze_engine.backends.environment import environment
from freeze_engine.backends.torchscript.aliases import alias_analysis
from freeze_engine.backends.torchscript.attributes import module_attributes
from freeze_engine.backends.torchscript.build import Build, LiveStep
from freeze_engine.backends.torchscript.capture import FreezeCapture, capturing
from freeze_engine.backends.torchscript.front_door import Via, scripted
from freeze_engine.backends.torchscript.measuring import Subject, measure_steps
from freeze_engine.backends.torchscript.raw import RawFreeze
from freeze_engine.errors import FreezerError
from freeze_engine.inputs import Inputs
from freeze_engine.models import load_model
from freeze_engine.options import Measure, Progress, TorchScriptOptions
from freeze_engine.recorder import Recorder
from freeze_engine.trace import AliasAnalysis, AttributeFate, InputSpec, Trace

_PARTIAL = "freezer_trace"


@dataclass(frozen=True, slots=True)
class Recording:
    """A freeze that was recorded.

    Attributes:
        module: what torch returned, from this very run.
        trace: the recording.
        live: the graphs of the steps that can be run, by step index.
    """

    module: torch.jit.ScriptModule
    trace: Trace
    live: dict[int, LiveStep]

    def aliases(self, step: int) -> AliasAnalysis | None:
        """Runs torch's alias analysis on the graph of a step.

        Args:
            step: index of the step.

        Returns:
            Alias sets and writes; ``None`` where the trace has none and the graph cannot be run (inside
            ``_freeze_module`` only texts are to be had).

        Raises:
            FreezerError: there is no such step.
        """
        if not 0 <= step < len(self.trace.steps):
            raise FreezerError(f"there is no step {step}: the trace has steps 0 to {len(self.trace.steps) - 1}")
        recorded = self.trace.steps[step]
        if recorded.aliases is not None or step not in self.live:
            return recorded.aliases
        return alias_analysis(self.live[step].graph, recorded.graph)


class Captured:
    """The freezes that a ``with capture()`` block saw."""

    def __init__(self, freezes: FreezeCapture) -> None:
        self._freezes = freezes
        self._built: dict[int, Trace] = {}

    @property
    def traces(self) -> tuple[Trace, ...]:
        """One trace per freeze, in the order they began.

        A trace is put together when it is first asked for after its freeze has gone on, so that the capture itself
        costs next to nothing; until then the modules are kept alive.
        """
        return tuple(self._trace(freeze, number) for number, freeze in enumerate(self._freezes.freezes))

    def _trace(self, freeze: RawFreeze, number: int) -> Trace:
        # optimize_for_inference may still add steps to a freeze whose trace was read before.
        key = hash((number, len(freeze.steps), freeze.failure is None))
        if key not in self._built:
            recorder = Recorder(_model_name(freeze), "torchscript", freeze.call, environment(), _options(freeze))
            Build(freeze, recorder).run()
            self._built[key] = recorder.finish(freeze.duration_ns, _now())
        return self._built[key]


@contextlib.contextmanager
def capture() -> Iterator[Captured]:
    """Records every freeze that the code in the block does, unchanged.

    ``torch.jit.freeze``, ``torch.jit.run_frozen_optimizations`` and ``torch.jit.optimize_for_inference`` are covered,
    also through references taken before. What they return and raise is torch's own. A later pass over a module that
    was frozen in the same block continues its trace. Captures nest, each seeing what happens inside it; a freeze in
    another thread belongs to the captures of that thread.

    Yields:
        The freezes seen so far.

    Raises:
        UnsupportedTorchError: this torch lacks a private name that recording needs.
    """
    with capturing() as freezes:
        yield Captured(freezes)


def record(
    model: torch.nn.Module | str | Path,
    inputs: Inputs | Sequence[Any] | torch.Tensor | None = None,
    *,
    backend: Literal["torchscript"] = "torchscript",
    options: TorchScriptOptions | None = None,
    measure: Measure | None = Measure(),  # noqa: B008 - frozen
    via: Via = "script",
    check_inputs: Sequence[tuple[object, ...]] = (),
    map_location: str | None = None,
    progress: Progress | None = None,
    name: str | None = None,
    call: str | None = None,
) -> Recording:
    """Freezes a model and records what every pass does.

    Args:
        model: an `nn.Module` in eval mode, a ScriptModule, or a MODEL spec (a file, ``package.module:factory``,
            ``example:NAME``).
        inputs: what to measure on, and to trace with: a tuple of arguments, `Inputs`, or a single tensor. Without
            inputs (and where the spec brings none) nothing is measured.
        backend: which freezing.
        options: how to freeze.
        measure: what to measure, ``None`` to record only.
        via: how an `nn.Module` gets into TorchScript.
        check_inputs: with ``via="trace"``, further inputs to trace with; a difference of graphs is a notice.
        map_location: device to load a TorchScript file to.
        progress: told how far it is.
        name: the model's name in the trace.
        call: the call or command to show in the trace.

    Returns:
        The frozen module and its trace.

    Raises:
        FreezerError: the model or the inputs cannot be used.
        Exception: whatever torch raises, unchanged; `partial_trace` has the trace up to there.
    """
    if backend != "torchscript":
        raise FreezerError(f"backend={backend!r} is not known; this version records 'torchscript'")
    options = options or TorchScriptOptions()
    told = progress or (lambda message, done, total: None)
    if isinstance(model, (str, Path)):
        loaded = load_model(str(model), map_location=map_location)
        model, inputs, name = loaded.module, inputs if inputs is not None else loaded.inputs, name or loaded.name
        via = loaded.via if via == "script" else via
    given = _as_inputs(inputs)
    told("scripting", 0, 3)
    ready = scripted(model, given, via, check_inputs)
    told("freezing", 1, 3)
    with capturing() as freezes:
        try:
            module = _freeze(ready.module, options)
        except Exception as error:
            _attach_partial(error, freezes, name or type(model).__name__, call, given)
            raise
    told("reading what was recorded", 2, 3)
    freeze = freezes.freezes[0]
    recorder = _recorder(freeze, name or _name_of(model), call, given)
    recorder.notices += ready.notices
    build = Build(freeze, recorder)
    build.run()
    if measure is not None and given is not None:
        mutable = _mutable(freeze, recorder.attributes)
        subject = Subject(model, ready.module, given, mutable, build.live)
        measure_steps(recorder, subject, measure, progress)
    return Recording(module, recorder.finish(freeze.duration_ns, _now()), build.live)


def partial_trace(error: BaseException) -> Trace | None:
    """Returns the trace up to the failure for an exception that `record` let through, or ``None``."""
    found = error.__dict__.get(_PARTIAL)
    return found if isinstance(found, Trace) else None


def _freeze(module: torch.jit.ScriptModule, options: TorchScriptOptions) -> torch.jit.ScriptModule:
    preserved = list(dict.fromkeys((*options.preserved_attrs, *options.other_methods)))
    frozen = torch.jit.freeze(module, preserved, options.optimize_numerics)
    if options.optimize_for_inference:
        frozen = torch.jit.optimize_for_inference(frozen, list(options.other_methods))
    return frozen


def _recorder(freeze: RawFreeze, name: str, call: str | None, inputs: Inputs | None) -> Recorder:
    specs = tuple(_specs(inputs)) if inputs is not None else ()
    return Recorder(name, "torchscript", call or freeze.call, environment(), _options(freeze), specs)


def _attach_partial(
    error: Exception, freezes: FreezeCapture, name: str, call: str | None, inputs: Inputs | None
) -> None:
    if not freezes.freezes:
        return
    freeze = freezes.freezes[0]
    recorder = _recorder(freeze, name, call, inputs)
    Build(freeze, recorder).run()
    error.__dict__[_PARTIAL] = recorder.finish(freeze.duration_ns, _now())


def _mutable(freeze: RawFreeze, attributes: Sequence[AttributeFate]) -> tuple[str, ...]:
    """Whatever a method writes is preserved, so only these need to be put back between runs."""
    kept = module_attributes(freeze.result)
    return tuple(fate.path for fate in attributes if fate.path in kept and fate.kind != "submodule")


def _as_inputs(inputs: Inputs | Sequence[Any] | torch.Tensor | None) -> Inputs | None:
    if inputs is None or isinstance(inputs, Inputs):
        return inputs
    if isinstance(inputs, torch.Tensor):
        return Inputs((inputs,))
    if isinstance(inputs, (tuple, list)):
        return Inputs(tuple(inputs))
    raise FreezerError(f"inputs is a {type(inputs).__name__}: pass a tuple of arguments, fe.Inputs, or a tensor")


def _specs(inputs: Inputs) -> Iterator[InputSpec]:
    named = [*((str(index), value) for index, value in enumerate(inputs.args)), *inputs.kwargs.items()]
    for name, value in named:
        if isinstance(value, torch.Tensor):
            dtype = str(value.dtype).removeprefix("torch.")
            yield InputSpec(name, "Tensor", tuple(value.shape), dtype, str(value.device))
        else:
            yield InputSpec(name, type(value).__name__)


def _options(freeze: RawFreeze) -> tuple[tuple[str, str], ...]:
    return tuple((name, repr(value)) for name, value in sorted(freeze.options.items()))


def _name_of(model: torch.nn.Module) -> str:
    return model.original_name if isinstance(model, torch.jit.ScriptModule) else type(model).__name__


def _model_name(freeze: RawFreeze) -> str:
    if freeze.source is None:
        return "graph"
    return str(freeze.source._type().qualified_name()).rpartition(".")[2]


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")

