"""Attaches the trace so far to an exception that ends a recording."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from freeze_engine.trace import Trace
from freeze_engine.trace.rules.texts import with_plain_texts

_ATTACHED = "freezer_trace"


def attach_trace(error: BaseException, trace: Trace) -> None:
    """Leaves a trace with an exception."""
    error.__dict__[_ATTACHED] = with_plain_texts(trace)


@contextlib.contextmanager
def leaving_trace(trace: Callable[[], Trace]) -> Iterator[None]:
    """Leaves a trace with whatever the body raises, ``KeyboardInterrupt`` and its like included.

    Args:
        trace: returns it, as far as it is when that happens.
    """
    try:
        yield
    except BaseException as error:
        attach_trace(error, trace())
        raise


def partial_trace(error: BaseException) -> Trace | None:
    """Returns the trace up to the failure for an exception that a recording let through, or ``None``."""
    found = error.__dict__.get(_ATTACHED)
    return found if isinstance(found, Trace) else None
