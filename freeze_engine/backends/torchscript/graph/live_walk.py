"""Walks live graphs.

Where an iterator of torch ends, C++ throws an exception, which takes ten microseconds: thirty times as long as a read
by index (pybind11 in torch 2.13). So values are read by index, blocks by their number, and nodes of blocks backwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

#: Operators without blocks and subgraphs, besides those of ATen.
_FLAT: Final = frozenset(
    {
        *("prim::Constant", "prim::GetAttr", "prim::SetAttr", "prim::CallMethod", "prim::CallFunction"),
        *("prim::ListConstruct", "prim::ListUnpack", "prim::TupleConstruct", "prim::TupleUnpack", "prim::TupleIndex"),
        *("prim::DictConstruct", "prim::NumToTensor", "prim::RaiseException", "prim::Uninitialized"),
        *("prim::unchecked_cast", "prim::device", "prim::dtype", "prim::min", "prim::max"),
    }
)
#: Blocks of the operators that always have as many.
_BLOCKS: Final = {"prim::If": 2, "prim::Loop": 1}


def live_nodes(graph: Any) -> list[Any]:
    """Returns the nodes of a live graph or block in the order of `GraphSnapshot.walk`."""
    return [node for node, _ in live_kinds(graph)]


def live_kinds(graph: Any, *, subgraphs: bool = True) -> list[tuple[Any, str]]:
    """Returns the nodes of a live graph or block with their operators, in the order of `GraphSnapshot.walk`.

    Args:
        graph: the graph or block.
        subgraphs: whether to enter subgraphs, such as the bodies of forks.
    """
    found: list[tuple[Any, str]] = []
    _collect(graph.nodes(), found, subgraphs)
    return found


def _collect(nodes: Iterable[Any], found: list[tuple[Any, str]], subgraphs: bool) -> None:
    for node in nodes:
        kind = node.kind()
        found.append((node, kind))
        if kind.startswith("aten::") or kind in _FLAT:
            continue
        for block in islice(node.blocks(), _BLOCKS.get(kind)):
            _collect(_nodes_in(block), found, subgraphs)
        # torch does not print the body of a Python function that was traced.
        if subgraphs and kind != "prim::PythonOp" and node.hasAttribute("Subgraph"):
            _collect(node.g("Subgraph").nodes(), found, subgraphs)


def _nodes_in(block: Any) -> list[Any]:
    end = block.returnNode()
    if not hasattr(end, "prev"):
        return list(block.nodes())
    found: list[Any] = []
    node = end.prev()
    while node.kind() != "prim::Param":
        found.append(node)
        node = node.prev()
    found.reverse()
    return found


class LiveWalks:
    """The walks through live graphs that do not change any more, each done once."""

    def __init__(self) -> None:
        # A graph is kept beside its nodes, so that its identity stays its own.
        self._known: dict[int, tuple[Any, list[tuple[Any, str]]]] = {}

    def kinds(self, graph: Any) -> list[tuple[Any, str]]:
        """Returns what `live_kinds` does."""
        known = self._known.get(id(graph))
        if known is None:
            known = self._known[id(graph)] = (graph, live_kinds(graph))
        return known[1]


def inputs_of(node: Any) -> Iterator[Any]:
    """Yields the values that a live node reads."""
    return map(node.inputsAt, range(node.inputsSize()))


def outputs_of(node: Any) -> Iterator[Any]:
    """Yields the values that a live node defines."""
    return map(node.outputsAt, range(node.outputsSize()))
