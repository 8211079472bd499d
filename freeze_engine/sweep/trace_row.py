"""The figures of a row, taken from a trace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from freeze_engine.analysis.attribute_counting import held_bytes, is_counted
from freeze_engine.analysis.final_measurements import final_figures
from freeze_engine.analysis.summary.facts import error_facts, frozen_fact
from freeze_engine.analysis.summary.packed import is_packed
from freeze_engine.analysis.summary.times import time_facts
from freeze_engine.trace import FACT_CODES, Trace

_REQUESTED = ("requested", "ancestor_of_requested")


def trace_columns(trace: Trace) -> dict[str, Any]:
    """Returns the columns of a `SweepRow` that follow from a trace.

    Args:
        trace: the recording, also one whose freeze failed.
    """
    codes = [notice.code for notice in trace.notices if notice.code not in FACT_CODES]
    return {
        "torch": trace.environment.torch,
        "python": trace.environment.python,
        "machine": ", ".join(trace.environment.gpus) or trace.environment.cpu,
        "folds": sum(len(step.rewrites) for step in trace.steps),
        "near_misses": len(trace.near_misses),
        "graph_breaks": codes.count("graph_break"),
        "notices": len(codes),
        "notice_codes": tuple(sorted(set(codes))),
        "checks_failed": tuple(check.name for check in trace.checks if check.verdict == "failed"),
        "checks_passed": tuple(check.name for check in trace.checks if check.verdict == "passed"),
        "steps": len(trace.steps),
        "nodes": sum(_nodes(trace, method) for method in trace.methods),
        "freeze_ns": trace.duration_ns,
        **_fates(trace),
        **_times(trace),
        **_errors(trace),
    }


def _nodes(trace: Trace, method: str) -> int:
    final = trace.final(method)
    return 0 if final is None else sum(1 for _ in final.graph.walk())


def _fates(trace: Trace) -> dict[str, Any]:
    found = frozen_fact(trace)
    if found is None:
        return {}
    held = held_bytes(trace)
    counted = [fate for fate in trace.attributes if is_counted(fate)]
    kept = [fate for fate in counted if fate.fate == "preserved"]
    weighed = [fate for fate in trace.attributes if is_counted(fate) or is_packed(fate.type)]
    constants = _constant_bytes(trace)
    return {
        "frozen": found.frozen,
        "preserved": found.preserved,
        "dropped": found.dropped,
        "preserved_names": tuple(fate.path for fate in kept if fate.reason not in _REQUESTED),
        "bytes_before": sum(held[fate.path] for fate in weighed),
        "bytes_after": None
        if constants is None
        else constants + sum(held[fate.path] for fate in weighed if fate.fate == "preserved"),
    }


def _constant_bytes(trace: Trace) -> int | None:
    """Returns the bytes of the constants of the final graphs, ``None`` where they were not measured."""
    if trace.failure is not None:
        return None
    finals = [step for step in map(trace.final, trace.methods) if step is not None]
    is_unmeasured = any(step.constant_bytes == 0 and any(_held(step.graph.walk())) for step in finals)
    # Methods of one module share their constants; the graphs of one compiled module do not.
    sizes = [step.constant_bytes for step in finals]
    if is_unmeasured or not sizes:
        return None
    return max(sizes) if trace.backend == "torchscript" else sum(sizes)


def _held(nodes: Iterator[Any]) -> Iterator[bool]:
    return (node.constant is not None and node.constant.nbytes > 0 for node in nodes)


def _times(trace: Trace) -> dict[str, Any]:
    facts = time_facts(trace)
    if not facts:
        return {}
    fact = facts[0]
    latencies = (latency for final in final_figures(trace) for latency in final.latency)
    median = next((latency.median_ns for latency in latencies if latency.device == fact.device), None)
    columns = {
        "latency_ratio": fact.ratio.value,
        "latency_ratio_low": fact.ratio.low,
        "latency_ratio_high": fact.ratio.high,
        "latency_claim": fact.claim,
        "latency_against": fact.against,
        "device": fact.device,
    }
    if median is None:
        return columns
    return columns | {"latency_ns": median.value, "latency_ns_low": median.low, "latency_ns_high": median.high}


def _errors(trace: Trace) -> dict[str, Any]:
    facts = error_facts(trace)
    if not facts:
        errors = (each.error for final in final_figures(trace) for each in final.numerics if each.error is not None)
        reason = next(errors, "").strip().partition("\n")[0]
        return {"unmeasured": f"the outputs were not compared: {reason}"} if reason else {}
    return {"max_abs_error": max(fact.max_abs for fact in facts), "is_close": all(fact.is_close for fact in facts)}
