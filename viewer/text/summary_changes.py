"""What changed between two traces, in a few lines, the most important first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

import freeze_engine as fe
from freeze_engine import analysis
from viewer.text.diff.fates import change_text
from viewer.text.diff.measurements import time_verdict
from viewer.views.comparison import aspects
from viewer.views.comparison.sources import with_own_files

_SHOWN: Final = 3
_MOST: Final = 8


def change_lines(first: fe.Trace, second: fe.Trace, ours: fe.Summary, theirs: fe.Summary) -> list[str]:
    """Returns the changes: how both ended, weights and buffers, time, error, checks, passes, settings.

    Args:
        first, second: the traces A and B.
        ours, theirs: their summaries.
    """
    diff = fe.diff_traces(first, with_own_files(first, second))
    lines = [
        *_endings(diff),
        *_frozen(ours.frozen, theirs.frozen),
        *_fates(diff),
        *_times(diff),
        *_errors(ours.errors, theirs.errors),
        *_checks(diff),
        *_passes(diff),
        *_settings(diff),
    ]
    return lines or ["Nothing changed."]


def _endings(diff: fe.TraceDiff) -> Iterator[str]:
    if any(diff.failures):
        before, after = (analysis.failure_title(failure) if failure else "finished" for failure in diff.failures)
        yield f"the recording: {before} → {after}"


def _frozen(before: analysis.FrozenFact | None, after: analysis.FrozenFact | None) -> Iterator[str]:
    if before is not None and after is not None and before != after:
        counts = (f"{each.frozen} of {each.total}" for each in (before, after))
        yield f"frozen weights and buffers: {' → '.join(counts)}"


def _fates(diff: fe.TraceDiff) -> Iterator[str]:
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for one in diff.attributes:
        either = one.before or one.after
        if (
            either is not None
            and analysis.is_counted(either)
            and (not one.fields or {"fate", "reason"} & set(one.fields))
        ):
            groups[change_text(diff, one)].append(one.path)
    yield from (f"{change}: {_listed(paths)}" for change, paths in groups.items())


def _times(diff: fe.TraceDiff) -> Iterator[str]:
    for row in aspects.times(diff):
        if row.before is not None and row.after is not None and row.before != row.after:
            times = (analysis.timed_text(latency.median_ns) for latency in (row.before, row.after))
            yield f"time per call of {row.method} on {row.device}: {time_verdict(row)}, {' → '.join(times)}"


def _errors(before: Sequence[analysis.ErrorFact], after: Sequence[analysis.ErrorFact]) -> Iterator[str]:
    earlier = {fact.method: fact for fact in before}
    for fact in after:
        old = earlier.get(fact.method)
        if old is not None and (old.max_abs, old.is_close) != (fact.max_abs, fact.is_close):
            yield f"largest error of {fact.method} against {fact.reference}: {_error(old)} → {_error(fact)}"


def _error(fact: analysis.ErrorFact) -> str:
    return analysis.error_text(fact.max_abs) + ("" if fact.is_close else ", past torch's tolerances")


def _checks(diff: fe.TraceDiff) -> Iterator[str]:
    for name, pair in aspects.checks(diff).items():
        yield f"check {name.replace('_', ' ')}: {' → '.join(map(analysis.check_outcome, pair))}"


def _passes(diff: fe.TraceDiff) -> Iterator[str]:
    if diff.pairs:
        return
    names = list(dict.fromkeys(step.name for step in diff.steps if _is_other(diff, step)))
    if names:
        yield f"passes with another effect: {_listed(names)}"


def _is_other(diff: fe.TraceDiff, step: analysis.StepDiff) -> bool:
    if step.graph is None:
        only = diff.before.steps[step.before] if step.before is not None else diff.after.steps[step.after or 0]
        return only.changed
    return aspects.other_effect(diff, step) or (step.differs and not step.carried)


def _settings(diff: fe.TraceDiff) -> Iterator[str]:
    both = [each for each in diff.settings if each.before is not None and each.after is not None]
    yield from (f"{setting.name}: {setting.before} → {setting.after}" for setting in both[:_MOST])
    if len(both) > _MOST:
        yield f"{len(both) - _MOST} more settings differ"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
