"""Puts the questions that were asked for, each on its own: what raises in one does not end the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from freeze_engine.backends.failures import attach_trace
from freeze_engine.backends.torchscript.watcher import Watcher
from freeze_engine.checks.context import CheckContext
from freeze_engine.checks.stale_weights import stale_weights
from freeze_engine.measure.candidate import CandidateError, reported
from freeze_engine.options import CheckName
from freeze_engine.trace import Check, Trace

_CHECKS: Mapping[CheckName, Callable[[CheckContext], Check]] = {"stale_weights": stale_weights}


def checked(context: CheckContext, watcher: Watcher) -> Trace:
    """Returns the trace with the answers to what was asked for.

    Args:
        context: the freeze.
        watcher: told how it goes.

    Raises:
        BaseException: what is no `Exception`, such as ``KeyboardInterrupt``; `freeze_engine.partial_trace` has
            the trace.
    """
    if context.inputs is not None:
        watcher.trace_built(context.trace)  # for a check may bring the process down
    names, trace = context.how.checks, context.trace
    try:
        for number, name in enumerate(names):
            watcher.progress(f"check: {name}", number, len(names))
            trace = replace(trace, checks=(*trace.checks, _answer(context, name)))
    except BaseException as error:
        attach_trace(error, trace)
        raise
    return trace


def _answer(context: CheckContext, name: CheckName) -> Check:
    try:
        with reported():
            return _CHECKS[name](context)
    except CandidateError as error:
        lines = tuple(line for line in str(error).splitlines() if line.strip())
        # torch's interpreter ends its messages with what went wrong.
        return Check(name, "unknown", f"It could not be run: {lines[-1]}", lines[:-1])
