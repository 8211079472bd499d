"""Interprets the result of a check of the frozen module: a fact of freezing is no failure."""

from __future__ import annotations

from typing import Final, Literal

from freeze_engine.trace import Check

MADE_CONSTANTS: Final = "Freezing made constants of weights, as it is meant to"
"""Start of the message of the check ``stale_weights`` if the frozen module ignores new weights."""

CheckOutcome = Literal["passed", "failed", "unknown", "as meant"]


def check_outcome(check: Check) -> CheckOutcome:
    """Returns the verdict of a check.

    Args:
        check: of a trace. In those of earlier versions a fact of freezing has the verdict ``failed``.

    Returns:
        The check's verdict; ``as meant`` if it found an intended effect of freezing.
    """
    is_fact = check.name == "stale_weights" and check.message.startswith(MADE_CONSTANTS)
    return "as meant" if is_fact else check.verdict
