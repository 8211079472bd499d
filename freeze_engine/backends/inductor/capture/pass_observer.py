"""Watches one compile: the passes, the graph after each, and their durations."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.capture.events import CompileEvents
from freeze_engine.backends.inductor.capture.raw import RawCompile, RawFailure, RawMatch, RawStep
from freeze_engine.backends.inductor.graph.layout import layout_reasons
from freeze_engine.backends.inductor.graph.rows import RawGraph, TensorRefs, take
from freeze_engine.backends.inductor.graph.target_names import operator_name, pattern_name

INPUT = "input"
JOINT_GRAPH = "joint_graph"
LAYOUT = "layout"
FAKE_TENSOR = "fake_tensor"
INLINE_PARAMETERS = "inline_parameters"
FREEZING_PASSES = "freezing_passes"
POST_GRAD = "post_grad"
COMPILE = "compile"


@dataclass(slots=True)
class _Pass:
    """A running pass.

    Attributes:
        name: torch's.
        started_ns: clock when it began, moved forward by the time of the passes inside it.
        matches: the patterns that have matched in it.
        log: the log of the later step.
        code: the code it has generated.
        group: torch's group of patterns that it applies, if it is one.
    """

    name: str
    started_ns: int
    matches: list[RawMatch] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    code: str | None = None
    group: Any = None


class Observation:
    """Notes the passes of one compile.

    A pass inside a pass is part of it; what changes a graph between two passes becomes a step named after the
    function that did it.

    Args:
        compiled: receives the steps.
        module: AOTAutograd's graph module.
        function: of torch, that compiles.
        events: receives what happens in the compile.

    Attributes:
        compiled, module: as given.
        is_lowering: whether freezing is over, so that the next passes belong to lowering.
    """

    def __init__(self, compiled: RawCompile, module: Any, function: str, events: CompileEvents) -> None:
        self.compiled = compiled
        self.is_lowering = False
        self._events = events
        self._last_told = self._stage = INPUT
        self._function = function
        self.module = module
        self._running: list[_Pass] = []
        self._observers: dict[int, _Pass] = {}
        self._pending: _Pass | None = None
        self._pending_ns = 0
        self._working: list[_Pass] = []
        self._inner_ns: list[int] = []
        self._container = ""
        self._refs = TensorRefs()
        self._graph = take(module, self._refs)
        self._add(_Pass(INPUT, 0), None)

    @property
    def stage(self) -> str:
        """The stage that runs now."""
        return self._stage

    @stage.setter
    def stage(self, stage: str) -> None:
        self._stage = stage
        if stage not in (INPUT, self._last_told):  # it is the input's again between two others
            self._last_told = stage
            self._events.stage(stage)

    def owns(self, module: Any) -> bool:
        """Returns whether a graph module is the observed one or a subgraph of it."""
        return module is self.module or id(module) in self._graph.modules

    def group_name(self, group: Any) -> str:
        """Returns the name of a pattern group: torch's if it gave one, else ours."""
        return str(group.pass_name or torch_private.pattern_group_name(group) or "pattern_matcher")

    @contextlib.contextmanager
    def inside(self, stage: str, function: str) -> Iterator[None]:
        """Watches a function that runs passes of one stage.

        Args:
            stage: the stage.
            function: names the step for the function's own changes between passes.
        """
        before = self.stage, self._container
        self._settle()
        self.stage, self._container = stage, function
        self._tell_place()
        try:
            yield
        except BaseException as error:
            self._note_failure(error, function)
            raise
        else:
            self._settle()
        finally:
            self.stage, self._container = before
        self._tell_place()

    @contextlib.contextmanager
    def passing(self, name: str, stage: str | None = None, module: Any = None) -> Iterator[_Pass]:
        """Watches one pass.

        Args:
            name: of the pass.
            stage: its stage if that differs from the stage of the function around it.
            module: the graph module it works on, if that is a subgraph.

        Yields:
            The pass, for notes about it.
        """
        if self._running:
            yield self._running[-1]
            return
        before = self.stage
        current = self.begin(name, module, stage)
        try:
            yield current
        except BaseException as error:
            self._note_failure(error, name)
            self._running.clear()
            raise
        else:
            self.end(current)
        finally:
            self.stage = before
        self._tell_place()

    def begin(self, name: str, module: Any = None, stage: str | None = None) -> _Pass:
        """Notes that a pass begins, after adding a step for earlier changes."""
        self._settle()
        self.stage = stage or self.stage
        self._events.place(self.stage, name)
        current = _Pass(name, 0, log=self._subgraph(module))
        current.started_ns = self._events.clock_ns()
        self._running.append(current)
        return current

    def end(self, current: _Pass) -> None:
        """Notes that the pass has ended."""
        ended_ns = self._events.clock_ns()
        self._running.remove(current)
        self._graph = take(self.module, self._refs, self._graph)
        self._add(current, ended_ns - current.started_ns)

    @contextlib.contextmanager
    def working(self, name: str) -> Iterator[_Pass]:
        """Marks a part of the compile that leaves the graph unchanged; the parts inside it are separate."""
        current = _Pass(name, self._events.clock_ns())
        before, self.stage = self.stage, COMPILE
        self._inner_ns.append(0)
        self._working.append(current)
        self._tell_place()
        try:
            yield current
        except BaseException as error:
            self._note_failure(error, name)
            raise
        else:
            took_ns = self._events.clock_ns() - current.started_ns
            self._add(current, took_ns - self._inner_ns[-1])
        finally:
            self._inner_ns.pop()
            self._working.remove(current)
            self.stage = before
        if self._inner_ns:
            self._inner_ns[-1] += took_ns
        self._tell_place()

    def delayed(self, name: str, run: Callable[[], Any]) -> Any:
        """Runs a pass whose result torch installs only after it returns: the next event adds its step."""
        self._settle()
        self._events.place(self.stage, name)
        started_ns = self._events.clock_ns()
        try:
            result = run()
        except BaseException as error:
            self._note_failure(error, name)
            raise
        self._pending, self._pending_ns = _Pass(name, started_ns), self._events.clock_ns() - started_ns
        self._tell_place()
        return result

    def observer_begins(self, observer: Any) -> None:
        """Notes that torch's own ``GraphTransformObserver`` begins to watch a pass."""
        if not self._running:
            self._observers[id(observer)] = self.begin(observer.passname, observer.gm)

    def observer_ends(self, observer: Any, error: BaseException | None) -> None:
        """Notes that torch's observer has ended."""
        current = self._observers.pop(id(observer), None)
        if current is None:
            return
        if error is None:
            self.end(current)
            self._tell_place()
            return
        self._note_failure(error, current.name)
        self._running.clear()

    def matched(self, entry: Any, match: Any) -> _Matching:
        """Returns a record of one match of a pattern, to be filled while it is rewritten."""
        names = tuple(node.name for node in match.nodes)
        operators = tuple(operator_name(node.target) for node in match.nodes)
        return _Matching(self, pattern_name(entry), names, operators)

    def note_match(self, match: RawMatch) -> None:
        """Adds a match to the pass that runs now."""
        if self._running:
            self._running[-1].matches.append(match)

    def replace_module(self, module: Any) -> None:
        """Notes that another graph module is compiled from now on."""
        self.module = module

    def decide_layout(self, decision: bool) -> None:
        """Notes whether torch chose channels-last, unless that is known already."""
        if any(step.stage == LAYOUT for step in self.compiled.steps):
            return
        self._settle()
        before, self.stage = self.stage, LAYOUT
        self._add(_Pass("decide_layout_opt", 0, log=[*layout_reasons(self._graph, decision)]), None)
        self.stage = before

    def add_note(self, name: str, stage: str, log: list[str], code: str | None = None) -> None:
        """Adds a step that carries only a log."""
        before, self.stage = self.stage, stage
        self._add(_Pass(name, 0, log=log, code=code), None)
        self.stage = before

    def _subgraph(self, module: Any) -> list[str]:
        """Returns a line that names the subgraph a pass works on; none for the whole graph."""
        if module is None or module is self.module:
            return []
        names = [name for name, child in self.module.named_modules() if child is module]
        return [f"in subgraph {names[0]}"] if names else []

    def _settle(self) -> None:
        """Adds a step for changes since the last pass."""
        if self._running:
            return
        pending, self._pending = self._pending, None
        graph = take(self.module, self._refs, self._graph)
        if pending is not None:
            self._graph = graph
            self._add(pending, self._pending_ns)
            return
        if graph is self._graph:
            return
        only_values = not _structure_changed(self._graph, graph)
        self._graph = graph
        if not only_values and self._container:
            self._add(_Pass(self._container, 0), None)

    def _add(self, current: _Pass, duration_ns: int | None) -> None:
        step = RawStep(
            self.stage,
            current.name,
            self._graph,
            duration_ns,
            tuple(current.matches),
            current.code,
            tuple(current.log),
            current.group,
        )
        self.compiled.steps.append(step)
        self._events.step()

    def _tell_place(self) -> None:
        """Returns the innermost part of the compile that runs now outside any pass."""
        working = self._working[-1].name if self._working else None
        self._events.place(self.stage, working or self._container or self._function)

    def _note_failure(self, error: BaseException, name: str) -> None:
        if self.compiled.failure is None:
            self.compiled.failure = RawFailure(error, self.stage, name)


class _Matching:
    """One match during its rewrite; receives the new nodes."""

    def __init__(self, observation: Observation, pattern: str, names: tuple[str, ...], ops: tuple[str, ...]) -> None:
        self._observation = observation
        self._pattern = pattern
        self._names = names
        self._ops = ops
        self._created: list[Any] = []

    def created(self, node: Any) -> None:
        """Notes a new node; fx calls this for every node that it creates."""
        self._created.append(node)

    def done(self) -> None:
        """Passes the finished match on."""
        names = tuple(node.name for node in self._created)
        self._observation.note_match(RawMatch(self._pattern, self._names, self._ops, names))


def _structure_changed(before: RawGraph, after: RawGraph) -> bool:
    """Returns whether more than the metadata of the results changed."""
    if len(before.rows) != len(after.rows):
        return True
    pairs = zip(before.rows, after.rows, strict=True)
    return any(
        (one is not other and (one.node, one.name, one.op) != (other.node, other.name, other.op))
        or one.target is not other.target
        or one.args is not other.args
        or one.kwargs is not other.kwargs
        or one.value is not other.value
        for one, other in pairs
    )
