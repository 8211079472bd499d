"""Assembles the graphs compiled for one callable into its trace, during the compile or after it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from freeze_engine.backends.common.disabled_pass_errors import disabled_passes_text
from freeze_engine.backends.common.environment import environment
from freeze_engine.backends.inductor.capture.raw import RawCompile
from freeze_engine.backends.inductor.graph.graph_inputs import input_spec
from freeze_engine.backends.inductor.graph.live import LiveGraph
from freeze_engine.backends.inductor.merge_graphs import Part, merged, method_names
from freeze_engine.backends.inductor.method_builder import FORWARD, MethodBuilder, broken
from freeze_engine.recorder.trace_builder import Recorder
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import AOTInductorOptions, CompileOptions
from freeze_engine.tensors.constants import StorageNames
from freeze_engine.tensors.values import values_are_kept
from freeze_engine.trace import Backend, InputSpec, Notice, Package, PackagedConstant, Trace

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class RecordingInfo:
    """Facts about a recording that its caller provides.

    Attributes:
        name: the model's name.
        call: the call or command that made it.
        options: how to compile.
        inputs: of the module's call.
    """

    name: str
    call: str
    options: CompileOptions
    inputs: Inputs


class TraceBuilder:
    """The trace of the graphs that are compiled for one callable.

    Args:
        info: the caller's facts about the recording.
    """

    def __init__(self, info: RecordingInfo | None = None) -> None:
        self._info = info
        self._storages = StorageNames(keeping_values=values_are_kept())
        self._graphs: dict[RawCompile, _Graph] = {}

    def add(self, compiled: RawCompile) -> None:
        """Adds the new steps of a compile."""
        self._graph(compiled).grow()

    def end(self, compiled: RawCompile) -> None:
        """Adds the rest of a finished compile."""
        self._graph(compiled).end()

    def method_of(self, compiled: RawCompile) -> str:
        """Returns the trace's name of a graph."""
        names = method_names([graph.part for graph in self._graphs.values()])
        return names[list(self._graphs).index(compiled)]

    def trace(self) -> Trace:
        """Returns the trace so far, in which no step is marked executable yet."""
        trace = merged([graph.part for graph in self._graphs.values()])
        if self._info is None or not self._info.options.disabled_passes:
            return trace
        ahead = isinstance(self._info.options, AOTInductorOptions)
        call = "AOTInductor with freezing" if ahead else "torch.compile with freezing"
        text = disabled_passes_text(self._info.options.disabled_passes, call)
        return replace(trace, notices=(*trace.notices, Notice("left_out", text)))

    def settle(self) -> tuple[dict[int, LiveGraph], ...]:
        """Finds the steps that can be run, once every compile has ended.

        Returns:
            For each graph its steps that can be run, by their index in the trace.
        """
        found, start = [], 0
        for graph in self._graphs.values():
            found.append({start + index: live for index, live in graph.settle().items()})
            start += len(graph.part.trace.steps)
        return tuple(found)

    def _graph(self, compiled: RawCompile) -> _Graph:
        if compiled not in self._graphs:
            self._graphs[compiled] = _Graph(compiled, self._info, self._storages)
        return self._graphs[compiled]


class _Graph:
    """One of the graphs.

    Attributes:
        part: its part of the trace.
    """

    def __init__(self, compiled: RawCompile, info: RecordingInfo | None, storages: StorageNames) -> None:
        self._compiled = compiled
        self._recorder = _recorder(compiled, info)
        self._build = MethodBuilder(compiled, self._recorder, storages)
        self._is_ended = False
        self.part = self._part()

    def grow(self) -> None:
        self._build.add_passes()
        self._build.conclude()
        self.part = self._part()

    def end(self) -> None:
        if not self._is_ended:
            self._is_ended = True
            self._build.add_passes()
            self._build.end()
            self.grow()
        elif self._compiled.package is not None:  # its files may have been packaged since
            self.part = self._part()

    def settle(self) -> dict[int, LiveGraph]:
        self._build.settle()
        self.part = self._part()
        return _live(self._compiled, self._build, self.part.trace)

    def _part(self) -> Part:
        trace = self._recorder.finish(self._compiled.duration_ns or None, self._compiled.created)
        trace = replace(trace, package=_package(self._compiled))
        return Part(
            trace, _function(self._compiled), self._compiled.frame, broken(self._compiled), self._compiled.is_resumed
        )


def head(info: RecordingInfo) -> Trace:
    """Returns the trace before there is a graph."""
    specs = tuple(_specs(info.inputs))
    # Inductor's settings are known only after its import, which may crash.
    backend: Backend = "aotinductor" if isinstance(info.options, AOTInductorOptions) else "inductor"
    return Trace(info.name, backend, info.call, _option_rows(info.options), specs, environment(()), ())


def head_of(compiled: RawCompile) -> Trace:
    """Returns the trace of a captured compile without its steps."""
    return _recorder(compiled, None).finish(compiled.duration_ns or None, compiled.created)


def _recorder(compiled: RawCompile, info: RecordingInfo | None) -> Recorder:
    passed = (each.spec for each in compiled.inputs if not (each.paths or each.is_size))
    specs = _specs(info.inputs) if info is not None else passed
    begun = Trace(
        info.name if info else compiled.model,
        "inductor" if compiled.package is None else "aotinductor",
        (info.call if info else "") or _call_text(compiled),
        _option_rows(info.options if info else None, _discarded(compiled) | ({} if info else _asked(compiled))),
        tuple(specs),
        environment((f"inductor.{name}", str(value)) for name, value in compiled.settings.items()),
        (),
    )
    return Recorder(begun)


def _option_rows(options: CompileOptions | None, found: Mapping[str, Any] = _NOTHING) -> tuple[tuple[str, str], ...]:
    """Returns the options as the trace lists them.

    Args:
        options: the requested ones, ``None`` if there are none.
        found: torch's settings, by name.
    """
    asked = {} if options is None else asdict(options)
    given = {name: value for name, value in asked.items() if value not in (None, (), "")}
    given |= {"freezing": True, **found}
    return tuple((name, repr(value)) for name, value in sorted(given.items()))


def _discarded(compiled: RawCompile) -> dict[str, Any]:
    return {"discard_parameters": True} if compiled.settings.get("freezing_discard_parameters") else {}


def _asked(compiled: RawCompile) -> dict[str, Any]:
    """Returns the arguments of the user's call and its options, by name."""
    arguments = {name: value for name, value in compiled.asked.items() if name != "options"}
    return {**arguments, **compiled.asked.get("options", {})}


def _arguments_text(compiled: RawCompile) -> str:
    """Returns the arguments of the user's call after the first, without those that have torch's default."""
    defaults: dict[str, Any] = {"mode": "default", "dynamic": None, "fullgraph": False, "options": {}}
    told = {name: value for name, value in compiled.asked.items() if value != defaults.get(name)}
    return "".join(f", {name}={told[name]!r}" for name in defaults if name in told)


def _package(compiled: RawCompile) -> Package | None:
    found = compiled.package
    if found is None:
        return None
    path = found.path or (found.files[0] if found.files else "")
    return Package(path, found.nbytes, tuple(PackagedConstant(*each) for each in found.constants or ()))


def _function(compiled: RawCompile) -> str:
    """Returns the name of the compiled function if it belongs to no module, else ``forward``."""
    end = compiled.end
    is_function = compiled.root is None and (compiled.is_function or compiled.model == "graph")
    known = is_function and end is not None and not end.broken
    return end.function if known and end is not None and end.function else FORWARD


def _live(compiled: RawCompile, build: MethodBuilder, trace: Trace) -> dict[int, LiveGraph]:
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
    if compiled.package is not None:
        call = "aoti_compile_and_package" if compiled.settings.get("aot_inductor.package") else "aot_compile"
        return f"torch._inductor.{call}({compiled.model})  # torch._inductor.config.patch(freezing=True)"
    if compiled.compile_id is None:
        return f"torch._inductor.compile({compiled.model})  # torch._inductor.config.patch(freezing=True)"
    on = [key for key in ("freezing", "freezing_discard_parameters") if compiled.settings.get(key)]
    patch = ", ".join(f"{key}=True" for key in on) or "freezing=True"
    arguments = f"{compiled.model}{', backend=…' if compiled.has_own_backend else _arguments_text(compiled)}"
    return f"torch.compile({arguments})  # torch._inductor.config.patch({patch})"


def _specs(inputs: Inputs) -> Iterator[InputSpec]:
    for name, value in (*((str(index), value) for index, value in enumerate(inputs.args)), *inputs.kwargs.items()):
        yield input_spec(name, value)
