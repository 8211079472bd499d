"""What a freeze holds more than once: equal constants in storages of their own, and weights that were one before.

Attributes that share memory (tied weights) stay shared as constants, until a step writes one of them anew: a fold gives
each convolution its own weights. And what was equal from the start, in two attributes, is kept twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from freeze_engine.trace import Constant, GraphSnapshot, Node, Rewrite, Step, Trace


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Memory that is held more than once from one step on.

    Attributes:
        step: index of the step that brought it about.
        method: the step's method.
        kind: ``equal`` for attributes that were equal in different memory before they were inlined, ``copied`` where a
            step made equal copies of a constant, ``split`` where several nodes read one constant before the step, and
            different ones after it.
        names: the constants after the step that are the same, or were.
        attributes: paths of the attributes whose values they hold, as far as the trace tells.
        nbytes: how much more is held than for one of them.
    """

    step: int
    method: str
    kind: Literal["equal", "copied", "split"]
    names: tuple[str, ...]
    attributes: tuple[str, ...]
    nbytes: int


def duplicates(trace: Trace) -> tuple[Duplicate, ...]:
    """Finds what is held more than once, and since which step.

    Args:
        trace: the recording; constants whose contents are unknown cannot be told equal.

    Returns:
        By step, and within one step the largest first.
    """
    paths = _paths(trace)
    latest: dict[str, _Indexed] = {}
    found = []
    for step in trace.steps:
        before = latest.get(step.method)
        if before is not None and before.graph is step.graph:
            continue
        after = latest[step.method] = _indexed(step.graph)
        if before is not None:
            of_step = (*_equal(before, after, step, paths), *_split(before, after, step, paths))
            found += sorted(of_step, key=lambda duplicate: (-duplicate.nbytes, duplicate.names))
    return tuple(found)


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


def _equal(before: _Indexed, after: _Indexed, step: Step, paths: _Paths) -> Iterator[Duplicate]:
    old, new = before.constants, after.constants
    fresh = {_content(node) for name, node in new.items() if old.get(name) is not node and _is_known(node)}
    before_it, after_it = _held(old, fresh), _held(new, fresh)
    for content, storages in after_it.items():
        known = before_it.get(content, {})
        if len(storages) < 2 or len(storages) <= len(known):
            continue
        nodes = [node for each in storages.values() for node in each]
        extra = len(storages) - max(1, len(known))
        kind: Literal["copied", "equal"] = "copied" if known else "equal"
        yield _duplicate(step, kind, nodes, extra * _nbytes(nodes[0]), paths)


def _split(before: _Indexed, after: _Indexed, step: Step, paths: _Paths) -> Iterator[Duplicate]:
    """Yields the memory in whose place several nodes read memory of their own after the step."""
    old, new = before.constants, after.constants
    read: defaultdict[str, dict[str, Node]] = defaultdict(dict)
    same: set[str] = set()
    for was, now in _counterparts(before.nodes, after.nodes, step.rewrites):
        if was is now:
            same.update(was.inputs)
            continue
        for source, target in zip(was.inputs, now.inputs, strict=False):
            if source in old and target in new and _alike(old[source], new[target]):
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
            yield _duplicate(step, "split", nodes, (len(nodes) - 1) * _nbytes(nodes[0]), paths)


def _counterparts(
    old: Mapping[str, Node], new: Mapping[str, Node], rewrites: tuple[Rewrite, ...]
) -> Iterator[tuple[Node, Node]]:
    """Yields the nodes that are the same before and after, and those of one operator that a rewrite exchanged."""
    yield from ((node, new[name]) for name, node in old.items() if name in new)
    for rewrite in rewrites:
        gone = [old[name] for name in rewrite.consumed if name in old and name not in new]
        come = [new[name] for name in rewrite.produced if name in new and name not in old]
        by_op: defaultdict[str, list[Node]] = defaultdict(list)
        for node in come:
            by_op[node.op].append(node)
        for node in gone:
            alike = by_op.get(node.op, [])
            if len(alike) == 1 and not node.constant:
                yield node, alike[0]


def _duplicate(
    step: Step, kind: Literal["equal", "copied", "split"], nodes: list[Node], nbytes: int, paths: _Paths
) -> Duplicate:
    names = tuple(dict.fromkeys(node.outputs[0].name for node in nodes))
    places = [(method, name) for name in names for method in (step.method, "")]
    attributes = {path for place in places for path in paths.get(place, ())}
    return Duplicate(step.index, step.method, kind, names, tuple(sorted(attributes)), nbytes)


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


def _storage(node: Node) -> str:
    """Returns the storage's name; memory that torch does not show is the node's own."""
    return _constant(node).storage or f"of {node.id}"


def _nbytes(node: Node) -> int:
    return _constant(node).nbytes


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
