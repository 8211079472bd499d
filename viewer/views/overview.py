"""The headline numbers of a trace."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, Literal

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views.failure import step_before
from viewer.views.findings import first_form
from viewer.views.measurements import apart, first_past_tolerance
from viewer.views.wording import FATES, NOTHING

if TYPE_CHECKING:
    from freeze_engine.trace import Latency

FATE_ORDER: Final = tuple(FATES)


def overview(trace: fe.Trace, metrics: tuple[fe.StepMetrics, ...]) -> list[dict[str, Any]]:
    """Returns the headline facts; each has a label, a value, a note, a tone and, if it belongs to one step, that step.

    Args:
        trace: the recording.
        metrics: result of `freeze_engine.step_metrics` for it.
    """
    if not trace.steps:
        return []
    main = trace.method_steps(ordered_methods(trace)[0])
    latency = _end_to_end(trace) or _latency(trace, main)
    latency = latency or _untimed(trace)
    return [_nodes(trace, main, metrics), _constants(trace, main), latency, *_payoff(trace, metrics), _numerics(trace)]


def ordered_methods(trace: fe.Trace) -> tuple[str, ...]:
    """Returns the trace's methods, ``forward`` first: most users look for it, whatever torch froze first."""
    return tuple(sorted(trace.methods, key=lambda method: method != "forward"))


def first_step(trace: fe.Trace, main_step: int | None) -> int | None:
    """Returns the initial step of a view: the last before a failure, else the pass that mattered most.

    Args:
        trace: the recording.
        main_step: as in `freeze_engine.Summary`.
    """
    failed = step_before(trace, trace.failure) if trace.failure is not None else None
    if failed is not None or not trace.steps:
        return failed
    if main_step is not None:
        return main_step
    first, *later = trace.method_steps(ordered_methods(trace)[0])
    return next((step for step in later if step.changed), first).index


def _fact(label: str, value: str, note: str, tone: str = "plain", step: int | None = None) -> dict[str, Any]:
    return {"kind": "plain", "label": label, "value": value, "note": note, "tone": tone, "step": step}


def operation_counts(trace: fe.Trace, metrics: tuple[fe.StepMetrics, ...]) -> tuple[int, int]:
    """Returns the number of operations of the main method before its passes and after them.

    A graph that still calls its submodules looks small, so the count starts at the inlined graph.

    Args:
        trace: the recording, of at least one step.
        metrics: result of `freeze_engine.step_metrics` for it.
    """
    steps = trace.method_steps(ordered_methods(trace)[0])
    inlined = [step for step in steps if step.stage == "inline"]
    return metrics[(inlined or steps[:1])[-1].index].nodes, metrics[steps[-1].index].nodes


def _nodes(trace: fe.Trace, steps: tuple[fe.Step, ...], metrics: tuple[fe.StepMetrics, ...]) -> dict[str, Any]:
    first, last = operation_counts(trace, metrics)
    note = "after inlining" if any(step.stage == "inline" for step in steps) else "from the first step"
    return _fact("operations", f"{first} → {last}", note + _method(trace, steps, ", in"))


def _constants(trace: fe.Trace, steps: tuple[fe.Step, ...]) -> dict[str, Any]:
    if not analysis.knows_constants(trace):
        why = "they went with the process" if trace.is_recording else "they are not in what was read"
        return _fact("constants", "unknown", why, "muted")
    return _fact(
        "constants", analysis.bytes_text(steps[-1].constant_bytes), "in the final graph" + _method(trace, steps, " of")
    )


def _method(trace: fe.Trace, steps: tuple[fe.Step, ...], word: str) -> str:
    """Returns a word and the method that a figure describes, if the trace has several."""
    return f"{word} {steps[0].method}" if len(trace.methods) > 1 else ""


def _end_to_end(trace: fe.Trace) -> dict[str, Any] | None:
    """Returns the times of the eager model and of the compiled one: Inductor's last steps run only compiled.

    The times are the headline only if they differ measurably; else they are a note.
    """
    from freeze_engine.trace import (
        COMPILED_FROZEN,
        EAGER,
    )  # `freezer-ui --help` imports this module, but needs no trace

    known = {baseline.name: baseline.latency[0] for baseline in trace.baselines if baseline.latency}
    before, after = known.get(EAGER), known.get(COMPILED_FROZEN)
    if before is None or after is None:
        return None
    label, (claim, smallest) = f"latency, {after.device}", _claim(trace, before, after)
    times = f"{analysis.duration_text(before.median_ns.value)} → {analysis.duration_text(after.median_ns.value)}"
    intervals = " → ".join(analysis.interval_text(one.median_ns) for one in (before, after))
    both = f"{EAGER} → {COMPILED_FROZEN} ({intervals})"
    if claim not in ("faster", "slower"):
        return _fact(label, NOTHING, f"{analysis.unseen_text(smallest)}; {times}, {both}")
    return _fact(label, times, f"measurably {claim}, {both}", "good" if claim == "faster" else "bad")


def _claim(trace: fe.Trace, before: Latency, after: Latency) -> tuple[str, float]:
    """Compares two times by their ratios to the first step, as `freeze_engine.analysis.freezing_losses` does.

    All were measured in the same rounds, so a change of the machine's speed affects neither ratio. Returns the claim
    and the smallest difference that the measurement would have found.
    """
    if before.verdict == "baseline":
        return after.verdict, analysis.detection(trace).to_first(after)
    if before.ratio is None or after.ratio is None:
        return NOTHING, math.inf
    smallest = analysis.smallest_apart(before.ratio, after.ratio)
    if not apart(before.ratio, after.ratio):
        return NOTHING, smallest
    return "faster" if after.ratio.value < before.ratio.value else "slower", smallest


def _untimed(trace: fe.Trace) -> dict[str, Any]:
    return _fact("latency", "not measured", analysis.why_absent(trace, "latency"), _absent_tone(trace, "latency"))


def _absent_tone(trace: fe.Trace, kind: Literal["latency", "numerics"]) -> str:
    found = analysis.unmeasured(trace)
    return "warn" if found is not None and kind in found.kinds else "muted"


def _latency(trace: fe.Trace, steps: tuple[fe.Step, ...]) -> dict[str, Any] | None:
    measured = [latency for step in steps for latency in step.latency[:1]]
    if not measured:
        return None
    last = measured[-1]
    if last.ratio is None:
        return _fact("latency", "one step only", "nothing to compare with", "muted")
    label, smallest = f"latency, {last.device}", analysis.detection(trace).to_first(last)
    if last.verdict not in ("faster", "slower"):
        return _fact(label, NOTHING, analysis.unseen_text(smallest))
    value, _, interval = analysis.ratio_words(last.ratio, last.verdict, smallest).partition(" (")
    return _fact(label, value, f"than {first_form(trace)} ({interval}", "good" if last.verdict == "faster" else "bad")


def _payoff(trace: fe.Trace, metrics: tuple[fe.StepMetrics, ...]) -> Iterator[dict[str, Any]]:
    """Yields the pass with the largest measurable saving; if none saved time, the one with the largest cost."""
    changes = [change for entry in metrics for change in entry.latency_changes]
    saved = min(changes, key=lambda change: change.ratio.value, default=None)
    cost = max(changes, key=lambda change: change.ratio.value, default=None)
    if saved is None or cost is None:
        return
    label, change, tone = ("saved most", saved, "good") if saved.ratio.value < 1 else ("cost most", cost, "bad")
    fact = _fact(label, trace.steps[change.step].name, analysis.ratio_text(change.ratio), tone, change.step)
    yield fact | {"kind": "payoff"}


def _numerics(trace: fe.Trace) -> dict[str, Any]:
    compared = [
        numerics
        for step in trace.steps
        for numerics in step.numerics
        if numerics.reference == "eager" and numerics.error is None
    ]
    if not compared:
        return _fact(
            "accuracy", "not compared", analysis.why_absent(trace, "numerics"), _absent_tone(trace, "numerics")
        )
    past = first_past_tolerance(trace)
    if past is not None:
        return _fact("accuracy", "past tolerance", f"since {past} {trace.steps[past].name}", "bad", past)
    worst = max(numerics.max_abs for numerics in compared)
    return _fact(
        "accuracy",
        "within tolerance",
        f"within {analysis.error_text(worst)} of eager" if worst else "identical to eager",
        "good",
    )
