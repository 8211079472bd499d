"""Asks torch's alias analysis who writes what, and shows the way from a write back to an attribute.

``recordMutableAttrs`` in ``torch/csrc/jit/passes/freeze_module.cpp`` decides with ``AliasDb(graph,
isFrozen=true)`` on the inlined graph. The same analysis is run here on a copy of that graph, which is made the
way torch makes it (``Method.inlined_graph``). Checked on torch 2.13.0.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from freeze_engine.backends._torch_private import private
from freeze_engine.backends.torchscript.ir_text import parse_graph, parse_node
from freeze_engine.backends.torchscript.live import live_nodes
from freeze_engine.trace import AliasAnalysis, AliasEntry, ChainLink, GraphSnapshot, Node, Write

_Key = tuple[str, tuple[str, ...], tuple[str, ...], tuple[tuple[str, str], ...]]
_ENTRY = re.compile(r"%(?P<value>\S+) (?P<relation>points to|contains): (?P<targets>.*)$")


def alias_analysis(graph: Any, snapshot: GraphSnapshot) -> AliasAnalysis:
    """Reads torch's alias database of a live graph.

    Args:
        graph: the live graph; its values may be numbered differently (torch renumbers a copy).
        snapshot: the same graph as it stands in the trace.

    Returns:
        Alias sets and writes; a forked subgraph's are not part of it, as torch analyses it on its own.
    """
    sections = str(graph.alias_db(True, False))
    _, _, sections = sections.partition("===1. GRAPH===")
    text, _, sections = sections.partition("===2. ALIAS DB===")
    sets, _, writes = sections.partition("===3. Writes===")
    printed = parse_graph(text.strip())
    names = _value_names(printed, snapshot)
    nodes = {_key(mine): theirs for mine, theirs in zip(printed.walk(), snapshot.walk(), strict=True)}
    entries = (_entry(line, names) for line in sets.splitlines())
    return AliasAnalysis(tuple(entry for entry in entries if entry), tuple(_writes(writes, nodes, names)))


def _value_names(printed: GraphSnapshot, snapshot: GraphSnapshot) -> dict[str, str]:
    names = {mine.name: theirs.name for mine, theirs in zip(printed.inputs, snapshot.inputs, strict=True)}
    for mine, theirs in zip(printed.walk(), snapshot.walk(), strict=True):
        names.update((one.name, other.name) for one, other in zip(mine.outputs, theirs.outputs, strict=True))
        for block, same in zip(mine.blocks, theirs.blocks, strict=True):
            names.update((one.name, other.name) for one, other in zip(block.inputs, same.inputs, strict=True))
    return names


def _entry(line: str, names: Mapping[str, str]) -> AliasEntry | None:
    match = _ENTRY.match(line)
    if match is None:
        return None
    relation: Literal["points to", "contains"] = "points to" if match["relation"] == "points to" else "contains"
    return AliasEntry(names.get(match["value"], match["value"]), relation, _targets(match["targets"], names))


def _targets(text: str, names: Mapping[str, str]) -> tuple[str, ...]:
    # A wildcard's type may itself hold commas, so split only where a value or a wildcard begins.
    parts = re.split(r",\s*(?=%|WILDCARD|$)", text.strip())
    return tuple(sorted({names.get(part[1:], part[1:]) if part.startswith("%") else part for part in parts if part}))


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
    schema = live.schema()
    if not schema or schema == "(no schema)":
        return ()
    arguments = private("parse_schema")(schema).arguments
    return tuple(
        index for index, argument in enumerate(arguments) if argument.alias_info and argument.alias_info.is_write
    )


@dataclass(slots=True)
class WriterSearch:
    """Finds what writes the memory of a value, in one live graph.

    Attributes:
        graph: an inlined graph, before attributes are propagated.
        snapshot: the same graph with final ids.
    """

    graph: Any
    snapshot: GraphSnapshot
    _database: Any = field(init=False)
    _pairs: list[tuple[Node, Any]] = field(init=False)
    _values: dict[str, Any] = field(init=False)
    _sources: dict[str, list[str]] = field(init=False)
    _makers: dict[str, Node] = field(init=False)

    def __post_init__(self) -> None:
        self._database = self.graph.alias_db(True, False)
        self._pairs = list(zip(self.snapshot.walk(), live_nodes(self.graph), strict=True))
        self._values, self._makers = {}, {}
        self._sources = {}
        for value, live in zip(self.snapshot.inputs, self.graph.inputs(), strict=True):
            self._values[value.name] = live
        for node, live in self._pairs:
            self._note(node, live)

    def _note(self, node: Node, live: Any) -> None:
        for value, output in zip(node.outputs, live.outputs(), strict=True):
            self._values[value.name] = output
            self._makers[value.name] = node
            self._sources[value.name] = list(node.inputs)
        for position, value in enumerate(node.outputs):
            # What a branch or a loop yields comes from its blocks (a loop's first output is its condition).
            for block in node.blocks:
                shift = len(block.outputs) - len(node.outputs)
                if 0 <= position + shift < len(block.outputs):
                    self._sources[value.name].append(block.outputs[position + shift])
        for block, live_block in zip(node.blocks, live.blocks(), strict=False):
            carried = node.inputs[len(node.inputs) - len(block.inputs) + 1 :] if node.op == "prim::Loop" else ()
            for position, (value, output) in enumerate(zip(block.inputs, live_block.inputs(), strict=True)):
                self._values[value.name] = output
                self._makers[value.name] = node
                self._sources[value.name] = [carried[position - 1]] if 0 < position <= len(carried) else []

    def first_write(self, name: str) -> tuple[Node, tuple[ChainLink, ...]] | None:
        """Finds the first operator that writes memory of the value called ``name``.

        Args:
            name: a value of the snapshot.

        Returns:
            The writing node, and the chain of aliases from the value it writes back to ``name``; the chain is
            empty where torch only knows that the two may share memory. ``None`` if nothing writes it.
        """
        value = self._values.get(name)
        if value is None:
            return None
        unlinked = None
        for node, live in self._pairs:
            for position in written_arguments(live):
                written = node.inputs[position]
                if not self._may_alias(written, value):
                    continue
                chain = self._chain(written, name, value)
                if chain:
                    return node, chain
                unlinked = unlinked or (node, ())
        return unlinked

    def _may_alias(self, name: str, value: Any) -> bool:
        other = self._values.get(name)
        if other is None:
            return False
        return other.debugName() == value.debugName() or bool(self._database.may_contain_alias(other, value))

    def _chain(self, start: str, goal: str, value: Any) -> tuple[ChainLink, ...]:
        """Walks from the written value through the nodes that made it, along values that may share memory."""
        queue, came_from = deque([start]), {start: start}
        while queue:
            name = queue.popleft()
            if name == goal:
                return self._links(name, came_from)
            for source in self._sources.get(name, ()):
                if source not in came_from and self._may_alias(source, value):
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
