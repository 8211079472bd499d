"""Provides the constants of recorded graphs: living ones, and those that must be computed again."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx.node import map_arg

from freeze_engine.backends.inductor.graph.rows import RawGraph, Row, TensorRef


class Constants:
    """Knows how each folded constant of one compile was computed."""

    def __init__(self) -> None:
        self._recipes: dict[TensorRef, tuple[Row, ...]] = {}

    def learn(self, ref: TensorRef, cone: tuple[Row, ...]) -> None:
        """Notes how a constant was computed.

        Args:
            ref: the constant.
            cone: the nodes it was computed with, in order; it is the result of the last.
        """
        self._recipes[ref] = cone

    def tensor(self, ref: TensorRef) -> torch.Tensor | None:
        """Returns a constant: itself while it lives, else computed again from its sources.

        Constant folding runs the same operators in the same way (``torch/_inductor/constant_folding.py``, torch 2.13).

        Returns:
            The tensor; ``None`` if its sources are gone as well.
        """
        alive = ref.get()
        if alive is not None or ref not in self._recipes:
            return alive
        values: dict[int, Any] = {}
        with torch.no_grad():
            for row in self._recipes[ref]:
                values[id(row.node)] = self._result(row, values)
                if values[id(row.node)] is None:
                    return None
        result = values[id(self._recipes[ref][-1].node)]
        if not isinstance(result, torch.Tensor):
            return None
        ref.renew(result)  # graphs that are run at the same time share it
        return result

    def available(self, graph: RawGraph) -> bool:
        """Returns whether every constant that a graph reads is there or can be computed again."""
        refs = [row.value for each in (graph, *graph.subgraphs()) for row in each.rows]
        return all(self._reachable(ref) for ref in refs if isinstance(ref, TensorRef))

    def _reachable(self, ref: TensorRef) -> bool:
        if ref.get() is not None:
            return True
        cone = self._recipes.get(ref, ())
        needed = [row.value for row in cone if isinstance(row.value, TensorRef)]
        return bool(cone) and all(map(self._reachable, needed))

    def _result(self, row: Row, values: dict[int, Any]) -> Any:
        if isinstance(row.value, TensorRef):
            return self.tensor(row.value)
        if row.op != "call_function":
            return None
        args = map_arg(row.args, lambda node: values[id(node)])
        kwargs = map_arg(row.kwargs, lambda node: values[id(node)])
        return row.target(*args, **kwargs)
