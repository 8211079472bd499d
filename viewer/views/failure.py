"""Describes the failure of a recording in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views.notices import notice_parts

if TYPE_CHECKING:
    from freeze_engine.trace import Failure

LAST_WORDS: Final = "last_words"
"""Code of the notice with the last log lines before the process died."""

_INTERRUPT: Final = "KeyboardInterrupt"
_MEASURED: Final = "All of the freeze itself is here; what was still to be measured is not."
_INTERRUPTED: Final = "It was interrupted: by Ctrl-C, or from the dashboard."
_NOTHING_YET: Final = "No pass had run. The request and the environment are recorded."
_REMAINS: Final = "The passes come from torch's log. The fates of attributes and constants were lost with the process."


def failure_view(trace: fe.Trace) -> dict[str, Any] | None:
    """Returns what failed, torch's own message, and the step with the graph just before; ``None`` without a failure.

    ``log`` contains the last log lines before a process died, ``None`` if there are none.
    """
    failure = trace.failure
    if failure is None:
        return None
    return {
        "title": analysis.failure_title(failure),
        "sign": analysis.failure_kind(failure),
        "left": left_text(trace),
        "type": failure.type,
        "message": failure_message(failure),
        "stage": failure.stage,
        "name": failure.name,
        "method": failure.method,
        "step": step_before(trace, failure),
        "log": next((notice_parts(notice)[1] for notice in trace.notices if notice.code == LAST_WORDS), None),
    }


def step_before(trace: fe.Trace, failure: Failure) -> int | None:
    """Returns the step with the last graph before the failure, ``None`` if there is none."""
    earlier = trace.final(failure.method) if failure.method is not None else None
    return failure.step if earlier is None else earlier.index


def failure_message(failure: Failure) -> str:
    """Returns the exception's type and text, or what ended the process."""
    if failure.type == _INTERRUPT:
        return _INTERRUPTED
    if analysis.has_died(failure):
        return failure.message[:1].upper() + failure.message[1:]
    return f"{failure.type}: {failure.message}"


def left_text(trace: fe.Trace) -> str:
    """Returns a note on the contents of an incomplete trace, empty if there is nothing to add."""
    if trace.failure is not None and trace.failure.stage == "measure":
        return _MEASURED
    if trace.failure is not None and not trace.steps:
        return _NOTHING_YET
    return "" if analysis.knows_constants(trace) else _REMAINS
