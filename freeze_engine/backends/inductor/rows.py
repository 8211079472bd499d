"""A graph as it is kept during a compile: one tuple per node, shared with the graph before wherever nothing changed.

A compile must not be slowed down. fx replaces a node's arguments as a whole when they change and keeps the node, so
references to them are a complete copy of the graph; texts are made of it when a trace is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch


class Row(NamedTuple):
    """One node of an fx graph at one moment.

    Attributes:
        node: the node itself; it goes on living, so only its identity is of use.
        name: its name at that moment.
        op: fx's kind of node (``call_function``, ``get_attr``, ``placeholder``, ``output``, …).
        target: what it calls or reads.
        args, kwargs: its arguments, other nodes among them.
        val: what torch knows of its result: a fake tensor, a symbolic integer, a tuple of these, or ``None``.
        stack_trace: where in the user's source it comes from, as Dynamo wrote it.
        module_stack: the modules it comes from, as Dynamo noted them.
        value: for a ``get_attr``, what it reads: a tensor, a `RawGraph` for a subgraph, or any other object.
    """

    node: Any
    name: str
    op: str
    target: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    val: Any
    stack_trace: str | None
    module_stack: Any
    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class RawGraph:
    """An fx graph at one moment.

    Attributes:
        rows: its nodes, in order.
        modules: identities of the graph modules it is made of, those of subgraphs included.
    """

    rows: tuple[Row, ...]
    modules: frozenset[int]

    def subgraphs(self) -> Iterator[RawGraph]:
        """Yields the graphs that its nodes read, at any depth."""
        for row in self.rows:
            if isinstance(row.value, RawGraph):
                yield row.value
                yield from row.value.subgraphs()


def take(module: Any, previous: RawGraph | None = None) -> RawGraph:
    """Returns a graph as it is now.

    Args:
        module: the `torch.fx.GraphModule`.
        previous: the same graph earlier.

    Returns:
        The graph; ``previous`` itself if nothing about it changed.
    """
    known = {id(row.node): row for row in previous.rows} if previous is not None else {}
    rows = tuple(_row(module, node, known.get(id(node))) for node in module.graph.nodes)
    modules = frozenset((id(module),)).union(*(row.value.modules for row in rows if isinstance(row.value, RawGraph)))
    if previous is None or len(rows) != len(previous.rows) or modules != previous.modules:
        return RawGraph(rows, modules)
    unchanged = all(one is other for one, other in zip(rows, previous.rows, strict=True))
    return previous if unchanged else RawGraph(rows, modules)


def _row(module: Any, node: Any, known: Row | None) -> Row:
    meta = node.meta
    value = None
    if node.op == "get_attr":
        earlier = known.value if known is not None and isinstance(known.value, RawGraph) else None
        value = _read(module, node.target, earlier)
    if (
        known is not None
        and known.args is node.args
        and known.kwargs is node.kwargs
        and known.val is meta.get("val")
        and known.name == node.name
        and known.target is node.target
        and known.value is value
        and known.op == node.op
    ):
        return known
    return Row(
        node,
        node.name,
        node.op,
        node.target,
        node.args,
        node.kwargs,
        meta.get("val"),
        meta.get("stack_trace"),
        meta.get("nn_module_stack"),
        value,
    )


def _read(module: Any, target: str, earlier: RawGraph | None) -> Any:
    """Returns what a ``get_attr`` reads, ``None`` where the module no longer has it."""
    found: Any = module
    for part in target.split("."):
        found = getattr(found, part, None)
    return take(found, earlier) if isinstance(found, torch.fx.GraphModule) else found
