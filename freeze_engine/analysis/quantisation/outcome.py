"""`quantisation_outcome()`: the quantised layers of a trace, each followed to the last graph."""

from __future__ import annotations

import math
from collections.abc import Iterator

from freeze_engine.analysis.finished import is_finished
from freeze_engine.analysis.quantisation import patterns
from freeze_engine.analysis.quantisation.found_layers import (
    FoundLayer,
    float_bytes,
    is_quantised,
    layers_of,
    quantised_layers,
)
from freeze_engine.analysis.quantisation.graph_values import GraphValues
from freeze_engine.analysis.quantisation.layer import Conversion, Outcome, Quantisation, QuantisedLayer
from freeze_engine.analysis.quantisation.layer_patterns import layer_patterns
from freeze_engine.analysis.quantisation.method_graphs import MethodGraphs, NodePath
from freeze_engine.analysis.quantisation.operators import (
    COMPUTE,
    WIDE,
    is_dequantise,
    is_int4_packed,
    is_narrow,
    is_quantise,
    reads_quantised,
    short,
)
from freeze_engine.trace import Node, Step, Trace


def quantisation_outcome(trace: Trace) -> Quantisation | None:
    """Returns what freezing made of a quantised model.

    Args:
        trace: the recording, of any backend.

    Returns:
        ``None`` if no layer of it has a quantised weight and no operator quantises.
    """
    if not may_be_quantised(trace):
        return None
    methods = [MethodGraphs(trace, method) for method in trace.methods]
    layers = tuple(layer for method in methods for layer in _method_layers(method))
    if all(layer.outcome == "float" for layer in layers):
        return None
    # Where the freeze did not finish, later passes could have removed what the last graph still converts.
    ended = methods if is_finished(trace) else ()
    return Quantisation(layers, tuple(each for method in ended for each in _conversions(method)))


def may_be_quantised(trace: Trace) -> bool:
    """Returns whether an attribute or operator of a trace is one of quantised models, in a layer or not."""
    return any(_signs(trace))


def _signs(trace: Trace) -> Iterator[bool]:
    """Yields what says at little cost whether to look further: dtypes of attributes, and operators."""
    yield from (fate.dtype is not None and is_narrow(fate.dtype) for fate in trace.attributes)
    for method in trace.methods:
        steps = trace.method_steps(method)
        for step in steps[:1] + steps[-1:]:
            yield from (
                is_quantise(node.op) or is_dequantise(node.op) or reads_quantised(node.op) for node in step.graph.walk()
            )


def _method_layers(graphs: MethodGraphs) -> Iterator[QuantisedLayer]:
    """Yields the layers with a weight, in the order of the first graph that shows one quantised."""
    at = next((at for at, values in enumerate(graphs.values) if any(quantised_layers(values))), None)
    if at is None:
        return
    for found in layers_of(graphs.values[at]):
        yield _layer(graphs, at, found)


def _conversions(graphs: MethodGraphs) -> Iterator[Conversion]:
    """Yields the quantisations and dequantisations of the last graph."""
    if not graphs.steps:
        return
    values = graphs.values[-1]
    for node in values.graph.walk():
        if (is_quantise(node.op) or is_dequantise(node.op)) and node.outputs:
            yield Conversion(node.id, node.op, graphs.method, patterns.left_over(values, node))


def _layer(graphs: MethodGraphs, at: int, found: FoundLayer) -> QuantisedLayer:
    first, node = graphs.values[at], found.node
    path = graphs.follow(at, node)
    last = graphs.values[-1].nodes.get(path.ids[-1] or "")
    constants = graphs.constants(found.sources, last)
    stored = first.static[found.weight] or found.sources
    own = max(sorted(stored), key=lambda name: (is_narrow(first.dtype(name)), graphs.nbytes(first, name)))
    narrow = is_quantised(first, found)
    undone_by = _undone_by(graphs, at, found, path) if narrow else None
    largest = max(graphs.constants({own}, last), key=lambda each: math.prod(each.shape), default=None)
    outcome = _outcome(graphs, narrow, last, undone_by)
    name = graphs.name_of(node, first)
    weights = tuple(sorted(graphs.paths[name] for name in found.sources if name in graphs.paths))
    error = graphs.errors.of(name, weights)
    return QuantisedLayer(
        name=name,
        method=graphs.method,
        step=graphs.steps[at].index,
        node=node.id,
        op=node.op,
        weights=weights,
        weight_before=first.dtype(own),
        weight_after=largest.dtype if largest is not None else None,
        is_packed=any(patterns.PREPACK in rewrite.kind or "pack_" in rewrite.kind for _, rewrite in path.rewrites),
        activation_before=first.float_dtype(found.activation) if found.activation is not None else "",
        activation_after=_read(graphs, last),
        kernel="" if last is None else short(last.op),
        bytes_float=float_bytes(first, found),
        bytes_before=sum(graphs.nbytes(first, name) for name in found.sources),
        bytes_after=sum(each.nbytes for each in constants) if constants else None,
        outcome=outcome,
        undone_by=None if undone_by is None else undone_by.index,
        rounding=_rounding(graphs, first, found) if narrow else None,
        patterns=tuple(layer_patterns(graphs, at, found, path, outcome, undone_by)) if narrow else (),
        weight_error=error.of("weight") if error is not None else None,
        output_error=error.of("output") if error is not None else None,
    )


def _undone_by(graphs: MethodGraphs, at: int, found: FoundLayer, path: NodePath) -> Step | None:
    """Returns the step that replaced the quantised weight by a larger floating-point constant."""
    for step, values, name in zip(graphs.steps[at:], graphs.values[at:], path.ids, strict=True):
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


def _outcome(graphs: MethodGraphs, quantised: bool, last: Node | None, undone_by: Step | None) -> Outcome:
    if not quantised:
        return "float"
    if undone_by is not None:
        return "undone"
    if last is None or not is_finished(graphs.trace):
        return "unknown"
    if not reads_quantised(last.op):
        return "dequantised"
    read = _read(graphs, last)
    return "quantised" if read is not None and is_narrow(read) else "weight only"


def _read(graphs: MethodGraphs, last: Node | None) -> str | None:
    """Returns the dtype of the activation that the last operator reads."""
    if last is None:
        return None
    values = graphs.values[-1]
    return next((values.dtype(name) or None for name in last.inputs if name not in values.static), None)


def _rounding(graphs: MethodGraphs, values: GraphValues, found: FoundLayer) -> float | None:
    """Returns half of the largest scale of an integer weight, whose scale is the only floating-point tensor behind it.

    The steps of float8 and float4 weights grow with their values. Of two floating-point tensors, one may be a zero
    point, or a scale of the other.
    """
    if is_int4_packed(found.node.op):  # its scales and zero points are one tensor
        return None
    sources = {name: values.dtype(name) for name in found.sources}
    scales = [name for name, dtype in sources.items() if dtype.startswith(("float", "bfloat"))]
    if len(scales) != 1 or sources[scales[0]] not in WIDE:
        return None
    scale = graphs.constant(scales[0])
    if scale is None or scale.minimum is None or scale.maximum is None or scale.nonfinite:
        return None
    return max(abs(scale.minimum), abs(scale.maximum)) / 2
