"""Runs a recorded graph where the compiled one would run: inside Dynamo's code, between its guards and its outputs.

A graph alone is not the model: Dynamo's code around it picks the inputs, builds the outputs, writes back what the model
changed, and after a graph break calls the next graph. So a copy of the module is compiled again up to the point where
Inductor would get the graph, and there a recorded one takes its place.
"""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch

from freeze_engine.backends.common.patching import Patch, patched
from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.capture.compile import compiled_once
from freeze_engine.backends.inductor.graph.live import LiveGraph
from freeze_engine.errors import MeasureError
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import InductorOptions

_Runnable = tuple[torch.fx.GraphModule, tuple[int, ...]]
"""A graph, and the positions of its inputs among those of the compiled graph."""
_seating: contextvars.ContextVar[Callable[[], _Seat] | None] = contextvars.ContextVar("inductor_seating", default=None)


class _Seat:
    """Runs a graph in place of the compiled function that Inductor would have returned for it."""

    _boxed_call = True  # AOTAutograd then passes one list, which is to be emptied

    def __init__(self, graph: _Runnable) -> None:
        self.graph = graph

    def __call__(self, given: list[Any]) -> Any:
        module, positions = self.graph
        arguments = [given[position] for position in positions]
        given.clear()
        return module(*arguments)


class StandIn:
    """A copy of the recorded module whose graphs can be replaced.

    Args:
        model: the copy; it gets compiled.
        inputs: those of the recorded compile.
        options: how that was compiled.
        graphs: for each graph that was compiled, in order, one to start with.

    Raises:
        MeasureError: torch did not compile the same number of graphs again.
    """

    def __init__(
        self, model: torch.nn.Module, inputs: Inputs, options: InductorOptions, graphs: Sequence[LiveGraph]
    ) -> None:
        waiting = [_Seat(_runnable(graph)) for graph in graphs]
        self._starts = [seat.graph for seat in waiting]
        self._seats: list[_Seat] = []

        def take() -> _Seat:
            if not waiting:
                raise MeasureError(f"a copy of the module was compiled to more than {len(graphs)} graphs")
            self._seats.append(waiting.pop(0))
            return self._seats[-1]

        self._module = contextvars.copy_context().run(_seated, take, model, inputs, options)
        if waiting:
            raise MeasureError(f"a copy of the module was compiled to {len(self._seats)} graphs, not {len(graphs)}")

    def running(self, *graphs: LiveGraph) -> Callable[..., object]:
        """Returns a function that runs the module with other graphs in the first places, the rest as at the start."""
        seated = [*(_runnable(graph) for graph in graphs), *self._starts[len(graphs) :]]

        def call(*args: Any, **kwargs: Any) -> object:
            for seat, runnable in zip(self._seats, seated, strict=True):
                seat.graph = runnable
            result: object = self._module(*args, **kwargs)
            return result

        return call


def _runnable(graph: LiveGraph) -> _Runnable:
    return graph.module(), graph.positions


def _seated(take: Callable[[], _Seat], model: torch.nn.Module, inputs: Inputs, options: InductorOptions) -> Any:
    _seating.set(take)
    compiler = torch_private.REQUIRED["freezing_compiler"]
    with patched((Patch(compiler.owner, compiler.attribute, _stood_in(compiler.found)),)):
        return compiled_once(model, inputs, options)


def _stood_in(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def compile_frozen(*args: Any, **kwargs: Any) -> Any:
        take = _seating.get()
        return original(*args, **kwargs) if take is None else take()

    return compile_frozen
