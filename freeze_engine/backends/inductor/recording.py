"""From a model, or from what a capture kept, to a trace."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

from freeze_engine.backends.environment import environment
from freeze_engine.backends.failures import attach_trace
from freeze_engine.backends.inductor.build import FORWARD, Build, broken
from freeze_engine.backends.inductor.capture import capturing
from freeze_engine.backends.inductor.compiling import compiled_once
from freeze_engine.backends.inductor.inventory import input_spec
from freeze_engine.backends.inductor.leaving_out import check_without, leaving_out
from freeze_engine.backends.inductor.live import LiveGraph
from freeze_engine.backends.inductor.measuring import Subject, measured
from freeze_engine.backends.inductor.merging import Part, merged
from freeze_engine.backends.inductor.raw import RawCompile
from freeze_engine.backends.inductor.state import InputState, State
from freeze_engine.backends.pass_names import LEFT_OUT, left_out_text
from freeze_engine.backends.torchscript.watcher import PHASES, Watcher
from freeze_engine.errors import FreezerError
from freeze_engine.inputs import Inputs
from freeze_engine.measure.memory import StorageNames
from freeze_engine.measure.peak import peak_memory
from freeze_engine.options import InductorOptions, Measure, RecordOptions
from freeze_engine.recorder import Recorder
from freeze_engine.trace import InputSpec, MemoryLedger, Notice, Trace

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


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of a recording from who asked for it.

    Attributes:
        name: the model's name.
        call: the call or command that made it.
        options: how to compile.
        inputs: what the module was called with.
    """

    name: str
    call: str
    options: InductorOptions
    inputs: Inputs


def record_module(
    model: torch.nn.Module,
    inputs: Inputs,
    options: InductorOptions,
    how: RecordOptions,
    measure: Measure | None,
    watcher: Watcher,
) -> Compiled:
    """Compiles a module with Inductor freezing by calling it once, and records it.

    What that call writes, in the module or its inputs, is put back.

    Args:
        model: in eval mode.
        inputs: what to call it with.
        options: how to compile.
        how: what to call it in the trace.
        measure: what to measure, ``None`` to record only.
        watcher: told how it goes.

    Raises:
        FreezerError: Inductor froze no graph, or the module cannot be compiled.
        BaseException: whatever compiling, running or measuring raises, unchanged; once a compile has begun,
            `freeze_engine.partial_trace` has what was recorded by then.
    """
    _check(model)
    check_without(options.without)
    told = Told(how.name or type(model).__name__, how.call or "", options, inputs)
    watcher.progress("compiling", 0, PHASES)
    # Where the module gives up its parameters, a copy has to stand for it.
    reference = copy.deepcopy(model) if measure is not None and options.discard_parameters else model
    # Putting anything back would undo the giving up.
    state, given = State(model, frozenset() if options.discard_parameters else None), InputState(inputs)
    with capturing(
        model, measure is not None, lambda stage: watcher.progress(f"compiling: {stage}", 1, PHASES)
    ) as seen:
        try:
            weighed = measure is not None and measure.memory
            with leaving_out(options.without) as leaving, peak_memory(weighed) as peak:
                compiled = compiled_once(model, inputs, options)
        except BaseException as error:
            if seen.compiles:
                attach_trace(error, trace_of(seen.compiles, told)[0])
            raise
        finally:
            written = state.changed()
            state.restore()
            given.restore()
    if not seen.compiles:
        raise FreezerError(_nothing_frozen(model))
    written |= {path for each in seen.compiles for held in each.inputs if held.mutated for path in held.paths}
    watcher.progress("reading what was recorded", 2, PHASES)
    leaving.check_met()
    trace, live = trace_of(seen.compiles, told)
    if options.without:
        text = left_out_text(options.without, "torch.compile with freezing")
        trace = replace(trace, notices=(*trace.notices, Notice(LEFT_OUT, text)))
    for step in trace.steps:
        watcher.step_added(step)
    if measure is not None:
        if measure.memory:
            trace = replace(trace, memory=MemoryLedger(peak.nbytes, message=_UNSAVED))
        watcher.trace_built(trace)
        subject = Subject(reference, model, compiled, inputs, options, how.via, live, written, seen.compiles)
        try:
            trace = measured(trace, subject, measure, watcher.progress)
        except BaseException as error:
            attach_trace(error, trace)
            raise
    return Compiled(compiled, trace, {index: graph for each in live for index, graph in each.items()})


def trace_of(
    compiles: Sequence[RawCompile], told: Told | None = None
) -> tuple[Trace, tuple[dict[int, LiveGraph], ...]]:
    """Makes the trace of the graphs that were compiled for one callable, and gives access to them.

    Args:
        compiles: what a capture kept of them, in order.
        told: what is known from who asked for the recording.

    Returns:
        The trace, and for each graph its steps that can be run, by their index in the trace.
    """
    storages = StorageNames()
    parts, live, start = [], [], 0
    for compiled in compiles:
        recorder = _recorder(compiled, told)
        build = Build(compiled, recorder, storages)
        build.run()
        trace = recorder.finish(compiled.duration_ns, compiled.created)
        parts.append(Part(trace, _function(compiled), compiled.frame, broken(compiled)))
        live.append({start + index: graph for index, graph in _live(compiled, build, trace).items()})
        start += len(trace.steps)
    return merged(parts), tuple(live)


def callables(compiles: Sequence[RawCompile]) -> list[list[RawCompile]]:
    """Sorts the graphs that a capture saw by the callable they were compiled for, as far as that can be told.

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


def _check(model: torch.nn.Module) -> None:
    if isinstance(model, torch.jit.ScriptModule):
        raise FreezerError(
            "torch.compile takes no ScriptModule, and TorchScript cannot be turned back into Python: give the module "
            "it was made from (package.module:factory, an exported program), or record it with backend='torchscript'"
        )
    if model.training:
        raise FreezerError(
            f"{type(model).__name__} is in training mode, in which a frozen batch norm or dropout would be wrong: "
            "call .eval() first"
        )


def _nothing_frozen(model: torch.nn.Module) -> str:
    if any(isinstance(part, torch.nn.RNNBase) for part in model.modules()):
        return (
            f"Inductor froze no graph of {type(model).__name__}: it has a recurrent layer, and Dynamo leaves code that "
            "calls one to eager Python; torch._dynamo.config.allow_rnn = True lets it trace them"
        )
    return (
        f"Inductor froze no graph of {type(model).__name__}: Dynamo found nothing in it that it can trace, or its "
        "limit of recompilations is reached (torch.compiler.reset() forgets them); TORCH_LOGS=dynamo tells more"
    )


def _recorder(compiled: RawCompile, told: Told | None) -> Recorder:
    options = {"freezing": True} | _discarded(compiled)
    if told is not None:
        options = {name: value for name, value in asdict(told.options).items() if value not in (None, ())} | options
    passed = (each.spec for each in compiled.inputs if not (each.paths or each.is_size))
    specs = _specs(told.inputs) if told is not None else passed
    return Recorder(
        told.name if told else compiled.model,
        "inductor",
        (told.call if told else "") or _call_text(compiled),
        environment((f"inductor.{name}", str(value)) for name, value in compiled.settings.items()),
        tuple((name, repr(value)) for name, value in sorted(options.items())),
        tuple(specs),
    )


def _discarded(compiled: RawCompile) -> dict[str, Any]:
    return {"discard_parameters": True} if compiled.settings.get("freezing_discard_parameters") else {}


def _function(compiled: RawCompile) -> str:
    """Returns the name of the function that was compiled, where no module says that it is ``forward``."""
    end = compiled.end
    known = compiled.root is None and compiled.model == "graph" and end is not None and not end.broken
    return end.function if known and end is not None and end.function else FORWARD


def _live(compiled: RawCompile, build: Build, trace: Trace) -> dict[int, LiveGraph]:
    """Returns the steps of one graph that can be run."""
    inlining = next((step.index for step in trace.steps if step.name == "replace_params_with_constants"), None)
    values = tuple(each.value() for each in compiled.inputs)
    given = None if any(value is None for value in values) else values
    every = tuple(range(len(values)))
    found = {}
    for index, graph in build.live.items():
        positions = every if inlining is None or index < inlining else compiled.preserved or ()
        found[index] = LiveGraph(graph, build.constants, positions, given)
    return found


def _call_text(compiled: RawCompile) -> str:
    on = [key for key in ("freezing", "freezing_discard_parameters") if compiled.settings.get(key)]
    patch = ", ".join(f"{key}=True" for key in on) or "freezing=True"
    return f"torch.compile({compiled.model})  # torch._inductor.config.patch({patch})"


def _specs(inputs: Inputs) -> Iterator[InputSpec]:
    for name, value in (*((str(index), value) for index, value in enumerate(inputs.args)), *inputs.kwargs.items()):
        yield input_spec(name, value)
