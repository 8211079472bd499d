"""The recorded graphs that can be run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from freeze_engine.backends.inductor.graph.constants import Constants
from freeze_engine.backends.inductor.graph.executable import executable
from freeze_engine.backends.inductor.graph.rows import RawGraph


@dataclass(frozen=True, slots=True)
class LiveGraph:
    """The graph of a step.

    Attributes:
        graph: its rows.
        constants: those that it reads; folded ones that torch has released are computed again when it runs.
        positions: the inputs of the first graph that are inputs of this one.
        given: the real inputs of the first graph, parameters first; ``None`` if they are gone.
    """

    graph: RawGraph = field(repr=False)
    constants: Constants = field(repr=False)
    positions: tuple[int, ...] = field(repr=False)
    given: tuple[Any, ...] | None = field(repr=False)

    def module(self) -> torch.fx.GraphModule:
        """Returns the graph as a module; it shares the recorded constants."""
        return executable(self.graph, self.constants)

    @property
    def arguments(self) -> tuple[Any, ...] | None:
        """Returns the arguments to call `module` with, ``None`` if the tensors are gone."""
        return None if self.given is None else tuple(self.given[position] for position in self.positions)
