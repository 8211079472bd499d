"""The graphs of one method, each with its values, and the way of a node through them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from freeze_engine.analysis.graph_inputs import input_attributes
from freeze_engine.analysis.quantisation.found_layers import scales_after, successor
from freeze_engine.analysis.quantisation.graph_values import GraphValues
from freeze_engine.analysis.quantisation.layer_errors import LayerErrors
from freeze_engine.trace import AttributeFate, Constant, Node, Rewrite, Step, Trace

_LIBRARY = "mkl_reorder"


@dataclass(frozen=True)
class NodePath:
    """The way of a layer's node through the steps.

    Attributes:
        ids: the id that stands for it after each step.
        rewrites: the rewrites that took it, each with its step.
    """

    ids: Sequence[str | None]
    rewrites: Sequence[tuple[Step, Rewrite]]


@dataclass(frozen=True)
class MethodGraphs:
    """The steps of one method.

    Attributes:
        trace: the recording.
        method: the method.
    """

    trace: Trace
    method: str

    @cached_property
    def errors(self) -> LayerErrors:
        """The errors of the trace's layers against the float model."""
        return LayerErrors(self.trace)

    @cached_property
    def steps(self) -> Sequence[Step]:
        """The steps of the method."""
        return tuple(self.trace.method_steps(self.method))

    @cached_property
    def values(self) -> Sequence[GraphValues]:
        """The graph after each step; passes without effect share one object."""
        named = frozenset(input_attributes(self.trace).get(self.method, {}))
        found: list[GraphValues] = []
        for step in self.steps:
            if not found or found[-1].graph is not step.graph:
                inputs = named & {value.name for value in step.graph.inputs}
                found.append(GraphValues(step.graph, inputs))
            else:
                found.append(found[-1])
        return found

    @cached_property
    def paths(self) -> Mapping[str, str]:
        """The attribute behind each name of an input or constant."""
        found = dict(input_attributes(self.trace).get(self.method, {}))
        for fate in self.trace.attributes:
            for each in fate.evidence:
                if each.step is None or each.node is None or each.method != self.method or fate.same_as:
                    continue
                values = self.values_at.get(each.step)
                node = values.nodes.get(each.node) if values is not None else None
                if node is not None and len(node.outputs) == 1 and _holds(node, fate):
                    found.setdefault(node.outputs[0].name, fate.path)
        return found

    @cached_property
    def fates(self) -> Mapping[str, AttributeFate]:
        """The fates by path."""
        return {fate.path: fate for fate in self.trace.attributes}

    @cached_property
    def values_at(self) -> Mapping[int, GraphValues]:
        """The graphs by the index of their step."""
        return {step.index: values for step, values in zip(self.steps, self.values, strict=True)}

    def follow(self, at: int, node: Node) -> NodePath:
        """Follows a node through the rewrites of the steps after ``at``."""
        ids: list[str | None] = [node.id]
        rewrites: list[tuple[Step, Rewrite]] = []
        for step, values in zip(self.steps[at + 1 :], self.values[at + 1 :], strict=True):
            now = ids[-1]
            if now is not None:
                taken = next((each for each in step.rewrites if now in each.consumed), None)
                rewrites += [] if taken is None else [(step, taken)]
                now = successor(values, taken, now) if taken is not None else now
                now = now if now in values.nodes else None
            ids.append(now)
        return NodePath(ids, rewrites)

    def before(self, step: Step, at: int, path: NodePath) -> tuple[GraphValues, Node | None]:
        """Returns the graph before a step, and the node of a layer there."""
        place = max(self.steps.index(step) - 1, at)
        values = self.values[place]
        return values, values.nodes.get(path.ids[place - at] or "")

    def step_named(self, name: str) -> Step | None:
        """Returns the step of a group of patterns, ``None`` if the trace has none."""
        late = name.startswith("pass_pattern_")
        stage = "post_grad" if late else "freezing_passes"
        return next((step for step in self.steps if step.stage == stage and name in step.passes), None)

    def name_of(self, node: Node, values: GraphValues) -> str:
        """Returns the path of a layer's module, by its weight or bias where the graph does not say."""
        if node.module:
            return node.module
        behind = sorted(frozenset[str]().union(*(values.static.get(name, frozenset()) for name in node.inputs)))
        owners = (self.paths[name].rpartition(".")[0] for name in behind if name in self.paths)
        return next((owner for owner in owners if owner), f"%{node.outputs[0].name}" if node.outputs else node.id)

    def constants(self, sources: Set[str], last: Node | None) -> Sequence[Constant]:
        """Returns the constants of the last graph that come from some values, each storage once."""
        definers = self.values[-1].definers
        names = {
            place.value
            for name in sources
            if name in self.paths
            for place in self.fates[self.paths[name]].locations
            if place.method == self.method
        }
        read = self.values[-1].static
        if last is not None:
            behind = scales_after(self.values[-1], last).union(*(read[name] for name in last.inputs if name in read))
            own = names & behind
            names = own or names
        nodes = (definers.get(name) for name in sorted(names))
        held = {node.constant.storage or node.id: node for node in nodes if node is not None and node.constant}
        # A library's copy in its own layout may stand beside the weight; what it takes is a matter of its own.
        plain = [node for node in held.values() if _LIBRARY not in node.id]
        return tuple(node.constant for node in (plain or held.values()) if node.constant is not None)

    def nbytes(self, values: GraphValues, name: str) -> int:
        """Returns the bytes of an attribute or constant, 0 if the trace does not say."""
        node = values.definers.get(name)
        if node is not None and node.constant is not None:
            return node.constant.nbytes
        fate = self.fates.get(self.paths.get(name, ""))
        return fate.nbytes if fate is not None else 0

    def constant(self, name: str) -> Constant | None:
        """Returns the summary of an attribute's tensor, from the first graph that holds it as a constant."""
        for values in self.values:
            node = values.definers.get(name)
            if node is not None and node.constant is not None:
                return node.constant
        fate = self.fates.get(self.paths.get(name, ""))
        return fate.tensor if fate is not None else None


def _holds(node: Node, fate: AttributeFate) -> bool:
    return node.constant is not None and node.constant.dtype == fate.dtype and node.constant.shape == fate.shape
