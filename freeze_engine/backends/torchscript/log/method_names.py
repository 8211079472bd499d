"""Maps each function in torch's log to its method: the log names functions only, and renumbers their values.

The inliner's own log shows every function it inlines, again and again, and would cost more than all the rest. Its
result is taken from torch's inliner on a copy of the method instead, and compared with the first graph that the log
does show: that has the same nodes in the same order, and provides the names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from freeze_engine.backends.torchscript.graph.forks import unscoped, with_names
from freeze_engine.backends.torchscript.graph.parser import parse_graph
from freeze_engine.backends.torchscript.log.messages import ANALYZING, FOLDING, PROPAGATING
from freeze_engine.backends.torchscript.log.records import CapturedLog, LogRecord
from freeze_engine.trace import Block, GraphSnapshot, Node


@dataclass(frozen=True, slots=True)
class MethodGraphs:
    """One method before the freeze.

    Attributes:
        before: its original graph.
        inlined: the same with everything it calls inlined.
    """

    before: GraphSnapshot
    inlined: GraphSnapshot


def recognised(
    log: CapturedLog, methods: Mapping[str, MethodGraphs], parse: Callable[[str], GraphSnapshot] = parse_graph
) -> tuple[dict[str, list[str]], dict[str, MethodGraphs]]:
    """Maps each function in the log to its method, and gives the inlined graphs the names of the log."""
    analysed = [
        record.message.removeprefix(ANALYZING) for record in log.records if record.message.startswith(ANALYZING)
    ]
    shown = _first_graphs(log.records, parse)
    order: dict[str, list[str]] = {}
    named = dict(methods)
    for number, function in enumerate(analysed):
        taken = order.setdefault(function, [])
        free = [path for path in methods if path.rpartition(".")[2] == function and path not in taken]
        if not free:
            continue
        # The phases go through the methods in one order, so the n-th that is analysed is the n-th that is propagated.
        graph, constants = shown[number] if number < len(shown) else (None, frozenset[str]())
        pairs = {path: _paired(methods[path].inlined, graph, constants) for path in free} if graph else {}
        path = next((each for each in free if pairs.get(each)), free[0])
        taken.append(path)
        if pairs.get(path):
            named[path] = replace(methods[path], inlined=_renamed(methods[path].inlined, pairs[path]))
    return order, named


def _first_graphs(
    records: Sequence[LogRecord], parse: Callable[[str], GraphSnapshot]
) -> list[tuple[GraphSnapshot | None, frozenset[str]]]:
    """Returns, for each method in turn, its graph after attributes were propagated, and the constants that made."""
    found: list[tuple[GraphSnapshot | None, frozenset[str]]] = []
    constants: set[str] = set()
    for record in records:
        if record.message.startswith(PROPAGATING):
            constants = set()
            found.append((None, frozenset()))
        elif match := FOLDING.fullmatch(record.message):
            constants.add(match["constant"])
        elif record.graph is not None and found and found[-1][0] is None:
            found[-1] = (parse(record.graph), frozenset(constants))
    return found


def _paired(inlined: GraphSnapshot, shown: GraphSnapshot, constants: frozenset[str]) -> list[tuple[Node, Node]]:
    """Pairs the nodes of an inlined graph with those of the graph propagation made of it; empty if they do not fit."""
    ours = list(inlined.walk())
    theirs = [node for node in shown.walk() if not (node.outputs and unscoped(node.outputs[0].name) in constants)]
    same = [(node.op, node.attributes, node.source) for node in ours] == [
        (node.op, node.attributes, node.source) for node in theirs
    ]
    return list(zip(ours, theirs, strict=True)) if same else []


def _renamed(graph: GraphSnapshot, pairs: Sequence[tuple[Node, Node]]) -> GraphSnapshot:
    names = {
        mine.name: theirs.name
        for ours, others in pairs
        for mine, theirs in zip(
            (*ours.outputs, *(value for block in ours.blocks for value in block.inputs)),
            (*others.outputs, *(value for block in others.blocks for value in block.inputs)),
            strict=True,
        )
    }
    if all(mine == theirs for mine, theirs in names.items()):
        return graph
    body = with_names(Block(graph.inputs, graph.nodes, graph.outputs), lambda name: names.get(name, name))
    return GraphSnapshot(body.inputs, body.nodes, body.outputs)
