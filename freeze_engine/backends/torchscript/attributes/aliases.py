"""Finds the writers of each value with torch's alias analysis, and the path from a write back to an attribute.

``recordMutableAttrs`` in ``torch/csrc/jit/passes/freeze_module.cpp`` decides with ``AliasDb(graph,
isFrozen=true)`` on the inlined graph. The same analysis is run here on a copy of that graph, which is made the
way torch makes it (``Method.inlined_graph``). Checked on torch 2.13.0.
"""

from __future__ import annotations

import functools
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from freeze_engine.backends.common.torch_private import private
from freeze_engine.backends.torchscript.graph.live import printable
from freeze_engine.backends.torchscript.graph.live_walk import outputs_of
from freeze_engine.backends.torchscript.graph.parser import parse_graph, parse_node
from freeze_engine.trace import AliasAnalysis, AliasEntry, Block, ChainLink, GraphSnapshot, Node, Write

_Key = tuple[str, tuple[str, ...], tuple[str, ...], tuple[tuple[str, str], ...]]
_CONTAINERS = ("ListType", "TupleType", "DictType")
_PUTS = frozenset(
    {"aten::_set_item", "aten::append", "aten::extend", "aten::insert", "aten::setdefault", "aten::update"}
)
_ENTRY = re.compile(r"(?P<values>.+?) (?P<relation>points to|contains): (?P<targets>.*)$")
_ELEMENT = re.compile(r"%(?P<value>[^%,()\s]+)|(?P<wildcard>WILDCARD(?: for type (?:(?!WILDCARD for type |\(?%).)*)?)")


def alias_analysis(
    graph: Any, snapshot: GraphSnapshot, parse: Callable[[str], GraphSnapshot] = parse_graph
) -> AliasAnalysis:
    """Reads torch's alias database of a live graph.

    Args:
        graph: the live graph; its values may be numbered differently (torch renumbers a copy).
        snapshot: the same graph as it stands in the trace.
        parse: reads the text of a graph.

    Returns:
        Alias sets and writes; a forked subgraph's are not part of it, as torch analyses it on its own.
    """
    with printable(graph):
        sections = str(graph.alias_db(True, False))
    _, _, sections = sections.partition("===1. GRAPH===")
    text, _, sections = sections.partition("===2. ALIAS DB===")
    sets, _, writes = sections.partition("===3. Writes===")
    printed = parse(text.strip())
    names = _value_names(printed, snapshot)
    nodes = {_key(mine): theirs for mine, theirs in zip(printed.walk(), snapshot.walk(), strict=True)}
    # torch prints both in the order of addresses, which differs from run to run.
    places = {name: place for place, name in enumerate(names.values())}
    entries = list(dict.fromkeys(entry for line in sets.splitlines() for entry in _entries(line, names)))
    entries.sort(key=lambda entry: (places.get(entry.value, len(places)), entry.relation))
    order = {node.id: place for place, node in enumerate(snapshot.walk())}
    found = sorted(_writes(writes, nodes, names), key=lambda write: order[write.node])
    return AliasAnalysis(tuple(entries), tuple(found))


def _value_names(printed: GraphSnapshot, snapshot: GraphSnapshot) -> dict[str, str]:
    names = {mine.name: theirs.name for mine, theirs in zip(printed.inputs, snapshot.inputs, strict=True)}
    for mine, theirs in zip(printed.walk(), snapshot.walk(), strict=True):
        names.update((one.name, other.name) for one, other in zip(mine.outputs, theirs.outputs, strict=True))
        for block, same in zip(mine.blocks, theirs.blocks, strict=True):
            names.update((one.name, other.name) for one, other in zip(block.inputs, same.inputs, strict=True))
    return names


def _entries(line: str, names: Mapping[str, str]) -> Iterator[AliasEntry]:
    """Reads a line of the second part; values that share an element, ``(%a, %b, )``, have an entry each."""
    match = _ENTRY.match(line)
    if match is None:
        return
    relation: Literal["points to", "contains"] = "points to" if match["relation"] == "points to" else "contains"
    targets = _targets(match["targets"], names)
    for element in _ELEMENT.finditer(match["values"]):
        if element["value"] in names:
            yield AliasEntry(names[element["value"]], relation, targets)


def _targets(text: str, names: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the values and wildcards of a line, sorted, each once.

    `AliasDb::toString` in ``torch/csrc/jit/ir/alias_analysis.cpp`` puts nothing between the first two elements that a
    value contains (``%19%ints, %x``), nor between wildcards, whose types may hold commas. Values that are not in the
    graph are passed over: those of a subgraph that torch analyses with it.
    """
    found: set[str] = set()
    for element in _ELEMENT.finditer(text):
        if element["wildcard"]:
            found.add(element["wildcard"].rstrip(", "))
        elif element["value"] in names:
            found.add(names[element["value"]])
    return tuple(sorted(found))


def _writes(text: str, nodes: Mapping[_Key, Node], names: Mapping[str, str]) -> Iterator[Write]:
    """Reads the third part: a writing node's line, then a line with what it writes, each target before a comma."""
    writer: Node | None = None
    for line in text.splitlines():
        if line.startswith("  ") and line.rstrip().endswith(",") and writer is not None:
            yield Write(writer.id, writer.op, _targets(line, names), writer.source)
            writer = None
        elif line.strip():
            writer = nodes.get(_key(parse_node(line)))


def _key(node: Node) -> _Key:
    return node.op, tuple(value.name for value in node.outputs), node.inputs, node.attributes


def written_arguments(live: Any) -> tuple[int, ...]:
    """Returns the positions of the arguments an operator writes, by its schema's alias annotations."""
    return _written_by(live.schema())


@functools.lru_cache(maxsize=1024)
def _written_by(schema: str) -> tuple[int, ...]:
    if not schema or schema == "(no schema)":
        return ()
    arguments = private("parse_schema")(schema).arguments
    return tuple(
        index for index, argument in enumerate(arguments) if argument.alias_info and argument.alias_info.is_write
    )


@dataclass(frozen=True, slots=True)
class WildWrite:
    """A write to a value that torch's analysis cannot separate from another.

    Attributes:
        node: the writing node.
        written: name of the value that it writes.
        taken: from the written value to the list, tuple or dictionary that it was taken out of, or is put into.
        put: from the one that the value is put into to the value itself.
    """

    node: Node
    written: str
    taken: tuple[ChainLink, ...]
    put: tuple[ChainLink, ...]


class WriterSearch:
    """Finds the writers of a value's memory, in one live graph.

    A forked subgraph is searched on its own, as torch analyses it.

    Args:
        graph: an inlined graph, before attributes are propagated.
        snapshot: the same graph with final ids.
    """

    def __init__(self, graph: Any, snapshot: GraphSnapshot) -> None:
        self._database = graph.alias_db(True, False)
        self._values: dict[str, Any] = {}
        self._sources: dict[str, list[str]] = {}
        self._uses: dict[str, list[str]] = {}
        self._makers: dict[str, Node] = {}
        self._writers: list[tuple[Node, tuple[int, ...]]] = []
        self._writes_tensors: bool | None = None
        self._forks: list[tuple[Node, Block, WriterSearch]] = []
        for value, live in zip(snapshot.inputs, graph.inputs(), strict=True):
            self._values[value.name] = live
        self._enter(snapshot.nodes, graph)

    def _enter(self, nodes: tuple[Node, ...], live_block: Any) -> None:
        for node, live in zip(nodes, live_block.nodes(), strict=True):
            self._note(node, live)
            if not node.blocks:
                continue
            plain = [block for block in node.blocks if not block.scope]
            for block, inner in zip(plain, live.blocks(), strict=True):
                self._note_inputs(node, block, inner)
                self._enter(block.nodes, inner)
            for block in node.blocks:
                if block.scope:
                    body = GraphSnapshot(block.inputs, block.nodes, block.outputs)
                    self._forks.append((node, block, WriterSearch(live.g("Subgraph"), body)))

    def _note(self, node: Node, live: Any) -> None:
        written = written_arguments(live)
        if written:
            self._writers.append((node, written))
        if node.op in _PUTS:
            for name in node.inputs[1:]:
                self._uses.setdefault(name, []).append(node.inputs[0])
        for position, (value, output) in enumerate(zip(node.outputs, outputs_of(live), strict=True)):
            self._values[value.name] = output
            self._makers[value.name] = node
            self._sources[value.name] = [*node.inputs, *_yielded(node, position)]
            for source in self._sources[value.name]:
                self._uses.setdefault(source, []).append(value.name)

    def _note_inputs(self, node: Node, block: Block, live_block: Any) -> None:
        carried = node.inputs[2:] if node.op == "prim::Loop" else ()
        for position, (value, live) in enumerate(zip(block.inputs, live_block.inputs(), strict=True)):
            self._values[value.name] = live
            self._makers[value.name] = node
            # A loop's first input is its counter, the others are its loop-carried values.
            given = [carried[position - 1], block.outputs[position]] if 0 < position <= len(carried) else []
            self._sources[value.name] = given

    def writes(self, name: str) -> list[tuple[Node, tuple[ChainLink, ...]]]:
        """Finds the operators that write memory of the value called ``name``.

        Args:
            name: a value of the snapshot, also one inside a fork.

        Returns:
            The writing nodes in order, each with the chain of aliases from the value it writes back to ``name``. Where
            no chain leads from any of them, all writes that torch cannot separate from it: see `wild_writes`.
        """
        inside = next((search for _, block, search in self._forks if name.startswith(block.scope)), None)
        if inside is not None:
            return inside.writes(name)
        linked: dict[str, tuple[Node, tuple[ChainLink, ...]]] = {}
        for node, written in self._writes_into(name):
            chain = self._chain(written, name) if self._may_write(written, name) else ()
            if chain:
                linked.setdefault(node.id, (node, chain))
        return [*linked.values(), *self._writes_in_forks(name)]

    def _writes_into(self, name: str) -> Iterator[tuple[Node, str]]:
        """Yields each writer with the name of a value that it writes, where that may be memory of ``name``.

        Every attribute is compared with every write, so the comparison stands here and not in a function.
        """
        may_alias, value = self._database.may_contain_alias, self._values.get(name)
        if value is not None and self._is_unwritten(value):
            return
        for node, positions in self._writers:
            for position in positions:
                written = node.inputs[position]
                other = self._values.get(written)
                if written == name or (other is not None and value is not None and may_alias(other, value)):
                    yield node, written

    def _is_unwritten(self, value: Any) -> bool:
        """Returns whether nothing in the graph writes a tensor; ``False`` also means that it is not known.

        A tensor contains nothing, so it may be written by what its memory is shared with (``AliasDb::hasWriters`` and
        ``mayContainAlias``, torch 2.13.0); of other kinds of objects, that are written, parts may be shared.
        """
        if self._writes_tensors is None:
            written = (node.inputs[position] for node, positions in self._writers for position in positions)
            kinds = {self._values[name].type().kind() for name in written if name in self._values}
            self._writes_tensors = kinds <= {"TensorType", *_CONTAINERS}
        is_tensor = self._writes_tensors and value.type().kind() == "TensorType"
        return is_tensor and not self._database.has_writers(value)

    def wild_writes(self, name: str) -> list[WildWrite]:
        """Finds the operators that write a value which torch's analysis cannot separate from ``name``.

        Values that are put into or taken out of a list, a tuple or a dictionary are in one set for each type, the
        wildcard (``torch/csrc/jit/ir/alias_analysis.cpp``, torch 2.13.0): a write to any of these may write all.

        Args:
            name: a value of the snapshot, also one inside a fork.

        Returns:
            The first such write of each line that no chain of aliases leads from.
        """
        inside = next((search for _, block, search in self._forks if name.startswith(block.scope)), None)
        if inside is not None:
            return inside.wild_writes(name)
        put = self._put_into(name)
        found: dict[object, WildWrite] = {}
        for node, positions in self._writers:
            for written in (node.inputs[position] for position in positions):
                if not self._may_write(written, name) or self._chain(written, name):
                    continue
                place = (node.source.file, node.source.line) if node.source else node.id
                found.setdefault(place, WildWrite(node, written, self._taken_from(written), put))
        return list(found.values())

    def _put_into(self, name: str) -> tuple[ChainLink, ...]:
        """Follows a value to the first list, tuple or dictionary that it is put into; empty if there is none."""
        return self._reached(name, lambda value: self._uses.get(value, ()))[::-1]

    def _taken_from(self, name: str) -> tuple[ChainLink, ...]:
        """Follows a written value to the container that it was taken out of, or else to the one that it is put into."""
        return self._reached(name, lambda value: self._sources.get(value, ())) or self._put_into(name)[::-1]

    def _reached(self, name: str, following: Callable[[str], Iterable[str]]) -> tuple[ChainLink, ...]:
        queue, came_from = deque([name]), {name: name}
        while queue:
            value = queue.popleft()
            if value != name and self._is_container(value):
                return self._links(value, came_from)
            for each in following(value):
                if each not in came_from and self._may_alias(each, name):
                    came_from[each] = value
                    queue.append(each)
        return ()

    def _writes_in_forks(self, name: str) -> Iterator[tuple[Node, tuple[ChainLink, ...]]]:
        """Follows a value into the forks that receive it, or a value that shares its memory."""
        for fork, block, search in self._forks:
            for given, received in zip(fork.inputs, block.inputs, strict=False):
                if not self._may_alias(given, name) or self._values[given].type().kind() == "ClassType":
                    continue  # a fork does its own reads from a module
                for node, chain in search.writes(received.name):
                    inner = tuple(link if link.node else _passed(link, fork) for link in chain)
                    yield node, (*inner, *self._chain(given, name))

    def _may_write(self, written: str, name: str) -> bool:
        """Returns whether a write to one value may be one to another: a list and its items are written separately."""
        return self._may_alias(written, name) and self._is_container(written) == self._is_container(name)

    def _is_container(self, name: str) -> bool:
        kind = self._values[name].type()
        if kind.kind() == "OptionalType":
            kind = kind.getElementType()
        return kind.kind() in _CONTAINERS

    def _may_alias(self, one: str, other: str) -> bool:
        if one == other:
            return True
        values = self._values.get(one), self._values.get(other)
        return None not in values and bool(self._database.may_contain_alias(*values))

    def _chain(self, start: str, goal: str) -> tuple[ChainLink, ...]:
        """Walks from the written value through the nodes that made it, along values that may share memory."""
        queue, came_from = deque([start]), {start: start}
        while queue:
            name = queue.popleft()
            if name == goal:
                return self._links(name, came_from)
            for source in self._sources.get(name, ()):
                if source not in came_from and self._may_alias(source, goal):
                    came_from[source] = name
                    queue.append(source)
        return ()

    def _links(self, end: str, came_from: Mapping[str, str]) -> tuple[ChainLink, ...]:
        names = [end]
        while came_from[names[-1]] != names[-1]:
            names.append(came_from[names[-1]])
        return tuple(self._link(name) for name in reversed(names))

    def _link(self, name: str) -> ChainLink:
        node = self._makers.get(name)
        return ChainLink(name, node.id, node.op, node.source) if node else ChainLink(name, "", "", None)


def _passed(link: ChainLink, fork: Node) -> ChainLink:
    """Attributes an input of a forked body to the fork."""
    return ChainLink(link.value, fork.id, fork.op, fork.source)


def _yielded(node: Node, position: int) -> list[str]:
    """Returns the block results that an output of a branch or loop stands for; a loop body's first is its condition."""
    yielded = []
    for block in node.blocks:
        place = position + len(block.outputs) - len(node.outputs)
        if not block.scope and 0 <= place < len(block.outputs):
            yielded.append(block.outputs[place])
    return yielded
