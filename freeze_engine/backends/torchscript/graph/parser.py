"""Parses torch's text of a TorchScript graph.

torch's log is the only view into ``_freeze_module`` (nothing inside is bound to Python), and a live graph
prints the same text, so every snapshot comes through this one reader. The printer is ``Graph::print`` and
``Node::print`` in ``torch/csrc/jit/ir/ir.cpp``; checked on torch 2.13.0.

Node ids are provisional here: the debug name of the first output, or ``op#n`` where there is none.
`freeze_engine.recorder.node_identity` makes them stable across steps.

The graphs of one freeze repeat the same few words, so equal ones are one object, which saves two fifths of the memory.
"""

from __future__ import annotations

import functools
import re
from collections import Counter, deque
from dataclasses import dataclass, field, replace
from sys import intern

from freeze_engine.errors import FreezerError
from freeze_engine.trace import Block, GraphSnapshot, Node, SourceRef, Value

_TAIL = r"(?:, scope: (?P<scope>.*?))?(?: # (?P<file>.*):(?P<line>\d+):(?P<column>\d+))?\s*"
_PLAIN_NODE = re.compile(
    r"(?:%(?P<name>[^\s:]+) : (?P<type>[^%]+?) = |= )"
    r"(?P<op>[\w:.]+)"
    r"(?:\[(?P<attr>\w+)=(?P<text>\"(?:[^\"\\]|\\.)*\"|[-\w.]+|<Tensors?>|\[[-\w., ]*\])\])?"
    r"\((?P<inputs>[^()\"]*)\)" + _TAIL
)
# A value that is named after an attribute may have brackets and quotes in its name: only what follows ends the list.
_INPUTS = re.compile(r"\((?P<inputs>.*?)\)" + _TAIL)
_VALUE = re.compile(r"%(?P<name>.+?) : (?P<type>[^%]*?),?\s*(?=%|$)")
_BLOCK = re.compile(r"block\d+\((?P<inputs>.*)\):$")
_SUBGRAPH = re.compile(r"with (?P<name>\S+) = graph\(")
_ADDRESS = re.compile(r"(?<=\bobject)(?: at 0x[0-9a-f]+(?=>)|\(0x[0-9a-f]+\))")
_TRACED_SCOPE = re.compile(r"(?:.*/)?__module\.?|.*/")
_CLOSING = {"[": "]", "(": ")", "{": "}"}


class GraphTextError(FreezerError):
    """torch printed a graph that cannot be read; the message quotes the line."""


class KnownLines:
    """The nodes of the lines that were read before, since a pass changes few of a graph's lines.

    A node that defines nothing is numbered within its graph, so it is read again.
    """

    def __init__(self) -> None:
        self._nodes: dict[str, dict[str, Node]] = {}

    def within(self, scope: str) -> dict[str, Node]:
        """Returns the nodes of one scope by their lines; a reader adds to it."""
        return self._nodes.setdefault(scope, {})


@dataclass(slots=True)
class _Reader:
    """Walks the lines of one graph.

    Attributes:
        lines: its text.
        known: nodes of this scope that were read before, by their lines.
        scope: the prefix of the subgraph being read.
    """

    lines: list[str]
    known: dict[str, Node]
    scope: str = ""
    subgraph_ops: frozenset[str] = frozenset()
    position: int = 0
    anonymous: Counter[str] = field(default_factory=Counter)
    forks: list[str] = field(default_factory=list)

    def peek(self) -> str:
        if self.position >= len(self.lines):
            raise GraphTextError("torch's graph text ends in the middle of a graph; record again and report the log")
        return self.lines[self.position]


def parse_graph(text: str, known: KnownLines | None = None) -> GraphSnapshot:
    """Reads one graph, its nested blocks and its subgraphs.

    Args:
        text: torch's text of a graph, starting with ``graph(``.
        known: lines of other graphs of the same freeze, to which this one's are added.

    Returns:
        The snapshot, with provisional node ids and without constants' contents.

    Raises:
        GraphTextError: the text does not follow torch's printer.
    """
    top = _read_with_subgraphs(deque(_split_sections(_lines(text))), "", known or KnownLines())
    return GraphSnapshot(top.inputs, top.nodes, top.outputs)


def _lines(text: str) -> list[str]:
    # Not splitlines(): a file's name may hold any of the other line ends of Unicode.
    return text.rstrip("\n").split("\n") if text.strip() else []


def _read_with_subgraphs(sections: deque[tuple[str, list[str]]], scope: str, known: KnownLines) -> Block:
    """Reads a graph and, right behind it, the subgraphs it holds, which torch numbers anew in each graph."""
    _, lines = sections.popleft()
    reader = _Reader(lines, known.within(scope), scope, frozenset(name for name, _ in sections))
    block = _read_graph(reader)
    bodies = {}
    for fork in reader.forks:
        if not sections or sections[0][0] != fork:
            raise GraphTextError(f"torch's graph text lacks the subgraph {fork}")
        bodies[fork] = _read_with_subgraphs(sections, f"{scope}{fork.partition('::')[2]}/", known)
    return replace(block, nodes=_attached(block.nodes, bodies)) if bodies else block


def _attached(nodes: tuple[Node, ...], bodies: dict[str, Block]) -> tuple[Node, ...]:
    return tuple(_attach(node, bodies) for node in nodes)


def _attach(node: Node, bodies: dict[str, Block]) -> Node:
    blocks = tuple(replace(block, nodes=_attached(block.nodes, bodies)) for block in node.blocks)
    if node.op in bodies:
        return replace(node, op=node.op.rpartition("_")[0], blocks=(*blocks, bodies[node.op]))
    return replace(node, blocks=blocks) if blocks else node


def parse_node(line: str) -> Node:
    """Reads one node printed on its own line, such as torch's alias analysis quotes.

    Args:
        line: the node's text.

    Returns:
        The node, without blocks.

    Raises:
        GraphTextError: the text does not follow torch's printer.
    """
    reader = _Reader([line], {})
    return _read_node(reader, line.strip())


def _split_sections(lines: list[str]) -> list[tuple[str, list[str]]]:
    sections: list[tuple[str, list[str]]] = []
    for line in lines:
        if sections and line.startswith(" "):
            sections[-1][1].append(line)
        elif line.startswith("graph("):
            sections.append(("", [line]))
        elif match := _SUBGRAPH.match(line):
            sections.append((match["name"], [line[match.end() - len("graph(") :]]))
        elif sections:
            sections[-1][1].append(line)
    if not sections:
        raise GraphTextError(
            f"expected a graph from torch, got {lines[0][:80]!r}" if lines else "torch printed no graph"
        )
    return sections


def _read_graph(reader: _Reader) -> Block:
    header = reader.peek()[len("graph(") :]
    reader.position += 1
    while not header.endswith("):"):
        header += " " + reader.peek().strip()
        reader.position += 1
    nodes = _read_nodes(reader, indent=2)
    line = reader.peek().strip()
    if not line.startswith("return ("):
        raise GraphTextError(f"expected the graph's return in torch's graph text, got {line[:80]!r}")
    return Block(
        _values(header[:-2], reader.scope), nodes, _names(line[len("return (") : -1], reader.scope), reader.scope
    )


def _read_nodes(reader: _Reader, indent: int) -> tuple[Node, ...]:
    nodes: list[Node] = []
    # Only the indentation separates the blocks of this node from those of the node around it.
    block = " " * (indent + 2) + "block"
    while True:
        stripped = reader.peek().lstrip()
        if stripped.startswith(("return (", "-> (")):
            return tuple(nodes)
        node = reader.known.get(stripped) or _new_node(reader, stripped)
        reader.position += 1
        if node.op in reader.subgraph_ops and node.op.endswith(f"_{len(reader.forks)}"):
            reader.forks.append(node.op)
        nodes.append(replace(node, blocks=_read_blocks(reader, indent)) if reader.peek().startswith(block) else node)


def _read_blocks(reader: _Reader, indent: int) -> tuple[Block, ...]:
    blocks: list[Block] = []
    prefix = " " * (indent + 2) + "block"
    while reader.peek().startswith(prefix):
        match = _BLOCK.match(reader.peek().strip())
        if match is None:
            raise GraphTextError(f"cannot read a block's header in torch's graph text: {reader.peek()[:80]!r}")
        reader.position += 1
        nodes = _read_nodes(reader, indent + 4)
        outputs = reader.peek().strip()[len("-> (") : -1]
        reader.position += 1
        blocks.append(Block(_values(match["inputs"], reader.scope), nodes, _names(outputs, reader.scope)))
    return tuple(blocks)


def _new_node(reader: _Reader, line: str) -> Node:
    node = _read_node(reader, line)
    if node.outputs:
        reader.known[line] = node
    return node


def _read_node(reader: _Reader, line: str) -> Node:
    return _plain_node(reader, line) or _node(reader, line)


def _plain_node(reader: _Reader, line: str) -> Node | None:
    """Reads the common shape, one output and at most one simple attribute, in one match."""
    match = _PLAIN_NODE.fullmatch(line)
    if match is None:
        return None
    outputs = (Value(intern(reader.scope + match["name"]), intern(match["type"])),) if match["name"] else ()
    attributes = _single_attribute(match["attr"], match["text"]) if match["attr"] else ()
    return _made(reader, match, match["op"], outputs, attributes)


def _node(reader: _Reader, line: str) -> Node:
    """Reads any node, character by character where quotes and brackets nest."""
    left, separator, rest = (" " + line).partition(" = ")
    if not separator:
        raise GraphTextError(f"cannot read a node in torch's graph text: {line[:120]!r}")
    outputs = _values(left.strip(), reader.scope)
    end = re.match(r"\^?[\w:.]+", rest)
    if end is None:
        raise GraphTextError(f"cannot read an operator in torch's graph text: {line[:120]!r}")
    op, rest = end.group(), rest[end.end() :]
    attributes: tuple[tuple[str, str], ...] = ()
    if rest.startswith("["):
        close = _closing(rest, 0)
        attributes, rest = _attributes(rest[1:close]), rest[close + 1 :]
    if op.startswith("^"):
        # A Python function prints its plain arguments in parentheses of their own.
        close = _closing(rest, 0)
        attributes, rest = (*attributes, ("args", rest[1:close])), rest[close + 1 :]
    match = _INPUTS.fullmatch(rest)
    if match is None:
        raise GraphTextError(f"cannot read the operands of a node in torch's graph text: {line[:120]!r}")
    return _made(reader, match, op, outputs, attributes)


def _made(
    reader: _Reader, match: re.Match[str], op: str, outputs: tuple[Value, ...], attributes: tuple[tuple[str, str], ...]
) -> Node:
    source = _source(match["file"], match["line"], match["column"]) if match["file"] else None
    module = intern(_TRACED_SCOPE.sub("", match["scope"] or "", count=1))
    node_id = outputs[0].name if outputs else _anonymous_id(reader, op)
    return Node(node_id, intern(op), _names(match["inputs"], reader.scope), outputs, attributes, (), module, source)


@functools.lru_cache(maxsize=1024)
def _source(file: str, line: str, column: str) -> SourceRef:
    return SourceRef(file, int(line), int(column))


@functools.lru_cache(maxsize=256)
def _single_attribute(name: str, text: str) -> tuple[tuple[str, str], ...]:
    return ((name, text),)


def _anonymous_id(reader: _Reader, op: str) -> str:
    number = reader.anonymous[op]
    reader.anonymous[op] += 1
    return intern(f"{reader.scope}{op}#{number}")


def _closing(text: str, start: int) -> int:
    """Returns the index of the bracket that closes the one at ``start``, quotes respected."""
    stack: list[str] = []
    index = start
    while index < len(text):
        char = text[index]
        if char == '"':
            index = _quote_end(text, index)
        elif char in _CLOSING:
            stack.append(_CLOSING[char])
        elif stack and char == stack[-1]:
            stack.pop()
            if not stack:
                return index
        index += 1
    raise GraphTextError(f"a bracket never closes in torch's graph text: {text[start : start + 120]!r}")


def _quote_end(text: str, start: int) -> int:
    index = start + 1
    while index < len(text):
        if text[index] == "\\":
            index += 1
        elif text[index] == '"':
            return index
        index += 1
    raise GraphTextError(f"a quote never closes in torch's graph text: {text[start : start + 120]!r}")


def _attributes(text: str) -> tuple[tuple[str, str], ...]:
    pairs: list[tuple[str, str]] = []
    for part in _split(text):
        key, _, value = part.partition("=")
        # An address differs from run to run and carries no information.
        pairs.append((intern(key.strip()), intern(value if value.startswith('"') else _ADDRESS.sub("", value))))
    return tuple(pairs)


def _split(text: str) -> list[str]:
    """Splits at the commas between attributes, which are those followed by ``name=`` outside brackets and quotes."""
    parts, start, index = [], 0, 0
    while index < len(text):
        char = text[index]
        if char == '"':
            index = _quote_end(text, index)
        elif char in _CLOSING:
            index = _closing(text, index)
        elif char == "," and re.match(r",\s*\w+=", text[index : index + 60]):
            parts.append(text[start:index])
            start = index + 1
        index += 1
    return [*parts, text[start:]]


def _values(text: str, scope: str) -> tuple[Value, ...]:
    """Reads ``%a : T, %b : U``; a name may hold a percent sign, where an attribute's does, a type never does."""
    return tuple(Value(intern(scope + match["name"]), intern(match["type"])) for match in _VALUE.finditer(text))


def _names(text: str, scope: str) -> tuple[str, ...]:
    if not text:
        return ()
    return tuple(intern(scope + name) for name in text[1:].split(", %"))
