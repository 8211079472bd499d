"""Pairs the passes of two traces, and compares their graphs and figures."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace

from freeze_engine.analysis.alignment import align
from freeze_engine.analysis.graph_diff import GraphDiff, diff_snapshots
from freeze_engine.analysis.step_metrics import op_counts, op_deltas
from freeze_engine.analysis.trace_diff.join import joined
from freeze_engine.analysis.trace_diff.model import FinalDiff, LatencyPair, NumericsPair, StepDiff
from freeze_engine.analysis.trace_diff.rename_trace import StepPair
from freeze_engine.trace import Numerics, Step, Trace


def aligned_steps(before: Trace, after: Trace) -> list[StepPair]:
    """Returns the steps of two traces of one backend, method by method: those of the same pass and round together."""
    pairs: list[StepPair] = []
    for method in dict.fromkeys((*before.methods, *after.methods)):
        old, new = before.method_steps(method), after.method_steps(method)
        at = other_at = 0
        for index, other in [*align(*([_pass(step) for step in steps] for steps in (old, new))), (len(old), len(new))]:
            pairs += [(step, None) for step in old[at:index]]
            pairs += [(None, step) for step in new[other_at:other]]
            if index < len(old):
                pairs.append((old[index], new[other]))
            at, other_at = index + 1, other + 1
    return pairs


def steps_apart(before: Trace, after: Trace) -> list[StepPair]:
    """No step of one backend does what a step of the other does to a graph that could be compared."""
    pairs: list[StepPair] = []
    for method in dict.fromkeys((*before.methods, *after.methods)):
        pairs += [(step, None) for step in before.method_steps(method)]
        pairs += [(None, step) for step in after.method_steps(method)]
    return pairs


def step_diffs(pairs: Iterable[StepPair], renamed: Trace) -> Iterator[StepDiff]:
    """Yields what each pair of steps differs by.

    Args:
        pairs: of both traces.
        renamed: the second trace, with the first one's names.
    """
    latest: dict[str, GraphDiff | None] = {}
    for old, new in pairs:
        step = _step_diff(old, new and renamed.steps[new.index])
        yield replace(step, carried=_carried(latest.get(step.method), step.graph))
        if step.graph is not None:
            latest[step.method] = step.graph


def final_diffs(before: Trace, after: Trace) -> Iterator[FinalDiff]:
    """Yields what the last graphs of each method of both traces differ by; ``after`` has the names of the first."""
    for method in before.methods:
        old, new = before.final(method), after.final(method)
        if old is not None and new is not None:
            graph = diff_snapshots(old.graph, new.graph)
            yield FinalDiff(method, old.index, new.index, graph, _op_deltas(old, new))


def _pass(step: Step) -> Hashable:
    return step.stage, step.name, step.round


def _step_diff(old: Step | None, new: Step | None) -> StepDiff:
    step = old or new
    assert step is not None
    latencies = joined(old.latency if old else (), new.latency if new else (), lambda entry: entry.device)
    numerics = joined(old.numerics if old else (), new.numerics if new else (), _compared_with)
    return StepDiff(
        step.stage,
        step.name,
        step.method,
        step.round,
        before=old.index if old else None,
        after=new.index if new else None,
        graph=diff_snapshots(old.graph, new.graph) if old and new else None,
        op_deltas=_op_deltas(old, new) if old and new else (),
        latency=tuple(LatencyPair(*row) for row in latencies),
        numerics=tuple(NumericsPair(*row) for row in numerics),
        constant_bytes=(old.constant_bytes if old else None, new.constant_bytes if new else None),
    )


def _compared_with(numerics: Numerics) -> str:
    return numerics.reference if numerics.inputs == "given" else f"{numerics.reference}, {numerics.inputs} inputs"


def _carried(before: GraphDiff | None, graph: GraphDiff | None) -> bool:
    if before is None or graph is None or graph.empty:
        return False
    return replace(before, kept=0) == replace(graph, kept=0)  # what both have may change alike


def _op_deltas(old: Step, new: Step) -> tuple[tuple[str, int], ...]:
    if old.graph is new.graph:
        return ()
    return op_deltas(op_counts(old.graph), op_counts(new.graph))
