"""The patterns of torch at one layer, in the order of the passes."""

from __future__ import annotations

from collections.abc import Iterator

from freeze_engine.analysis.quantisation import patterns
from freeze_engine.analysis.quantisation.found_layers import FoundLayer, cone
from freeze_engine.analysis.quantisation.layer import Outcome, Pattern
from freeze_engine.analysis.quantisation.method_graphs import MethodGraphs, NodePath
from freeze_engine.analysis.quantisation.operators import is_dequantise, reads_quantised, short
from freeze_engine.trace import Step


def layer_patterns(
    graphs: MethodGraphs, at: int, found: FoundLayer, path: NodePath, outcome: Outcome, undone: Step | None
) -> Iterator[Pattern]:
    """Yields the patterns of torch that matched at a layer, and those that could have and did not.

    Args:
        graphs: of the layer's method.
        at: place of the step that shows the layer.
        found: the layer there.
        path: its way from there.
        outcome: how it computes in the end.
        undone: the step that converted its weight to floating point, ``None`` if none did.
    """
    yield from (patterns.matched(step, rewrite) for step, rewrite in path.rewrites if rewrite.produced)
    if not graphs.trace.uses_inductor:
        return
    kinds = [rewrite.kind for _, rewrite in path.rewrites]
    first = graphs.values[at]
    by_operator = any(is_dequantise(node.op) for node in cone(first, found.weight))
    prepack, fusion, weight_only = (graphs.step_named(name) for name in patterns.GROUPS)
    if by_operator and not any(patterns.PREPACK in kind for kind in kinds) and not reads_quantised(found.node.op):
        why = _why_not_packed(graphs, prepack, at, path)
        yield Pattern("weight prepack", patterns.GROUPS[0], _index(prepack), False, why)
    if short(found.node.op) == "_int_mm" and not any(patterns.PREPACK in kind for kind in kinds):
        name = patterns.pattern_name("_int_mm_weight_prepack")
        why = patterns.unmatched_int_mm(first, found.node)
        yield Pattern(name, patterns.GROUPS[0], _index(prepack), False, why)
    if not by_operator and outcome in ("undone", "dequantised"):
        why = _why_not_weight_only(graphs, weight_only, at, path, found, undone)
        name = patterns.pattern_name("woq_int8")
        yield Pattern(name, patterns.GROUPS[2], _index(weight_only), False, why)
    if any(patterns.PREPACK in kind for kind in kinds) and not any(patterns.FUSION in kind for kind in kinds):
        why = _why_not_fused(graphs, fusion, at, path)
        if why:
            yield Pattern("fusion with what follows", patterns.GROUPS[1], _index(fusion), False, why)


def _why_not_packed(graphs: MethodGraphs, step: Step | None, at: int, path: NodePath) -> str:
    if step is None:
        return "The trace has no such pass: freezing did not get there, or was off."
    values, node = graphs.before(step, at, path)
    weight = values.weight_of(node) if node is not None else None
    if node is None or weight is None:
        return "The operator was replaced before."
    return patterns.unmatched_prepack(values, node, weight, values.activation_of(node, weight))


def _why_not_weight_only(
    graphs: MethodGraphs, step: Step | None, at: int, path: NodePath, found: FoundLayer, undone: Step | None
) -> str:
    values, reader, weight, activation = graphs.values[at], found.node, found.weight, found.activation
    if undone is None and step is not None:
        late, node = graphs.before(step, at, path)
        weight_then = late.weight_of(node) if node is not None else None
        if node is not None and weight_then is not None:
            values, reader, weight, activation = late, node, weight_then, late.activation_of(node, weight_then)
    return patterns.unmatched_weight_only(values, reader, weight, activation, undone)


def _why_not_fused(graphs: MethodGraphs, step: Step | None, at: int, path: NodePath) -> str:
    if step is None:
        return ""
    values, node = graphs.before(step, at, path)
    return "" if node is None else patterns.unmatched_fusion(values, node)


def _index(step: Step | None) -> int | None:
    return None if step is None else step.index
