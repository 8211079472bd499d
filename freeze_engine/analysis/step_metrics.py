"""Metrics of each step: node counts, operators, constant bytes, latency and error."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from freeze_engine.analysis.graph_diff import GraphDiff, diff_snapshots
from freeze_engine.trace import GraphSnapshot, Interval, Node, Step, Trace

#: What has an effect beside its outputs, with every operator whose name ends in an underscore.
_ACTS: Final = ("prim::SetAttr", "prim::RaiseException", "prim::Print")

Counts = tuple[tuple[str, int], ...]
"""``(operator, count)``, sorted by operator."""


@dataclass(frozen=True, slots=True)
class LatencyChange:
    """A difference in latency that is larger than the noise.

    Attributes:
        step: index of the step that brought it.
        device: where it was measured.
        since: index of the step it is measured against: the one before it that was measured. What was not measured in
            between may have its share.
        ratio: time relative to that step (below 1 is faster).
    """

    step: int
    device: str
    since: int
    ratio: Interval


@dataclass(frozen=True, slots=True)
class StepMetrics:
    """One step in numbers, each delta against the step of the same method before it.

    Attributes:
        step: index of the step.
        nodes: nodes after it, nested ones included.
        added, removed, changed: how many nodes it added, removed and changed in place; 0 for a method's first step.
        ops: the counts after it.
        op_deltas: ``(operator, difference)`` for each operator whose count changed, sorted by operator.
        constant_bytes: bytes the constants of its graph hold.
        constant_bytes_delta: how many more than before.
        duration_ns: time of the pass, ``None`` if unknown.
        latency_changes: one for each device on which this step's latency measurably differs.
        past_tolerance: references (``eager``, ``float64``) for which it is the method's first step out of tolerance.
        only_tidied: whether all that it did was to remove nodes whose outputs nothing read. Passes that fold do so at
            their end, also where they folded nothing.
    """

    step: int
    nodes: int
    added: int
    removed: int
    changed: int
    ops: Counts
    op_deltas: Counts
    constant_bytes: int
    constant_bytes_delta: int
    duration_ns: int | None
    latency_changes: tuple[LatencyChange, ...] = ()
    past_tolerance: tuple[str, ...] = ()
    only_tidied: bool = False


def step_metrics(trace: Trace) -> tuple[StepMetrics, ...]:
    """Summarises every step of a trace.

    Args:
        trace: the recording, measured or not.

    Returns:
        One entry per step, in the order of ``trace.steps``.
    """
    latest: dict[str, tuple[Step, Counts]] = {}
    plain = []
    for step in trace.steps:
        if step.method not in latest:
            latest[step.method] = (step, op_counts(step.graph))
        before, old = latest[step.method]
        new = old if step.graph is before.graph else op_counts(step.graph)
        plain.append(_graph_metrics(before, step, old, new))
        latest[step.method] = (step, new)
    changes: defaultdict[int, list[LatencyChange]] = defaultdict(list)
    for change in latency_changes(trace):
        changes[change.step].append(change)
    past: defaultdict[int, list[str]] = defaultdict(list)
    for (_, reference), index in past_tolerance(trace).items():
        past[index].append(reference)
    return tuple(
        replace(entry, latency_changes=tuple(changes[entry.step]), past_tolerance=tuple(past[entry.step]))
        if entry.step in changes or entry.step in past
        else entry
        for entry in plain
    )


def op_counts(graph: GraphSnapshot) -> Counts:
    """Counts a snapshot's nodes by operator.

    Args:
        graph: the snapshot; nested nodes count too.

    Returns:
        One entry per operator.
    """
    return tuple(sorted(Counter(node.op for node in graph.walk()).items()))


def latency_changes(trace: Trace) -> tuple[LatencyChange, ...]:
    """Finds the steps that made the model measurably faster or slower than the step before them.

    Both ran in the same rounds, and a claim holds among all comparisons of the trace: the chance that any of those
    returned is false is at most 5% per device (`freeze_engine.measure.evaluation`). What each of many steps does by
    less than the noise is no step's doing; it shows in `Latency.verdict`, against the first step.

    Args:
        trace: the recording, measured or not.

    Returns:
        The changes, in the order of the steps.
    """
    since: dict[tuple[str, str], int] = {}
    changes = []
    for step in trace.steps:
        for latency in step.latency:
            place = step.method, latency.device
            if place in since and latency.previous is not None and latency.change in ("faster", "slower"):
                changes.append(LatencyChange(step.index, latency.device, since[place], latency.previous))
            since[place] = step.index
    return tuple(changes)


def past_tolerance(trace: Trace) -> dict[tuple[str, str], int]:
    """Finds the first step of each method whose outputs are out of tolerance.

    Args:
        trace: the recording, measured or not.

    Returns:
        ``(method, reference)`` -> index of the step; pairs that stay within tolerance are not in it. A step that
        could not be compared (`Numerics.error`) says nothing about tolerance and is passed over.
    """
    first: dict[tuple[str, str], int] = {}
    for step in trace.steps:
        for numerics in step.numerics:
            if numerics.error is None and not numerics.close:
                first.setdefault((step.method, numerics.reference), step.index)
    return first


def op_deltas(before: Counts, after: Counts) -> Counts:
    """Returns ``(operator, difference)`` for each operator whose count differs, sorted by operator."""
    old, new = dict(before), dict(after)
    deltas = ((op, new.get(op, 0) - old.get(op, 0)) for op in sorted(old.keys() | new.keys()))
    return tuple((op, delta) for op, delta in deltas if delta)


def _graph_metrics(before: Step, step: Step, old: Counts, new: Counts) -> StepMetrics:
    diff = diff_snapshots(before.graph, step.graph)
    return StepMetrics(
        step=step.index,
        nodes=sum(count for _, count in new),
        added=len(diff.added),
        removed=len(diff.removed),
        changed=len(diff.changed),
        ops=new,
        op_deltas=op_deltas(old, new),
        constant_bytes=step.constant_bytes,
        constant_bytes_delta=step.constant_bytes - before.constant_bytes,
        duration_ns=step.duration_ns,
        only_tidied=not step.rewrites and _only_unread(diff, before.graph),
    )


def _only_unread(diff: GraphDiff, before: GraphSnapshot) -> bool:
    """Returns whether the difference is only removed nodes: they wrote nothing, and only they read their outputs."""
    if not diff.removed or replace(diff, removed=(), kept=0) != GraphDiff():
        return False
    removed = frozenset(diff.removed)
    gone = [node for node in before.walk() if node.id in removed]
    left = (node for node in before.walk() if node.id not in removed)
    read = {*before.outputs, *(name for node in left for name in _read(node))}
    return not any(_acts(node) or any(value.name in read for value in node.outputs) for node in gone)


def _acts(node: Node) -> bool:
    name = (
        node.op if "::" in node.op else node.op.removeprefix("aten.").partition(".")[0]
    )  # aten::add_, aten.add_.Tensor
    return node.op in _ACTS or name.endswith("_")


def _read(node: Node) -> Iterator[str]:
    yield from node.inputs
    yield from (name for block in node.blocks for name in block.outputs)
