"""What changed between two traces, in a few lines, the most important first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import freeze_engine as fe
from freeze_engine import analysis
from viewer.text.diff.fates import change_text
from viewer.text.diff.measurements import time_verdict
from viewer.views.comparison import aspects
from viewer.views.comparison.sources import with_own_files

NOTHING: Final = "Nothing changed."
Subject = Literal["ending", "weights", "bytes", "time", "error", "checks", "passes", "settings"]

_MOST: Final = 8


@dataclass(frozen=True, slots=True)
class Change:
    """A difference between two traces.

    Attributes:
        subject: what differs; a page leads from it to the tab that has the details.
        text: the difference, from A to B, in a line.
    """

    subject: Subject
    text: str


def change_lines(first: fe.Trace, second: fe.Trace, ours: fe.Summary, theirs: fe.Summary) -> list[str]:
    """Returns the changes in lines, one at least; arguments as of `changes`."""
    found = changes(fe.diff_traces(first, with_own_files(first, second)), ours, theirs)
    return [change.text for change in found] or [NOTHING]


def changes(diff: fe.TraceDiff, ours: fe.Summary, theirs: fe.Summary) -> list[Change]:
    """Returns the changes: how both ended, weights and buffers, bytes, time, error, checks, passes, settings.

    Args:
        diff: of the traces A and B.
        ours, theirs: their summaries.
    """
    parts: tuple[tuple[Subject, Iterator[str]], ...] = (
        ("ending", _endings(diff)),
        ("weights", _frozen(ours.frozen, theirs.frozen)),
        ("weights", _fates(diff)),
        ("bytes", _bytes(diff)),
        ("time", _times(diff)),
        ("error", _errors(ours.errors, theirs.errors)),
        ("checks", _checks(diff)),
        ("passes", _passes(diff)),
        ("settings", _settings(diff)),
    )
    return [Change(subject, text) for subject, texts in parts for text in texts]


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
    yield from (f"{change}: {analysis.listed(paths)}" for change, paths in groups.items())


def _bytes(diff: fe.TraceDiff) -> Iterator[str]:
    both = (diff.before, diff.after)
    if not all(trace.steps and analysis.knows_constants(trace) for trace in both):
        return
    old, new = (trace.steps[-1].constant_bytes for trace in both)
    if old != new:
        sizes = f"{analysis.bytes_text(old)} → {analysis.bytes_text(new)}"
        yield f"constants in the final graph: {sizes} ({analysis.bytes_delta_text(new - old)})"


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
        yield f"passes with another effect: {analysis.listed(names)}"


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
