"""Exports a recording as a Chrome trace, which Perfetto and chrome://tracing open.

The format is Google's "Trace Event Format": complete events ("X"), instants ("i"), counters ("C") and metadata
("M"), times in µs.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any, Final

from freeze_engine.analysis.step_metrics import StepMetrics, step_metrics
from freeze_engine.trace import Program, Step, Trace

Event = dict[str, Any]

_FREEZE: Final = 1
_UNKNOWN: Final = "unknown"


def chrome_trace(trace: Trace) -> dict[str, Any]:
    """Returns a recording as a Chrome trace.

    A trace has the duration of each pass, and not its start: the passes are laid end to end, in their order. One whose
    duration is not known is an instant, and says so. Later measurements (latency, error, constants, nodes) are
    counters, which change where a pass ends.

    Args:
        trace: the recording.

    Returns:
        A document that JSON can hold. Timed kernels appear as separate processes, one per program.
    """
    metadata = [_named("process_name", _FREEZE, 0, f"freeze of {trace.name or 'unnamed model'}")]
    metadata += [_named("thread_name", _FREEZE, thread, method) for thread, method in enumerate(trace.methods, start=1)]
    timed = [program for program in trace.programs if any(kernel.time_ns for kernel in program.kernels)]
    kernels = [
        event for process, program in enumerate(timed, start=_FREEZE + 1) for event in _kernels(program, process)
    ]
    return {
        "traceEvents": [*metadata, *_passes(trace), *kernels],
        "displayTimeUnit": "ms",
        "otherData": {
            "model": trace.name,
            "backend": trace.backend,
            "torch": trace.environment.torch,
            "cpu": trace.environment.cpu,
            "made by": trace.call,
            "begin of passes": "not recorded; they stand end to end",
        },
    }


def _named(what: str, process: int, thread: int, name: str) -> Event:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}}


def _passes(trace: Trace) -> Iterator[Event]:
    threads = {method: thread for thread, method in enumerate(trace.methods, start=1)}
    now_us = 0.0
    for metrics in step_metrics(trace):
        step = trace.steps[metrics.step]
        place = {"pid": _FREEZE, "tid": threads[step.method], "ts": now_us, "cat": step.stage, "name": step.name}
        args = _args(step, metrics)
        if step.duration_ns is None:
            yield {"ph": "i", "s": "t", **place, "args": args | {"duration": _UNKNOWN}}
        else:
            duration_us = step.duration_ns / 1e3
            yield {"ph": "X", **place, "dur": duration_us, "args": args}
            now_us += duration_us
        yield from (
            {"ph": "C", "pid": _FREEZE, "tid": 0, "ts": now_us, "name": name, "args": values}
            for name, values in _counters(step, metrics)
            if all(isfinite(value) for value in values.values())
        )


def _args(step: Step, metrics: StepMetrics) -> dict[str, Any]:
    args: dict[str, Any] = {
        "step": step.index,
        "changed": step.changed,
        "nodes": metrics.nodes,
        "added": metrics.added,
        "removed": metrics.removed,
        "changed nodes": metrics.changed,
    }
    if step.round is not None:
        args["round"] = step.round
    if step.rewrites:
        args["rewrites"] = [f"{rewrite.kind}: {', '.join(rewrite.modules)}" for rewrite in step.rewrites]
    return args


def _counters(step: Step, metrics: StepMetrics) -> Iterator[tuple[str, dict[str, float]]]:
    yield f"nodes of {step.method}", {"nodes": metrics.nodes}
    yield f"constants of {step.method}", {"bytes": step.constant_bytes}
    for latency in step.latency:
        median = latency.median_ns
        bounds = {"median_us": median.value / 1e3, "low_us": median.low / 1e3, "high_us": median.high / 1e3}
        yield f"latency of {step.method} on {latency.device}", bounds
    for numerics in step.numerics:
        if numerics.error is None:
            name = f"error of {step.method} against {numerics.reference}, {numerics.inputs} inputs"
            yield name, {"max_abs": numerics.max_abs}


def _kernels(program: Program, process: int) -> Iterator[Event]:
    yield _named("process_name", process, 0, f"kernels of one run: {program.name}, {program.method}")
    yield _named("thread_name", process, 1, "one after the other")
    now_us = 0.0
    for kernel in program.kernels:
        place = {"pid": process, "tid": 1, "ts": now_us, "cat": kernel.kind, "name": kernel.name}
        args: dict[str, Any] = {"ops": list(kernel.ops), "nodes": list(kernel.nodes)}
        if kernel.time_ns is None:
            yield {"ph": "i", "s": "t", **place, "args": args | {"duration": _UNKNOWN}}
            continue
        args["interval_us"] = [kernel.time_ns.low / 1e3, kernel.time_ns.high / 1e3]
        duration_us = kernel.time_ns.value / 1e3
        yield {"ph": "X", **place, "dur": duration_us, "args": args}
        now_us += duration_us
