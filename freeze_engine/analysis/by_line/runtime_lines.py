"""The time of lines that TorchScript's executor runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

from freeze_engine.analysis.by_line.following import Following, Place, Places
from freeze_engine.analysis.by_line.outcome import LineTime, TimeOfNoLine
from freeze_engine.trace import Node, RuntimeGraph, RuntimeTime


def runtime_lines(
    runtime: RuntimeGraph, following: Following
) -> tuple[Mapping[Place, LineTime], tuple[TimeOfNoLine, ...]]:
    """Finds the time of each line of a method in one call, and the time that belongs to no line.

    Args:
        runtime: what the executor makes of the method.
        following: the method's lines, as followed to its last graph.
    """
    whole_ns = sum(time.time_ns for time in runtime.times)
    if runtime.graph is None or not whole_ns:
        return {}, ()
    nodes = {node.id: node for node in runtime.graph.walk()}
    alone: defaultdict[Place, int] = defaultdict(int)
    shared: defaultdict[Place, int] = defaultdict(int)
    rest_ns = 0
    for time in runtime.times:
        parts = _parts(time, nodes, following)
        if not parts:
            rest_ns += time.time_ns
        for place in frozenset[Place]().union(*parts):
            kept = alone if all(place in part for part in parts) else shared
            kept[place] += time.time_ns
    found = {place: LineTime(None, alone[place], shared[place], whole_ns) for place in {**alone, **shared}}
    return found, (TimeOfNoLine(None, rest_ns, whole_ns),) if rest_ns else ()


def _parts(time: RuntimeTime, nodes: Mapping[str, Node], following: Following) -> list[Places]:
    """Returns the lines of each node whose time it may be."""
    operators = (node for name in time.nodes for node in _operators(nodes[name]))
    return [part for node in operators for part in _lines(node, following)]


def _operators(node: Node) -> list[Node]:
    """Returns the operators that a fusion group fuses, or the node itself."""
    fused = [inner for block in node.blocks for inner in block.nodes if inner.op != "prim::Constant"]
    return fused if "Group" in node.op and fused else [node]


def _lines(node: Node, following: Following) -> Collection[Places]:
    """Returns the lines of each operator whose work a node does."""
    if known := following.parts.get(node.id):
        return known
    return (frozenset({(node.source.file, node.source.line)}),) if node.source is not None else ()
