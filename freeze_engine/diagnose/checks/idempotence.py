"""Checks whether freezing a frozen module changes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from freeze_engine.diagnose.checks.context import CheckContext, Compared
from freeze_engine.diagnose.checks.differences import result_differences, uncompared
from freeze_engine.diagnose.checks.refreeze import frozen_again, saved_and_loaded
from freeze_engine.measure.candidate import CandidateError, reported
from freeze_engine.requests.options import InductorOptions
from freeze_engine.trace import Check, Trace

NAME: Final = "idempotence"


def idempotence(context: CheckContext) -> Check | Compared:
    """Freezes the frozen module again, as it is and as loaded from a file, and compares the results.

    Args:
        context: the freeze.
    """
    options = context.options
    if isinstance(options, InductorOptions):
        return Check(NAME, "unknown", "torch.compile takes the source module: what it compiled is not frozen again.")
    ways: dict[str, Callable[[], Trace]] = {
        "frozen again": lambda: frozen_again(context.result, options),
        "saved, loaded and frozen again": lambda: frozen_again(saved_and_loaded(context.result), options),
    }
    details, other, differing, refused = [], None, [], []
    for way, freeze in ways.items():
        try:
            with reported():
                again = freeze()
        except CandidateError as error:
            refused.append(way)
            details.append(f"{way}: it could not be done: {error.last_line}")
            continue
        found = result_differences(context.trace, again)
        details += [f"{way}: {line}" for line in found] or [f"{way}: the same graphs"]
        if found:
            differing.append(way)
            other = other or again
    if differing:
        check = Check(NAME, "failed", f"The frozen module, {' and '.join(differing)}, is another one.", tuple(details))
        return Compared(check, other)
    if refused:
        return Check(NAME, "unknown", f"The frozen module could not be {' nor '.join(refused)}.", tuple(details))
    unknown = uncompared(context.trace)
    if unknown:
        message = "Freezing the frozen module again changes nothing but, perhaps, constants that cannot be compared."
        return Check(NAME, "unknown", message, (*details, *unknown))
    return Check(NAME, "passed", "Freezing the frozen module again changes nothing.", tuple(details))
