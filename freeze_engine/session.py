"""`record()` and `capture()`: from a model, or from the user's own code, to traces."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from freeze_engine.errors import FreezerError
from freeze_engine.inputs import Inputs
from freeze_engine.options import Measure, Progress, RecordOptions, TorchScriptOptions
from freeze_engine.trace import AliasAnalysis, Trace

if TYPE_CHECKING:
    import torch

    from freeze_engine.backends.torchscript.build import LiveStep
    from freeze_engine.backends.torchscript.capture import FreezeCapture

_DEFAULT_MEASURE = Measure()


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
    live: Mapping[int, LiveStep] = field(repr=False)

    def aliases(self, step: int) -> AliasAnalysis | None:
        """Runs torch's alias analysis on the graph of a step.

        Args:
            step: index of the step.

        Returns:
            Alias sets and writes; ``None`` where the trace has none and the graph cannot be run.

        Raises:
            FreezerError: there is no such step.
        """
        from freeze_engine.backends.torchscript.aliases import alias_analysis
        from freeze_engine.backends.torchscript.rebuild import without_dead_reads

        if not 0 <= step < len(self.trace.steps):
            raise FreezerError(f"there is no step {step}: the trace has steps 0 to {len(self.trace.steps) - 1}")
        recorded = self.trace.steps[step]
        if recorded.aliases is not None or step not in self.live:
            return recorded.aliases
        return alias_analysis(self.live[step].graph, without_dead_reads(recorded.graph))


class Captured:
    """The freezes that a ``with capture()`` block saw."""

    def __init__(self, capture: FreezeCapture) -> None:
        self._capture = capture
        self._built: dict[tuple[int, int, bool], Trace] = {}

    @property
    def traces(self) -> tuple[Trace, ...]:
        """One trace per freeze, in the order they began.

        A trace is put together when it is first asked for, so that the capture itself costs next to nothing; until
        then the modules are kept alive.
        """
        return tuple(self._trace(number) for number in range(len(self._capture.freezes)))

    def _trace(self, number: int) -> Trace:
        from freeze_engine.backends.torchscript.recording import trace_of

        freeze = self._capture.freezes[number]
        # A later optimize_for_inference adds steps to a freeze whose trace may have been read before.
        state = (number, len(freeze.steps), freeze.failure is None)
        if state not in self._built:
            self._built[state] = trace_of(freeze)
        return self._built[state]


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
    from freeze_engine.backends.torchscript.capture import capturing

    with capturing() as freezes:
        captured = Captured(freezes)
        freezes.settle = lambda: captured.traces
        yield captured


def record(
    model: torch.nn.Module | str | Path,
    inputs: Inputs | Sequence[Any] | torch.Tensor | None = None,
    *,
    backend: Literal["torchscript"] = "torchscript",
    options: TorchScriptOptions | None = None,
    measure: Measure | None = _DEFAULT_MEASURE,
    via: Literal["script", "trace"] | None = None,
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
        via: how an `nn.Module` gets into TorchScript; by default scripted, unless the spec needs tracing.
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
    from freeze_engine.backends.torchscript.recording import record_module
    from freeze_engine.backends.torchscript.watcher import Watcher, silent
    from freeze_engine.models import load_model

    if backend != "torchscript":
        raise FreezerError(f"backend={backend!r} is not known; this version records 'torchscript'")
    given = _as_inputs(inputs)
    spec = repr(str(model)) if isinstance(model, (str, Path)) else name or type(model).__name__
    asked_via = via
    if isinstance(model, (str, Path)):
        loaded = load_model(str(model), map_location=map_location)
        model, given, name, via = loaded.module, given or loaded.inputs, name or loaded.name, via or loaded.via
        options = options or TorchScriptOptions()
        options = replace(options, preserved_attrs=options.preserved_attrs or loaded.preserved_attrs)
    options = options or TorchScriptOptions()
    how = RecordOptions(via or "script", tuple(check_inputs), name, call or call_text(spec, options, asked_via))
    frozen = record_module(model, given, options, how, measure, Watcher(progress or silent))
    return Recording(frozen.module, frozen.trace, frozen.live)


def call_text(model: str, options: TorchScriptOptions, via: str | None) -> str:
    """Writes the call of `record` as Python, what is as by default left out.

    Args:
        model: its first argument, as Python.
        options, via: its arguments of these names.
    """
    changed = [
        f"{each.name}={value!r}" for each in fields(options) if (value := getattr(options, each.name)) != each.default
    ]
    parts = [model, "inputs"]
    parts += [f"options=fe.TorchScriptOptions({', '.join(changed)})"] if changed else []
    parts += [f"via={via!r}"] if via else []
    return f"fe.record({', '.join(parts)})"


def _as_inputs(inputs: Inputs | Sequence[Any] | torch.Tensor | None) -> Inputs | None:
    if inputs is None or isinstance(inputs, Inputs):
        return inputs
    if isinstance(inputs, (tuple, list)):
        return Inputs(tuple(inputs))
    if hasattr(inputs, "untyped_storage"):
        return Inputs((inputs,))
    raise FreezerError(f"inputs is a {type(inputs).__name__}: pass a tuple of arguments, fe.Inputs, or a tensor")
