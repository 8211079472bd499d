"""The findings of two traces side by side, the differing ones first.

Every finding has the same form: its subject, and its values in A and in B. A difference is marked only if it exceeds
noise, and never because one trace lacks the measurement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views.comparison.cells import (
    Cell,
    Row,
    Section,
    Tone,
    both,
    cell,
    in_common,
    joined,
    pass_name,
    places,
    ratio_cell,
    row,
    section,
)
from viewer.views.comparison.executor import executor_section
from viewer.views.comparison.latency import payoff_section
from viewer.views.failure import failure_message
from viewer.views.measurements import apart
from viewer.views.notices import notice_parts, warning_notices

if TYPE_CHECKING:
    from freeze_engine.trace import Contribution, Failure, Interval, Payoff

_TONES: Final[Mapping[str, Tone]] = {"passed": "good", "as meant": "muted", "failed": "bad", "unknown": "warn"}
_FACTOR: Final = 2.0
"""Two errors differ if their ratio exceeds this factor; smaller differences come from another machine's rounding."""

_SHOWN_DUPLICATES: Final = 8


_Findings = Mapping[str, Any]


def finding_sections(diff: fe.TraceDiff, ours: _Findings, theirs: _Findings) -> list[Section]:
    """Returns the findings of both by kind, the differing kinds first.

    Args:
        diff: of the two traces.
        ours, theirs: results of `viewer.views.findings.findings_view` for each.
    """
    sections = (
        section("How they ended", _failures(diff), ""),
        payoff_section(diff),
        section("What changed the results", _errors(diff), "not compared", "Largest absolute errors, over all inputs."),
        section("Checks of the frozen module", _checks(ours, theirs), "not run"),
        section("Memory", _memory(diff, ours, theirs), "not measured"),
        section("Held more than once in the final graph", _duplicates(ours, theirs), "not held twice"),
        section("What each pass does on its own", _ablation(diff), "not tried", _ABLATION_NOTE),
        executor_section(diff),
        section("Notices", _notices(diff), "not given"),
        section("Not recorded", _absent(ours, theirs), "recorded"),
    )
    return sorted(filter(None, sections), key=lambda found: not found["differs"])


_ABLATION_NOTE: Final = "The whole freeze against the freeze without this pass: below 1, the pass pays off."


def _failures(diff: fe.TraceDiff) -> Iterator[Row]:
    ends = [trace.failure for trace in (diff.before, diff.after)]
    if any(ends):
        cells = (_ending(ends[0]), _ending(ends[1]))
        yield row("The freeze", cells, any(diff.failures))


def _ending(failure: Failure | None) -> Cell:
    if failure is None:
        return cell("came to its end", tone="good")
    return cell(f"{analysis.failure_title(failure)}.", failure_message(failure), "bad")


# --- numeric error


def _errors(diff: fe.TraceDiff) -> Iterator[Row]:
    ours, theirs = (
        {split.method: split for split in analysis.error_split(trace)} for trace in (diff.before, diff.after)
    )
    several = len({*ours, *theirs}) > 1
    steps: dict[str, list[analysis.StepDiff]] = {}
    for step in diff.steps:
        steps.setdefault(step.method, []).append(step)
    for method, one, other in joined(ours, theirs):
        where = method if several else ""
        yield from _added(diff, steps.get(method, ()), one, other)
        for name, error in (
            ("All passes together, against eager", "frozen"),
            ("Before freezing, eager against float64", "present"),
            ("After all passes, against float64", "total"),
        ):
            before, after = (getattr(split, error, None) for split in (one, other))
            if before is not None or after is not None:
                yield row(name, both(_error, before, after), _far(before, after), where=where)


def _added(
    diff: fe.TraceDiff,
    steps: Sequence[analysis.StepDiff],
    one: analysis.ErrorSplit | None,
    other: analysis.ErrorSplit | None,
) -> Iterator[Row]:
    """Yields each pass of a method that increased the error against eager in either trace."""
    ours, theirs = ({added.step: added for added in split.added} if split else {} for split in (one, other))
    for step in steps:
        added, other_added = ours.get(_place(step.before)), theirs.get(_place(step.after))
        if added is None and other_added is None:
            continue
        cells = (_grown(diff.before, step.before, added), _grown(diff.after, step.after, other_added))
        compared = one is not None and other is not None and not diff.across_backends
        differs = compared and (added is None or other_added is None or _other_growth(diff, added, other_added))
        yield row(pass_name(step), cells, differs, places(diff, step))


def _place(step: int | None) -> int:
    return -1 if step is None else step


def _grown(trace: fe.Trace, place: int | None, added: analysis.AddedError | None) -> Cell | None:
    if place is None:
        return cell("no such pass", tone="muted")
    if added is None:
        return cell("adds nothing", tone="muted") if trace.steps[place].numerics else None
    close = _is_close(trace, added)
    verdict = "within torch's tolerances" if close else "≠ past torch's tolerances"
    return cell(
        f"{analysis.error_text(added.before)} → {analysis.error_text(added.after)}",
        verdict,
        "plain" if close else "bad",
    )


def _is_close(trace: fe.Trace, added: analysis.AddedError) -> bool:
    eager = [entry for entry in trace.steps[added.step].numerics if entry.reference == "eager" and not entry.error]
    return all(entry.close for entry in eager)


def _other_growth(diff: fe.TraceDiff, added: analysis.AddedError, other: analysis.AddedError) -> bool:
    return _is_close(diff.before, added) != _is_close(diff.after, other) or _far(added.after, other.after)


def _error(error: float) -> Cell:
    return cell(analysis.error_text(error))


def _far(one: float | None, other: float | None) -> bool:
    """Returns whether two errors are known and differ; NaN differs from any number."""
    if one is None or other is None or one == other or (one != one and other != other):
        return False
    return not (one <= _FACTOR * other and other <= _FACTOR * one)


# --- the frozen module


def _checks(ours: _Findings, theirs: _Findings) -> Iterator[Row]:
    for name, one, other in joined(*({check["name"]: check for check in found["checks"]} for found in (ours, theirs))):
        differs = one is not None and other is not None and one["verdict"] != other["verdict"]
        yield row(name, both(_check, one, other), differs)


def _check(check: _Findings) -> Cell:
    return cell(check["verdict"], check["message"], _TONES[check["verdict"]], check["details"])


def _memory(diff: fe.TraceDiff, ours: _Findings, theirs: _Findings) -> Iterator[Row]:
    for label, one, other in joined(*({fact["label"]: fact for fact in found["memory"]} for found in (ours, theirs))):
        values = {fact["value"] for fact in (one, other) if fact is not None}
        differs = label != "peak memory while freezing" and len(values) > 1  # a peak is never the same in two runs
        steps = (one["step"] if one else None, in_common(diff, other["step"] if other else None))
        yield row(label, both(_fact, one, other), differs, steps)


def _fact(fact: _Findings) -> Cell:
    return cell(fact["value"], fact["note"], fact["tone"])


def _duplicates(ours: _Findings, theirs: _Findings) -> Iterator[Row]:
    sides = [
        {(each["kind"], *each["names"]): each["nbytes"] for each in found["duplicates"]} for found in (ours, theirs)
    ]
    if not any(sides):
        return
    wholes = [sum(side.values()) for side in sides]
    yield row("In all", both(_size, *wholes), len(set(wholes)) > 1)
    found = sorted(joined(*sides), key=lambda each: (each[1] == each[2], -max(each[1] or 0, each[2] or 0)))
    for (kind, *names), one, other in found[:_SHOWN_DUPLICATES]:
        yield row(", ".join(names), both(_size, one, other), one != other, where=kind)
    if more := found[_SHOWN_DUPLICATES:]:
        sums = (sum(each[1] or 0 for each in more), sum(each[2] or 0 for each in more))
        yield row(f"{len(more)} more", both(_size, *sums), any(each[1] != each[2] for each in more))


def _size(nbytes: int) -> Cell:
    return cell(analysis.bytes_text(nbytes))


def _ablation(diff: fe.TraceDiff) -> Iterator[Row]:
    ours, theirs = (
        {(entry.stage, entry.name, device): entry for entry in trace.ablation for device in _devices(entry)}
        for trace in (diff.before, diff.after)
    )
    detections = analysis.detection(diff.before), analysis.detection(diff.after)
    for (stage, name, device), one, other in joined(ours, theirs):
        differs = apart(_ratio(one, device), _ratio(other, device)) or _other_verdict(one, other)
        cells = _contribution(one, device, detections[0]), _contribution(other, device, detections[1])
        yield row(name, cells, differs, where=f"{stage}, {device}" if device else stage)


def _devices(entry: Contribution) -> tuple[str, ...]:
    return tuple(payoff.device for payoff in entry.latency) or ("",)


def _ratio(entry: Contribution | None, device: str) -> Interval | None:
    payoff = _payoff(entry, device) if entry else None
    return payoff.ratio if payoff else None


def _payoff(entry: Contribution, device: str) -> Payoff | None:
    return next((payoff for payoff in entry.latency if payoff.device == device), None)


def _other_verdict(one: Contribution | None, other: Contribution | None) -> bool:
    if one is None or other is None or one.error is not None or other.error is not None:
        return False
    return (one.close_with, one.close_without) != (other.close_with, other.close_without)


def _contribution(entry: Contribution | None, device: str, detection: analysis.Detection) -> Cell | None:
    if entry is None:
        return None
    if entry.error is not None:
        return cell("could not be measured", entry.error, "muted")
    errors = [
        f"error {analysis.error_text(error)}{' past tolerance' if close is False else ''} {what}"
        for error, close, what in (
            (entry.max_abs_with, entry.close_with, "with it"),
            (entry.max_abs_without, entry.close_without, "without"),
        )
        if error is not None
    ]
    payoff = _payoff(entry, device)
    if payoff is None:
        return cell(", ".join(errors)) if errors else None
    found = ratio_cell(payoff.ratio, payoff.verdict, detection.of_pass(payoff))
    return found | {"note": "; ".join((found["note"], *errors))}


def _notices(diff: fe.TraceDiff) -> Iterator[Row]:
    ours, theirs = (
        {said: quoted or "" for said, quoted in map(notice_parts, warning_notices(trace))}
        for trace in (diff.before, diff.after)
    )
    for said, one, other in joined(ours, theirs):
        cells = both(lambda quoted: cell("given", details=quoted.splitlines()), one, other)
        yield row(said, cells, one is None or other is None)


def _absent(ours: _Findings, theirs: _Findings) -> Iterator[Row]:
    for what, one, other in joined(dict(ours["absent"]), dict(theirs["absent"])):
        yield row(what, both(lambda how: cell("not recorded", how, "muted"), one, other), False)
