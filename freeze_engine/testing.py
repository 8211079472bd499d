"""Assertions for users' own tests: ``fe.testing.assert_frozen``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freeze_engine.analysis.expectations.expectations import Expectations
from freeze_engine.analysis.expectations.result import findings_text
from freeze_engine.captures.captured import Captured
from freeze_engine.errors import FreezerError
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import CheckName, Options
from freeze_engine.serde import load
from freeze_engine.session import Recording, record
from freeze_engine.trace import Backend, Trace

if TYPE_CHECKING:
    import torch


def assert_frozen(
    subject: torch.nn.Module | Recording | Captured | Trace | str | Path,
    inputs: Inputs | Sequence[Any] | torch.Tensor | None = None,
    *,
    backend: Backend = "torchscript",
    options: Options | None = None,
    checks: Sequence[CheckName] = (),
    **expected: Any,
) -> None:
    """Asserts that a freeze finished and meets the expectations.

    ``assert_frozen(model, (x,), expect_folded="conv_bn:all", no_preserved=(), max_error=1e-5)`` freezes a module, and
    measures only what the expectations need. A freeze that is recorded already is only checked, which needs no
    torch.

    Args:
        subject: a module to freeze; or what is recorded: a `Recording`, the traces of a ``with capture()`` block, a
            `Trace`, or the path of a trace file.
        inputs: of a module that is to be frozen, as for `record`.
        backend, options, checks: of a module that is to be frozen, as for `record`.
        **expected: fields of `Expectations`.

    Raises:
        AssertionError: an expectation failed, or the trace does not show it. The message says of each what was found,
            where, why, and what to do.
        FreezerError: an expectation cannot be read, or ``subject`` is recorded already and there are inputs.
        TypeError: there is no such expectation.
        Exception: whatever torch raises when it freezes, unchanged.
    """
    __tracebackhide__ = True  # pytest then shows the line of the test
    expectations = Expectations(**expected)
    traces = _recorded(subject)
    if traces is None:
        model: Any = subject
        measure = expectations.measure()
        made = record(model, inputs, backend=backend, options=options, measure=measure, checks=tuple(checks))
        traces = (made.trace,)
    elif inputs is not None or options is not None or checks:
        raise FreezerError("inputs, options and checks are for a module to freeze, and this one is recorded already")
    text = _failures(traces, expectations)
    if text:
        raise AssertionError(text)


def _recorded(subject: object) -> tuple[Trace, ...] | None:
    """Returns the traces of an existing recording, ``None`` for a module."""
    if isinstance(subject, Trace):
        return (subject,)
    if isinstance(subject, Recording):
        return (subject.trace,)
    if isinstance(subject, Captured):
        return subject.traces
    if isinstance(subject, (str, Path)):
        return (load(subject),)
    return None


def _failures(traces: Sequence[Trace], expectations: Expectations) -> str:
    if not traces:
        return "nothing was frozen in the captured block"
    parts = []
    for trace in traces:
        found = expectations.evaluate(trace)
        bad = [finding for finding in found if finding.outcome != "ok"]
        if bad:
            head = f"{trace.name or 'the model'} ({trace.backend}): {len(bad)} of {len(found)} expectations not met"
            parts.append("\n".join([head, *findings_text(bad)]))
    return "\n\n".join(parts)
