"""Builds a trace step by step; the only mutable object here."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from freeze_engine.recorder.copied_graph import named_as
from freeze_engine.recorder.node_identity import Identify, assign_ids, nothing_known
from freeze_engine.trace import (
    AttributeFate,
    Baseline,
    CallPath,
    Environment,
    Failure,
    GraphSnapshot,
    InputSpec,
    MemoryLedger,
    NearMiss,
    Notice,
    Program,
    RuntimeGraph,
    SourceLines,
    SourceRef,
    Step,
    Trace,
)


class Recorder:
    """Collects the steps of one freeze.

    Args:
        head: the trace before any step: the model, the options and the environment.
        identify: separates nodes beyond their names, see `freeze_engine.recorder.node_identity.assign_ids`.

    Attributes:
        on_step: called with every step once it is added; may be ``None``.
    """

    def __init__(self, head: Trace, identify: Identify = nothing_known) -> None:
        self._identify = identify
        self._head = head
        self._steps: list[Step] = []
        self._latest: dict[str, GraphSnapshot] = {}
        self._given: dict[str, GraphSnapshot] = {}
        self._retired: dict[str, set[str]] = {}
        self.attributes: tuple[AttributeFate, ...] = ()
        self.near_misses: list[NearMiss] = []
        self.baselines: tuple[Baseline, ...] = ()
        self.notices: list[Notice] = []
        self.sources: tuple[SourceLines, ...] = ()
        self.call_paths: tuple[CallPath, ...] = ()
        self.programs: tuple[Program, ...] = ()
        self.memory: MemoryLedger | None = None
        self.runtime: tuple[RuntimeGraph, ...] = ()
        self.failure: Failure | None = None
        self.on_step: Callable[[Step], None] | None = None

    @property
    def environment(self) -> Environment:
        """Returns the environment of the recording."""
        return self._head.environment

    @property
    def inputs(self) -> tuple[InputSpec, ...]:
        """Returns the model's inputs, as far as they are known beforehand."""
        return self._head.inputs

    def add_setting(self, name: str, value: str) -> None:
        """Adds a setting of this recording to the environment."""
        environment = self._head.environment
        settings = (*environment.settings, (name, value))
        self._head = dataclasses.replace(self._head, environment=dataclasses.replace(environment, settings=settings))

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps so far."""
        return tuple(self._steps)

    def add_step(
        self, stage: str, passes: str | tuple[str, ...], method: str, graph: GraphSnapshot | None, **fields: Any
    ) -> Step:
        """Adds one pass.

        Args:
            stage, method: as in `Step`.
            passes: name of the pass, or names of the passes that make one step.
            graph: the graph after the pass with provisional node ids, ``None`` if the pass did not touch it.
            **fields: any other field of `Step`; ``changed`` is worked out unless given.

        Returns:
            The step, its graph with final ids.

        Raises:
            ValueError: the first step of a method comes without a graph.
        """
        names = (passes,) if isinstance(passes, str) else passes
        name = ", ".join(names)
        before = self._latest.get(method)
        if graph is None:
            if before is None:
                raise ValueError(f"step {name!r} of {method!r} comes without a graph, and none came before it")
            graph = before
        elif before is not None and graph == self._given.get(method):
            graph = before
        else:
            self._given[method] = graph
            used = self._retired.setdefault(method, set())
            graph = assign_ids(before, graph, used, self._identify)
            if graph is not before:
                used.update(node.id for node in graph.walk())
        self._latest[method] = graph
        changed = fields.pop("changed", before is not None and graph is not before)
        step = Step(len(self._steps), stage, name, method, graph, changed, passes=names, **fields)
        self._steps.append(step)
        if self.on_step is not None:
            self.on_step(step)
        return step

    def update(self, index: int, **fields: Any) -> Step:
        """Replaces fields of an earlier step, such as its measurements.

        Args:
            index: the step's index.
            **fields: fields of `Step`.
        """
        self._steps[index] = dataclasses.replace(self._steps[index], **fields)
        return self._steps[index]

    def aligned(self, method: str, graph: GraphSnapshot) -> GraphSnapshot:
        """Returns a copy of the method's last graph that is no step, with the names of the last graph.

        Args:
            method: that has steps.
            graph: the copy, as something changed it, with provisional node ids.
        """
        return named_as(self._latest[method], graph, self._retired[method])

    def finish(self, duration_ns: int | None = None, created: str = "") -> Trace:
        """Returns the trace as recorded so far.

        Args:
            duration_ns: time of the whole freeze.
            created: UTC, ISO 8601.
        """
        return dataclasses.replace(
            self._head,
            steps=tuple(self._steps),
            attributes=tuple(sorted(self.attributes, key=lambda fate: fate.path)),
            near_misses=tuple(self.near_misses),
            baselines=self.baselines,
            notices=tuple(self.notices),
            sources=self.sources,
            programs=self.programs,
            call_paths=self.call_paths,
            memory=self.memory,
            runtime=self.runtime,
            failure=self.failure,
            duration_ns=duration_ns,
            created=created,
        )


def call_paths(method: str, calls: Mapping[str, tuple[SourceRef, ...]]) -> tuple[CallPath, ...]:
    """Gathers the nodes that the same calls lead to.

    Args:
        method: that has the nodes.
        calls: places of the calls by id of the node, the outermost first; nodes that no call leads to are left out.
    """
    nodes: dict[tuple[SourceRef, ...], list[str]] = {}
    for node, places in calls.items():
        if places:
            nodes.setdefault(places, []).append(node)
    return tuple(CallPath(method, places, tuple(ids)) for places, ids in nodes.items())
