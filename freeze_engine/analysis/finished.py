"""`is_finished()`: whether the freeze of a trace came to its end."""

from __future__ import annotations

from freeze_engine.trace import Trace


def is_finished(trace: Trace) -> bool:
    """Returns whether the freeze finished; its measurements may have failed."""
    return bool(trace.steps) and (trace.failure is None or trace.failure.stage == "measure")
