"""Matches the nodes of two traces by operator and place, not by name."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Final

from freeze_engine.analysis.alignment import Pair, align, increasing, refine
from freeze_engine.trace import Block, GraphSnapshot, Node, SourceRef, Trace, Value

_MANGLE: Final = re.compile(r"___torch_mangle_\d+\.")
_LEAVES: Final = frozenset({"prim::GetAttr", "prim::Constant", "get_attr"})
_TOLD_BY_TEXT: Final = _LEAVES | {"prim::CallMethod", "prim::CallFunction"}

_Key = Callable[[Node], Hashable]
_Texts = dict[tuple[str, int], str]


class Pairing:
    """Names of one trace for those of another, no name having two partners.

    Attributes:
        firsts: the name in the first trace by the name in the second.
    """

    def __init__(self) -> None:
        self.firsts: dict[str, str] = {}
        self._seconds: dict[str, str] = {}

    def add(self, first: str, second: str) -> bool:
        """Pairs two names, and returns whether they are a pair now: not if one of them has another partner."""
        if second not in self.firsts and first not in self._seconds:
            self.firsts[second], self._seconds[first] = first, second
        return self.firsts.get(second) == first

    def has_first(self, first: str) -> bool:
        """Returns whether a name of the first trace has a partner."""
        return first in self._seconds


def unmangled(text: str) -> str:
    """Returns a type's text without the numbers that torch adds to classes of one name within a process."""
    return _MANGLE.sub("", text) if "___torch_mangle_" in text else text


class NodeMatcher:
    """Matches the nodes of one method in two traces, pair of snapshots after pair of snapshots.

    A node keeps its id through the steps of its trace, so what was matched once stays so.

    Attributes:
        nodes: ids.
        inputs: names of the graphs' inputs.
        scopes: scopes of blocks (`freeze_engine.trace.Block.scope`).
        storages: storages of constants, which all methods of a trace share.
    """

    def __init__(self, first: Trace, second: Trace, storages: Pairing) -> None:
        self.nodes, self.inputs, self.scopes, self.storages = Pairing(), Pairing(), Pairing(), storages
        self._texts = (_source_texts(first), _source_texts(second))
        self._seen: dict[tuple[int, int], tuple[GraphSnapshot, GraphSnapshot]] = {}

    def match(self, first: GraphSnapshot, second: GraphSnapshot) -> None:
        """Matches what is not matched yet in two snapshots that stand at the same place of their traces."""
        if (id(first), id(second)) in self._seen:
            return
        self._seen[id(first), id(second)] = (first, second)  # holds them, so that an id() is never reused
        self._match_inputs(first.inputs, second.inputs)
        keys = (_Keys(first, self._texts[0]), _Keys(second, self._texts[1]))
        self._match_bodies(first.nodes, second.nodes, keys)
        self._match_displaced(first, second, keys)
        self._match_storages(first, second)

    def _match_inputs(self, first: Sequence[Value], second: Sequence[Value]) -> None:
        types, other_types = ([unmangled(value.type) for value in values] for values in (first, second))
        if types == other_types:
            pairs = [(index, index) for index in range(len(first))]
        else:
            pairs = align([value.name for value in first], [value.name for value in second])
            pairs = refine(pairs, types, other_types)
        for index, other in pairs:
            self.inputs.add(first[index].name, second[other].name)

    def _match_bodies(self, first: Sequence[Node], second: Sequence[Node], keys: tuple[_Keys, _Keys]) -> None:
        """Matches the nodes of two blocks in order, and then what is inside those that have blocks."""
        places = {node.id: index for index, node in enumerate(first)}
        partners = [places.get(self.nodes.firsts.get(node.id, "")) for node in second]
        known = [(index, other) for other, index in enumerate(partners) if index is not None]
        anchors = [known[position] for position in increasing([index for index, _ in known])]
        for start, stop, other_start, other_stop in _gaps(anchors, len(first), len(second)):
            old = [node for node in first[start:stop] if not self.nodes.has_first(node.id)]
            new = [node for node in second[other_start:other_stop] if node.id not in self.nodes.firsts]
            for index, other in _aligned(old, new, keys):
                self.nodes.add(old[index].id, new[other].id)
        for node in second:
            place = places.get(self.nodes.firsts.get(node.id, "")) if node.blocks else None
            if place is not None:
                for block, other_block in zip(first[place].blocks, node.blocks, strict=False):
                    self._match_blocks(block, other_block, keys)

    def _match_blocks(self, first: Block, second: Block, keys: tuple[_Keys, _Keys]) -> None:
        # What a scope holds is named after it, so its nodes only match those of one other scope.
        if (first.scope or second.scope) and not (
            first.scope and second.scope and self.scopes.add(first.scope, second.scope)
        ):
            return
        self._match_bodies(first.nodes, second.nodes, keys)

    def _match_displaced(self, first: GraphSnapshot, second: GraphSnapshot, keys: tuple[_Keys, _Keys]) -> None:
        """Matches nodes at other places, in order; numbers and flags are too alike for that."""
        waiting: defaultdict[Hashable, deque[Node]] = defaultdict(deque)
        for node in _unscoped(first.nodes):
            if not self.nodes.has_first(node.id) and not _is_literal(node):
                waiting[keys[0].exact(node)].append(node)
        if not waiting:
            return
        for node in _unscoped(second.nodes):
            if node.id not in self.nodes.firsts and (candidates := waiting.get(keys[1].exact(node))):
                self.nodes.add(candidates.popleft().id, node.id)

    def _match_storages(self, first: GraphSnapshot, second: GraphSnapshot) -> None:
        stored = {node.id: node.constant.storage for node in first.walk() if node.constant}
        for node in second.walk():
            storage = stored.get(self.nodes.firsts.get(node.id, "")) if node.constant else None
            if node.constant and storage is not None and node.constant.storage is not None:
                self.storages.add(storage, node.constant.storage)


class _Keys:
    """Keys to match the nodes of one snapshot, from those that are rarely equal by chance to those that often are."""

    def __init__(self, graph: GraphSnapshot, texts: _Texts) -> None:
        self._texts = texts
        self._leaves = {node.outputs[0].name: node for node in graph.walk() if node.op in _LEAVES and node.outputs}

    def exact(self, node: Node) -> Hashable:
        """Returns everything but names: with the attributes and constants that a node reads, and its source's text."""
        read = tuple(self._held(name) for name in node.inputs)
        types = tuple(unmangled(value.type) for value in node.outputs)
        inner = tuple(len(block.nodes) for block in node.blocks)
        kept = node.constant and (node.constant.shape, node.constant.dtype, node.constant.digest)
        return (node.op, _attributes(node), node.module, types, inner, kept, read, self._source(node.source))

    def by_module(self, node: Node) -> Hashable:
        """Returns what stays where weights, types and lines are other ones."""
        return (self.by_text(node), node.module)

    def by_text(self, node: Node) -> Hashable:
        """Returns what stays where modules have other names, too."""
        # A small tensor's attributes are its values, which other weights change as they change a large one's digest.
        attributes = _attributes(node) if node.constant is None else ()
        return (node.op, attributes, len(node.outputs), node.constant and node.constant.shape)

    def by_operator(self, node: Node) -> Hashable:
        """Returns the operator, unless nodes of that operator have little in common."""
        return self.by_text(node) if node.op in _TOLD_BY_TEXT else (node.op, len(node.outputs))

    def _held(self, name: str) -> Hashable:
        """Returns which attribute or constant a value is, if it is one."""
        node = self._leaves.get(name)
        if node is None:
            return None
        kept = node.constant and (node.constant.shape, node.constant.digest)
        return (_attributes(node), kept, tuple(self._held(source) for source in node.inputs))

    def _source(self, source: SourceRef | None) -> str | None:
        # Of a line only its text counts: an edit further up moves it.
        return None if source is None else self._texts.get((source.file, source.line))


def _aligned(first: Sequence[Node], second: Sequence[Node], keys: tuple[_Keys, _Keys]) -> list[Pair]:
    if not first or not second:
        return []
    pairs: list[Pair] = []
    ways: tuple[tuple[_Key, _Key], ...] = (
        (keys[0].exact, keys[1].exact),
        (keys[0].by_module, keys[1].by_module),
        (keys[0].by_text, keys[1].by_text),
        (keys[0].by_operator, keys[1].by_operator),
    )
    for key, other_key in ways:
        pairs = refine(pairs, [key(node) for node in first], [other_key(node) for node in second])
        if len(pairs) == min(len(first), len(second)):
            break
    return pairs


def _gaps(pairs: Sequence[Pair], first: int, second: int) -> Iterator[tuple[int, int, int, int]]:
    """Yields the parts between neighbouring pairs, and before and after all of them."""
    start = other_start = 0
    for index, other in [*pairs, (first, second)]:
        if index > start and other > other_start:
            yield start, index, other_start, other
        start, other_start = index + 1, other + 1


def _attributes(node: Node) -> tuple[tuple[str, str], ...]:
    if names_constant(node):
        return ()
    return tuple((name, unmangled(text)) for name, text in node.attributes)


def names_constant(node: Node) -> bool:
    """Returns whether a node's attributes only name its constant: Inductor counts them up (``_frozen_param7``)."""
    return node.op == "get_attr" and node.constant is not None


def _is_literal(node: Node) -> bool:
    return node.op == "prim::Constant" and node.constant is None


def _unscoped(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        for block in node.blocks:
            if not block.scope:
                yield from _unscoped(block.nodes)


def _source_texts(trace: Trace) -> _Texts:
    return {
        (source.file, source.first_line + offset): text.strip()
        for source in trace.sources
        for offset, text in enumerate(source.lines)
    }
