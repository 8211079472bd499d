"""How a recording ended that did not come to its end, in words."""

from __future__ import annotations

import re
from typing import Any, Final

import freeze_engine as fe

LAST_WORDS: Final = "last_words"
"""Code of the notice that holds what was last logged before the process died."""

_TIME_LIMIT: Final = "time limit"
_DEATH: Final = re.compile(r"SIG[A-Z0-9+]+|signal \d+|exit code \d+")
_AFTER_THE_FREEZE: Final = ("build", "measure")
_MEASURED: Final = "All of the freeze itself is here; what was still to be measured is not."
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
        "sign": "time limit" if failure.type == _TIME_LIMIT else "died" if has_died(failure) else "failed",
        "left": left_text(failure),
        "type": failure.type,
        "message": failure_message(failure),
        "stage": failure.stage,
        "name": failure.name,
        "method": failure.method,
        "step": step_before(trace, failure),
        "log": next((notice_parts(notice)[1] for notice in trace.notices if notice.code == LAST_WORDS), None),
    }


def step_before(trace: fe.Trace, failure: fe.Failure) -> int | None:
    """Returns the step with the graph just before it failed, ``None`` if there is none."""
    earlier = trace.final(failure.method) if failure.method is not None else None
    return failure.step if earlier is None else earlier.index


def failure_title(failure: fe.Failure) -> str:
    """Returns one sentence (``The process died (SIGSEGV) in ConstantPropagation``), without its full stop."""
    after = failure.stage in _AFTER_THE_FREEZE
    if failure.type == _TIME_LIMIT:
        what = "The time limit was reached"
    elif has_died(failure):
        what = f"The process died ({failure.type})"
    else:
        what = "The recording failed" if after else "The freeze failed"
    if not after:
        return f"{what} in {failure.name}"
    return f"{what} while {'measuring ' if ': ' in failure.name else ''}{failure.name}"


def failure_message(failure: fe.Failure) -> str:
    """Returns what was raised, or what ended the process."""
    if has_died(failure):
        return failure.message[:1].upper() + failure.message[1:]
    return f"{failure.type}: {failure.message}"


def left_text(failure: fe.Failure) -> str:
    """Returns what the trace holds all the same, empty where that goes without saying."""
    if failure.stage == "measure":
        return _MEASURED
    return "" if knows_constants(failure) else _REMAINS


def knows_constants(failure: fe.Failure | None) -> bool:
    """Returns whether the trace tells the constants' bytes: those of a process that died in the freeze went with it.

    Its steps then hold 0 for them, which is no measurement.
    """
    return failure is None or failure.stage == "measure" or not has_died(failure)


def has_died(failure: fe.Failure) -> bool:
    """Returns whether the process was ended, and no exception was raised in it."""
    return failure.type == _TIME_LIMIT or _DEATH.fullmatch(failure.type) is not None


def notice_parts(notice: fe.Notice) -> tuple[str, str | None]:
    """Returns what a notice says, and the lines that it quotes, if it does."""
    said, _, quoted = notice.message.partition("\n")
    return said, quoted or None
