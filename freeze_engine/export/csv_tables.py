"""Exports steps and attributes as CSV (RFC 4180), one row each."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from freeze_engine.analysis.detectability import Detection, detection
from freeze_engine.analysis.step_metrics import StepMetrics, step_metrics
from freeze_engine.trace import AttributeFate, Interval, Latency, Numerics, Step, Trace

Cell = str | int | float | bool | None
Row = dict[str, Cell]

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def csv_tables(trace: Trace) -> dict[str, str]:
    """Returns the tables of a trace.

    Args:
        trace: the recording, measured or not.

    Returns:
        ``steps``, ``baselines`` and ``attributes``, each as CSV with a header line and CRLF line ends. Times are in ns;
        a cell without a value is empty. A text that a spreadsheet would take for a formula begins with an
        apostrophe, since names and messages come from models that anybody may have made.
    """
    metrics, found = step_metrics(trace), detection(trace)
    return {
        "steps": _table(_step_row(trace.steps[entry.step], entry, found) for entry in metrics),
        "baselines": _table(
            {"name": one.name, **_measured(one.latency, one.numerics, found)} for one in trace.baselines
        ),
        "attributes": _table(_attribute_row(trace, fate) for fate in trace.attributes),
    }


def _table(rows: Iterable[Row]) -> str:
    kept = [{_written(name): _safe(cell) for name, cell in row.items()} for row in rows]
    columns = list(dict.fromkeys(name for row in kept for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(kept)
    return text.getvalue()


def _safe(cell: Cell) -> Cell:
    if not isinstance(cell, str):
        return cell
    return f"'{_written(cell)}" if cell.startswith(_FORMULA) else _written(cell)


def _written(text: str) -> str:
    """Returns a text as CSV can hold it: Python 3.10 neither writes nor reads the zero character."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def _step_row(step: Step, metrics: StepMetrics, found: Detection) -> Row:
    return {
        "step": step.index,
        "stage": step.stage,
        "pass": step.name,
        "method": step.method,
        "round": step.round,
        "changed": step.changed,
        "duration_ns": step.duration_ns,
        "nodes": metrics.nodes,
        "added": metrics.added,
        "removed": metrics.removed,
        "changed_nodes": metrics.changed,
        "rewrites": len(step.rewrites),
        "constant_bytes": step.constant_bytes,
        "executable": step.executable,
        **_measured(step.latency, step.numerics, found),
    }


def _measured(latency: Iterable[Latency], numerics: Iterable[Numerics], found: Detection) -> Row:
    row: Row = {}
    for one in latency:
        row |= _latency(one, found)
    for other in numerics:
        row |= _numerics(other)
    return row


def _latency(latency: Latency, found: Detection) -> Row:
    name = f"latency_{latency.device}"
    bounds: Mapping[str, Interval | None] = {
        "median_ns": latency.median_ns,
        "ratio_to_first": latency.ratio,
        "ratio_to_previous": latency.previous,
    }
    cells = (cell for what, interval in bounds.items() for cell in _interval(f"{name}_{what}", interval))
    return {
        f"{name}_first_ns": latency.first_ns,
        f"{name}_samples": latency.samples,
        **dict(cells),
        f"{name}_verdict": latency.verdict,
        f"{name}_smallest_found_to_first": _finite(found.to_first(latency)),
        f"{name}_smallest_found_to_previous": _finite(found.to_previous(latency)),
        f"{name}_notes": "; ".join(latency.notes),
    }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _interval(name: str, interval: Interval | None) -> Iterator[tuple[str, float | None]]:
    for part in ("value", "low", "high"):
        yield name if part == "value" else f"{name}_{part}", None if interval is None else getattr(interval, part)


def _numerics(numerics: Numerics) -> Row:
    name = f"error_{numerics.reference}" + ("" if numerics.inputs == "given" else f"_{numerics.inputs}")
    ran = numerics.error is None
    return {
        f"{name}_max_abs": numerics.max_abs if ran else None,
        f"{name}_max_rel": max((one.max_rel for one in numerics.outputs), default=0.0) if ran else None,
        f"{name}_within_tolerance": numerics.close if ran else None,
        f"{name}_not_compared": numerics.error,
    }


def _attribute_row(trace: Trace, fate: AttributeFate) -> Row:
    decided = None if fate.step is None else trace.steps[fate.step]
    evidence = fate.evidence[0] if fate.evidence else None
    source = evidence.source if evidence else None
    return {
        "path": fate.path,
        "kind": fate.kind,
        "type": fate.type,
        "shape": None if fate.shape is None else "x".join(map(str, fate.shape)),
        "dtype": fate.dtype,
        "nbytes": fate.nbytes,
        "fate": fate.fate,
        "reason": fate.reason,
        "step": fate.step,
        "pass": None if decided is None else decided.name,
        "evidence": None if evidence is None else evidence.fact,
        "source": None if source is None else f"{source.file}:{source.line}",
        "advice": fate.advice,
        "same_as": fate.same_as or None,
    }
