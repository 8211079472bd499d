"""Finds the nodes of the executor's graph that profiled operators belong to, and thus their time."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from freeze_engine.trace import GraphSnapshot, Node, RuntimeTime

FUSED: Final = "fused_"
_NAMED: Final = 80  # characters of a fused kernel's name that torch writes before it shortens it
_REPEATED: Final = ("prim::Loop", "prim::fork")


@dataclass(frozen=True, slots=True)
class Ran:
    """An operator or fused kernel that one call ran, called by no other.

    Attributes:
        name: as torch's profiler calls it.
        took_us: time in it and in what it calls, in microseconds.
    """

    name: str
    took_us: float


def is_kernel(name: str) -> bool:
    """Returns whether the event of a profile is an operator or a fused kernel, no call of a method."""
    return "::" in name or name.startswith(FUSED)


def operators(events: Iterable[Any]) -> tuple[Ran, ...]:
    """Returns the operators of a profiled call that no other called, in order.

    Args:
        events: `torch.autograd.profiler_util.FunctionEvent`.
    """
    return tuple(
        Ran(event.name, sum(each.self_cpu_time_total for each in _within(event)))
        for event in events
        if is_kernel(event.name) and not any(is_kernel(parent.name) for parent in _parents(event))
    )


def _parents(event: Any) -> Iterator[Any]:
    while event.cpu_parent is not None:
        event = event.cpu_parent
        yield event


def _within(event: Any) -> Iterator[Any]:
    waiting = [event]
    while waiting:
        event = waiting.pop()
        waiting += event.cpu_children
        yield event


def node_times(graph: GraphSnapshot, calls: Sequence[Sequence[Ran]]) -> tuple[RuntimeTime, ...]:
    """Returns the time of one call by the nodes that spend it; each entry takes its median time.

    Args:
        graph: what the executor runs.
        calls: the operators of the profiled calls. One with other operators than the first is left out: its operators
            cannot be matched by their order.

    Returns:
        The longest first.
    """
    if not calls:
        return ()
    names = [ran.name for ran in calls[0]]
    alike = [call for call in calls if [ran.name for ran in call] == names]
    at: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, nodes in enumerate(_Owners(graph).of(names)):
        at[nodes].append(index)
    times = [
        RuntimeTime(
            nodes, round(1000 * statistics.median_low(sum(call[index].took_us for index in own) for call in alike))
        )
        for nodes, own in at.items()
    ]
    return tuple(sorted(times, key=lambda time: (-time.time_ns, time.nodes)))


class _Owners:
    """The nodes that operators belong to."""

    def __init__(self, graph: GraphSnapshot) -> None:
        self._repeated: set[str] = set()
        self._by_op: defaultdict[str, list[Node]] = defaultdict(list)
        self._groups: list[Node] = []
        self._read(graph.nodes, repeats=False)

    def _read(self, nodes: Sequence[Node], *, repeats: bool) -> None:
        for node in nodes:
            if repeats:
                self._repeated.add(node.id)
            self._by_op[node.op].append(node)
            if "Group" in node.op and node.blocks:
                self._groups.append(node)  # what it fuses runs as one kernel
                continue
            for block in node.blocks:
                self._read(block.nodes, repeats=repeats or node.op.startswith(_REPEATED))

    def of(self, ran: Sequence[str]) -> list[tuple[str, ...]]:
        """Returns the ids of the nodes that each operator belongs to, by its name; none if no node has it.

        A node that nothing repeats runs at most once in a call; so as many operators as nodes are these, in order. Else
        all nodes that may be it share the time.
        """
        counts = Counter(ran)
        nodes = {name: self._candidates(name) for name in counts}
        seen: Counter[str] = Counter()
        owners = []
        for name in ran:
            candidates = nodes[name]
            is_each = len(candidates) == counts[name] and not self._repeated.intersection(candidates)
            owners.append((candidates[seen[name]],) if is_each else candidates)
            seen[name] += 1
        return owners

    def _candidates(self, name: str) -> tuple[str, ...]:
        if not name.startswith(FUSED):
            return tuple(node.id for node in self._by_op.get(name, ()))
        named = [node for node in self._groups if name[:_NAMED].startswith(_kernel_name(node)[:_NAMED])]
        return tuple(node.id for node in named or self._groups)


def _kernel_name(group: Node) -> str:
    """Returns the start of the name that torch gives the kernel of a fusion group, from the operators in it."""
    inner = (node.op.partition("::")[2] for node in group.blocks[0].nodes if node.op != "prim::Constant")
    return FUSED + "_".join(inner)
