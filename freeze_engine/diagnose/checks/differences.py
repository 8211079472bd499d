"""Describes the differences between two freezes of one module in a few lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from freeze_engine.analysis.graph_diff import GraphDiff, NodeChange
from freeze_engine.analysis.name_texts import listed
from freeze_engine.analysis.trace_diff import TraceDiff, diff_traces
from freeze_engine.diagnose.checks.canonical_graph import computation, differing_operators
from freeze_engine.trace import Step, Trace

#: Fields that say where a node comes from, and not what it does: a file loses some of that.
_ORIGIN = {"module", "source"}


def freeze_differences(before: Trace, after: Trace) -> tuple[str, ...]:
    """Returns the differences between two freezes of the same source module.

    Args:
        before: the one.
        after: the other.

    Returns:
        Lines on the pass after which their graphs part, on the last graphs, and on the attributes; none if both did the
        same.
    """
    diff = diff_traces(before, after)
    fates = Counter(
        f"{one.before.fate} → {one.after.fate}"
        for one in diff.attributes
        if one.before is not None and one.after is not None and "fate" in one.fields
    )
    found = [*_parting(diff), *_finals(diff)]
    found += [f"{number} attributes {change}" for change, number in sorted(fates.items())]
    return tuple(found)


def result_differences(before: Trace, after: Trace) -> tuple[str, ...]:
    """Returns the differences between what the final graphs of two freezes compute, whatever their first graphs.

    Args:
        before: the one.
        after: the other.

    Returns:
        A line for each method whose graphs differ.
    """
    return tuple(
        f"{method}: {', '.join(found)}"
        for method in before.methods
        if (found := _operators(before.final(method), after.final(method)))
    )


def uncompared(trace: Trace) -> tuple[str, ...]:
    """Returns the constants of the final graphs whose values are not known and so were not compared.

    Args:
        trace: the freeze.

    Returns:
        A line for each method that has such constants.
    """
    found = []
    for method in trace.methods:
        final = trace.final(method)
        unknown = computation(final.graph).unknown if final is not None else ()
        if unknown:
            constants = "constant" if len(unknown) == 1 else "constants"
            found.append(f"{method}: {len(unknown)} {constants} not compared, values unknown: {listed(unknown)}")
    return tuple(found)


def graphs_as_they_came(trace: Trace) -> Trace:
    """Returns a trace that ends before any freezing; the facts about constants exist only after inlining."""
    steps = [step for step in trace.steps if step.stage in ("input", "inline")]
    numbered = tuple(replace(step, index=index) for index, step in enumerate(steps))
    return replace(trace, steps=numbered, attributes=(), near_misses=(), notices=())


def _operators(before: Step | None, after: Step | None) -> tuple[str, ...]:
    if before is None or after is None:
        return ("it is gone",)
    return differing_operators(computation(before.graph), computation(after.graph))


def _parting(diff: TraceDiff) -> Iterator[str]:
    for step in diff.steps:
        only = diff.before.steps[step.before or 0] if step.after is None else diff.after.steps[step.after]
        if step.graph is None and only.changed:
            yield f"only one of them ran {step.name} of {step.method} with an effect"
            return
        if step.graph is not None and _counts(step.graph):
            turn = f", round {step.round}" if step.round else ""
            yield f"they part at step {step.before}, {step.name} of {step.method}{turn}: {_counts(step.graph)}"
            return


def _finals(diff: TraceDiff) -> Iterator[str]:
    for final in diff.finals:
        counts = _counts(final.graph)
        if counts:
            deltas = listed(f"{op} {more:+}" for op, more in final.op_deltas)
            yield f"last graph of {final.method}: {counts}{f' ({deltas})' if deltas else ''}"


def _is_other(change: NodeChange) -> bool:
    return bool(set(change.fields) - _ORIGIN)


def _counts(graph: GraphDiff) -> str:
    changed = [change for change in graph.changed if _is_other(change)]
    counts = (("more", graph.added), ("fewer", graph.removed), ("changed", changed), ("moved", graph.moved))
    found = [f"{len(nodes)} {word}" for word, nodes in counts if nodes]
    found += ["other results"] if graph.outputs_changed else []
    return f"nodes: {', '.join(found)}" if found else ""
