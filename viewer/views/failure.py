"""Describes the failure of a recording in words."""

from __future__ import annotations

import re
from typing import Any, Final

import freeze_engine as fe
from viewer.views.notices import notice_parts

LAST_WORDS: Final = "last_words"
"""Code of the notice with the last log lines before the process died."""

#: Limits that can have ended a recording, as types of its failure.
_LIMITS: Final = ("time limit", "memory limit", "process limit")
_CANCELLED: Final = "cancelled"
_INTERRUPT: Final = "KeyboardInterrupt"
_DEATH: Final = re.compile(r"SIG[A-Z0-9+]+|signal \d+|exit code \d+")
_AFTER_THE_FREEZE: Final = ("build", "measure")
_MEASURED: Final = "All of the freeze itself is here; what was still to be measured is not."
_INTERRUPTED: Final = "It was interrupted: by Ctrl-C, or from the dashboard."
_NOTHING_YET: Final = "No pass had run. What was asked for, and where, is here."
_REMAINS: Final = (
    "The passes are told by what torch had logged. What became of attributes and constants went with the process."
)


def failure_view(trace: fe.Trace) -> dict[str, Any] | None:
    """Returns what failed, torch's own message, and the step with the graph just before; ``None`` without a failure.

    ``log`` contains the last log lines before a process died, ``None`` if there are none.
    """
    failure = trace.failure
    if failure is None:
        return None
    return {
        "title": failure_title(failure),
        "sign": _sign(failure),
        "left": left_text(trace),
        "type": failure.type,
        "message": failure_message(failure),
        "stage": failure.stage,
        "name": failure.name,
        "method": failure.method,
        "step": step_before(trace, failure),
        "log": next((notice_parts(notice)[1] for notice in trace.notices if notice.code == LAST_WORDS), None),
    }


def _sign(failure: fe.Failure) -> str:
    if failure.type in (_CANCELLED, _INTERRUPT):
        return _CANCELLED
    return failure.type if failure.type in _LIMITS else "died" if has_died(failure) else "failed"


def step_before(trace: fe.Trace, failure: fe.Failure) -> int | None:
    """Returns the step with the last graph before the failure, ``None`` if there is none."""
    earlier = trace.final(failure.method) if failure.method is not None else None
    return failure.step if earlier is None else earlier.index


def failure_title(failure: fe.Failure) -> str:
    """Returns one sentence without its full stop (``The process died (SIGSEGV) in ConstantPropagation``)."""
    after = failure.stage in _AFTER_THE_FREEZE
    sign = _sign(failure)
    if sign in _LIMITS:
        what = f"The {sign} was reached"
    elif sign == _CANCELLED:
        what = "The recording was cancelled"
    elif sign == "died":
        what = f"The process died ({failure.type})"
    else:
        what = "The recording failed" if after else "The freeze failed"
    if not after:
        return f"{what} in {failure.name}"
    return f"{what} while {'measuring ' if ': ' in failure.name else ''}{failure.name}"


def failure_message(failure: fe.Failure) -> str:
    """Returns the exception's type and text, or what ended the process."""
    if failure.type == _INTERRUPT:
        return _INTERRUPTED
    if has_died(failure):
        return failure.message[:1].upper() + failure.message[1:]
    return f"{failure.type}: {failure.message}"


def left_text(trace: fe.Trace) -> str:
    """Returns a note on the contents of an incomplete trace, empty if there is nothing to add."""
    if trace.failure is not None and trace.failure.stage == "measure":
        return _MEASURED
    if trace.failure is not None and not trace.steps:
        return _NOTHING_YET
    return "" if knows_constants(trace) else _REMAINS


def knows_constants(trace: fe.Trace) -> bool:
    """Returns whether the trace contains the sizes of constants.

    A process that dies while it freezes TorchScript takes them with it; the steps then hold 0, which is not a
    measurement. For Inductor the worker records them incrementally.
    """
    failure = trace.failure
    is_lost = failure is not None and failure.stage != "measure" and has_died(failure)
    return trace.backend == "inductor" or not is_lost


def has_died(failure: fe.Failure) -> bool:
    """Returns whether the process ended without an exception: by a signal, an exit, a limit or a cancel."""
    return failure.type in (*_LIMITS, _CANCELLED) or _DEATH.fullmatch(failure.type) is not None
