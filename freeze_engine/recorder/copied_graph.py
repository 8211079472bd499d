"""Finds the nodes of a graph in a copy of it, whose values torch has numbered anew."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import count

from freeze_engine.analysis.alignment import align, refine
from freeze_engine.trace import Block, GraphSnapshot, Node, Value

_Key = tuple[object, ...]


def named_as(original: GraphSnapshot, copy: GraphSnapshot, retired: Collection[str] = ()) -> GraphSnapshot:
    """Gives the values and nodes of a changed copy of a graph the names that they have in the original.

    A copy keeps the names that have words (``%weight.3``) and numbers the others anew (``%17``; torch 2.13), so an
    equal number means nothing. A node is that of the original with the same operator, attributes, source line and
    module, in the order of its block; a constant is any with the same value. What is left is looked for in all blocks,
    since a fusion group takes nodes into its own.

    Args:
        original: with final ids.
        copy: with provisional ids.
        retired: further ids that no new node may take.

    Returns:
        The copy. A node that the original has is equal to it if it computes the same from the same; a new node and a
        new value have names that the original does not have.
    """
    scopes = {block.scope for node in original.walk() for block in node.blocks}
    copy = replace(copy, nodes=_within(copy.nodes, scopes))
    matches = _Matches(original, copy).found
    values = _renamed_values(original, copy, matches)
    return _Renaming(values, _ids(original, copy, retired, matches, values), matches).graph(copy)


def _within(nodes: tuple[Node, ...], scopes: Collection[str]) -> tuple[Node, ...]:
    """Returns nodes whose blocks have names of their own only where the original has such a block.

    The block of a fusion group holds nodes of the original under their own ids.
    """
    return tuple(
        replace(node, blocks=tuple(_plain(block, scopes) for block in node.blocks)) if node.blocks else node
        for node in nodes
    )


def _plain(block: Block, scopes: Collection[str]) -> Block:
    scope = block.scope if block.scope in scopes else ""
    return replace(block, nodes=_within(block.nodes, scopes), scope=scope)


def _scopes(nodes: tuple[Node, ...], scope: str = "") -> Iterator[tuple[str, str]]:
    for node in nodes:
        yield node.id, scope
        for block in node.blocks:
            yield from _scopes(block.nodes, block.scope or scope)


def _renamed_values(original: GraphSnapshot, copy: GraphSnapshot, matches: Mapping[str, Node]) -> dict[str, str]:
    values = dict(_same_values(original, copy, matches))
    taken = {*_value_names(original), *values.values()}
    for name in _value_names(copy):
        if name not in values:
            values[name] = _fresh(name, taken)
            taken.add(values[name])
    return values


def _ids(
    original: GraphSnapshot,
    copy: GraphSnapshot,
    retired: Collection[str],
    matches: Mapping[str, Node],
    values: Mapping[str, str],
) -> dict[str, str]:
    """Returns the final ids of the copy's nodes by their provisional ones."""
    scopes = dict(_scopes(copy.nodes))
    used = {*retired, *(node.id for node in original.walk())}
    ids = {provisional: node.id for provisional, node in matches.items()}
    for node in copy.walk():
        if node.id not in ids:
            ids[node.id] = _fresh(values[node.outputs[0].name] if node.outputs else scopes[node.id] + node.op, used)
            used.add(ids[node.id])
    return ids


class _Matches:
    """The nodes of the original by the ids of the same nodes in the copy, in ``found``."""

    def __init__(self, original: GraphSnapshot, copy: GraphSnapshot) -> None:
        self.found: dict[str, Node] = {}
        self._before, self._after = dict(_scopes(original.nodes)), dict(_scopes(copy.nodes))
        self._in_order(_constants(original), _constants(copy))
        self._blocks(original.nodes, copy.nodes)
        claimed = {node.id for node in self.found.values()}
        self._in_order(
            [node for node in original.walk() if node.id not in claimed],
            [node for node in copy.walk() if node.id not in self.found],
        )

    def _in_order(self, before: list[Node], after: list[Node]) -> None:
        waiting: defaultdict[tuple[str, _Key], deque[Node]] = defaultdict(deque)
        for node in before:
            waiting[self._before[node.id], _key(node)].append(node)
        for node in after:
            if candidates := waiting.get((self._after[node.id], _key(node))):
                self.found[node.id] = candidates.popleft()

    def _blocks(self, before: tuple[Node, ...], after: tuple[Node, ...]) -> None:
        waiting = [(before, after)]
        while waiting:
            before, after = waiting.pop()
            before = tuple(node for node in before if not _is_constant(node))
            after = tuple(node for node in after if not _is_constant(node))
            pairs = align([_named_key(node) for node in before], [_named_key(node) for node in after])
            pairs = refine(pairs, [_key(node) for node in before], [_key(node) for node in after])
            for old, new in pairs:
                self.found[after[new].id] = before[old]
                inner = zip(before[old].blocks, after[new].blocks, strict=False)  # a pass may remove a block
                waiting += [(one.nodes, other.nodes) for one, other in inner if one.scope == other.scope]


def _constants(graph: GraphSnapshot) -> list[Node]:
    return [node for node in graph.walk() if _is_constant(node)]


def _is_constant(node: Node) -> bool:
    return node.op == "prim::Constant"


def _key(node: Node) -> _Key:
    if not _is_constant(node):
        return node.op, node.attributes, node.source, node.module
    held = node.constant
    if held is None:
        return node.op, node.attributes, node.outputs[0].type
    words = _words(node)
    return node.op, words or (held.digest, held.shape, held.dtype, held.storage)


def _named_key(node: Node) -> _Key:
    return *_key(node), _words(node)


def _words(node: Node) -> tuple[str, ...]:
    return tuple(value.name for value in node.outputs if not value.name.isdigit())


def _same_values(
    original: GraphSnapshot, copy: GraphSnapshot, matches: Mapping[str, Node]
) -> Iterator[tuple[str, str]]:
    yield from _paired(original.inputs, copy.inputs)
    for node in copy.walk():
        same = matches.get(node.id)
        if same is not None:
            yield from _paired(same.outputs, node.outputs)
            for one, other in zip(same.blocks, node.blocks, strict=False):
                yield from _paired(one.inputs, other.inputs)


def _paired(before: tuple[Value, ...], after: tuple[Value, ...]) -> Iterator[tuple[str, str]]:
    if len(before) == len(after):
        yield from ((new.name, old.name) for old, new in zip(before, after, strict=True))


def _value_names(graph: GraphSnapshot) -> Iterator[str]:
    yield from (value.name for value in graph.inputs)
    for node in graph.walk():
        yield from (value.name for value in node.outputs)
        for block in node.blocks:
            yield from (value.name for value in block.inputs)


def _fresh(name: str, taken: Collection[str]) -> str:
    names = (f"{name}.new{number}" if number else name for number in count())
    return next(each for each in names if each not in taken)


class _Renaming:
    def __init__(self, values: Mapping[str, str], ids: Mapping[str, str], matches: Mapping[str, Node]) -> None:
        self._values = values
        self._ids = ids
        self._matches = matches

    def graph(self, graph: GraphSnapshot) -> GraphSnapshot:
        return GraphSnapshot(self._defined(graph.inputs), self._nodes(graph.nodes), self._read(graph.outputs))

    def _nodes(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(self._node(node) for node in nodes)

    def _node(self, node: Node) -> Node:
        before = self._matches.get(node.id)
        renamed = replace(
            node,
            id=self._ids[node.id],
            inputs=self._read(node.inputs),
            outputs=self._defined(node.outputs),
            blocks=tuple(self._block(block) for block in node.blocks),
        )
        if before is None:
            return renamed
        if _is_constant(node):  # a constant that stands for several has the place of one of them
            renamed = replace(renamed, source=before.source, module=before.module)
        return before if renamed == before else renamed

    def _block(self, block: Block) -> Block:
        return replace(
            block, inputs=self._defined(block.inputs), nodes=self._nodes(block.nodes), outputs=self._read(block.outputs)
        )

    def _defined(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        return tuple(replace(value, name=self._values[value.name]) for value in values)

    def _read(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self._values.get(name, name) for name in names)
