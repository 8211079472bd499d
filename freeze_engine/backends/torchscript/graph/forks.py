"""Forked subgraphs, which torch prints as graphs of their own and a snapshot holds as blocks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from freeze_engine.trace import Block, GraphSnapshot, Node

#: ``fork_0/``, and so on inwards; an attribute's name, and with it a value's, may hold a slash as well.
_SCOPES = re.compile(r"(?:[A-Za-z]\w*_\d+/)+")


def unscoped(name: str) -> str:
    """Returns a value's name as torch has it, without the prefixes of its subgraphs."""
    found = _SCOPES.match(name)
    return name[found.end() :] if found else name


def scope_of_name(name: str) -> str:
    """Returns the prefix of a value's or node's name: its subgraphs, empty outside of forks."""
    found = _SCOPES.match(name)
    return found.group() if found else ""


def with_subgraph(graph: GraphSnapshot, subgraph: GraphSnapshot, scope: str | None = None) -> GraphSnapshot:
    """Returns ``graph`` with one of its forked subgraphs replaced.

    Args:
        graph: the graph that holds the fork.
        subgraph: the new body, printed by torch as a graph of its own and so without a scope.
        scope: of the body to replace; found by the body's inputs and outputs where not given.
    """
    scope = scope or scope_of(graph, subgraph)
    if scope is None:
        return graph
    body = _scoped(Block(subgraph.inputs, subgraph.nodes, subgraph.outputs), scope)
    return replace(graph, nodes=_replaced(graph.nodes, scope, replace(body, scope=scope)))


def scope_of(graph: GraphSnapshot, subgraph: GraphSnapshot) -> str | None:
    """Returns the scope of the fork in ``graph`` whose body is most like ``subgraph``, if one shares anything.

    A short body may have no name that a longer one lacks. So what the two do not share counts as well.
    """
    names = {node.id for node in subgraph.nodes} | {value.name for value in subgraph.inputs}
    best, score = None, 0.0
    for block in _scoped_blocks(graph.nodes):
        own = {node.id.removeprefix(block.scope) for node in block.nodes} | {
            value.name.removeprefix(block.scope) for value in block.inputs
        }
        shared = len(own & names) / max(len(own | names), 1)
        if shared > score:
            best, score = block.scope, shared
    return best


def with_names(block: Block, rename: Callable[[str], str], rescope: Callable[[str], str] = str) -> Block:
    """Returns a block with other names.

    Args:
        block: the block.
        rename: of values and nodes.
        rescope: of the scopes of this block and those nested in it.
    """
    return Block(
        tuple(replace(value, name=rename(value.name)) for value in block.inputs),
        tuple(
            replace(
                node,
                id=rename(node.id),
                inputs=tuple(map(rename, node.inputs)),
                outputs=tuple(replace(value, name=rename(value.name)) for value in node.outputs),
                blocks=tuple(with_names(inner, rename, rescope) for inner in node.blocks),
            )
            for node in block.nodes
        ),
        tuple(map(rename, block.outputs)),
        block.scope and rescope(block.scope),
    )


def _replaced(nodes: tuple[Node, ...], scope: str, body: Block) -> tuple[Node, ...]:
    return tuple(
        replace(node, blocks=tuple(_replaced_block(block, scope, body) for block in node.blocks))
        if node.blocks
        else node
        for node in nodes
    )


def _replaced_block(block: Block, scope: str, body: Block) -> Block:
    return body if block.scope == scope else replace(block, nodes=_replaced(block.nodes, scope, body))


def _scoped_blocks(nodes: tuple[Node, ...]) -> Iterator[Block]:
    for node in nodes:
        for block in node.blocks:
            if block.scope:
                yield block
            yield from _scoped_blocks(block.nodes)


def _scoped(block: Block, scope: str) -> Block:
    return with_names(block, lambda name: scope + name, lambda own: scope + own)
