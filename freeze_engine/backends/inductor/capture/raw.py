"""Raw data that a capture keeps of one compiled graph: as little as possible, read only later."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from freeze_engine.backends.inductor.graph.graph_inputs import GraphInput
from freeze_engine.backends.inductor.graph.model_tensors import ModelAttribute
from freeze_engine.backends.inductor.graph.rows import RawGraph
from freeze_engine.trace import SourceRef


@dataclass(frozen=True, slots=True)
class RawMatch:
    """A pattern that matched, with the nodes that its rewrite made.

    Attributes:
        pattern: torch's name of the pattern, or of the function that rewrites it.
        consumed: names of the matched nodes.
        operators: their operators, in the same order.
        created: names of the nodes made meanwhile.
    """

    pattern: str
    consumed: tuple[str, ...]
    operators: tuple[str, ...]
    created: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RawStep:
    """One pass.

    Attributes:
        stage, name: as in `freeze_engine.trace.Step`.
        graph: the graph after it.
        duration_ns: time of the pass, without the passes inside it that are steps of their own.
        matches: the patterns that matched, in order.
        code: the generated code, where the pass generated any.
        log: further facts about it.
        group: torch's group of patterns that it applied, ``None`` for any other pass.
    """

    stage: str
    name: str
    graph: RawGraph
    duration_ns: int | None
    matches: tuple[RawMatch, ...] = ()
    code: str | None = None
    log: tuple[str, ...] = ()
    group: Any = None


@dataclass(frozen=True, slots=True)
class RawKernel:
    """A call of a kernel, when Inductor wrote it into the generated code.

    Attributes:
        name: as the code calls it.
        buffers: for each buffer that it computes, the fx nodes that torch says went into it, and the one whose result
            it is (``None`` where torch names none).
    """

    name: str
    buffers: tuple[tuple[tuple[Any, ...], Any], ...]


@dataclass(frozen=True, slots=True)
class Autotuning:
    """Kernels that Inductor ran to choose one of them.

    Attributes:
        operator: torch's name of the choice, such as ``addmm``.
        shapes: of its inputs; empty where they are not known.
        times_ms: name and time of each, the fastest first; infinity for one that did not run.
    """

    operator: str
    shapes: str
    times_ms: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class RawFailure:
    """The exception that ended a compile, and the pass it came from."""

    error: BaseException
    stage: str
    name: str


@dataclass(frozen=True, slots=True)
class GraphBreak:
    """The reason why Dynamo ended a graph.

    Attributes:
        reason: Dynamo's words.
        file, line, function: the user's source line; empty and 0 where unknown.
        broken: whether the rest of the function is not in this graph; ``False`` for a graph that ends with a return.
    """

    reason: str
    file: str
    line: int
    function: str
    broken: bool


@dataclass(frozen=True, slots=True)
class Assignment:
    """An attribute that the function assigns, although the compiled code relies on it.

    Attributes:
        path: of the attribute.
        source: the user's line, ``None`` where none is known whose text shows the assignment.
        is_tensor: whether it holds a tensor.
    """

    path: str
    source: SourceRef | None
    is_tensor: bool


@dataclass(slots=True)
class RawPackage:
    """Results of ahead-of-time compilation.

    Attributes:
        constants: name in the code, key, kind and bytes of each constant; ``None`` where they are not known.
        code: the C++ code of the wrapper, which calls the kernels.
        files: those that the compile wrote, as torch returned them.
        path: of the package they were put into; empty if they were not.
        nbytes: of the package, or of the files.
    """

    constants: tuple[tuple[str, str, str, int], ...] | None = None
    code: str | None = None
    files: tuple[str, ...] = ()
    path: str = ""
    nbytes: int = 0


@dataclass(slots=True, eq=False)
class RawCompile:
    """Raw data of one graph that Inductor compiled with freezing on.

    Attributes:
        model: name of the function that was compiled, else of the class of the outermost module that the graph comes
            from.
        root: a weak reference to that module; ``None`` where there is none, or more than one.
        compile_id: Dynamo's name of the compile (``0/1``), ``None`` outside Dynamo.
        graph_id: Inductor's number of the graph.
        settings: ``(name, value)`` of the settings that control freezing.
        has_own_backend: whether Dynamo gave the graph to a backend of the user's, which called Inductor.
        is_function: whether a function was compiled that is no method of a module.
        is_resumed: whether it is the rest of a function, after a graph break.
        asked: arguments of the call that compiled it: ``mode``, ``dynamic``, ``fullgraph``, ``options``; what is not
            known is left out.
        end: the reason for the end of the graph.
        guards: the guards that failed before this recompilation; empty for a first compile.
        inputs: the graph's inputs, parameters first. Ahead of time, parameters and buffers are constants of the graph;
            they stand behind the inputs then.
        attributes: tensors of the module when the compile began.
        training: paths and classes of the submodules in training mode that compute something else in it.
        live: paths of the attributes that the code around the graph reads at every call; ``None`` where it is not seen.
        assigned: the attributes that the function assigns, so that what was compiled fits no later call.
        steps: the passes.
        kernels: the kernels that the generated code calls, in that order.
        autotuned: what autotuning compared, by its keys there.
        program: a weak reference to the generated module, ``None`` where it was not seen.
        output: a weak reference to Inductor's compiled graph, ``None`` if it was not seen.
        preserved: positions in ``inputs`` that are inputs of the compiled graph still; ``None`` if it never got there.
        cached: whether the code came out of a cache, so that the passes after freezing did not run.
        uncached: torch's reason for not using the cache; empty if it did use it, or gave no reason.
        package: what ahead-of-time compilation made, ``None`` for a compile in the process.
        failure: the exception that ended it.
        duration_ns: time of the whole compile after AOTAutograd, recording included.
        created: when it began: UTC, ISO 8601.
        began_ns: clock (``time.monotonic_ns``) at that moment.
    """

    model: str
    root: Callable[[], Any] | None
    compile_id: str | None
    graph_id: int | None
    settings: Mapping[str, Any]
    end: GraphBreak | None
    guards: tuple[str, ...]
    inputs: tuple[GraphInput, ...]
    attributes: tuple[ModelAttribute, ...]
    has_own_backend: bool = False
    is_function: bool = False
    is_resumed: bool = False
    asked: Mapping[str, Any] = field(default_factory=dict)
    training: tuple[str, ...] = ()
    live: frozenset[str] | None = None
    assigned: tuple[Assignment, ...] = ()
    steps: list[RawStep] = field(default_factory=list)
    kernels: list[RawKernel] = field(default_factory=list)
    autotuned: dict[tuple[str, str], Autotuning] = field(default_factory=dict)
    program: Callable[[], Any] | None = None
    output: Callable[[], Any] | None = None
    preserved: tuple[int, ...] | None = None
    cached: bool = False
    uncached: str = ""
    package: RawPackage | None = None
    failure: RawFailure | None = None
    duration_ns: int = 0
    created: str = ""
    began_ns: int = field(default_factory=time.monotonic_ns)

    @property
    def frame(self) -> str | None:
        """Dynamo's number of the code that was compiled, ``None`` outside Dynamo."""
        return None if self.compile_id is None else self.compile_id.partition("/")[0]
