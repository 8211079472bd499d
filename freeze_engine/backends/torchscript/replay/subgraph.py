"""Extracts a few nodes of a recorded graph into a separate graph."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from freeze_engine.backends.torchscript.graph.live import paired
from freeze_engine.backends.torchscript.trace_builder import LiveStep
from freeze_engine.trace import GraphSnapshot

_CONSTANT = "prim::Constant"


@dataclass(frozen=True, slots=True)
class Cutting:
    """Some nodes of a graph.

    Attributes:
        live: a graph of them; the values that they read, except constants, are its inputs.
        read: the whole graph, returning what those inputs are.
    """

    live: LiveStep
    read: LiveStep


def cut_out(snapshot: GraphSnapshot, live: LiveStep, nodes: Iterable[str]) -> Cutting | None:
    """Extracts nodes.

    Args:
        snapshot: a graph as recorded.
        live: the same to be run; it stays as it is.
        nodes: ids of the nodes, constants among them passed over.

    Returns:
        The graph of the nodes, ``None`` where one of them is in a block, or reads nothing but constants.
    """
    wanted = frozenset(nodes)
    whole = live.graph.copy()
    kept = _kept(snapshot, whole, wanted)
    if kept is None:
        return None
    read = [value.debugName() for value in _received(kept)]
    reader = live.graph.copy()
    values = [value for node in _kept(snapshot, reader, wanted) or () for value in node.inputs()]
    _return(reader, _distinct(value for value in values if value.debugName() in read))
    _isolate(whole, kept)
    if not read or len(list(reader.outputs())) != len(read):
        return None
    return Cutting(LiveStep(whole, live.module), LiveStep(reader, live.module))


def _kept(snapshot: GraphSnapshot, graph: Any, wanted: frozenset[str]) -> list[Any] | None:
    pairs = [(node, each) for node, each in paired(snapshot, graph) if node.id in wanted and node.op != _CONSTANT]
    top = {node.id for node in snapshot.nodes}
    return [each for _, each in pairs] if pairs and all(node.id in top for node, _ in pairs) else None


def _received(nodes: list[Any]) -> list[Any]:
    """Returns the values that nodes read from outside of themselves, constants left out."""
    made = {value.debugName() for node in nodes for value in node.outputs()}
    read = (value for node in nodes for value in node.inputs())
    return _distinct(value for value in read if value.debugName() not in made and value.node().kind() != _CONSTANT)


def _distinct(values: Iterable[Any]) -> list[Any]:
    return list({value.debugName(): value for value in values}.values())


def _return(graph: Any, values: list[Any]) -> None:
    for _ in list(graph.outputs()):
        graph.eraseOutput(0)
    for value in values:
        graph.registerOutput(value)


def _isolate(graph: Any, nodes: list[Any]) -> None:
    """Turns the values that nodes read into inputs, and those that others read into outputs."""
    inputs = len(list(graph.inputs()))
    given = [value for node in nodes for value in node.outputs() if not _is_read_by(value, nodes)]
    for value in _received(nodes):
        new = graph.addInput()
        new.setType(value.type())
        for node in nodes:
            _read_instead(node, value, new)
    _return(graph, given)
    read = {value.debugName() for node in nodes for value in node.inputs()} | {value.debugName() for value in given}
    mine = {value.debugName() for node in nodes for value in node.outputs()}
    for node in reversed(list(graph.nodes())):
        if not any(value.debugName() in read | mine for value in node.outputs()):
            node.destroy()
    for position in reversed(range(1, inputs)):
        graph.eraseInput(position)


def _read_instead(node: Any, value: Any, new: Any) -> None:
    for position, each in enumerate(list(node.inputs())):
        if each.debugName() == value.debugName():
            node.replaceInput(position, new)


def _is_read_by(value: Any, nodes: list[Any]) -> bool:
    return any(each.debugName() == value.debugName() for node in nodes for each in node.inputs())
