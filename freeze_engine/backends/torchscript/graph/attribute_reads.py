"""Follows ``prim::GetAttr`` chains: which attribute of which submodule a value was read from."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from freeze_engine.trace import Block, GraphSnapshot, Node

# How torch writes a text (``c10/util/StringUtil.h``, ``printQuotedString``; torch 2.13.0). What is not ASCII it writes
# byte by byte in octal digits; of a byte above 127, a negative number there, each "digit" is that far below ``0``.
_ESCAPE = re.compile(rb"\\([)-7]{3}|.)", re.DOTALL)
_ESCAPES = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


@dataclass(frozen=True, slots=True)
class SlotAccess:
    """A node that reads or sets an attribute.

    Attributes:
        node: the ``prim::GetAttr`` or ``prim::SetAttr``.
        path: the attribute's dotted path from the top module, ``None`` where the chain does not lead there.
    """

    node: Node
    path: str | None

    @property
    def value(self) -> str:
        """Name of the value that is read; the node's id differs from it where an earlier node had the name."""
        return self.node.outputs[0].name if self.node.outputs else ""

    @property
    def name(self) -> str:
        """The attribute's name in its module."""
        return attribute_name(self.node)


def attribute_name(node: Node) -> str:
    """Returns the name that a ``prim::GetAttr`` or ``prim::SetAttr`` is about."""
    return _unquoted(node.attribute("name") or "")


@functools.lru_cache(maxsize=4096)
def _unquoted(text: str) -> str:
    quoted = text.encode("utf-8", "surrogatepass")[1:-1]
    return _ESCAPE.sub(_escaped, quoted).decode("utf-8", "backslashreplace")


def _escaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if len(code) == 1:
        return _ESCAPES.get(code, code)
    high, middle, low = (digit - ord("0") for digit in code)
    return bytes([(64 * high + 8 * middle + low) % 256])


def slot_accesses(graph: GraphSnapshot, self_path: str = "") -> Iterator[SlotAccess]:
    """Returns every read and write of an attribute, nested blocks and forks included.

    Args:
        graph: a method's snapshot; its first input is the module.
        self_path: dotted path of the module whose method it is; empty for the top module.
    """
    prefix = f"{self_path}." if self_path else ""
    modules = {graph.inputs[0].name: prefix} if graph.inputs else {}
    found: list[SlotAccess] = []
    _note_accesses(graph.nodes, modules, found)
    return iter(found)


def read_paths(graph: GraphSnapshot) -> dict[str, str]:
    """Returns, by node id, the path of the attribute that a ``prim::GetAttr`` reads."""
    return {access.node.id: access.path for access in slot_accesses(graph) if access.path and access.node.outputs}


def scoped_nodes(nodes: tuple[Node, ...], scope: str = "") -> Iterator[tuple[str, Node]]:
    """Yields every node, nested ones included, with the scope whose names it carries (empty outside of forks)."""
    for node in nodes:
        yield scope, node
        for block in node.blocks:
            yield from scoped_nodes(block.nodes, block.scope or scope)


def fork_paths(graph: GraphSnapshot, self_path: str = "") -> dict[str, str]:
    """Returns, by scope, the path of the module that a forked subgraph takes as its own ``self``.

    ``applyToForkSubgraph`` in ``torch/csrc/jit/passes/freeze_module.cpp`` (torch 2.13.0) resolves names in a fork from
    the module that is its first input, if that was read from an attribute, and from the enclosing one's otherwise.

    Args:
        graph: a method's snapshot, its reads of submodules still in place.
        self_path: dotted path of the module whose method it is; empty for the top module.
    """
    read = {
        access.node.outputs[0].name: access.path for access in slot_accesses(graph, self_path) if access.node.outputs
    }
    found: dict[str, str] = {}
    _find_forks(graph.nodes, self_path, read, found)
    return found


def _find_forks(nodes: tuple[Node, ...], around: str, read: dict[str, str | None], found: dict[str, str]) -> None:
    for node in nodes:
        for block in node.blocks:
            path = around
            if block.scope:
                path = (node.inputs and read.get(node.inputs[0])) or around
                found[block.scope] = path
            _find_forks(block.nodes, path, read, found)


def _note_accesses(nodes: tuple[Node, ...], modules: dict[str, str], found: list[SlotAccess]) -> None:
    for node in nodes:
        if node.op == "prim::GetAttr":
            prefix = modules.get(node.inputs[0]) if node.inputs else None
            path = None if prefix is None else prefix + attribute_name(node)
            if path is not None:
                modules[node.outputs[0].name] = path + "."
            found.append(SlotAccess(node, path))
        elif node.op == "prim::SetAttr":
            prefix = modules.get(node.inputs[0])
            found.append(SlotAccess(node, None if prefix is None else prefix + attribute_name(node)))
        for block in node.blocks:
            _enter(node, block, modules)
            _note_accesses(block.nodes, modules, found)


def _enter(node: Node, block: Block, modules: dict[str, str]) -> None:
    """A fork's subgraph has inputs of its own, given in the order of the fork's."""
    if not block.scope:
        return
    for given, own in zip(node.inputs, block.inputs, strict=False):
        if given in modules:
            modules[own.name] = modules[given]
