"""Two recorded freezes held against each other."""

from __future__ import annotations

from collections.abc import Mapping

from freeze_engine.analysis.trace_diff.fates import fate_diffs, fates_across
from freeze_engine.analysis.trace_diff.model import TraceDiff
from freeze_engine.analysis.trace_diff.pass_correspondence import pass_pairs
from freeze_engine.analysis.trace_diff.rename_trace import named_like
from freeze_engine.analysis.trace_diff.settings import setting_diffs
from freeze_engine.analysis.trace_diff.steps import aligned_steps, final_diffs, step_diffs, steps_apart
from freeze_engine.trace import Failure, NearMiss, Trace


def diff_traces(before: Trace, after: Trace) -> TraceDiff:
    """Compares two recorded freezes.

    Steps stand for each other by method, stage, pass and round, in order; nodes by what they do and where they stand.
    Across backends, passes stand for each other by their purpose
    (`freeze_engine.analysis.trace_diff.pass_correspondence`), attributes by their path; only the fates are held against
    each other, of the parameters and other tensors.

    Args:
        before: one trace.
        after: the other, of the same model or of another one.

    Returns:
        The difference. It is the same for the same traces, whatever their nodes and values are called.
    """
    is_across = before.uses_inductor != after.uses_inductor
    pairs = steps_apart(before, after) if is_across else aligned_steps(before, after)
    renamed = named_like(before, after, pairs)
    same_steps = {new.index: old.index for old, new in pairs if old and new}
    return TraceDiff(
        before,
        renamed,
        steps=tuple(step_diffs(pairs, renamed)),
        finals=() if is_across else tuple(final_diffs(before, renamed)),
        attributes=fates_across(before, renamed) if is_across else fate_diffs(before, renamed, same_steps),
        settings=tuple(setting_diffs(before, renamed)),
        near_misses=_near_misses(before, renamed, same_steps),
        failures=_failures(before, renamed),
        pairs=pass_pairs(before, after) if is_across else (),
    )


def _near_misses(
    before: Trace, after: Trace, same_steps: Mapping[int, int]
) -> tuple[tuple[NearMiss, ...], tuple[NearMiss, ...]]:
    ours = [_told_by(miss, miss.step) for miss in before.near_misses]
    theirs = [_told_by(miss, same_steps.get(miss.step)) for miss in after.near_misses]
    return (
        tuple(miss for miss, key in zip(before.near_misses, ours, strict=True) if key not in theirs),
        tuple(miss for miss, key in zip(after.near_misses, theirs, strict=True) if key not in ours),
    )


def _told_by(miss: NearMiss, step: int | None) -> object:
    return step, miss.kind, miss.node, miss.reason


def _failures(before: Trace, after: Trace) -> tuple[Failure | None, Failure | None]:
    same = _failed_as(before.failure) == _failed_as(after.failure)
    return (None, None) if same else (before.failure, after.failure)


def _failed_as(failure: Failure | None) -> object:
    return failure and (failure.type, failure.stage, failure.name, failure.method)
