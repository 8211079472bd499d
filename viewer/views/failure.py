"""How a recording ended that did not come to its end, in words."""

from __future__ import annotations

import re
from typing import Any, Final

import freeze_engine as fe
from viewer.views.notices import notice_parts

LAST_WORDS: Final = "last_words"
"""Code of the notice that holds what was last logged before the process died."""

#: What a recording that was ended for it can have reached, by the type of its failure.
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
    """Returns what failed, torch's own message, and the step with the graph just before; ``None`` if nothing did.

    ``log`` is what was last logged before a process died, ``None`` where nothing was.
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
    """Returns the step with the graph just before it failed, ``None`` if there is none."""
    earlier = trace.final(failure.method) if failure.method is not None else None
    return failure.step if earlier is None else earlier.index


def failure_title(failure: fe.Failure) -> str:
    """Returns one sentence (``The process died (SIGSEGV) in ConstantPropagation``), without its full stop."""
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
    """Returns what was raised, or what ended the process."""
    if failure.type == _INTERRUPT:
        return _INTERRUPTED
    if has_died(failure):
        return failure.message[:1].upper() + failure.message[1:]
    return f"{failure.type}: {failure.message}"


def left_text(trace: fe.Trace) -> str:
    """Returns what a trace that did not come to its end holds all the same, empty where that goes without saying."""
    if trace.failure is not None and trace.failure.stage == "measure":
        return _MEASURED
    if trace.failure is not None and not trace.steps:
        return _NOTHING_YET
    return "" if knows_constants(trace) else _REMAINS


def knows_constants(trace: fe.Trace) -> bool:
    """Returns whether the trace tells the constants' bytes.

    Those of a process that died while it froze TorchScript went with it. The steps then hold 0 for them, which is no
    measurement. Of Inductor they are written down as they are made.
    """
    failure = trace.failure
    is_lost = failure is not None and failure.stage != "measure" and has_died(failure)
    return trace.backend == "inductor" or not is_lost


def has_died(failure: fe.Failure) -> bool:
    """Returns whether the process was ended, and no exception was raised in it."""
    return failure.type in (*_LIMITS, _CANCELLED) or _DEATH.fullmatch(failure.type) is not None
