"""What a capture keeps while torch runs: as little as possible, read only later.

A freeze must not be slowed down, so during it only texts, shallow graph copies and clocks are kept;
`freeze_engine.backends.torchscript.build` makes a trace of them when it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from freeze_engine.backends import _torch_private as torch_private
from freeze_engine.backends.torchscript.log import CapturedLog


@dataclass(frozen=True, slots=True)
class LiveSnapshot:
    """A graph that could be held in hand between two passes.

    Attributes:
        text: what torch prints for it; value names in it are stable from pass to pass.
        graph: a copy that shares the constants; torch renumbers a copy's values, so names come from ``text``.
    """

    text: str
    graph: Any


@dataclass(frozen=True, slots=True)
class RawStep:
    """One pass that was driven, or a stretch of passes that only torch's log tells apart.

    Attributes:
        stage, name, method, round: as in `freeze_engine.trace.Step`.
        duration_ns: time of the pass.
        after: the graph after it.
    """

    stage: str
    name: str
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


@dataclass(slots=True)
class RawFreeze:
    """Everything kept of one freeze.

    Attributes:
        call: the outermost torch function the user called.
        source: the C++ module that came in, or ``None`` if a graph was optimised whose module is unknown.
        options: ``(name, value)`` as the user gave them.
        preserved: names to preserve.
        result: the C++ module that torch returned.
        graphs: the live graph of each method, by dotted method path; kept so that torch hands out the same Python
            object again, which is how a later pass is recognised as working on this freeze.
        log: of ``_freeze_module``.
        freeze_started_ns: clock (``time.monotonic_ns``) when ``_freeze_module`` began.
        inputs: the graphs as they came, by method, for freezes that do not start with ``_freeze_module``.
        frozen: the graphs right after ``_freeze_module``, by method.
        steps: the passes after it.
        failure: what ended it.
        duration_ns: time inside torch's functions, recording included.
    """

    call: str
    source: Any
    options: dict[str, Any]
    preserved: tuple[str, ...] = ()
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

    def method_of(self, graph: Any) -> str | None:
        """Returns the method whose live graph this is, or ``None``."""
        return next((method for method, known in self.graphs.items() if known is graph), None)

    def adopt(self, module: Any, methods: tuple[str, ...]) -> None:
        """Notes the live graphs of ``methods`` of a C++ module, dotted paths reaching into submodules."""
        for method in methods:
            graph = method_graph(module, method)
            if graph is not None:
                self.graphs[method] = graph


def live_snapshot(graph: Any, previous: LiveSnapshot | None) -> LiveSnapshot:
    """Returns the graph as it is now, the previous snapshot itself if nothing changed."""
    text = graph.str(True)
    if previous is not None and previous.text == text:
        return previous
    return LiveSnapshot(text, graph.copy())


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
    return found.inlined_graph if found is not None else None


def _method(module: Any, method: str) -> Any:
    *path, name = method.split(".")
    for part in path:
        module = dict(torch_private.submodules(module)).get(part)
        if module is None:
            return None
    return torch_private.method(module, name)
