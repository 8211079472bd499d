"""Attaches the trace so far to an exception that ends a recording."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from freeze_engine.trace import Trace
from freeze_engine.trace.rules.texts import with_plain_texts

_ATTACHED = "freezer_trace"


def attach_trace(error: BaseException, trace: Trace) -> None:
    """Attaches a trace to an exception."""
    error.__dict__[_ATTACHED] = with_plain_texts(trace)


@contextlib.contextmanager
def leaving_trace(trace: Callable[[], Trace]) -> Iterator[None]:
    """Attaches a trace to any exception of the body, ``KeyboardInterrupt`` and its like included.

    Args:
        trace: returns the trace so far at that moment.
    """
    try:
        yield
    except BaseException as error:
        attach_trace(error, trace())
        raise


def partial_trace(error: BaseException) -> Trace | None:
    """Returns the trace up to the failure that a recording attached to an exception, or ``None``."""
    found = error.__dict__.get(_ATTACHED)
    return found if isinstance(found, Trace) else None
