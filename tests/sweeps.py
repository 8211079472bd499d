"""Parts of sweeps for tests: rows, folders, and a place that records at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import freeze_engine as fe
from freeze_engine.sweep import SweepRow
from freeze_engine.sweep.folder import at_work, finish_row, write_manifest
from freeze_engine.sweep.table import write_table
from tests.builders import small_trace

MODELS = """
name = "small"
[defaults]
measure = false
[[models]]
model = "nets:a"
[[models]]
model = "nets:b"
"""


def sweep_row(model: str = "net", **changes: Any) -> SweepRow:
    """A recorded row with all figures; its key follows from its label."""
    given: dict[str, Any] = {
        "model": model,
        "torch": "2.13.0",
        "latency_ratio": 0.8,
        "latency_ratio_low": 0.75,
        "latency_ratio_high": 0.85,
        "latency_claim": "faster",
        "latency_against": "before freezing",
        "latency_ns": 8e6,
        "latency_ns_low": 7.5e6,
        "latency_ns_high": 8.5e6,
        "device": "cpu",
        "max_abs_error": 1e-6,
        "is_close": True,
        "bytes_before": 4000,
        "bytes_after": 3000,
        "frozen": 10,
        "preserved": 0,
        "dropped": 1,
        "near_misses": 0,
        "graph_breaks": 0,
        "notices": 0,
        "time_s": 3.0,
        **changes,
    }
    label = "-".join(str(given.get(name, "")) for name in ("model", "options", "backend", "environment"))
    key = "".join(sign if sign.isalnum() else "_" for sign in label)
    return SweepRow(**{"key": key, **given})


def failed_row(model: str, reason: str = "RuntimeError: it cannot be frozen", **changes: Any) -> SweepRow:
    """A row without figures."""
    return SweepRow(key=f"{model}_failed", model=model, status="failed", reason=reason, **changes)


def make_sweep(folder: Path, *rows: SweepRow, name: str = "small", with_traces: bool = True) -> Path:
    """Writes the folder of a sweep that has ended; each recorded row gets the same small trace."""
    with at_work(folder):
        write_manifest(folder, name, ((row.key, row.label) for row in rows))
        for row in rows:
            trace = folder / "unfinished" / "trace"
            if row.is_recorded and with_traces:
                fe.save(small_trace(), trace)
            finish_row(folder, row, trace if row.is_recorded and with_traces else None)
    return folder


def write_index(folder: Path, *rows: SweepRow) -> None:
    """Writes the table of a sweep."""
    write_table(folder, rows)
