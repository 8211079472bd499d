"""Traces the constants of a graph back to the parameters that they hold or come from, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import torch

from freeze_engine.backends.inductor.graph.constants import Constants
from freeze_engine.backends.inductor.graph.graph_inputs import GraphInput
from freeze_engine.backends.inductor.graph.rows import RawGraph, Row, TensorRef
from freeze_engine.backends.inductor.graph.target_names import operator_name, without_overload

#: Operators whose result holds the same elements as their operand, in another layout, shape or order.
_REARRANGING = {
    "aten.clone",
    "aten.contiguous",
    "aten.expand",
    "aten.permute",
    "aten.reshape",
    "aten.squeeze",
    "aten.t",
    "aten.transpose",
    "aten.unsqueeze",
    "aten.view",
    "mkl._mkl_reorder_linear_weight",
    "mkldnn._reorder_convolution_transpose_weight",
    "mkldnn._reorder_convolution_weight",
    "mkldnn._reorder_linear_weight",
    "prims.inductor_force_stride_order",
}


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a constant.

    Attributes:
        inputs: positions of the graph's first inputs whose values went into it, ascending.
        same: whether it holds the elements of one of them unchanged, but for their layout.
    """

    inputs: tuple[int, ...]
    same: bool


@dataclass(frozen=True, slots=True)
class Folded:
    """A node that became a constant in one step.

    Attributes:
        name: of the node before the step and of the constant after it.
        cone: names of the nodes of the graph before that were computed for it, itself included.
        origin: what the constant comes from.
        computed: whether the step computed new elements, and did not only rearrange those of a constant.
    """

    name: str
    cone: tuple[str, ...]
    origin: Origin
    computed: bool


class Origins:
    """Follows the inputs of one compiled graph into the constants of its steps.

    Args:
        inputs: the graph's inputs.
        constants: learns how folded constants were computed.
    """

    def __init__(self, inputs: tuple[GraphInput, ...], constants: Constants) -> None:
        self._positions = {each.name: index for index, each in enumerate(inputs)}
        self._constants = constants
        self._known: dict[TensorRef, Origin] = {}

    def begin(self, graph: RawGraph) -> None:
        """Learns the constants that the first graph has for inputs: ahead of time, parameters are such.

        Args:
            graph: the first graph.
        """
        for row in graph.rows:
            if isinstance(row.value, TensorRef) and row.name in self._positions:
                self._known[row.value] = Origin((self._positions[row.name],), True)

    def step(self, before: RawGraph, after: RawGraph) -> tuple[Folded, ...]:
        """Learns the constants that a step brought.

        Args:
            before: the graph before the step.
            after: the graph after it.

        Returns:
            The nodes that were folded into constants, in the order of the graph.
        """
        earlier = {row.name: row for row in before.rows}
        places = {id(row.node): index for index, row in enumerate(before.rows)}
        folded = []
        for row in after.rows:
            if not isinstance(row.value, TensorRef) or row.value in self._known:
                continue
            previous = earlier.get(row.name)
            if previous is None or previous.op == "get_attr":
                # Autotuning puts another layout of a weight in its place, as a new tensor (torch 2.13).
                known = self._known.get(previous.value) if previous is not None else None
                self._known[row.value] = known or Origin((), False)
            elif previous.op == "placeholder":
                self._known[row.value] = Origin((self._positions[previous.name],), True)
            else:
                cone = tuple(_cone(previous, before.rows, places))
                origin, computed = self._origin(cone)
                self._known[row.value] = origin
                self._constants.learn(row.value, cone)
                folded.append(Folded(row.name, tuple(each.name for each in cone), origin, computed))
        return tuple(folded)

    def constants(self, graph: RawGraph) -> Mapping[str, Origin]:
        """Returns, by name, what the constants of a graph come from; those that come from no input left out."""
        read = {row.name: row.value for row in graph.rows if isinstance(row.value, TensorRef)}
        found = {name: self._known[ref] for name, ref in read.items() if ref in self._known}
        return {name: origin for name, origin in found.items() if origin.inputs}

    def held(self, graph: RawGraph, read: Set[str]) -> dict[int, frozenset[str]]:
        """Returns the values of a graph that come from each first input, inputs and constants, by its position.

        Args:
            graph: the graph.
            read: the names of all values that it reads or returns; others do not count.
        """
        found: dict[int, set[str]] = {}
        for row in graph.rows:
            if row.name not in read:
                continue
            if row.op == "placeholder" and row.name in self._positions:
                found.setdefault(self._positions[row.name], set()).add(row.name)
            elif isinstance(row.value, TensorRef) and row.value in self._known:
                for position in self._known[row.value].inputs:
                    found.setdefault(position, set()).add(row.name)
        return {position: frozenset(names) for position, names in found.items()}

    def _origin(self, cone: tuple[Row, ...]) -> tuple[Origin, bool]:
        """Returns what a constant comes from, and whether its elements are new."""
        values = [each.value for each in cone if isinstance(each.value, TensorRef)]
        read = [self._known[value] for value in values if value in self._known]
        inputs = sorted({position for origin in read for position in origin.inputs})
        calls = (without_overload(operator_name(each.target)) for each in cone if each.op != "get_attr")
        computed = len(read) != 1 or not all(call in _REARRANGING for call in calls)
        return Origin(tuple(inputs), not computed and read[0].same), computed


def _cone(row: Row, rows: Sequence[Row], places: Mapping[int, int]) -> Iterator[Row]:
    """Yields a node and everything it is computed from, in the order of the graph."""
    found: set[int] = set()
    waiting = [places[id(row.node)]]
    while waiting:
        place = waiting.pop()
        if place not in found:
            found.add(place)
            waiting += (places[id(node)] for node in nodes_read(rows[place]))
    return (rows[place] for place in sorted(found))


def nodes_read(row: Row) -> Iterator[Any]:
    """Yields the nodes that a node reads, as they were at that moment."""
    found: list[Any] = []
    torch.fx.node.map_arg((row.args, row.kwargs), found.append)
    return iter(found)
