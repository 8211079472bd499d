"""Finds the nodes of the executor's graph that profiled operators belong to, and thus their time."""

from __future__ import annotations

import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from freeze_engine.trace import GraphSnapshot, Node, RuntimeTime, SourceRef

FUSED: Final = "fused_"
#: An entry of the stack of a profiled event, such as ``/home/me/model.py(12): forward`` (torch 2.6 to 2.13).
_FRAME: Final = re.compile(r"(?P<file>.+)\((?P<line>\d+)\): .*", re.DOTALL)
_NAMED: Final = 80  # characters of a fused kernel's name that torch writes before it shortens it
_REPEATED: Final = ("prim::Loop", "prim::fork")

Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Ran:
    """An operator or fused kernel that one call ran, called by no other.

    Attributes:
        name: as torch's profiler calls it.
        took_us: time in it and in what it calls, in microseconds.
        places: of the node that ran it and of the calls that lead there, innermost first; empty if torch knows none.
    """

    name: str
    took_us: float
    places: tuple[Place, ...] = ()


def is_kernel(name: str) -> bool:
    """Returns whether the event of a profile is an operator or a fused kernel, no call of a method."""
    return "::" in name or name.startswith(FUSED)


def operators(events: Iterable[Any]) -> tuple[Ran, ...]:
    """Returns the operators of a profiled call that no other called, in order.

    The interpreter's place in the source is an event's stack (`jit::currentCallstack`); where a node has none, such as
    a fusion group, the profiler takes the stack of Python, which is also that of the call itself.

    Args:
        events: `torch.autograd.profiler_util.FunctionEvent`; their stacks are empty if none were taken.
    """
    events = list(events)
    outside = {tuple(event.stack or ()) for event in events if not is_kernel(event.name)}
    found = []
    for event in events:
        if is_kernel(event.name) and not any(is_kernel(parent.name) for parent in _parents(event)):
            stack = tuple(event.stack or ())
            places = () if stack in outside else _places(stack)
            found.append(Ran(event.name, sum(each.self_cpu_time_total for each in _within(event)), places))
    return tuple(found)


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


def _places(stack: Sequence[str]) -> tuple[Place, ...]:
    matches = (_FRAME.fullmatch(entry) for entry in stack)
    return tuple((match["file"], int(match["line"])) for match in matches if match)


def node_times(graph: GraphSnapshot, placed: Sequence[Ran], calls: Sequence[Sequence[Ran]]) -> tuple[RuntimeTime, ...]:
    """Returns the time of one call by the nodes that spend it; each entry takes its median time.

    Taking stacks slows small operators, so one call has them and others are timed.

    Args:
        graph: what the executor runs.
        placed: the operators of a call whose stacks were taken.
        calls: the operators of the timed calls. One with other operators than ``placed`` is left out: its operators
            cannot be told apart by their order.

    Returns:
        The longest first; none if no call has the same operators.
    """
    names = [ran.name for ran in placed]
    alike = [call for call in calls if [ran.name for ran in call] == names]
    if not alike:
        return ()
    owners = _Owners(graph).of(placed)
    at: defaultdict[tuple[tuple[str, ...], tuple[Place, ...]], list[int]] = defaultdict(list)
    for index, (nodes, ran) in enumerate(zip(owners, placed, strict=True)):
        at[nodes, () if nodes else ran.places].append(index)
    times = [
        RuntimeTime(
            nodes,
            tuple(SourceRef(*place) for place in places),
            round(1000 * statistics.median_low(sum(call[index].took_us for index in indices) for call in alike)),
        )
        for (nodes, places), indices in at.items()
    ]
    return tuple(sorted(times, key=lambda time: (-time.time_ns, time.nodes, str(time.sources))))


class _Owners:
    """The nodes that operators belong to."""

    def __init__(self, graph: GraphSnapshot) -> None:
        self._repeated: set[str] = set()
        self._by_place: defaultdict[Place, list[Node]] = defaultdict(list)
        self._groups: list[Node] = []
        self._read(graph.nodes, repeats=False)

    def _read(self, nodes: Sequence[Node], *, repeats: bool) -> None:
        for node in nodes:
            if repeats:
                self._repeated.add(node.id)
            if "Group" in node.op and node.blocks:
                self._groups.append(node)
            if node.source is not None and node.op != "prim::Constant":
                self._by_place[node.source.file, node.source.line].append(node)
            for block in node.blocks:
                self._read(block.nodes, repeats=repeats or node.op.startswith(_REPEATED))

    def of(self, ran: Sequence[Ran]) -> list[tuple[str, ...]]:
        """Returns the ids of the nodes that each operator belongs to.

        A node that nothing repeats runs at most once in a call; so as many operators as nodes are these, in order. Else
        all nodes that may be it share the time.
        """
        keys = [(each.name, each.places[:1]) for each in ran]
        counts = Counter(keys)
        nodes = {key: self._candidates(*key) for key in counts}
        seen: Counter[tuple[str, tuple[Place, ...]]] = Counter()
        owners = []
        for key in keys:
            candidates = nodes[key]
            is_each = len(candidates) == counts[key] and not self._repeated.intersection(candidates)
            owners.append((candidates[seen[key]],) if is_each else candidates)
            seen[key] += 1
        return owners

    def _candidates(self, name: str, places: tuple[Place, ...]) -> tuple[str, ...]:
        if not places:
            groups = self._groups if name.startswith(FUSED) else []
            named = [node for node in groups if name[:_NAMED].startswith(_kernel_name(node)[:_NAMED])]
            return tuple(node.id for node in named or groups)
        found = self._by_place.get(places[0], [])
        same = [node for node in found if node.op == name]
        return tuple(node.id for node in same)


def _kernel_name(group: Node) -> str:
    """Returns the start of the name that torch gives the kernel of a fusion group, from the operators in it."""
    inner = (node.op.partition("::")[2] for node in group.blocks[0].nodes if node.op != "prim::Constant")
    return FUSED + "_".join(inner)
