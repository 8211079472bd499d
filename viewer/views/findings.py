"""Findings of a trace: passes that changed the latency or the outputs, checks of the frozen module, memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views.measurements import errors_by_reference
from viewer.views.missing_measurements import absent_rows
from viewer.views.packed_weights import Packing, packing
from viewer.views.wording import finite, told_ratio, unseen

_OF_GRAPHS: Final = (
    "The graphs after each pass ran one by one, without being compiled. The summary compares the compiled models."
)

if TYPE_CHECKING:
    from freeze_engine.trace import Contribution, Interval, Latency, MemoryLedger

_DUPLICATES: Final[Mapping[str, str]] = {
    "equal": "equal values, each in memory of its own",
    "copied": "copied by this pass",
    "split": "one constant before, several after",
}


def findings_view(
    trace: fe.Trace, metrics: tuple[fe.StepMetrics, ...], duplicates: Sequence[analysis.Duplicate]
) -> dict[str, Any]:
    """Returns the findings; an unmeasured part is empty or ``None``, and ``absent`` contains how to get it.

    Args:
        trace: the recording.
        metrics: result of `freeze_engine.step_metrics` for it.
        duplicates: result of `freeze_engine.analysis.duplicates` for it.
    """
    return {
        "whole": whole_rows(trace),
        "losses": [{"device": loss.device, **ratio_row(loss.ratio)} for loss in analysis.freezing_losses(trace)],
        "payoffs": payoff_rows(metrics),
        "unseen": unseen_change(trace),
        "errors": error_rows(trace),
        "checks": check_rows(trace),
        "memory": memory_rows(trace),
        "duplicates": duplicate_rows(duplicates),
        "duplicates_between": duplicate_rows_between(duplicates),
        "ablation": ablation_rows(trace, metrics),
        "absent": absent_rows(trace),
    }


def payoff_rows(metrics: Sequence[fe.StepMetrics]) -> list[dict[str, Any]]:
    """Returns the passes that changed the latency measurably, from the largest saving to the largest cost."""
    changes = [change for entry in metrics for change in entry.latency_changes]
    return [
        {"step": change.step, "since": change.since, "device": change.device, **ratio_row(change.ratio)}
        for change in sorted(changes, key=lambda change: change.ratio.value)
    ]


def unseen_change(trace: fe.Trace) -> str | None:
    """Returns in words the smallest change of any pass that would have shown, ``None`` if no pass was compared."""
    detection = analysis.detection(trace)
    found = [
        detection.to_previous(latency) for step in trace.steps for latency in step.latency if latency.change is not None
    ]
    return analysis.unseen_text(max(found)) if found else None


def whole_rows(trace: fe.Trace) -> list[dict[str, Any]]:
    """Returns the effect of all passes together: the last measured step of each method against its first, per device.

    ``beside`` says what ran, where it was not the frozen model; ``notes`` contain reservations about the figures, such
    as too short a run; ``unseen`` is the difference that would have shown if nothing is claimed.
    """
    detection = analysis.detection(trace)
    last: dict[tuple[str, str], tuple[int, Latency]] = {}
    for step in trace.steps:
        for latency in step.latency:
            last[step.method, latency.device] = (step.index, latency)
    return [
        {
            "method": method,
            "device": device,
            "step": index,
            "verdict": latency.verdict,
            "unseen": unseen(latency.verdict, detection.to_first(latency)),
            "notes": list(latency.notes),
            "words": _whole_words(trace, latency, latency.ratio),
            "beside": _OF_GRAPHS if trace.uses_inductor else "",
            **ratio_row(latency.ratio),
        }
        for (method, device), (index, latency) in last.items()
        if latency.ratio is not None
    ]


def _whole_words(trace: fe.Trace, latency: Latency, ratio: Interval) -> str | None:
    """Returns the effect of all passes together in words, ``None`` if nothing is claimed."""
    if latency.verdict not in ("faster", "slower"):
        return None
    return f"{analysis.ratio_words(ratio, latency.verdict, 0.0)} than {first_form(trace)}"


def first_form(trace: fe.Trace) -> str:
    """Returns what the times of a trace's steps are compared with: Inductor's graphs run one by one, uncompiled."""
    return "the first graph" if trace.uses_inductor else "before freezing"


def ratio_row(ratio: Interval) -> dict[str, Any]:
    """Returns a time ratio in words, and as numbers to draw, ``None`` if infinite or NaN."""
    return {
        "text": analysis.ratio_text(ratio),
        "value": finite(ratio.value),
        "low": finite(ratio.low),
        "high": finite(ratio.high),
    }


def error_rows(trace: fe.Trace) -> list[dict[str, Any]]:
    """Returns, for each compared method, the error from before freezing and the steps that added to it.

    Errors are the worst over all inputs.
    """
    return [
        {
            "method": split.method,
            "present": _error(split.present),
            "present_close": split.present_close,
            "total": _error(split.total),
            "frozen": _error(split.frozen),
            "added": [
                _added_row(trace.steps[added.step], added) | {"first_past": added.step == split.first_past}
                for added in split.added
            ],
        }
        for split in analysis.error_split(trace)
    ]


def _added_row(step: fe.Step, added: analysis.AddedError) -> dict[str, Any]:
    errors = next(one for one in errors_by_reference(step.numerics) if one.reference == "eager")
    several = len(errors.compared) > 1
    return {
        "step": step.index,
        "from": analysis.error_text(added.before),
        "to": analysis.error_text(added.after),
        "span": errors.span_text,
        "worst": errors.worst.inputs if errors.worst and several else None,
        "close": errors.close,
    }


def check_rows(trace: fe.Trace) -> list[dict[str, Any]]:
    """Returns the checks of the frozen module, failed ones first."""
    order = {"failed": 0, "unknown": 1, "as meant": 2, "passed": 3}
    return [
        {
            "name": check.name.replace("_", " "),
            "verdict": analysis.check_outcome(check),
            "message": check.message,
            "details": list(check.details),
        }
        for check in sorted(trace.checks, key=lambda check: order[analysis.check_outcome(check)])
    ]


def memory_rows(trace: fe.Trace) -> list[dict[str, Any]]:
    """Returns the facts about memory: the measurements, and why packed weights are large."""
    rows = [_packed(found) for found in [packing(trace)] if found is not None and found.swells]
    memory = trace.memory
    if memory is None:
        return rows
    if memory.peak_bytes is not None:
        rows.append(_peak(memory.peak_bytes))
    sizes = (memory.file_before_bytes, memory.file_after_bytes)
    if sizes != (None, None):
        before, after = ("does not save" if size is None else analysis.bytes_text(size) for size in sizes)
        rows.append(_fact("saved file", f"{before} → {after}", _growth(*sizes)))
    if memory.saves is not None:
        rows.append(_saving(memory))
    return rows


def duplicate_rows(duplicates: Sequence[analysis.Duplicate]) -> list[dict[str, Any]]:
    """Returns the duplicates in the last graphs, and their first steps, the largest first."""
    return [
        {
            "step": duplicate.step,
            "nbytes": duplicate.nbytes,
            "bytes": analysis.bytes_delta_text(duplicate.nbytes),
            "kind": _DUPLICATES[duplicate.kind],
            "names": list(duplicate.attributes or duplicate.names),
        }
        for duplicate in sorted(duplicates, key=lambda duplicate: -duplicate.nbytes)
        if duplicate.until is None
    ]


def duplicate_rows_between(duplicates: Sequence[analysis.Duplicate]) -> list[dict[str, Any]]:
    """Returns the temporary duplicates, one row for each pair of first and last step, in order."""
    found: defaultdict[tuple[int, int], list[analysis.Duplicate]] = defaultdict(list)
    for duplicate in duplicates:
        if duplicate.until is not None:
            found[duplicate.step, duplicate.until].append(duplicate)
    return [
        {
            "step": step,
            "until": until,
            "bytes": analysis.bytes_delta_text(sum(each.nbytes for each in group)),
            "names": list(dict.fromkeys(name for each in group for name in each.attributes or each.names)),
        }
        for (step, until), group in sorted(found.items())
    ]


def _peak(nbytes: int) -> dict[str, Any]:
    if not nbytes:
        return _fact("peak memory while freezing", "none", "the process held no more memory than before the freeze")
    return _fact("peak memory while freezing", analysis.bytes_text(nbytes), "above the start of the freeze")


def _packed(found: Packing) -> dict[str, Any]:
    what = "one linear's weight" if found.count == 1 else f"{found.count} linears' weights"
    before = "" if found.own_bytes is None else f", {analysis.bytes_text(found.own_bytes)} before"
    note = (
        f"{what}{before}: MKL reserves {analysis.bytes_text(found.least_bytes)} or more for each, however small it is; "
        "what it never writes takes no memory"
    )
    return _fact("packed by MKL", analysis.bytes_text(found.held_bytes), note) | {"step": found.step}


def _saving(memory: MemoryLedger) -> dict[str, Any]:
    if memory.saves:
        return _fact("saving", "saves and reloads", "the reloaded module gives the same outputs", "good")
    return _fact("saving", "does not save and reload", memory.message, "bad") | {"step": memory.step}


def _growth(before: int | None, after: int | None) -> str:
    return "" if before is None or after is None else analysis.bytes_delta_text(after - before)


def _fact(label: str, value: str, note: str, tone: str = "plain") -> dict[str, Any]:
    return {"label": label, "value": value, "note": note, "tone": tone, "step": None}


def ablation_rows(trace: fe.Trace, metrics: Sequence[fe.StepMetrics]) -> list[dict[str, Any]]:
    """Returns the contribution of each pass, from the largest saving on; then those without latency, then failed ones.

    ``tidied`` marks passes that only removed unused nodes.
    """
    detection = analysis.detection(trace)
    changing: defaultdict[str, list[int]] = defaultdict(list)
    for step in trace.steps:
        if step.changed:
            for name in dict.fromkeys(step.passes):
                changing[name].append(step.index)
    return [
        {
            "stage": entry.stage,
            "name": entry.name,
            "steps": list(changing.get(entry.name, ())),
            "tidied": _tidied(changing.get(entry.name, ()), metrics),
            "latency": [
                {
                    "device": payoff.device,
                    "verdict": payoff.verdict,
                    "unseen": unseen(payoff.verdict, detection.of_pass(payoff)),
                    **ratio_row(payoff.ratio),
                    "text": told_ratio(payoff.ratio, payoff.verdict, detection.of_pass(payoff)) or "",
                }
                for payoff in entry.latency
            ],
            "with": _error(entry.max_abs_with),
            "without": _error(entry.max_abs_without),
            "close_with": entry.close_with,
            "close_without": entry.close_without,
            "error": entry.error,
        }
        for entry in sorted(trace.ablation, key=_rank)
    ]


def _error(error: float | None) -> str | None:
    return None if error is None else analysis.error_text(error)


def _tidied(steps: Sequence[int], metrics: Sequence[fe.StepMetrics]) -> bool:
    return bool(steps) and all(metrics[index].only_tidied for index in steps)


def _rank(entry: Contribution) -> tuple[int, float]:
    if entry.error is not None:
        return 2, 0.0
    ratios = [payoff.ratio.value for payoff in entry.latency]
    return (0, min(ratios)) if ratios else (1, 0.0)
