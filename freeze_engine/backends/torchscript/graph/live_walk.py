"""Walks live graphs.

Where an iterator of torch ends, C++ throws an exception, which takes ten microseconds: thirty times as long as a read by
index (pybind11 in torch 2.13). So the nodes of a graph are read to their end, and what belongs to a node by index.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

#: Operators without blocks and subgraphs, besides those of ATen.
_FLAT = frozenset(
    {
        *("prim::Constant", "prim::GetAttr", "prim::SetAttr", "prim::CallMethod", "prim::CallFunction"),
        *("prim::ListConstruct", "prim::ListUnpack", "prim::TupleConstruct", "prim::TupleUnpack", "prim::TupleIndex"),
        *("prim::DictConstruct", "prim::NumToTensor", "prim::RaiseException", "prim::Uninitialized"),
        *("prim::unchecked_cast", "prim::device", "prim::dtype", "prim::min", "prim::max"),
    }
)


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
    _collect(graph, found, subgraphs)
    return found


def _collect(graph: Any, found: list[tuple[Any, str]], subgraphs: bool) -> None:
    for node in graph.nodes():
        kind = node.kind()
        found.append((node, kind))
        if kind.startswith("aten::") or kind in _FLAT:
            continue
        for block in node.blocks():
            _collect(block, found, subgraphs)
        # torch does not print the body of a Python function that was traced.
        if subgraphs and kind != "prim::PythonOp" and node.hasAttribute("Subgraph"):
            _collect(node.g("Subgraph"), found, subgraphs)


def inputs_of(node: Any) -> Iterator[Any]:
    """Yields the values that a live node reads."""
    return map(node.inputsAt, range(node.inputsSize()))


def outputs_of(node: Any) -> Iterator[Any]:
    """Yields the values that a live node defines."""
    return map(node.outputsAt, range(node.outputsSize()))
