"""Measurements that a trace lacks, and how to get them."""

from __future__ import annotations

from typing import Final, Literal

import freeze_engine as fe
from freeze_engine import analysis

Kind = Literal["latency", "numerics"]

#: Prefix of the call of a capture's trace; fe.record() and freezer-ui record write their own.
_CAPTURED: Final = "torch."
_CAPTURE: Final = (
    "latency, numeric error, memory during the freeze, checks, and what each pass does on its own",
    "a capture only records; fe.record(model, inputs) and freezer-ui record measure as well",
)


_OFF: Final = {"latency": "--no-latency", "numerics": "--no-numerics"}
_GIVE_INPUTS: Final = "give inputs (--input 1x3x224x224), and "


def how_to_get(trace: fe.Trace, kind: Kind) -> str:
    """Returns how a new recording gets figures of a kind; if this one tried and failed, the reason and the remedy.

    Args:
        trace: a recording without them.
        kind: of the figures.
    """
    found = analysis.unmeasured(trace)
    if found is not None and kind in found.kinds:
        return f"{found.reason}. {found.remedy}".rstrip()
    if analysis.is_still_measured(trace):
        return "open the recording again when it has finished"
    inputs = "" if trace.inputs else _GIVE_INPUTS
    return f"{inputs}leave out {_OFF[kind]} and --no-measure"


def unmeasured_view(trace: fe.Trace) -> dict[str, str] | None:
    """Returns the requested measurements that failed, the reason, and the remedy; ``None`` if none failed."""
    found = analysis.unmeasured(trace)
    return None if found is None else {"what": found.what, "reason": found.reason, "remedy": found.remedy}


def absent_rows(trace: fe.Trace) -> list[list[str]]:
    """Returns ``[missing measurement, how to get it]`` for everything that a new recording could add."""
    if not trace.steps or trace.failure is not None or not trace.is_recording:
        return []
    # A package is measured as a whole, and is no module to be checked or frozen again.
    packaged = trace.backend == "aotinductor"
    whole = trace.baselines if packaged else ()
    rows = [
        (
            any(each.latency for each in trace.steps) or any(each.latency for each in whole),
            "latency",
            how_to_get(trace, "latency"),
        ),
        (_is_compared(trace), "numeric error", how_to_get(trace, "numerics")),
        (trace.memory is not None, "memory during the freeze, and whether it saves", _memory(trace)),
        (
            packaged or bool(trace.checks),
            "checks of the frozen module",
            "--check all, or fe.record(…, checks=fe.CHECKS)",
        ),
        (
            packaged or bool(trace.ablation),
            "what each pass does on its own",
            "--ablation, or fe.record(…, ablation=True)",
        ),
    ]
    if trace.call.startswith(_CAPTURED) and not any(present for present, _, _ in rows[:3]):
        return [list(_CAPTURE)]
    return [[what, how] for present, what, how in rows if not present]


def _is_compared(trace: fe.Trace) -> bool:
    found = analysis.unmeasured(trace)
    whole = trace.baselines if trace.backend == "aotinductor" else ()
    return (any(each.numerics for each in trace.steps) or any(each.numerics for each in whole)) and (
        found is None or "numerics" not in found.kinds
    )


def _memory(trace: fe.Trace) -> str:
    return f"{'' if trace.inputs else _GIVE_INPUTS}leave out --no-memory and --no-measure"
