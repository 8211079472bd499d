"""The passes that mattered: what each moved, from before it to after it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from freeze_engine.analysis.error_breakdown import error_split
from freeze_engine.analysis.failures import knows_constants
from freeze_engine.analysis.step_metrics import LatencyChange, StepMetrics
from freeze_engine.trace import Trace


@dataclass(frozen=True, slots=True)
class PassEffects:
    """The effects of one pass.

    Attributes:
        step: index of its step.
        nodes: number of nodes before and after it.
        constant_bytes: bytes of the constants before and after it; ``None`` if unknown.
        latency: measurable changes of the time, one per device; none for Inductor.
        error: error against eager before and after it, if it grew; else ``None``.
        rewrites: number of folds and fusions.
        is_past_tolerance: whether it is the first step past torch's tolerances against eager.
    """

    step: int
    nodes: tuple[int, int]
    constant_bytes: tuple[int, int] | None
    latency: tuple[LatencyChange, ...] = ()
    error: tuple[float, float] | None = None
    rewrites: int = 0
    is_past_tolerance: bool = False


def pass_effects(trace: Trace, metrics: Sequence[StepMetrics]) -> tuple[PassEffects, ...]:
    """Returns the passes that moved nodes, bytes of constants, time or error, in the order of the steps.

    A pass that only removed what nothing reads is left out, unless it moved the time or the error; so is one of
    Inductor that only noted shapes and the like at nodes.

    Args:
        trace: the recording.
        metrics: result of `freeze_engine.analysis.step_metrics.step_metrics` for it.
    """
    return tuple(_effects(trace, metrics))


def _effects(trace: Trace, metrics: Sequence[StepMetrics]) -> Iterator[PassEffects]:
    # Inductor's steps run operator by operator: their times say nothing about the compiled code.
    timed = trace.backend == "torchscript"
    splits = error_split(trace)
    errors = {added.step: (added.before, added.after) for split in splits for added in split.added}
    weighed = knows_constants(trace)
    for step in trace.steps:
        before, entry = trace.before(step), metrics[step.index]
        if before is None:
            continue
        is_past = "eager" in entry.past_tolerance
        latency = entry.latency_changes if timed else ()
        measured = latency or step.index in errors or is_past
        rebuilt = entry.added or entry.removed or (weighed and entry.constant_bytes_delta) or step.rewrites
        moved = rebuilt or (entry.changed and trace.backend == "torchscript")
        if not measured and (not moved or entry.only_tidied):
            continue
        bytes_before = entry.constant_bytes - entry.constant_bytes_delta
        yield PassEffects(
            step=step.index,
            nodes=(metrics[before.index].nodes, entry.nodes),
            constant_bytes=(bytes_before, entry.constant_bytes) if weighed else None,
            latency=latency,
            error=errors.get(step.index),
            rewrites=len(step.rewrites),
            is_past_tolerance=is_past,
        )


def main_pass(trace: Trace, passes: Sequence[PassEffects]) -> int | None:
    """Returns the step of the pass that mattered most, ``None`` if none did.

    The first pass past tolerance comes first, then the largest measurable change of time, then the most folds, then
    what moved most bytes of constants, then most nodes. Inlining calls comes last: it only
    makes the rest possible. If ``forward`` has passes, only those count.
    """
    if not passes:
        return None
    main = [effects for effects in passes if trace.steps[effects.step].method == "forward"]
    return max(main or passes, key=lambda effects: _weight(trace, effects)).step


def _weight(trace: Trace, effects: PassEffects) -> tuple[bool, bool, float, int, int, int]:
    sizes = effects.constant_bytes or (0, 0)
    return (
        effects.is_past_tolerance,
        trace.steps[effects.step].stage not in ("input", "inline"),
        max((_size(change) for change in effects.latency), default=0.0),
        effects.rewrites,
        abs(sizes[1] - sizes[0]),
        abs(effects.nodes[1] - effects.nodes[0]),
    )


def _size(change: LatencyChange) -> float:
    return abs(math.log(change.ratio.value)) if 0 < change.ratio.value < math.inf else 0.0
