"""Finds duplicates in a freeze: equal constants in separate storages, and weights that were shared before.

Attributes that share memory (tied weights) stay shared as constants, until a step writes one of them anew: a fold gives
each convolution its own weights. And what was equal from the start, in two attributes, is kept twice, until a step
pools equal constants or folds them into others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Literal

from freeze_engine.trace import Constant, GraphSnapshot, Node, Rewrite, Step, Trace


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Memory that is held more than once from one step on.

    Attributes:
        step: index of the step that brought it about.
        method: the step's method.
        kind: ``equal`` for equal values in memory of their own, such as attributes that were equal before they were
            inlined; ``copied`` where a step made equal copies of a constant; ``split`` where several nodes read one
            constant before the step, and different ones after it.
        names: the constants that are equal, or were, in the last graph that holds more than one.
        attributes: paths of the attributes whose values they hold, as far as the trace shows.
        nbytes: the bytes that the graph holds beyond those of one of them.
        until: index of the step after which it was held once or not at all; ``None`` where it is held to the end.
    """

    step: int
    method: str
    kind: Literal["equal", "copied", "split"]
    names: tuple[str, ...]
    attributes: tuple[str, ...]
    nbytes: int
    until: int | None = None


def duplicates(trace: Trace) -> tuple[Duplicate, ...]:
    """Finds what is held more than once, since which step, and until which.

    Args:
        trace: the recording; constants whose contents are unknown cannot be compared.

    Returns:
        By step, and within one step the largest first.
    """
    paths = _paths(trace)
    methods = {method: _Method() for method in trace.methods}
    for step in trace.steps:
        methods[step.method].add(step)
    found = [each.duplicate(paths) for method in methods.values() for each in method.found]
    return tuple(sorted(found, key=lambda each: (each.step, -each.nbytes, each.names)))


@dataclass(frozen=True, slots=True)
class _Indexed:
    """A graph with its nodes by id, and its constants by name: made once, for the steps before and after it."""

    graph: GraphSnapshot
    nodes: dict[str, Node]
    constants: dict[str, Node]


def _indexed(graph: GraphSnapshot) -> _Indexed:
    nodes = {node.id: node for node in graph.walk()}
    constants = {node.outputs[0].name: node for node in nodes.values() if node.constant and node.outputs}
    return _Indexed(graph, nodes, constants)


_Held = dict[tuple[object, ...], dict[str, list[Node]]]
"""For each content, the nodes that hold it, by storage."""

_Paths = dict[tuple[str, str], tuple[str, ...]]
"""``(method, value)`` -> paths of the attributes that the constant holds; no method for names that are paths."""

_Moved = Mapping[str, Collection[str]]
"""Names of constants -> those of as many elements that their readers read after a step."""

_Kind = Literal["equal", "copied", "split"]


@dataclass(slots=True)
class _Found:
    """A duplicate whose constants are followed from step to step.

    Attributes:
        step: the step that brought it about.
        kind: as in `Duplicate`.
        nodes: its constants, as they are now, or were before it ended.
        first: how many storages were there before, at least one.
        extra: how many more there are.
        until: index of the step that ended it.
    """

    step: Step
    kind: _Kind
    nodes: list[Node]
    first: int
    extra: int
    until: int | None = None

    def follow(self, step: Step, after: _Indexed, moved: _Moved) -> None:
        """Follows the constants over a step.

        Args:
            step: a later step.
            after: the graph after it.
            moved: what stands for which constant after it.
        """
        names = [node.outputs[0].name for node in self.nodes]
        names = [now for name in names for now in ((name,) if name in after.constants else moved.get(name, ()))]
        nodes = [after.constants[name] for name in dict.fromkeys(names)]
        if self.kind != "split":
            held = _held(after.constants, {_content(node) for node in nodes if _is_known(node)})
            nodes = [node for each in max(held.values(), key=len, default={}).values() for node in each]
        extra = min(self.extra, len({_storage(node) for node in nodes}) - self.first)
        if extra > 0:
            self.nodes, self.extra = nodes, extra
        else:
            self.until = step.index

    def duplicate(self, paths: _Paths) -> Duplicate:
        """Returns it in the end."""
        method = self.step.method
        names = tuple(dict.fromkeys(node.outputs[0].name for node in self.nodes))
        attributes = {path for name in names for place in (method, "") for path in paths.get((place, name), ())}
        nbytes = self.extra * _constant(self.nodes[0]).nbytes
        return Duplicate(self.step.index, method, self.kind, names, tuple(sorted(attributes)), nbytes, self.until)


class _Method:
    """The duplicates of one method, step after step."""

    def __init__(self) -> None:
        self.found: list[_Found] = []
        self._latest: _Indexed | None = None

    def add(self, step: Step) -> None:
        before = self._latest
        if before is not None and before.graph is step.graph:
            return
        after = self._latest = _indexed(step.graph)
        if before is None:
            return
        moved = _moved(before, after, step.rewrites)
        known = [each for each in self.found if each.until is None]
        for each in known:
            each.follow(step, after, moved)
        self.found += [*self._equal(before, after, step, moved), *_split(before, after, step)]

    def _equal(self, before: _Indexed, after: _Indexed, step: Step, moved: _Moved) -> Iterator[_Found]:
        old, new = before.constants, after.constants
        fresh = {_content(node) for name, node in new.items() if old.get(name) is not node and _is_known(node)}
        before_it, after_it = _held(old, fresh), _held(new, fresh)
        for content, storages in after_it.items():
            there = max(1, len(before_it.get(content, {})), self._followed(content))
            if len(storages) > there:
                nodes = [node for each in storages.values() for node in each]
                yield _Found(step, _kind(old, nodes, moved), nodes, there, len(storages) - there)

    def _followed(self, content: tuple[object, ...]) -> int:
        """Returns how many storages of a content are reported already."""
        found = (each for each in self.found if each.until is None and each.kind != "split")
        return max((each.first + each.extra for each in found if _content(each.nodes[0]) == content), default=0)


def _kind(old: Mapping[str, Node], nodes: list[Node], moved: _Moved) -> _Kind:
    """Returns ``copied`` where some of the constants stand for one that was there, read in its place."""
    names = {node.outputs[0].name for node in nodes}
    sources = {_storage(old[name]) for name, targets in moved.items() if not names.isdisjoint(targets)}
    return "copied" if 0 < len(sources) < len({_storage(node) for node in nodes}) else "equal"


def _split(before: _Indexed, after: _Indexed, step: Step) -> Iterator[_Found]:
    """Yields the memory in whose place several nodes read memory of their own after the step."""
    old, new = before.constants, after.constants
    read: defaultdict[str, dict[str, Node]] = defaultdict(dict)
    same: set[str] = set()
    for was, now in _counterparts(before.nodes, after.nodes, step.rewrites):
        if was is now:
            same.update(was.inputs)
            continue
        for source, target in zip(was.inputs, now.inputs, strict=False):
            if was.op == now.op and source in old and target in new and _alike(old[source], new[target]):
                read[_storage(old[source])][_storage(new[target])] = new[target]
    unchanged = same & old.keys() & new.keys()
    anew = {name for name in unchanged if old[name] is not new[name]}
    for name in (*anew, *(unchanged - anew)):
        # A constant that stayed what it was matters only where something else came to stand for the same memory.
        if (name in anew or _storage(old[name]) in read) and _alike(old[name], new[name]):
            read[_storage(old[name])][_storage(new[name])] = new[name]
    places = {name: place for place, name in enumerate(new)} if any(len(each) > 1 for each in read.values()) else {}
    for storages in read.values():
        nodes = sorted(storages.values(), key=lambda node: places.get(node.outputs[0].name, 0))
        if len({_content(node) for node in nodes}) > 1:
            yield _Found(step, "split", nodes, 1, len(nodes) - 1)


def _moved(before: _Indexed, after: _Indexed, rewrites: tuple[Rewrite, ...]) -> _Moved:
    old, new = before.constants, after.constants
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for was, now in _counterparts(before.nodes, after.nodes, rewrites):
        for source, target in zip(was.inputs, now.inputs, strict=False) if was is not now else ():
            if source != target and source in old and target in new and _size(old[source]) == _size(new[target]):
                found[source][target] = None
    return found


def _counterparts(
    old: Mapping[str, Node], new: Mapping[str, Node], rewrites: tuple[Rewrite, ...]
) -> Iterator[tuple[Node, Node]]:
    """Yields the nodes that are the same before and after, and those that a rewrite exchanged."""
    yield from ((node, new[name]) for name, node in old.items() if name in new)
    for rewrite in rewrites:
        gone = [old[name] for name in rewrite.consumed if name in old and name not in new and not old[name].constant]
        come = [new[name] for name in rewrite.produced if name in new and name not in old and not new[name].constant]
        by_op: defaultdict[str, list[Node]] = defaultdict(list)
        for node in come:
            by_op[node.op].append(node)
        pairs = [(node, by_op[node.op][0]) for node in gone if len(by_op[node.op]) == 1]
        # The first ones of a rewrite do the work, whatever their operators are called.
        yield from pairs or zip(gone[:1], come[:1], strict=False)


def _held(constants: Mapping[str, Node], contents: Collection[tuple[object, ...]]) -> _Held:
    """Returns the nodes of some contents, by storage."""
    digests = {content[0] for content in contents}
    found: _Held = {}
    for node in constants.values():
        if _constant(node).digest in digests and _is_known(node) and _content(node) in contents:
            found.setdefault(_content(node), {}).setdefault(_storage(node), []).append(node)
    return found


def _is_known(node: Node) -> bool:
    constant = _constant(node)
    return bool(constant.digest and constant.nbytes)


def _content(node: Node) -> tuple[object, ...]:
    constant = _constant(node)
    return constant.digest, constant.shape, constant.dtype, constant.device


def _alike(node: Node, other: Node) -> bool:
    one, two = _constant(node), _constant(other)
    return (one.shape, one.dtype) == (two.shape, two.dtype)


def _size(node: Node) -> int:
    return prod(_constant(node).shape)


def _storage(node: Node) -> str:
    """Returns the storage's name; memory that torch does not show is the node's own."""
    return _constant(node).storage or f"of {node.id}"


def _constant(node: Node) -> Constant:
    if node.constant is None:
        raise ValueError(f"node {node.id} is no constant")
    return node.constant


def _paths(trace: Trace) -> _Paths:
    found: defaultdict[tuple[str, str], tuple[str, ...]] = defaultdict(tuple)
    for fate in trace.attributes:
        for location in fate.locations:
            found[location.method, location.value] += (fate.path,)
        found["", f"self.{fate.path}"] += (fate.path,)
    return found
