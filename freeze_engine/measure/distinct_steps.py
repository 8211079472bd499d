"""Selects the steps to measure: each distinct graph once, even if later steps left it unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from freeze_engine.trace import Latency, Step


@dataclass(frozen=True, slots=True)
class DistinctSteps:
    """The steps of one method that can be run.

    Attributes:
        first: for each of them the first step with the same graph, which is measured for all that share it.
        follows: for each of those that are measured, the one measured for the step before it; ``None`` for the first.
    """

    first: Mapping[int, int]
    follows: Mapping[int, int | None]

    def latency(self, step: int, measured: Mapping[int | str, tuple[Latency, ...]]) -> tuple[Latency, ...]:
        """Returns a step's latencies; one that shares another's graph was not compared with the step before it."""
        found = measured.get(self.first[step], ())
        if self.first[step] == step:
            return found
        return tuple(replace(latency, previous=None, change=None) for latency in found)


def distinct_steps(steps: Iterable[Step]) -> DistinctSteps:
    """Sorts steps by their graph.

    Args:
        steps: those of one method that can be run, in order; equal graphs are one object.
    """
    known: dict[int, int] = {}
    first: dict[int, int] = {}
    follows: dict[int, int | None] = {}
    latest: int | None = None
    for step in steps:
        shown = known.setdefault(id(step.graph), step.index)
        if shown == step.index:
            follows[shown] = latest
        first[step.index] = latest = shown
    return DistinctSteps(first, follows)
