"""Expectations about the recording itself: that the freeze finished, its checks passed, and a notice is absent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from freeze_engine.analysis.check_facts import check_outcome
from freeze_engine.analysis.expectations.result import Finding, Outcome, step_text
from freeze_engine.analysis.finished import is_finished
from freeze_engine.analysis.name_texts import listed
from freeze_engine.trace import Trace

_OUTCOMES: Final[dict[str, Outcome]] = {"passed": "ok", "failed": "failed", "unknown": "cannot tell", "as meant": "ok"}


def freeze_finished(trace: Trace) -> Iterator[Finding]:
    """Yields a finding if the freeze did not finish.

    Args:
        trace: the recording.
    """
    if is_finished(trace):
        return
    asked = ("freeze", "the freeze comes to its end")
    failure = trace.failure
    if failure is None:
        yield Finding(*asked, "failed", "The trace has no steps: nothing was frozen.")
        return
    method = f" of {failure.method}" if failure.method else ""
    message = f"It failed in {failure.stage}, {failure.name}{method}."
    evidence = [f"{failure.type}: {failure.message}"]
    if failure.step is not None:
        evidence.append(f"the last step before it is {step_text(trace.steps[failure.step])}")
    yield Finding(*asked, "failed", message, tuple(evidence), "freezer-ui stats shows the graph just before.")


def checks_passed(trace: Trace) -> Iterator[Finding]:
    """Yields one finding per check in the trace, or a single finding if there are none.

    Args:
        trace: the recording.
    """
    if not trace.checks:
        yield Finding(
            "no_failed_checks",
            "no check fails",
            "cannot tell",
            "No check was made.",
            remedy="Record it with checks (--check NAME; fe.record(checks=…)).",
        )
    for check in trace.checks:
        yield Finding(
            "no_failed_checks",
            f"the check {check.name} passes",
            _OUTCOMES[check_outcome(check)],
            check.message,
            check.details,
        )


def notices_absent(trace: Trace, code: str) -> Finding:
    """Expects a trace to have no notice of a code.

    Args:
        trace: the recording.
        code: of the notice.
    """
    wanted = f"no notice {code}"
    found = [notice for notice in trace.notices if notice.code == code]
    if not found:
        others = listed(sorted({notice.code for notice in trace.notices}), 12) or "none"
        return Finding("no_notices", wanted, "ok", f"There is none. Notices of this trace: {others}.")
    lines = tuple(
        notice.message if notice.step is None else f"{step_text(trace.steps[notice.step])}: {notice.message}"
        for notice in found
    )
    return Finding(
        "no_notices", wanted, "failed", f"There are {len(found)}." if len(found) > 1 else "There is one.", lines
    )
