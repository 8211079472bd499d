"""Raw data that a capture keeps while torch runs: as little as possible, read only later.

A freeze must not be slowed down, so during it only texts, shallow graph copies and clocks are kept;
`freeze_engine.backends.torchscript.trace_builder` makes a trace of them on request.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from freeze_engine.backends.common import torch_private
from freeze_engine.backends.common.environment import utc_now
from freeze_engine.backends.common.observer import SILENT, RecordingObserver
from freeze_engine.backends.torchscript.graph.live import printable
from freeze_engine.backends.torchscript.graph.module_slots import ModuleAttribute
from freeze_engine.backends.torchscript.log.records import CapturedLog
from freeze_engine.backends.torchscript.log.stderr_capture import logging_off


@dataclass(frozen=True, slots=True)
class LiveSnapshot:
    """A graph that was accessible as a live object between two passes.

    Attributes:
        text: what torch prints for it; value names in it are stable from pass to pass.
        graph: a copy that shares the constants; torch renumbers a copy's values, so names come from ``text``.
    """

    text: str
    graph: Any


@dataclass(frozen=True, slots=True)
class RawStep:
    """One pass that this package ran.

    Attributes:
        stage, passes, method, round: as in `freeze_engine.trace.Step`.
        duration_ns: time of the pass.
        after: the graph after it.
    """

    stage: str
    passes: tuple[str, ...]
    method: str
    round: int | None
    duration_ns: int | None
    after: LiveSnapshot


@dataclass(slots=True)
class RawFailure:
    """The exception that ended a freeze, and the pass it came from."""

    error: BaseException
    stage: str
    name: str
    method: str | None


@dataclass(slots=True, eq=False)
class RawFreeze:
    """Raw data of one freeze.

    Attributes:
        call: the outermost torch function the user called.
        given: ``(name, value)`` of the user's arguments, without the module.
        source: the C++ module that came in, or ``None`` if a graph was optimised whose module is unknown.
        options: ``(name, value)`` of the requested options, over all calls.
        preserved: names to preserve.
        slots: of ``source`` when the freeze began, by path.
        result: the C++ module that torch returned.
        graphs: the live graph of each method, by dotted method path; kept so that torch hands out the same Python
            object again, which is how a later pass is recognised as working on this freeze.
        log: of ``_freeze_module``.
        freeze_started_ns: clock (``time.monotonic_ns``) when ``_freeze_module`` began, 0 if it did not.
        freeze_ended_ns: the same when it ended.
        inputs: the original graphs, by method, for freezes that do not start with ``_freeze_module``.
        frozen: the graphs right after ``_freeze_module``, by method.
        steps: the passes after it.
        failure: the exception that ended it.
        duration_ns: time inside torch's functions, recording included.
        created: when the freeze began: UTC, ISO 8601.
        began_ns: clock (``time.monotonic_ns``) at that moment.
        observer: receives the events of the recording.
        disabled_passes: names of the passes after ``_freeze_module`` to disable.
    """

    call: str
    source: Any
    options: dict[str, Any]
    given: dict[str, Any] = field(default_factory=dict)
    preserved: tuple[str, ...] = ()
    slots: dict[str, ModuleAttribute] = field(default_factory=dict)
    result: Any = None
    graphs: dict[str, Any] = field(default_factory=dict)
    log: CapturedLog | None = None
    freeze_started_ns: int = 0
    freeze_ended_ns: int = 0
    inputs: dict[str, LiveSnapshot] = field(default_factory=dict)
    frozen: dict[str, LiveSnapshot] = field(default_factory=dict)
    steps: list[RawStep] = field(default_factory=list)
    failure: RawFailure | None = None
    duration_ns: int = 0
    created: str = field(default_factory=utc_now)
    began_ns: int = field(default_factory=time.monotonic_ns)
    observer: RecordingObserver = SILENT
    disabled_passes: tuple[str, ...] = ()
    _inlined: dict[str, Any] = field(default_factory=dict, repr=False)

    def inlined(self, method: str) -> Any:
        """Returns a copy of a method's graph with everything inlined, which is what torch's alias analysis saw.

        It is made on first use: a module's code does not change.

        Returns:
            The live graph; ``None`` for a freeze that did not begin with ``_freeze_module``.
        """
        if not self.freeze_started_ns or method not in self.inputs:
            return None
        if method not in self._inlined:
            with logging_off():  # the user may be logging the inliner
                self._inlined[method] = inlined_graph(self.source, method)
        return self._inlined[method]

    def method_of(self, graph: Any) -> str | None:
        """Returns the method whose live graph this is, or ``None``."""
        return next((method for method, known in self.graphs.items() if known is graph), None)

    def latest(self, method: str) -> LiveSnapshot | None:
        """Returns the newest live snapshot of a method's graph."""
        driven = (step.after for step in reversed(self.steps) if step.method == method)
        return next(driven, None) or self.frozen.get(method) or self.inputs.get(method)

    def adopt(self, module: Any, methods: tuple[str, ...]) -> None:
        """Notes the live graphs of ``methods`` of a C++ module, dotted paths reaching into submodules."""
        for method in methods:
            graph = method_graph(module, method)
            if graph is not None:
                self.graphs[method] = graph


def live_snapshot(graph: Any, previous: LiveSnapshot | None) -> LiveSnapshot:
    """Returns the graph as it is now, the previous snapshot itself if nothing changed."""
    text = graph_text(graph)
    if previous is not None and previous.text == text:
        return previous
    return LiveSnapshot(text, graph.copy())


def graph_text(graph: Any) -> str:
    """Returns torch's text of a live graph, even if torch cannot print one of its constants."""
    try:
        return str(graph.str(True))
    except RuntimeError:
        with printable(graph):
            return str(graph.str(True))


def method_graph(module: Any, method: str) -> Any:
    """Returns the live graph of a method of a C++ module, or ``None`` if there is no such method.

    Args:
        module: C++ script module.
        method: name, or dotted path to a submodule's method.
    """
    found = _method(module, method)
    return found.graph if found is not None else None


def inlined_graph(module: Any, method: str) -> Any:
    """Returns a copy of a method's graph with everything it calls inlined, or ``None`` if there is no such method.

    Args:
        module: C++ script module.
        method: name, or dotted path to a submodule's method.
    """
    found = _method(module, method)
    if found is None:
        return None
    graph = found.inlined_graph
    inline_calls(graph, callee(module, method)[0])
    return graph


def inline_calls(graph: Any, owner: Any) -> None:
    """Inlines everything that a graph calls, as torch does in a freeze.

    Args:
        graph: live graph of a method; it is changed.
        owner: the C++ module that has the method.
    """
    torch_private.private("_jit_pass_inline")(graph)
    while _resolve_interfaces(graph, owner):
        torch_private.private("_jit_pass_inline")(graph)
    _inline_forks(graph)


def callee(module: Any, method: str) -> tuple[Any, str]:
    """Returns the C++ module that has a method, and the method's own name.

    Args:
        module: C++ script module.
        method: name, or dotted path to a submodule's method.
    """
    path, _, name = method.rpartition(".")
    return _submodule(module, path), name


def _resolve_interfaces(graph: Any, module: Any) -> bool:
    """Replaces interface types of values that methods are called on by their classes.

    torch does so after inlining, but not in forks (``inlineInterfaceCalls``, ``freeze_module.cpp``, torch 2.13.0).

    Returns:
        Whether any was found, so that there is more to inline.
    """
    found = False
    for node in graph.findAllNodes("prim::CallMethod"):
        receiver = node.inputsAt(0)
        called = _read_module(receiver, module) if receiver.type().kind() == "InterfaceType" else None
        if called is not None:
            receiver.setType(called._type())
            found = True
    return found


def _read_module(value: Any, module: Any) -> Any:
    """Returns the submodule that a chain of reads leads to from a method's own module, ``None`` if to none."""
    node = value.node()
    if node.kind() == "prim::Param":
        return module if value.debugName() == value.node().outputsAt(0).debugName() else None
    if node.kind() != "prim::GetAttr":
        return None
    owner = _read_module(node.inputsAt(0), module)
    return None if owner is None else dict(torch_private.submodules(owner)).get(node.s("name"))


def _inline_forks(graph: Any) -> None:
    """torch inlines the bodies of forks when it freezes, but not here; a copied graph has bodies of its own."""
    for node in graph.findAllNodes("prim::fork"):
        body = node.g("Subgraph")
        torch_private.private("_jit_pass_inline")(body)
        _inline_forks(body)


def _method(module: Any, method: str) -> Any:
    owner, name = callee(module, method)
    return None if owner is None else torch_private.method(owner, name)


def _submodule(module: Any, path: str) -> Any:
    """Returns a submodule of a C++ module, the module itself for an empty path, ``None`` if there is none."""
    for part in filter(None, path.split(".")):
        module = dict(torch_private.submodules(module)).get(part)
        if module is None:
            return None
    return module
