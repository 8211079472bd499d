"""Expectations about the frozen module's latency, memory and saving."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

from freeze_engine.analysis.detectability import BOUNDS_UNKNOWN, bounds_known, claim_text, detection
from freeze_engine.analysis.expectations.result import Finding, Outcome, why_absent
from freeze_engine.analysis.final_measurements import FinalFigures, final_figures
from freeze_engine.analysis.number_texts import ratio_text
from freeze_engine.trace import Interval, Latency, Step, Trace

_MEASURE = "Record it with inputs, and with latencies measured (no --no-latency; fe.Measure(latency=True))."
_LONGER = "Measure for longer, on a quieter machine (--seconds; fe.Measure(seconds=…))."
_TOO_SHORT = "too short"  # start of the note that the measurement was too short to show a difference
_MEMORY = "Record it with memory measured (no --no-memory; fe.Measure(memory=True))."


def ratio_within(trace: Trace, limit: float) -> Finding:
    """Expects the frozen module to take at most a certain part of the first step's time.

    The outcome comes from the confidence interval: it is unknown if the interval contains the limit.

    Args:
        trace: the recording.
        limit: the largest ratio.
    """

    def judge(latency: Latency, ratio: Interval) -> Outcome:
        if ratio.high <= limit:
            return "ok"
        return "failed" if ratio.low > limit else "cannot tell"

    return _judged(trace, ("max_latency_ratio", f"at most {limit:g}× the time of the first step"), judge)


def not_slower(trace: Trace) -> Finding:
    """Expects the frozen module not to be measurably slower than the first step.

    Args:
        trace: the recording.
    """

    def judge(latency: Latency, ratio: Interval) -> Outcome:
        if latency.verdict == "slower":
            return "failed"
        blind = latency.verdict != "faster" and any(note.startswith(_TOO_SHORT) for note in latency.notes)
        return "cannot tell" if blind else "ok"

    return _judged(trace, ("no_slower", "not slower than the first step"), judge)


def constants_within(trace: Trace, limit: int) -> Finding:
    """Expects the constants of every final graph to hold at most a number of bytes.

    Args:
        trace: the recording.
        limit: in bytes.
    """
    asked = ("max_constant_bytes", f"constants of at most {limit:,} bytes")
    finals = [step for step in map(trace.final, trace.methods) if step is not None]
    if not finals or any(step.constant_bytes == 0 and _has_constants(step) for step in finals):
        return Finding(*asked, "cannot tell", "The bytes of constants were not measured.", (), _MEMORY)
    most = max(finals, key=lambda step: step.constant_bytes)
    lines = tuple(f"{step.method} after step {step.index}: {step.constant_bytes:,} bytes" for step in finals)
    outcome: Outcome = "ok" if most.constant_bytes <= limit else "failed"
    grown = () if outcome == "ok" else _growth(trace, most.method)
    return Finding(*asked, outcome, f"{most.method} holds {most.constant_bytes:,} bytes.", (*lines, *grown))


def survives_saving(trace: Trace) -> Finding:
    """Expects the frozen module to survive saving and loading.

    Args:
        trace: the recording.
    """
    asked = ("saves", "it saves and reloads, with the same outputs")
    ledger = trace.memory
    if ledger is None or ledger.saves is None:
        if ledger is not None and ledger.message:
            return Finding(*asked, "cannot tell", ledger.message)
        remedy = _MEMORY if trace.backend == "torchscript" else ""
        return Finding(*asked, "cannot tell", "It was not tried.", (), remedy)
    if ledger.saves:
        size = "" if ledger.file_after_bytes is None else f" ({ledger.file_after_bytes:,} bytes)"
        return Finding(*asked, "ok", f"Saved and loaded, it runs and gives the same{size}.")
    return Finding(
        *asked, "failed", "Saved and loaded, it does not do the same.", tuple(filter(None, [ledger.message]))
    )


def _judged(trace: Trace, asked: tuple[str, str], judge: Callable[[Latency, Interval], Outcome]) -> Finding:
    found = [
        (figures, latency, latency.ratio, judge(latency, latency.ratio))
        for figures in final_figures(trace)
        for latency in figures.latency
        if latency.ratio is not None
    ]
    if not found:
        return Finding(
            *asked, "cannot tell", "No latency was measured to compare.", *why_absent(trace, "latency", _MEASURE)
        )
    order: tuple[Outcome, ...] = ("failed", "cannot tell", "ok")
    _, worst, ratio, outcome = min(found, key=lambda entry: order.index(entry[3]))
    message = f"It takes {ratio_text(ratio, 'the first step')} on {worst.device}: {_claim(trace, worst)}."
    lines = tuple(line for entry in found for line in _lines(*entry[:3]))
    slower = _slower(trace) if outcome == "failed" else ()
    remedy = _LONGER if outcome == "cannot tell" else ""
    return Finding(*asked, outcome, message, (*lines, *slower), remedy)


def _claim(trace: Trace, latency: Latency) -> str:
    return claim_text(latency.verdict, detection(trace).to_first(latency))


def _lines(figures: FinalFigures, latency: Latency, ratio: Interval) -> Iterator[str]:
    median = latency.median_ns
    bounds = f"{median.low / 1e6:.3g}–{median.high / 1e6:.3g}" if bounds_known(median) else BOUNDS_UNKNOWN
    times = f"{median.value / 1e6:.3g} ms ({bounds})"
    yield f"{figures.name} on {latency.device}: {ratio_text(ratio)}, {times}"
    yield from (f"  {note}" for note in latency.notes)


def _slower(trace: Trace) -> tuple[str, ...]:
    return tuple(
        f"slower since step {step.index}, {step.name}: {ratio_text(latency.previous, 'before it')}"
        for step in trace.steps
        for latency in step.latency
        if latency.change == "slower" and latency.previous is not None
    )


def _has_constants(step: Step) -> bool:
    return any(node.constant is not None and node.constant.nbytes for node in step.graph.walk())


def _growth(trace: Trace, method: str) -> tuple[str, ...]:
    """Names the steps that made the constants grow after the attributes had become constants."""
    steps = trace.method_steps(method)
    return tuple(
        f"{step.constant_bytes - before.constant_bytes:+,} bytes by step {step.index}, {step.name}"
        for before, step in pairwise(steps)
        if step.constant_bytes > before.constant_bytes
    )
