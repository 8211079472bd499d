"""Makes traces of a model's compile, and of the compiles in a capture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from freeze_engine.backends.common.exported_programs import check_evaluates
from freeze_engine.backends.common.observer import PHASES, RecordingObserver
from freeze_engine.backends.common.partial_trace import attach_trace, leaving_trace
from freeze_engine.backends.common.unread import unread
from freeze_engine.backends.inductor.capture.capture import capturing
from freeze_engine.backends.inductor.capture.compile import compiled_once
from freeze_engine.backends.inductor.capture.compile_capture import CompileCapture
from freeze_engine.backends.inductor.capture.disabled_passes import check_disabled_passes, disabling
from freeze_engine.backends.inductor.capture.raw import RawCompile
from freeze_engine.backends.inductor.graph.live import LiveGraph
from freeze_engine.backends.inductor.live_trace import LiveTraceObserver
from freeze_engine.backends.inductor.method_builder import broken
from freeze_engine.backends.inductor.replay.measure import RunnableCompile, measured
from freeze_engine.backends.inductor.replay.module_state import InputState, State
from freeze_engine.backends.inductor.trace_builder import RecordingInfo, TraceBuilder, head_of
from freeze_engine.backends.torchscript.capture.scripting import is_frozen
from freeze_engine.errors import FreezerError
from freeze_engine.measure.peak_memory import peak_memory
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import InductorOptions, Measure, ModuleOptions
from freeze_engine.tensors.module_copy import replica
from freeze_engine.trace import MemoryLedger, Notice, Trace

_UNSAVED = "What torch.compile makes lives in this process only: there is no file of it."


@dataclass(frozen=True, slots=True)
class Compiled:
    """A recorded compile.

    Attributes:
        module: what ``torch.compile`` returned, called once.
        trace: the recording.
        live: the steps that can be run, by index.
    """

    module: Any
    trace: Trace
    live: dict[int, LiveGraph]


def record_module(
    model: torch.nn.Module,
    inputs: Inputs,
    options: InductorOptions,
    module_options: ModuleOptions,
    measure: Measure | None,
    observer: RecordingObserver,
) -> Compiled:
    """Compiles a module with Inductor freezing by calling it once, and records it.

    Writes of that call, to the module or its inputs, are undone.

    Args:
        model: in eval mode.
        inputs: what to call it with.
        options: how to compile.
        module_options: its name and call in the trace.
        measure: what to measure, ``None`` to record only.
        observer: receives the events of the recording.

    Raises:
        FreezerError: Inductor froze no graph, or the module cannot be compiled.
        BaseException: whatever compiling, running or measuring raises, unchanged; once a compile has begun,
            `freeze_engine.partial_trace` has what was recorded by then.
    """
    check_compilable(model)
    check_disabled_passes(options.disabled_passes)
    info = RecordingInfo(module_options.name or type(model).__name__, module_options.call or "", options, inputs)
    observer.progress("compiling", 0, PHASES)
    # If the module gives up its parameters, a copy must stand for it.
    reference = replica(model) if measure is not None and options.discard_parameters else model
    # Restoring anything would give the parameters back.
    state, given = State(model, frozenset() if options.discard_parameters else None), InputState(inputs)
    live_trace = LiveTraceObserver(observer, info)
    live_trace.begins()
    with capturing(model, measure is not None, live_trace) as seen:
        try:
            weighed = measure is not None and measure.memory
            with disabling(options.disabled_passes) as disabled, peak_memory(weighed) as peak:
                compiled = compiled_once(model, inputs, options)
        except BaseException as error:
            if seen.compiles:
                attach_trace(error, live_trace.broken_off(seen.compiles, error))
            raise
        finally:
            written = state.changed()
            state.restore()
            given.restore()
    _check_recorded(model, seen)
    written |= {path for each in seen.compiles for held in each.inputs if held.mutated for path in held.paths}
    observer.progress("reading what was recorded", 2, PHASES)
    disabled.check_met()
    trace, live = live_trace.finished(seen.compiles)
    if measure is not None:
        if measure.memory:
            trace = replace(trace, memory=MemoryLedger(peak.nbytes, message=_UNSAVED))
        observer.trace_built(trace)
        subject = RunnableCompile(
            reference, model, compiled, inputs, options, module_options.via, live, written, seen.compiles
        )
        with leaving_trace(lambda: trace):
            trace = measured(trace, subject, measure, observer.progress)
    return Compiled(compiled, trace, {index: graph for each in live for index, graph in each.items()})


def _check_recorded(model: torch.nn.Module, seen: CompileCapture) -> None:
    """Checks that at least one graph was frozen and read.

    Raises:
        FreezerError: a tensor of the model cannot be read, or no graph was frozen.
    """
    if seen.unread:
        raise FreezerError(
            f"{type(model).__name__} was compiled, but a tensor of it cannot be read ({seen.unread[0]}): the class of "
            "the tensor must answer detach, shape, dtype, device and __tensor_flatten__"
        )
    if not seen.compiles:
        raise FreezerError(_nothing_frozen(model))


def trace_of(
    compiles: Sequence[RawCompile], info: RecordingInfo | None = None
) -> tuple[Trace, tuple[dict[int, LiveGraph], ...]]:
    """Makes the trace of the graphs that were compiled for one callable, and gives access to them.

    Args:
        compiles: their raw data, in order.
        info: the caller's facts about the recording.

    Returns:
        The trace, and for each graph its steps that can be run, by their index in the trace.
    """
    builder = TraceBuilder(info)
    for compiled in compiles:
        builder.end(compiled)
    live = builder.settle()
    return builder.trace(), live


class CallableTrace:
    """Makes the trace of the graphs that were compiled for one callable, one after another.

    Where a graph cannot be read, the trace has what could be, and a notice says why.
    """

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._builder = TraceBuilder()
        self._unread: dict[RawCompile, Notice] = {}
        self._compiles: list[RawCompile] = []
        self._trace: Trace | None = None

    def trace(self, compiles: Sequence[RawCompile], settled: bool) -> Trace:
        """Returns the trace of the graphs so far.

        Args:
            compiles: their raw data, in order: those of the last call, and perhaps more. They must have ended.
            settled: whether no compile runs any more, so that it shows which steps can be run.
        """
        if settled and 0 < len(self._compiles) < len(compiles):
            # The environment is read when a graph is; those that are read long after each other would seem to differ.
            self._begin()
        for number, compiled in enumerate(compiles):
            if number < len(self._compiles) and compiled.package is None:
                continue
            if compiled not in self._compiles:
                self._compiles.append(compiled)
            self._trace = None
            try:
                self._builder.end(compiled)
            except Exception as error:  # noqa: BLE001 (one graph that cannot be read must not cost the others)
                self._unread[compiled] = unread(error)
        if self._trace is None or settled:
            self._trace = self._made(settled)
        return self._trace

    def _made(self, settled: bool) -> Trace:
        notices = tuple(self._unread.values())
        try:
            if settled:
                self._builder.settle()
            trace = self._builder.trace()
        except Exception as error:  # noqa: BLE001 (see above)
            trace, notices = head_of(self._compiles[0]), (unread(error), *notices)
        return replace(trace, notices=(*trace.notices, *notices))


def callables(compiles: Sequence[RawCompile]) -> list[list[RawCompile]]:
    """Groups the graphs of a capture by the callable that they were compiled for, as far as that is known.

    Graphs of one outermost module belong together, also after graph breaks and over several calls. Where there is no
    such module, those of the same code do, and what is compiled right after a graph that ends with a break goes on
    with it. When a name of Dynamo's comes up again, Dynamo was reset, and another callable begins.

    Args:
        compiles: in the order they began.

    Returns:
        One list for each callable, in the order of its first graph.
    """
    found: list[list[RawCompile]] = []
    for number, compiled in enumerate(compiles):
        before = compiles[number - 1] if number else None
        mine = next((group for group in reversed(found) if _belongs(compiled, group, before)), None)
        if mine is None:
            found.append([compiled])
        else:
            mine.append(compiled)
    return found


def _belongs(compiled: RawCompile, group: Sequence[RawCompile], before: RawCompile | None) -> bool:
    if any(other.compile_id == compiled.compile_id for other in group):
        return False
    if compiled.root is not None or group[0].root is not None:
        return compiled.root is group[0].root
    return any(other.frame == compiled.frame for other in group) or (before is group[-1] and bool(broken(group[-1])))


def check_compilable(model: torch.nn.Module) -> None:
    """Checks that Inductor can compile a module, and freeze it.

    Raises:
        FreezerError: it is a ScriptModule, or in training mode.
    """
    if isinstance(model, torch.jit.ScriptModule):
        other = "" if is_frozen(model) else ", or record it with backend='torchscript'"
        raise FreezerError(
            "torch.compile takes no ScriptModule, and TorchScript cannot be turned back into Python: give the module "
            f"it was made from (package.module:factory, an exported program){other}"
        )
    check_evaluates(model)


def _nothing_frozen(model: torch.nn.Module) -> str:
    if any(isinstance(part, torch.nn.RNNBase) for part in model.modules()):
        return (
            f"Inductor froze no graph of {type(model).__name__}: it has a recurrent layer, and Dynamo leaves code that "
            "calls one to eager Python; set torch._dynamo.config.allow_rnn = True first (a MODEL in its own file), and "
            "Dynamo traces the layer, weights included"
        )
    return (
        f"Inductor froze no graph of {type(model).__name__}: Dynamo found nothing in it that it can trace, or its "
        "limit of recompilations is reached (torch.compiler.reset() forgets them); TORCH_LOGS=dynamo shows more"
    )
