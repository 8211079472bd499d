"""What a trace answers at a glance: which pass paid off, which moved the numbers, and how the frozen module fares."""

from __future__ import annotations

import math
from typing import Any

import freeze_engine as fe
from viewer.view_models.absent import absent_rows
from viewer.view_models.chart_data import error_before
from viewer.view_models.measures import Errors, errors_by_reference
from viewer.view_models.wording import (
    bytes_delta_text,
    bytes_text,
    error_text,
    finite,
    ratio_text,
)


def findings_view(trace: fe.Trace, metrics: tuple[fe.StepMetrics, ...]) -> dict[str, Any]:
    """Returns the findings; a part that was not measured is empty or ``None``, and ``absent`` says how to get it.

    Args:
        trace: the recording.
        metrics: what `freeze_engine.step_metrics` returned for it.
    """
    return {
        "whole": whole_rows(trace),
        "payoffs": payoff_rows(metrics),
        "before": _before(trace),
        "errors": error_rows(trace),
        "checks": check_rows(trace),
        "memory": memory_rows(trace.memory),
        "ablation": ablation_rows(trace),
        "absent": absent_rows(trace),
    }


def payoff_rows(metrics: tuple[fe.StepMetrics, ...]) -> list[dict[str, Any]]:
    """Returns the passes that changed the latency measurably: what saved most first, what cost most last."""
    changes = [change for entry in metrics for change in entry.latency_changes]
    return [
        {"step": change.step, "since": change.since, "device": change.device, **ratio_row(change.ratio)}
        for change in sorted(changes, key=lambda change: change.ratio.value)
    ]


def whole_rows(trace: fe.Trace) -> list[dict[str, Any]]:
    """Returns what all passes did together: the last measured step of each method against its first, per device."""
    last: dict[tuple[str, str], tuple[int, fe.Latency]] = {}
    for step in trace.steps:
        for latency in step.latency:
            last[step.method, latency.device] = (step.index, latency)
    return [
        {
            "method": method,
            "device": device,
            "step": index,
            "verdict": latency.verdict,
            **ratio_row(latency.ratio),
        }
        for (method, device), (index, latency) in last.items()
        if latency.ratio is not None
    ]


def ratio_row(ratio: fe.Interval) -> dict[str, Any]:
    """Returns a time ratio in words, and as numbers to draw; those are ``None`` where they have no bounds."""
    return {
        "text": ratio_text(ratio),
        "value": finite(ratio.value),
        "low": finite(ratio.low),
        "high": finite(ratio.high),
    }


def _before(trace: fe.Trace) -> str | None:
    """Returns the error that was there before freezing: the eager module against float64."""
    found = error_before(trace)
    return None if found is None else error_text(found.max_abs)


def error_rows(trace: fe.Trace) -> list[dict[str, Any]]:
    """Returns the steps after which the error against eager is another one than after the step before, in order.

    Errors are the worst over all inputs. Steps that could not be compared are passed over.
    """
    last: dict[str, float] = {}
    past: set[str] = set()
    rows = []
    for step in trace.steps:
        errors = next((one for one in errors_by_reference(step.numerics) if one.reference == "eager"), None)
        if errors is None or errors.worst is None:
            continue
        error, before = errors.worst.max_abs, last.get(step.method, 0.0)
        first_past = not errors.close and step.method not in past
        if not errors.close:
            past.add(step.method)
        last[step.method] = error
        if not _same(error, before) or first_past:
            rows.append(_error_row(step, errors, before) | {"first_past": first_past})
    return rows


def _error_row(step: fe.Step, errors: Errors, before: float) -> dict[str, Any]:
    worst = errors.worst
    return {
        "step": step.index,
        "from": error_text(before),
        "to": error_text(worst.max_abs) if worst else None,
        "grew": bool(worst and not worst.max_abs <= before),
        "span": errors.span_text,
        "inputs": worst.inputs if worst and len(errors.compared) > 1 else None,
        "close": errors.close,
    }


def _same(error: float, other: float) -> bool:
    return error == other or (math.isnan(error) and math.isnan(other))


def check_rows(trace: fe.Trace) -> list[dict[str, Any]]:
    """Returns what was asked of the frozen module, what failed first."""
    order = {"failed": 0, "unknown": 1, "passed": 2}
    return [
        {
            "name": check.name.replace("_", " "),
            "verdict": check.verdict,
            "message": check.message,
            "details": list(check.details),
        }
        for check in sorted(trace.checks, key=lambda check: order[check.verdict])
    ]


def memory_rows(memory: fe.MemoryLedger | None) -> list[dict[str, Any]]:
    """Returns what a freeze did to memory, one fact each; nothing where it was not measured."""
    if memory is None:
        return []
    rows = []
    if memory.peak_bytes is not None:
        rows.append(_fact("peak of the freeze", bytes_text(memory.peak_bytes), "more than before it"))
    sizes = (memory.file_before_bytes, memory.file_after_bytes)
    if sizes != (None, None):
        before, after = ("does not save" if size is None else bytes_text(size) for size in sizes)
        rows.append(_fact("saved file", f"{before} → {after}", _growth(*sizes)))
    if memory.saves is not None:
        rows.append(_saving(memory))
    return rows


def _saving(memory: fe.MemoryLedger) -> dict[str, Any]:
    if memory.saves:
        return _fact("saving", "survives it", "saved and loaded, it gives the same", "good")
    return _fact("saving", "does not survive it", memory.message, "bad")


def _growth(before: int | None, after: int | None) -> str:
    return "" if before is None or after is None else bytes_delta_text(after - before)


def _fact(label: str, value: str, note: str, tone: str = "plain") -> dict[str, Any]:
    return {"label": label, "value": value, "note": note, "tone": tone}


def ablation_rows(trace: fe.Trace) -> list[dict[str, Any]]:
    """Returns what each pass does on its own: what saves most first, then what cannot be told, then what failed."""
    return [
        {
            "stage": entry.stage,
            "name": entry.name,
            "steps": [step.index for step in trace.steps if step.changed and entry.name in step.name.split(", ")],
            "latency": [
                {"device": payoff.device, "verdict": payoff.verdict, **ratio_row(payoff.ratio)}
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
    return None if error is None else error_text(error)


def _rank(entry: fe.Contribution) -> tuple[int, float]:
    if entry.error is not None:
        return 2, 0.0
    ratios = [payoff.ratio.value for payoff in entry.latency]
    return (0, min(ratios)) if ratios else (1, 0.0)
