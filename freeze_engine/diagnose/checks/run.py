"""Runs the requested checks, each on its own: an exception in one does not end the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from freeze_engine.backends.common.observer import RecordingObserver
from freeze_engine.backends.common.partial_trace import leaving_trace
from freeze_engine.diagnose.checks.attributes import attributes
from freeze_engine.diagnose.checks.context import CheckContext, Compared
from freeze_engine.diagnose.checks.determinism import determinism
from freeze_engine.diagnose.checks.idempotence import idempotence
from freeze_engine.diagnose.checks.round_trip import round_trip
from freeze_engine.diagnose.checks.stale_weights import stale_weights
from freeze_engine.measure.candidate import CandidateError, reported
from freeze_engine.requests.options import CheckName
from freeze_engine.trace import Check, Trace

_CHECKS: Mapping[CheckName, Callable[[CheckContext], Check | Compared]] = {
    "stale_weights": stale_weights,
    "idempotence": idempotence,
    "determinism": determinism,
    "round_trip": round_trip,
    "attributes": attributes,
}


@dataclass(frozen=True, slots=True)
class Checked:
    """A recording with the results of its checks.

    Attributes:
        trace: the recording.
        others: recordings of further freezes that had another result, by the name of the check that made them.
    """

    trace: Trace
    others: Mapping[str, Trace]


def run_checks(context: CheckContext, observer: RecordingObserver) -> Checked:
    """Runs the requested checks.

    Args:
        context: the freeze.
        observer: receives the events of the recording.

    Raises:
        BaseException: one that is no `Exception`, such as ``KeyboardInterrupt``; `freeze_engine.partial_trace` has
            the trace.
    """
    if context.module_options.checks and context.inputs is not None:
        observer.trace_built(context.trace)  # since a check may crash the process
    names, trace = context.module_options.checks, context.trace
    others: dict[str, Trace] = {}
    with leaving_trace(lambda: trace):
        for number, name in enumerate(names):
            observer.progress(f"check: {name}", number, len(names))
            answer = _answer(context, name)
            trace = replace(trace, checks=(*trace.checks, answer.check))
            others |= {} if answer.other is None else {name: answer.other}
    return Checked(trace, others)


def _answer(context: CheckContext, name: CheckName) -> Compared:
    answer: Check | Compared
    try:
        with reported():
            answer = _CHECKS[name](context)
    except CandidateError as error:
        above = tuple(line for line in str(error).splitlines() if line.strip())[:-1]
        answer = Check(name, "unknown", f"It could not be run: {error.last_line}", above)
    return answer if isinstance(answer, Compared) else Compared(answer, None)
