"""From a model, or from what a capture kept, to traces."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import torch

from freeze_engine.backends.environment import environment
from freeze_engine.backends.inductor import private
from freeze_engine.backends.inductor.build import Build
from freeze_engine.backends.inductor.capture import CompileCapture, capturing
from freeze_engine.backends.inductor.constants import Constants
from freeze_engine.backends.inductor.executable import executable
from freeze_engine.backends.inductor.inventory import input_spec
from freeze_engine.backends.inductor.options import InductorOptions
from freeze_engine.backends.inductor.raw import RawCompile
from freeze_engine.backends.inductor.rows import RawGraph
from freeze_engine.errors import FreezerError
from freeze_engine.inputs import Inputs
from freeze_engine.options import Measure, Progress, RecordOptions
from freeze_engine.recorder import Recorder
from freeze_engine.trace import InputSpec, Trace

_ATTACHED = "freezer_traces"


@dataclass(frozen=True, slots=True)
class LiveGraphs:
    """The graphs of one trace that can be run.

    Attributes:
        graphs: by step index.
        constants: what they read; folded ones that torch has let go of are computed again when a graph is run.
        arguments: the real inputs of the graph as it came, parameters first; ``None`` where they are gone.
        preserved: positions in ``arguments`` that are inputs still after parameters were inlined.
        inlining: index of the step that inlined them.
    """

    graphs: Mapping[int, RawGraph] = field(repr=False)
    constants: Constants = field(repr=False)
    arguments: tuple[Any, ...] | None = field(repr=False)
    preserved: tuple[int, ...]
    inlining: int | None

    def module(self, step: int) -> torch.fx.GraphModule:
        """Returns the graph of a step as a module; it shares the recorded constants."""
        return executable(self.graphs[step], self.constants)

    def inputs(self, step: int) -> tuple[Any, ...] | None:
        """Returns what to call `module` of a step with, ``None`` where the tensors are gone."""
        if self.arguments is None:
            return None
        if self.inlining is None or step < self.inlining:
            return self.arguments
        return tuple(self.arguments[position] for position in self.preserved)


@dataclass(frozen=True, slots=True)
class Compiled:
    """A recorded compile.

    Attributes:
        module: what ``torch.compile`` returned, called once.
        traces: one for each graph, in the order they were compiled.
        live: for each trace, the graphs that can be run.
    """

    module: Any
    traces: tuple[Trace, ...]
    live: tuple[LiveGraphs, ...]


class CapturedCompiles:
    """The compiles that a ``with capture_inductor()`` block saw."""

    def __init__(self, capture: CompileCapture) -> None:
        self._capture = capture
        self._built: dict[int, tuple[Trace, LiveGraphs]] = {}

    def traces(self) -> tuple[Trace, ...]:
        """Returns one trace for each graph that Inductor froze, in order; each is put together when first asked for."""
        return tuple(trace for trace, _ in self._all())

    def live(self) -> tuple[LiveGraphs, ...]:
        """Returns, for each trace, the graphs that can be run."""
        return tuple(live for _, live in self._all())

    def _all(self) -> Iterator[tuple[Trace, LiveGraphs]]:
        for number, compiled in enumerate(self._capture.compiles):
            if number not in self._built:
                self._built[number] = trace_of(compiled, _call_text(compiled))
            yield self._built[number]


@contextlib.contextmanager
def capture_inductor() -> Iterator[CapturedCompiles]:
    """Records every graph that Inductor freezes in the block, the user's code unchanged.

    Freezing happens where ``torch._inductor.config.freezing`` is on and gradients are off; a compile happens when a
    compiled function is called, so that call belongs into the block.

    Yields:
        The compiles seen so far.

    Raises:
        UnsupportedTorchError: this torch lacks a private name that recording needs.
    """
    with capturing() as capture:
        yield CapturedCompiles(capture)


def record_module(
    model: torch.nn.Module,
    inputs: Inputs,
    options: InductorOptions,
    how: RecordOptions,
    measure: Measure | None,
    progress: Progress,
) -> Compiled:
    """Compiles a module with Inductor freezing, calls it once, and records it.

    Args:
        model: in eval mode.
        inputs: what to call it with.
        options: how to compile.
        how: what to call the model in the trace.
        measure: whether the inputs are kept, to measure the steps with; ``None`` to record only.
        progress: told how far it is.

    Raises:
        FreezerError: Inductor froze no graph.
        BaseException: whatever compiling or running raises, unchanged; `partial_traces` has what was recorded by then.
    """
    progress("compiling", 0, 2)
    with capturing(model, keep_inputs=measure is not None) as capture:
        try:
            with torch.no_grad(), private.inductor_config().patch(settings(options)):
                compiled = torch.compile(model, mode=options.mode, dynamic=options.dynamic, fullgraph=options.fullgraph)
                compiled(*inputs.args, **inputs.kwargs)
        except BaseException as error:
            error.__dict__[_ATTACHED] = tuple(_built(capture, how, inputs, options))
            raise
    if not capture.compiles:
        raise FreezerError(
            f"Inductor froze no graph of {type(model).__name__}: if this module was compiled before, call "
            "torch.compiler.reset() first; a function that Dynamo cannot trace at all has nothing to freeze"
        )
    progress("reading what was recorded", 1, 2)
    built = [trace_of(each, how.call or _call_text(each), how.name, inputs, options) for each in capture.compiles]
    return Compiled(compiled, tuple(trace for trace, _ in built), tuple(live for _, live in built))


def partial_traces(error: BaseException) -> tuple[Trace, ...]:
    """Returns the traces up to the failure for an exception that `record_module` let through."""
    found = error.__dict__.get(_ATTACHED, ())
    return tuple(each for each in found if isinstance(each, Trace))


def settings(options: InductorOptions) -> dict[str, Any]:
    """Returns what the options are in ``torch._inductor.config``."""
    found: dict[str, Any] = {"freezing": True}
    if options.discard_parameters:
        found["freezing_discard_parameters"] = True
    if options.max_autotune is not None:
        found["max_autotune"] = options.max_autotune
    if options.force_disable_caches:
        found["force_disable_caches"] = True
    return found


def trace_of(
    compiled: RawCompile,
    call: str,
    name: str | None = None,
    inputs: Inputs | None = None,
    options: InductorOptions | None = None,
) -> tuple[Trace, LiveGraphs]:
    """Makes the trace of a compile that a capture saw, and gives access to its graphs."""
    recorder = Recorder(
        _name(compiled, name),
        "inductor",
        call,
        environment(),
        tuple(_options(compiled, options)),
        tuple(_specs(compiled, inputs)),
    )
    build = Build(compiled, recorder)
    build.run()
    inlining = next((step.index for step in recorder.steps if step.name == "replace_params_with_constants"), None)
    arguments = tuple(each.value() for each in compiled.inputs)
    whole = None if any(value is None for value in arguments) else arguments
    live = LiveGraphs(build.live, build.constants, whole, compiled.preserved or (), inlining)
    return recorder.finish(compiled.duration_ns, compiled.created), live


def _built(capture: CompileCapture, how: RecordOptions, inputs: Inputs, options: InductorOptions) -> Iterator[Trace]:
    for compiled in capture.compiles:
        yield trace_of(compiled, how.call or _call_text(compiled), how.name, inputs, options)[0]


def _name(compiled: RawCompile, name: str | None) -> str:
    """Names a trace; a graph other than the first of the function also by Dynamo's name of its compile."""
    name = name or compiled.model
    return name if compiled.compile_id in (None, "0/0") else f"{name} [{compiled.compile_id}]"


def _call_text(compiled: RawCompile) -> str:
    on = [key for key in ("freezing", "freezing_discard_parameters") if compiled.settings.get(key)]
    patch = ", ".join(f"{key}=True" for key in on) or "freezing=True"
    return f"torch.compile({compiled.model})  # torch._inductor.config.patch({patch})"


def _options(compiled: RawCompile, options: InductorOptions | None) -> Iterator[tuple[str, str]]:
    found = {key: repr(value) for key, value in compiled.settings.items()}
    found |= {"compile_id": str(compiled.compile_id), "graph_id": str(compiled.graph_id)}
    if options is not None:
        found |= {
            each.name: repr(value) for each in fields(options) if (value := getattr(options, each.name)) != each.default
        }
    yield from sorted(found.items())


def _specs(compiled: RawCompile, inputs: Inputs | None) -> Iterator[InputSpec]:
    if inputs is None:
        yield from (each.spec for each in compiled.inputs if not each.paths)
        return
    for name, value in (*((str(index), value) for index, value in enumerate(inputs.args)), *inputs.kwargs.items()):
        yield input_spec(name, value)
