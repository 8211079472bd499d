"""Reads the text of torch's alias database: the alias sets and writes of one graph, as plain data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from freeze_engine.backends.torchscript.graph.live import printable
from freeze_engine.backends.torchscript.graph.parser import parse_graph, parse_node
from freeze_engine.trace import AliasAnalysis, AliasEntry, GraphSnapshot, Node, Write

_Key = tuple[str, tuple[str, ...], tuple[str, ...], tuple[tuple[str, str], ...]]
_ENTRY = re.compile(r"(?P<values>.+?) (?P<relation>points to|contains): (?P<targets>.*)$")
_ELEMENT = re.compile(r"%(?P<value>[^%,()\s]+)|(?P<wildcard>WILDCARD(?: for type (?:(?!WILDCARD for type |\(?%).)*)?)")


def alias_analysis(
    graph: Any, snapshot: GraphSnapshot, parse: Callable[[str], GraphSnapshot] = parse_graph
) -> AliasAnalysis:
    """Reads torch's alias database of a live graph.

    Args:
        graph: the live graph; its values may be numbered differently (torch renumbers a copy).
        snapshot: the same graph as it is in the trace.
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
    # torch prints both in the order of addresses, which differs from run to run.
    places = {name: place for place, name in enumerate(names.values())}
    entries = list(dict.fromkeys(entry for line in sets.splitlines() for entry in _entries(line, names)))
    entries.sort(key=lambda entry: (places.get(entry.value, len(places)), entry.relation))
    if not writes.strip():
        return AliasAnalysis(tuple(entries), ())
    nodes = {_key(mine): theirs for mine, theirs in zip(printed.walk(), snapshot.walk(), strict=True)}
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
