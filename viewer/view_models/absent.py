"""What a trace does not hold, and how to get it."""

from __future__ import annotations

from typing import Final

import freeze_engine as fe

NOT_TIMED: Final = "Not measured: record with inputs, without --no-latency and --no-measure."
NOT_COMPARED: Final = "Not compared: record with inputs, without --no-numerics and --no-measure."

#: How the call of a trace begins that a capture made; fe.record() and freezer-ui record write their own.
_CAPTURED: Final = "torch."
_CAPTURE: Final = (
    "latency, numeric error, memory during the freeze, checks, and what each pass does on its own",
    "a capture only records; fe.record(model, inputs) and freezer-ui record measure as well",
)


def absent_rows(trace: fe.Trace) -> list[list[str]]:
    """Returns ``[what is not in the trace, how to get it]``; only what a new recording could bring."""
    if not trace.steps or trace.failure is not None:
        return []
    timed = any(step.latency for step in trace.steps)
    compared = any(step.numerics for step in trace.steps)
    inputs = "" if trace.inputs else "give inputs (--input 1x3x224x224), and "
    if any(notice.code == "nothing_ran" for notice in trace.notices):
        inputs, compared = "give inputs that the model takes, and ", False
    rows = [
        (timed, "latency", f"{inputs}leave out --no-latency and --no-measure"),
        (compared, "numeric error", f"{inputs}leave out --no-numerics and --no-measure"),
        (trace.memory is not None, "memory during the freeze, and whether it saves", _memory(inputs)),
        (bool(trace.checks), "checks of the frozen module", "--check all, or fe.record(…, checks=fe.CHECKS)"),
        (bool(trace.ablation), "what each pass does on its own", "--ablation, or fe.record(…, ablation=True)"),
    ]
    if trace.call.startswith(_CAPTURED) and not any(present for present, _, _ in rows):
        return [list(_CAPTURE)]
    return [[what, how] for present, what, how in rows if not present]


def _memory(inputs: str) -> str:
    return f"{inputs}leave out --no-memory and --no-measure"
