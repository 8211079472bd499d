"""Finds the nodes that a pass merged: of several that compute the same, one remains for all their readers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from freeze_engine.backends.torchscript.attributes.reads import Reading
from freeze_engine.trace import Node


def merged_nodes(before: Reading, after: Reading) -> Mapping[str, str]:
    """Returns, by the id of a removed node, the id of the one that now provides its values.

    Two nodes are merged if they are of one operator and read the same, or merged, values, and if a
    reader of the one reads the other after the pass.

    Args:
        before: the graph before the pass.
        after: the graph after it.
    """
    gone = [node for id_, node in before.nodes.items() if id_ not in after.nodes and _can_merge(node)]
    alike = _alike(gone, before, after)
    return dict(_with_readers(gone, alike, before, after)) if alike else {}


def _can_merge(node: Node) -> bool:
    return bool(node.outputs and node.inputs and not node.blocks)


def _alike(gone: list[Node], before: Reading, after: Reading) -> dict[str, list[Node]]:
    """Returns the nodes of the graph after that compute what a removed one did."""
    ops = {node.op for node in gone}
    known: defaultdict[tuple[object, ...], list[Node]] = defaultdict(list)
    for node in after.nodes.values():
        if node.op in ops and _can_merge(node):
            known[_key(node, after, {})].append(node)
    found: dict[str, list[Node]] = {}
    names: dict[str, str] = {}
    for node in gone:
        others = [
            other for other in known.get(_key(node, before, names), ()) if len(other.outputs) == len(node.outputs)
        ]
        if others:
            found[node.id] = others
            names |= {one.name: two.name for one, two in zip(node.outputs, others[0].outputs, strict=True)}
    return found


def _key(node: Node, graph: Reading, names: Mapping[str, str]) -> tuple[object, ...]:
    inputs = (graph.content(name) or names.get(name, name) for name in node.inputs)
    return (node.op, node.attributes, *inputs)


def _with_readers(
    gone: list[Node], alike: Mapping[str, list[Node]], before: Reading, after: Reading
) -> Iterator[tuple[str, str]]:
    """Yields the pairs where a reader switched from one to the other, last ones first."""
    readers: defaultdict[str, list[tuple[str, int, int]]] = defaultdict(list)
    for read, name in before.reads.items():
        readers[name].append(read)
    merged: dict[str, str] = {}
    for node in reversed(gone):
        for other in alike.get(node.id, ()):
            pairs = list(zip(node.outputs, other.outputs, strict=True))
            if any(
                after.reads.get((merged.get(id_, id_), block, place)) == two.name
                for one, two in pairs
                for id_, block, place in readers[one.name]
            ):
                merged[node.id] = other.id
                yield node.id, other.id
                break
