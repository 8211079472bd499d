"""`quantisation_outcome()`: the quantised layers of a trace, each followed to the last graph."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from freeze_engine.analysis.graph_inputs import input_attributes
from freeze_engine.analysis.quantisation import patterns
from freeze_engine.analysis.quantisation.graph_values import GraphValues
from freeze_engine.analysis.quantisation.layer import Conversion, Outcome, Pattern, Quantisation, QuantisedLayer
from freeze_engine.analysis.quantisation.operators import (
    COMPUTE,
    ITEM_BYTES,
    WIDE,
    elements_of,
    is_dequantise,
    is_narrow,
    is_quantise,
    reads_quantised,
    short,
)
from freeze_engine.trace import AttributeFate, Constant, Node, Rewrite, Step, Trace


def quantisation_outcome(trace: Trace) -> Quantisation | None:
    """Returns what freezing made of a quantised model.

    Args:
        trace: the recording, of any backend.

    Returns:
        ``None`` if no layer of it has a quantised weight and no operator quantises.
    """
    if not any(_may_be_quantised(trace)):
        return None
    methods = [_Method(trace, method) for method in trace.methods]
    layers = tuple(layer for method in methods for layer in method.layers())
    if all(layer.outcome == "float" for layer in layers):
        return None
    return Quantisation(layers, tuple(each for method in methods for each in method.conversions()))


def _may_be_quantised(trace: Trace) -> Iterator[bool]:
    """Yields what says at little cost whether to look further: dtypes of attributes, and operators."""
    yield from (fate.dtype is not None and is_narrow(fate.dtype) for fate in trace.attributes)
    for method in trace.methods:
        steps = trace.method_steps(method)
        for step in steps[:1] + steps[-1:]:
            yield from (
                is_quantise(node.op) or is_dequantise(node.op) or reads_quantised(node.op) for node in step.graph.walk()
            )


@dataclass(frozen=True)
class _Found:
    """A layer in the graph that shows its weight.

    Attributes:
        node: its node.
        weight: the operand that is its weight.
        activation: the other one.
        sources: names of the attributes and constants behind the weight.
    """

    node: Node
    weight: str
    activation: str | None
    sources: frozenset[str]


@dataclass(frozen=True)
class _Path:
    """The way of a layer's node through the steps.

    Attributes:
        ids: the id that stands for it after each step.
        rewrites: the rewrites that took it, each with its step.
    """

    ids: Sequence[str | None]
    rewrites: Sequence[tuple[Step, Rewrite]]


@dataclass(frozen=True)
class _Method:
    """The steps of one method."""

    trace: Trace
    method: str

    @cached_property
    def steps(self) -> Sequence[Step]:
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
                values = self._values_at.get(each.step)
                node = values.nodes.get(each.node) if values is not None else None
                if node is not None and len(node.outputs) == 1 and _holds(node, fate):
                    found.setdefault(node.outputs[0].name, fate.path)
        return found

    @cached_property
    def fates(self) -> Mapping[str, AttributeFate]:
        return {fate.path: fate for fate in self.trace.attributes}

    def layers(self) -> Iterator[QuantisedLayer]:
        """Yields the layers with a weight, in the order of the first graph that shows one quantised."""
        at = next((at for at, values in enumerate(self.values) if any(_quantised(values))), None)
        if at is None:
            return
        for found in _layers(self.values[at]):
            yield self._layer(at, found)

    def conversions(self) -> Iterator[Conversion]:
        """Yields the quantisations and dequantisations of the last graph."""
        if not self.steps:
            return
        values = self.values[-1]
        for node in values.graph.walk():
            if (is_quantise(node.op) or is_dequantise(node.op)) and node.outputs:
                yield Conversion(node.id, node.op, self.method, patterns.left_over(values, node))

    @cached_property
    def _values_at(self) -> Mapping[int, GraphValues]:
        return {step.index: values for step, values in zip(self.steps, self.values, strict=True)}

    def _layer(self, at: int, found: _Found) -> QuantisedLayer:
        first, node = self.values[at], found.node
        path = self._follow(at, node)
        last = self.values[-1].nodes.get(path.ids[-1] or "")
        constants = self._constants(found.sources, last)
        own = sorted(found.sources, key=lambda name: (is_narrow(first.dtype(name)), self._nbytes(first, name)))[-1]
        narrow = is_narrow(first.dtype(own))
        undone_by = self._undone_by(at, found, path) if narrow else None
        largest = max(self._constants({own}, last), key=lambda each: math.prod(each.shape), default=None)
        outcome = self._outcome(narrow, last, undone_by)
        weights = tuple(sorted(self.paths[name] for name in found.sources if name in self.paths))
        return QuantisedLayer(
            name=self._name(node, first),
            method=self.method,
            step=self.steps[at].index,
            node=node.id,
            op=node.op,
            weights=weights,
            weight_before=first.dtype(own),
            weight_after=largest.dtype if largest is not None else None,
            is_packed=any(patterns.PREPACK in rewrite.kind or "pack_" in rewrite.kind for _, rewrite in path.rewrites),
            activation_before=first.float_dtype(found.activation) if found.activation is not None else "",
            activation_after=self._read(last),
            kernel="" if last is None else short(last.op),
            bytes_float=_float_bytes(first, found),
            bytes_before=sum(self._nbytes(first, name) for name in found.sources),
            bytes_after=sum(each.nbytes for each in constants) if constants else None,
            outcome=outcome,
            undone_by=None if undone_by is None else undone_by.index,
            rounding=self._rounding(first, found) if narrow else None,
            patterns=tuple(self._patterns(at, found, path, outcome, undone_by)) if narrow else (),
        )

    def _follow(self, at: int, node: Node) -> _Path:
        """Follows a node through the rewrites of the steps after ``at``."""
        ids: list[str | None] = [node.id]
        rewrites: list[tuple[Step, Rewrite]] = []
        for step, values in zip(self.steps[at + 1 :], self.values[at + 1 :], strict=True):
            now = ids[-1]
            if now is not None:
                taken = next((each for each in step.rewrites if now in each.consumed), None)
                rewrites += [] if taken is None else [(step, taken)]
                now = _successor(values, taken, now) if taken is not None else now
                now = now if now in values.nodes else None
            ids.append(now)
        return _Path(ids, rewrites)

    def _undone_by(self, at: int, found: _Found, path: _Path) -> Step | None:
        """Returns the step after which a larger floating-point constant stands for the quantised weight."""
        for step, values, name in zip(self.steps[at:], self.values[at:], path.ids, strict=True):
            node = values.nodes.get(name or "")
            if node is None or reads_quantised(node.op):
                return None
            weight = (
                values.weight_of(node)
                if short(node.op) in COMPUTE
                else next((each for each in node.inputs if values.static.get(each)), None)
            )
            if weight is None:
                continue
            dtypes = {values.dtype(each) for each in values.static[weight]}
            if not any(map(is_narrow, dtypes)) and dtypes & {*WIDE}:
                return step
        return None

    def _outcome(self, quantised: bool, last: Node | None, undone_by: Step | None) -> Outcome:
        if not quantised:
            return "float"
        if undone_by is not None:
            return "undone"
        if last is None or self.trace.failure is not None:
            return "unknown"
        if not reads_quantised(last.op):
            return "dequantised"
        read = self._read(last)
        return "quantised" if read is not None and is_narrow(read) else "weight only"

    def _read(self, last: Node | None) -> str | None:
        """Returns the dtype of the activation that the last operator reads."""
        if last is None:
            return None
        values = self.values[-1]
        return next((values.dtype(name) or None for name in last.inputs if name not in values.static), None)

    def _name(self, node: Node, values: GraphValues) -> str:
        """Returns the path of a layer's module, by its weight or bias where the graph does not say."""
        if node.module:
            return node.module
        behind = sorted(frozenset[str]().union(*(values.static.get(name, frozenset()) for name in node.inputs)))
        owners = (self.paths[name].rpartition(".")[0] for name in behind if name in self.paths)
        return next((owner for owner in owners if owner), f"%{node.outputs[0].name}" if node.outputs else node.id)

    def _constants(self, sources: Set[str], last: Node | None) -> Sequence[Constant]:
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
            behind = _scales_after(self.values[-1], last).union(*(read[name] for name in last.inputs if name in read))
            own = names & behind
            names = own or names
        nodes = (definers.get(name) for name in sorted(names))
        held = {node.constant.storage or node.id: node for node in nodes if node is not None and node.constant}
        # A library's copy in its own layout may stand beside the weight; what it takes is a matter of its own.
        plain = [node for node in held.values() if _LIBRARY not in node.id]
        return tuple(node.constant for node in (plain or held.values()) if node.constant is not None)

    def _nbytes(self, values: GraphValues, name: str) -> int:
        node = values.definers.get(name)
        if node is not None and node.constant is not None:
            return node.constant.nbytes
        fate = self.fates.get(self.paths.get(name, ""))
        return fate.nbytes if fate is not None else 0

    def _rounding(self, values: GraphValues, found: _Found) -> float | None:
        """Returns half of the largest scale: the scale of a weight is the floating-point tensor behind it."""
        scales = [name for name in found.sources if values.dtype(name) in WIDE]
        largest = [constant.maximum for name in scales if (constant := self._constant(name)) is not None]
        known = [each for each in largest if each is not None]
        return max(known) / 2 if known else None

    def _constant(self, name: str) -> Constant | None:
        """Returns the summary of an attribute's tensor, from the first graph that holds it as a constant."""
        for values in self.values:
            node = values.definers.get(name)
            if node is not None and node.constant is not None:
                return node.constant
        fate = self.fates.get(self.paths.get(name, ""))
        return fate.tensor if fate is not None else None

    def _patterns(
        self, at: int, found: _Found, path: _Path, outcome: Outcome, undone: Step | None
    ) -> Iterator[Pattern]:
        yield from (patterns.matched(step, rewrite) for step, rewrite in path.rewrites if rewrite.produced)
        if not self.trace.uses_inductor:
            return
        kinds = [rewrite.kind for _, rewrite in path.rewrites]
        first = self.values[at]
        by_operator = any(is_dequantise(node.op) for node in _cone(first, found.weight))
        prepack, fusion, weight_only = (self._step(name) for name in patterns.GROUPS)
        if by_operator and not any(patterns.PREPACK in kind for kind in kinds) and not reads_quantised(found.node.op):
            why = self._why_not_packed(prepack, at, path)
            yield Pattern("weight prepack", patterns.GROUPS[0], _index(prepack), False, why)
        if short(found.node.op) == "_int_mm" and not any(patterns.PREPACK in kind for kind in kinds):
            name = patterns.pattern_name("_int_mm_weight_prepack")
            why = patterns.unmatched_int_mm(first, found.node)
            yield Pattern(name, patterns.GROUPS[0], _index(prepack), False, why)
        if not by_operator and outcome in ("undone", "dequantised"):
            why = self._why_not_weight_only(weight_only, at, path, found, undone)
            name = patterns.pattern_name("woq_int8")
            yield Pattern(name, patterns.GROUPS[2], _index(weight_only), False, why)
        if any(patterns.PREPACK in kind for kind in kinds) and not any(patterns.FUSION in kind for kind in kinds):
            why = self._why_not_fused(fusion, at, path)
            if why:
                yield Pattern("fusion with what follows", patterns.GROUPS[1], _index(fusion), False, why)

    def _why_not_packed(self, step: Step | None, at: int, path: _Path) -> str:
        if step is None:
            return "The trace has no such pass: freezing did not get there, or was off."
        values, node = self._before(step, at, path)
        weight = values.weight_of(node) if node is not None else None
        if node is None or weight is None:
            return "The operator was replaced before."
        return patterns.unmatched_prepack(values, node, weight, values.activation_of(node, weight))

    def _why_not_weight_only(self, step: Step | None, at: int, path: _Path, found: _Found, undone: Step | None) -> str:
        values, weight, activation = self.values[at], found.weight, found.activation
        if undone is None and step is not None:
            late, node = self._before(step, at, path)
            weight_then = late.weight_of(node) if node is not None else None
            if node is not None and weight_then is not None:
                values, weight, activation = late, weight_then, late.activation_of(node, weight_then)
        return patterns.unmatched_weight_only(values, weight, activation, undone)

    def _why_not_fused(self, step: Step | None, at: int, path: _Path) -> str:
        if step is None:
            return ""
        values, node = self._before(step, at, path)
        return "" if node is None else patterns.unmatched_fusion(values, node)

    def _before(self, step: Step, at: int, path: _Path) -> tuple[GraphValues, Node | None]:
        place = max(self.steps.index(step) - 1, at)
        values = self.values[place]
        return values, values.nodes.get(path.ids[place - at] or "")

    def _step(self, name: str) -> Step | None:
        late = name.startswith("pass_pattern_")
        stage = "post_grad" if late else "freezing_passes"
        return next((step for step in self.steps if step.stage == stage and name in step.passes), None)


def _quantised(values: GraphValues) -> Iterator[_Found]:
    """Yields the layers of a graph whose weight is quantised."""
    for found in _layers(values):
        if any(is_narrow(values.dtype(name)) for name in found.sources):
            yield found


def _layers(values: GraphValues) -> Iterator[_Found]:
    for node in values.graph.walk():
        weight = values.weight_of(node) if short(node.op) in COMPUTE else None
        if weight is not None:
            yield _Found(node, weight, values.activation_of(node, weight), _behind(values, node, weight))


def _behind(values: GraphValues, node: Node, weight: str) -> frozenset[str]:
    """Returns what a weight is made of, with the scale that its product is multiplied by afterwards."""
    sources = values.static[weight]
    if not any(is_narrow(values.dtype(name)) for name in sources):
        return sources
    return sources | _scales_after(values, node)


def _scales_after(values: GraphValues, node: Node) -> frozenset[str]:
    """Returns the constants that a product is multiplied by right after it: torchao's scales of a weight."""
    found = frozenset[str]()
    value = node.outputs[0].name if node.outputs else ""
    for _ in range(_SCALED_WITHIN):
        readers = values.readers.get(value, ())
        if len(readers) != 1 or not readers[0].outputs:
            break
        reader = readers[0]
        if short(reader.op) == "mul":
            found |= frozenset[str]().union(*(values.static.get(name, frozenset()) for name in reader.inputs))
        elif short(reader.op) not in ("view", "reshape", "convert_element_type", "sub"):
            break
        value = reader.outputs[0].name
    return found


_LIBRARY = "mkl_reorder"
_SCALED_WITHIN = 6
"""Operators after a matrix product among which torchao's multiplication by the scale stands."""


def _cone(values: GraphValues, name: str) -> Iterator[Node]:
    """Yields the nodes that a static value is computed by."""
    todo, seen = [name], set[str]()
    while todo:
        node = values.definers.get(todo.pop())
        if node is not None and node.id not in seen:
            seen.add(node.id)
            yield node
            todo += node.inputs


def _successor(values: GraphValues, rewrite: Rewrite, now: str) -> str | None:
    """Returns the node that computes in the place of a rewritten one."""
    made = [values.nodes[each] for each in rewrite.produced if each in values.nodes]
    computing = [node for node in made if short(node.op) in COMPUTE or _is_kernel(node.op)]
    if computing or made:
        return (computing or made)[-1].id
    return now if now in values.nodes else None


def _is_kernel(op: str) -> bool:
    name = short(op)
    return (
        not name.endswith("prepack")
        and (reads_quantised(op) or "linear" in name or "conv" in name)
        and ("convert" not in name)
    )


def _float_bytes(values: GraphValues, found: _Found) -> int | None:
    """Returns the bytes of a weight in the dtype of the activation that it is multiplied with."""
    elements = elements_of(values.types.get(found.weight, ""))
    dtype = values.float_dtype(found.activation) if found.activation is not None else ""
    return elements * ITEM_BYTES[dtype] if elements is not None and dtype in ITEM_BYTES else None


def _holds(node: Node, fate: AttributeFate) -> bool:
    return node.constant is not None and node.constant.dtype == fate.dtype and node.constant.shape == fate.shape


def _index(step: Step | None) -> int | None:
    return None if step is None else step.index
