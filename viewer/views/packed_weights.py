"""The linear weights that MKL packs for Inductor: their memory grows far beyond their own size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import freeze_engine as fe

# torch 2.13: torch/_inductor/fx_passes/mkldnn_fusion.py packs float32 linears of known sizes so.
_PACKING: Final = "mkl_reorder_linear_weight"
_FAR: Final = 2.0


@dataclass(frozen=True, slots=True)
class Packing:
    """The packed weights at the end of all methods.

    Attributes:
        step: index of the first step that has one.
        count: their number.
        held_bytes: size of all.
        least_bytes: size of the smallest.
        own_bytes: size of all before packing; ``None`` if unknown.
    """

    step: int
    count: int
    held_bytes: int
    least_bytes: int
    own_bytes: int | None

    @property
    def swells(self) -> bool:
        """Whether their size before is unknown or has more than doubled, so that it has to be shown."""
        return self.own_bytes is None or self.held_bytes > _FAR * self.own_bytes


def packing(trace: fe.Trace) -> Packing | None:
    """Returns the memory of the weights that MKL packed, ``None`` if there are none.

    Args:
        trace: the recording.
    """
    if not trace.uses_inductor:
        return None
    packed: list[int] = []
    own: list[int | None] = []
    first = []
    for method in trace.methods:
        steps = trace.method_steps(method)
        found = list(_packed(steps[-1].graph))
        if not found:
            continue
        place = next(at for at, step in enumerate(steps) if any(_packed(step.graph)))
        first.append(steps[place].index)
        packed += found
        own += _unpacked(steps[place - 1].graph)
    if not packed:
        return None
    known = [each for each in own if each is not None]
    whole = sum(known) if len(known) == len(own) == len(packed) else None
    return Packing(min(first), len(packed), sum(packed), min(packed), whole)


def _packed(graph: fe.GraphSnapshot) -> Iterator[int]:
    """Yields the bytes of each packed weight of a graph."""
    for node in graph.nodes:
        if node.constant is not None and _PACKING in node.id:
            yield node.constant.nbytes


def _unpacked(graph: fe.GraphSnapshot) -> Iterator[int | None]:
    """Yields the bytes of each weight of a graph that the next step packs."""
    definers = {value.name: node for node in graph.nodes for value in node.outputs}
    yield from (_origin_bytes(node, definers) for node in graph.nodes if _PACKING in node.op)


def _origin_bytes(node: fe.Node, definers: Mapping[str, fe.Node]) -> int | None:
    """Returns the bytes of the constant that a node views, through transposes and the like."""
    while node.constant is None:
        defined = [definers[value] for value in node.inputs if value in definers]
        if len(defined) != 1:
            return None
        node = defined[0]
    return node.constant.nbytes
