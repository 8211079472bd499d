"""Exports graphs and measurements for Model Explorer.

The format is that of ``graph_builder.py`` and ``node_data_builder.py`` of ai-edge-model-explorer 0.1.34: a file with a
collection of graphs, and beside it one file per kind of node data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Final

from freeze_engine.analysis.graph_diff import diff_snapshots
from freeze_engine.errors import FreezerError
from freeze_engine.trace import Block, Node, Step, Trace, Value
from freeze_engine.trace.baselines import result_baseline

INPUTS, OUTPUTS = "GraphInputs", "GraphOutputs"
"""Labels by which Model Explorer knows a graph's ends."""

_LOW, _HIGH = "#f3e9d8", "#b3402a"
_SUMS_MEAN_NOTHING: Final = ["sum"]

Document = dict[str, Any]


def model_explorer_graphs(trace: Trace, step: int | None = None) -> Document:
    """Returns the graphs of a trace as a ``GraphCollection``.

    Args:
        trace: the recording.
        step: index of the one step whose graph to return; by default the first of each method and all that changed it.

    Returns:
        One graph per step. A node's namespace is the submodule it comes from; a nested block is a group that has the
        name of the node which holds it.

    Raises:
        FreezerError: there is no such step.
    """
    graphs = [_graph(trace, one) for one in _chosen(trace, step)]
    return {"label": trace.name or "unnamed model", "graphs": graphs, "graphSorting": "name_asc"}


def model_explorer_data(trace: Trace, step: int | None = None) -> dict[str, Document]:
    """Returns the data about single nodes, as Model Explorer's node data, one document per kind.

    Args:
        trace: the recording.
        step: as for `model_explorer_graphs`.

    Returns:
        ``constants`` (bytes of a constant), ``latency`` (time after the step that last changed a node, relative to the
        step before it), ``error`` (largest absolute error against eager after that step) and ``kernels`` (time of the
        kernel that computes a node, µs); those of which nothing is known are left out.

    Raises:
        FreezerError: there is no such step.
    """
    touched, relative, errors = _touched(trace), _relative(trace), _errors(trace)
    kinds: dict[str, Document] = {"constants": {}, "latency": {}, "error": {}, "kernels": {}}
    for one in _chosen(trace, step):
        last = touched[one.index]
        found: dict[str, Iterable[tuple[str, float]]] = {
            "constants": ((node.id, node.constant.nbytes) for node in one.graph.walk() if node.constant),
            "latency": _by_step(last, relative),
            "error": _by_step(last, errors),
            "kernels": _kernels(trace, one),
        }
        for kind, values in found.items():
            results = {node: {"value": value} for node, value in values if isfinite(value)}
            if results:
                kinds[kind][graph_id(one)] = _data(kind, results)
    return {kind: document for kind, document in kinds.items() if document}


def graph_id(step: Step) -> str:
    """Returns the name of a step's graph, unique in a trace and in its order."""
    turn = f", round {step.round}" if step.round else ""
    return f"{step.index:03} {step.name} ({step.method}{turn})"


def _chosen(trace: Trace, index: int | None) -> list[Step]:
    if index is None:
        return [step for step in trace.steps if step.changed or trace.before(step) is None]
    if not 0 <= index < len(trace.steps):
        raise FreezerError(f"there is no step {index}: the trace has steps 0 to {len(trace.steps) - 1}")
    return [trace.steps[index]]


def _graph(trace: Trace, step: Step) -> Document:
    before = trace.before(step)
    marks: dict[str, str] = {}
    if before is not None:
        diff = diff_snapshots(before.graph, step.graph)
        marks = dict.fromkeys((change.node for change in diff.changed), "changed") | dict.fromkeys(diff.added, "added")
    nodes = _Nodes(marks, _readers(step))
    nodes.ends("", step.graph.inputs, step.graph.nodes, step.graph.outputs)
    facts = {"stage": step.stage, "pass": step.name, "method": step.method, "nodes": str(len(nodes.documents))}
    return {"id": graph_id(step), "nodes": nodes.documents, "groupNodeAttributes": {"": facts}}


@dataclass(slots=True)
class _Nodes:
    """Collects the nodes of a graph, and which of them defines each value.

    Attributes:
        marks: what the step did to a node.
        readers: value -> submodules of the nodes that read it.
        documents: the nodes so far.
        definitions: value -> (node, number of its output).
    """

    marks: Mapping[str, str]
    readers: Mapping[str, set[str]]
    documents: list[Document] = field(default_factory=list)
    definitions: dict[str, tuple[str, int]] = field(default_factory=dict)

    def ends(self, group: str, inputs: tuple[Value, ...], nodes: tuple[Node, ...], outputs: tuple[str, ...]) -> None:
        """Adds a graph or block with a node for its inputs and one for its outputs."""
        if inputs:
            self._add(f"{group}{INPUTS}", INPUTS, group, (), inputs, [])
        for node in nodes:
            self._node(node, group)
        self._add(f"{group}{OUTPUTS}", OUTPUTS, group, outputs, (), [])

    def _node(self, node: Node, group: str) -> None:
        space = "/".join(filter(None, [group.rstrip("/"), *self._module(node).split(".")]))
        self._add(node.id, node.op, space, node.inputs, node.outputs, list(self._facts(node)))
        for number, block in enumerate(node.blocks):
            self._block(block, f"{space}/{node.op} {node.id.replace('/', '|')}/block {number}/".lstrip("/"))

    def _module(self, node: Node) -> str:
        """Returns the submodule a node comes from; a constant, which has none, is placed where it is read."""
        if node.module or node.inputs:
            return node.module
        readers = set[str]().union(*(self.readers.get(value.name, set()) for value in node.outputs))
        return readers.pop() if len(readers) == 1 else ""

    def _block(self, block: Block, group: str) -> None:
        self.ends(group, block.inputs, block.nodes, block.outputs)

    def _add(
        self,
        name: str,
        label: str,
        space: str,
        inputs: tuple[str, ...],
        outputs: tuple[Value, ...],
        facts: list[tuple[str, str]],
    ) -> None:
        edges = []
        for place, value in enumerate(inputs):
            if value in self.definitions:
                source, output = self.definitions[value]
                edge = {"sourceNodeId": source, "sourceNodeOutputId": str(output), "targetNodeInputId": str(place)}
                edges.append(edge)
        self.definitions.update({value.name: (name, number) for number, value in enumerate(outputs)})
        self.documents.append(
            {
                "id": name,
                "label": label,
                "namespace": space.rstrip("/"),
                "attrs": [{"key": key, "value": text} for key, text in facts],
                "incomingEdges": edges,
                "outputsMetadata": [_output(number, value) for number, value in enumerate(outputs)],
            }
        )

    def _facts(self, node: Node) -> Iterator[tuple[str, str]]:
        if node.id in self.marks:
            yield "in this step", self.marks[node.id]
        yield from node.attributes
        if node.module:
            yield "module", node.module
        if node.source is not None:
            yield "source", f"{node.source.file}:{node.source.line}"
        if node.constant is not None:
            kept = node.constant
            yield "constant", f"{kept.dtype}{list(kept.shape)} on {kept.device}, {kept.nbytes} bytes"


def _readers(step: Step) -> dict[str, set[str]]:
    readers: dict[str, set[str]] = {}
    for node in step.graph.walk():
        for value in node.inputs:
            readers.setdefault(value, set()).add(node.module)
    return readers


def _output(number: int, value: Value) -> Document:
    facts = {"tensor_name": value.name, "type": value.type}
    return {"id": str(number), "attrs": [{"key": key, "value": text} for key, text in facts.items()]}


def _touched(trace: Trace) -> dict[int, dict[str, int]]:
    """Returns for each step its nodes, each with the step that last added or changed it."""
    latest: dict[str, dict[str, int]] = {}
    found = {}
    for step in trace.steps:
        before = trace.before(step)
        if before is None:
            now = {node.id: step.index for node in step.graph.walk()}
        elif before.graph is step.graph:
            now = latest[step.method]
        else:
            diff = diff_snapshots(before.graph, step.graph)
            new = {*diff.added, *(change.node for change in diff.changed)}
            old = latest[step.method]
            now = {
                node.id: step.index if node.id in new else old.get(node.id, step.index) for node in step.graph.walk()
            }
        latest[step.method] = found[step.index] = now
    return found


def _by_step(last: Mapping[str, int], figures: Mapping[int, float]) -> Iterator[tuple[str, float]]:
    return ((node, figures[step]) for node, step in last.items() if step in figures)


def _relative(trace: Trace) -> dict[int, float]:
    return {
        step.index: latency.previous.value
        for step in trace.steps
        for latency in step.latency[:1]
        if latency.previous is not None
    }


def _errors(trace: Trace) -> dict[int, float]:
    return {
        step.index: max(one.max_abs for one in compared)
        for step in trace.steps
        if (compared := [one for one in step.numerics if one.reference == "eager" and one.error is None])
    }


def _kernels(trace: Trace, step: Step) -> Iterator[tuple[str, float]]:
    """Yields the time of each node's kernel, in µs; kernels are of a method's last graph."""
    if trace.final(step.method) is not step:
        return
    frozen = (
        each for each in trace.programs if each.method == step.method and each.name == result_baseline(trace.backend)
    )
    for kernel in (kernel for program in frozen for kernel in program.kernels):
        if kernel.time_ns is not None:
            yield from ((node, kernel.time_ns.value / 1e3) for node in kernel.nodes)


_NAMES: Final = {
    "constants": "bytes of the constant",
    "latency": "time after the step that last changed it, relative to the step before",
    "error": "largest error after the step that last changed it",
    "kernels": "time of its kernel (µs)",
}


def _data(kind: str, results: Document) -> Document:
    document: Document = {
        "name": _NAMES[kind],
        "results": results,
        "gradient": [{"stop": 0, "bgColor": _LOW}, {"stop": 1, "bgColor": _HIGH}],
    }
    # One figure of a step, or of a kernel, stands at many nodes.
    return document if kind == "constants" else document | {"hideAggregatedStats": _SUMS_MEAN_NOTHING}
