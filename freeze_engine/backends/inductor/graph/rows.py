"""Compact copies of graphs during a compile: one tuple per node, shared with the graph before if it is unchanged.

A compile must not be slowed down. fx replaces a node's arguments as a whole when they change and keeps the node, so
references to them are a complete copy of the graph; its texts are made when a trace is built.

Constant folding makes every weight anew several times over. Large constants are therefore referred to weakly: those
of the first graph live on in the user's module, those of the last in the compiled one, and those in between can be
computed again (`freeze_engine.backends.inductor.graph.constants`).
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

#: Constants of up to this many bytes are kept alive.
KEPT_BYTES = 1 << 14


class TensorRef:
    """A tensor that a graph reads.

    Args:
        tensor: the tensor.
    """

    __slots__ = ("_kept", "_weak")

    def __init__(self, tensor: torch.Tensor) -> None:
        small = tensor.numel() * tensor.element_size() <= KEPT_BYTES
        self._kept = tensor if small else None
        self._weak = weakref.ref(tensor)

    def get(self) -> torch.Tensor | None:
        """Returns the tensor, ``None`` once it is gone."""
        return self._weak() if self._kept is None else self._kept

    def renew(self, tensor: torch.Tensor) -> None:
        """Refers to an equal tensor from now on, the first one being gone."""
        self._weak = weakref.ref(tensor)


class TensorRefs:
    """The references of one compile; there is one for each tensor."""

    def __init__(self) -> None:
        self._known: dict[int, TensorRef] = {}

    def of(self, tensor: torch.Tensor) -> TensorRef:
        """Returns the reference to a tensor."""
        found = self._known.get(id(tensor))
        if found is None or found.get() is not tensor:
            found = self._known[id(tensor)] = TensorRef(tensor)
        return found


class Row(NamedTuple):
    """One node of an fx graph at one moment.

    Attributes:
        node: the node itself; it goes on living, so only its identity is of use.
        name: its name at that moment.
        op: fx's kind of node (``call_function``, ``get_attr``, ``placeholder``, ``output``, …).
        target: the function that it calls, or the name that it reads.
        args, kwargs: its arguments, other nodes among them.
        val: torch's metadata of its result: a fake tensor, a symbolic integer, a tuple of these, or ``None``.
        stack_trace: its place in the user's source, as Dynamo wrote it.
        module_stack: the modules it comes from, as Dynamo noted them.
        value: for a ``get_attr``, the object that it reads: a `TensorRef`, a `RawGraph` for a subgraph, or any other.
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


def take(module: Any, refs: TensorRefs, previous: RawGraph | None = None) -> RawGraph:
    """Returns a graph as it is now.

    Args:
        module: the `torch.fx.GraphModule`.
        refs: of the compile that the graph belongs to.
        previous: the same graph earlier.

    Returns:
        The graph; ``previous`` itself if nothing about it changed.
    """
    rows = tuple(_rows(module, refs, previous.rows if previous is not None else ()))
    modules = frozenset((id(module),)).union(*(row.value.modules for row in rows if isinstance(row.value, RawGraph)))
    if previous is None or len(rows) != len(previous.rows) or modules != previous.modules:
        return RawGraph(rows, modules)
    unchanged = all(one is other for one, other in zip(rows, previous.rows, strict=True))
    return previous if unchanged else RawGraph(rows, modules)


def _rows(module: Any, refs: TensorRefs, before: tuple[Row, ...]) -> Iterator[Row]:
    """Yields the nodes of a graph; as most passes change little, the search for each begins at its earlier place."""
    known: dict[int, Row] = {}
    for index, node in enumerate(module.graph.nodes):
        if index < len(before) and before[index].node is node:
            yield _row(module, node, refs, before[index])
            continue
        known = known or {id(row.node): row for row in before}
        yield _row(module, node, refs, known.get(id(node)))


def _row(module: Any, node: Any, refs: TensorRefs, known: Row | None) -> Row:
    meta = node.meta
    value = None
    if node.op == "get_attr":
        earlier = known.value if known is not None and isinstance(known.value, RawGraph) else None
        value = _read(module, node.target, refs, earlier)
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


def _read(module: Any, target: str, refs: TensorRefs, earlier: RawGraph | None) -> Any:
    """Returns the value that a ``get_attr`` reads, ``None`` if the module no longer has it."""
    found: Any = module
    for part in target.split("."):
        found = getattr(found, part, None)
    if isinstance(found, torch.fx.GraphModule):
        return take(found, refs, earlier)
    return refs.of(found) if isinstance(found, torch.Tensor) else found
