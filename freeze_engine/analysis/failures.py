"""Classifies the failure of a recording, and names it in words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from freeze_engine.trace import Failure, Trace

#: Limits that can have ended a recording, as types of its failure.
_LIMITS: Final = ("time limit", "memory limit", "process limit")
_CANCELLED: Final = "cancelled"
_INTERRUPT: Final = "KeyboardInterrupt"
_DEATH: Final = re.compile(r"SIG[A-Z0-9+]+|signal \d+|exit code \d+")
_AFTER_THE_FREEZE: Final = ("build", "measure")


def failure_title(failure: Failure) -> str:
    """Returns one sentence without its full stop (``The process died (SIGSEGV) in ConstantPropagation``)."""
    after = failure.stage in _AFTER_THE_FREEZE
    kind = failure_kind(failure)
    if kind in _LIMITS:
        what = f"The {kind} was reached"
    elif kind == _CANCELLED:
        what = "The recording was cancelled"
    elif kind == "died":
        what = f"The process died ({failure.type})"
    else:
        what = "The recording failed" if after else "The freeze failed"
    if not after:
        return f"{what} in {failure.name}"
    return f"{what} while {'measuring ' if ': ' in failure.name else ''}{failure.name}"


def failure_kind(failure: Failure) -> str:
    """Returns ``failed``, ``died``, ``cancelled``, or the name of the limit that ended the recording."""
    if failure.type in (_CANCELLED, _INTERRUPT):
        return _CANCELLED
    return failure.type if failure.type in _LIMITS else "died" if has_died(failure) else "failed"


def knows_constants(trace: Trace) -> bool:
    """Returns whether the trace contains the sizes of constants.

    A process that dies while it freezes TorchScript takes them with it; the steps then hold 0, which is not a
    measurement. For Inductor the worker records them incrementally. A log of torch has the sizes of some
    constants only.
    """
    if trace.origin in ("torch_trace", "compile_debug"):
        return False
    failure = trace.failure
    is_lost = failure is not None and failure.stage != "measure" and has_died(failure)
    return trace.uses_inductor or not is_lost


def has_died(failure: Failure) -> bool:
    """Returns whether the process ended without an exception: by a signal, an exit, a limit or a cancel."""
    return failure.type in (*_LIMITS, _CANCELLED) or _DEATH.fullmatch(failure.type) is not None
