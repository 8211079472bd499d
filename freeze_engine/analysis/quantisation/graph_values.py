"""Values of one graph: what each is made of, and whether that is known before the model runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from freeze_engine.analysis.quantisation.operators import COMPUTE, VIEWS, WIDE, dtype_of, elements_of, is_narrow, short
from freeze_engine.trace import GraphSnapshot, Node

_CONSTANTS = ("get_attr", "prim::Constant")
_READS = "prim::GetAttr"
_ROUNDING = ("add", "sub", "round", "clamp", "clamp_min", "clamp_max", "minimum", "maximum")


@dataclass(frozen=True)
class GraphValues:
    """One graph, with its constants.

    Attributes:
        graph: the graph.
        attributes: names of the graph's inputs that are attributes of the model.
    """

    graph: GraphSnapshot
    attributes: frozenset[str]

    @cached_property
    def definers(self) -> Mapping[str, Node]:
        """The node that defines each value."""
        return {value.name: node for node in self.graph.walk() for value in node.outputs}

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        """The nodes by id."""
        return {node.id: node for node in self.graph.walk()}

    @cached_property
    def readers(self) -> Mapping[str, Sequence[Node]]:
        """The nodes that read each value."""
        found: dict[str, list[Node]] = {}
        for node in self.graph.walk():
            for name in dict.fromkeys(node.inputs):
                found.setdefault(name, []).append(node)
        return found

    @cached_property
    def types(self) -> Mapping[str, str]:
        """The text of each value's type."""
        values = (*self.graph.inputs, *(value for node in self.graph.walk() for value in node.outputs))
        return {value.name: value.type for value in values}

    @cached_property
    def static(self) -> Mapping[str, frozenset[str]]:
        """The values that are known before the model runs, each with the attributes and tensor constants behind it."""
        found = {name: frozenset((name,)) for name in self.attributes}
        for node in self.graph.walk():
            if node.blocks:
                continue
            own = self._own(node)
            if own is None and all(name in found for name in node.inputs) and not node.op.startswith("prim::Param"):
                own = frozenset[str]().union(*(found[name] for name in node.inputs))
            if own is not None:
                found.update({value.name: own for value in node.outputs if value.name not in found})
        return found

    def dtype(self, name: str) -> str:
        """Returns the dtype of a value, empty if the graph does not say."""
        node = self.definers.get(name)
        if node is not None and node.constant is not None:
            return node.constant.dtype
        return dtype_of(self.types.get(name, ""))

    def weight_of(self, node: Node) -> str | None:
        """Returns the operand of a node that is a weight, ``None`` if none is."""
        places = COMPUTE.get(short(node.op))
        operands = node.inputs[-2:] if places is None else _at(node.inputs, places)
        weights = [each for each in operands if self.static.get(each)]
        return max(weights, key=lambda each: self._is_quantised(each), default=None)

    def activation_of(self, node: Node, weight: str) -> str | None:
        """Returns the operand of a node that is its activation, ``None`` if none is."""
        places = COMPUTE.get(short(node.op), ())
        operands = _at(node.inputs, places) if len(places) > 1 else node.inputs
        return next((each for each in operands if each != weight and each not in self.static), None)

    def unviewed(self, name: str) -> str:
        """Returns the value that a value only views, or is converted from to another floating-point dtype."""
        seen: set[str] = set()
        while (node := self.definers.get(name)) is not None and node.inputs and name not in seen:
            seen.add(name)
            if short(node.op) not in VIEWS and not self._is_cast(node):
                break
            name = node.inputs[0]
        return name

    def float_dtype(self, name: str) -> str:
        """Returns the dtype of a value before it was quantised; empty if the graph does not say."""
        seen: set[str] = set()
        while name not in seen and self.dtype(name) not in ("", *WIDE):
            seen.add(name)
            node = self.definers.get(name)
            name = next((each for each in (node.inputs if node else ()) if each not in self.static), name)
        before = self._before_scaling(name) if seen else None
        return self.dtype(name if before is None else before)

    def _before_scaling(self, name: str) -> str | None:
        """Returns the value that was scaled and rounded to become a value, ``None`` if that is not how it was made.

        torchao quantises a bfloat16 activation with a scale of float32, by operators of their own.
        """
        is_rounded = False
        while (node := self.definers.get(name)) is not None and node.inputs:
            operator = short(node.op)
            if is_rounded and operator in ("mul", "div"):
                sizes = {each: elements_of(self.types.get(each, "")) or 0 for each in node.inputs}
                return max(node.inputs, key=lambda each: sizes[each])
            if operator not in _ROUNDING and operator not in VIEWS and not self._is_cast(node):
                break
            is_rounded = is_rounded or operator == "round"
            name = node.inputs[0]
        return None

    def _own(self, node: Node) -> frozenset[str] | None:
        if node.constant is not None or node.op == "get_attr":
            return frozenset(value.name for value in node.outputs)
        if node.op in _CONSTANTS or not node.inputs:
            return frozenset() if node.op != _READS else frozenset(value.name for value in node.outputs)
        return None

    def _is_quantised(self, name: str) -> bool:
        return any(is_narrow(self.dtype(each)) for each in self.static[name])

    def _is_cast(self, node: Node) -> bool:
        if short(node.op) != "convert_element_type":
            return False
        return not is_narrow(self.dtype(node.inputs[0])) and not is_narrow(self.dtype(node.outputs[0].name))


def _at(inputs: Sequence[str], places: Sequence[int]) -> Sequence[str]:
    return [inputs[place] for place in places if place < len(inputs)]
