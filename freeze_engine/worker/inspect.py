"""Inspects a model in a child process."""

from __future__ import annotations

import json
import time
from collections import deque
from dataclasses import dataclass

from freeze_engine.errors import ModelSpecError, SandboxError
from freeze_engine.models.summary import ModelSummary
from freeze_engine.process.exit_cause import cause_of
from freeze_engine.process.temporary_folders import temporary_folder
from freeze_engine.worker.child_process import WorkerProcess
from freeze_engine.worker.inspect_task import QUESTION
from freeze_engine.worker.sandbox import confinement_of
from freeze_engine.worker.strict import read_fields, read_object

_PRINTED_LINES = 5


def inspect_model(
    spec: str,
    *,
    trusted: bool = True,
    device: str | None = None,
    limit_s: float = 60,
    sandbox: bool | None = None,
) -> ModelSummary:
    """Inspects a model in a child process.

    Args:
        spec: a MODEL as on the command line.
        trusted: as in `RecordRequest`.
        device: where to load it.
        limit_s: seconds after which to give up.
        sandbox: as in `RecordRequest`.

    Returns:
        The model's summary.

    Raises:
        ModelSpecError: the MODEL cannot be used, or inspecting it crashes or takes too long; the message says
            why.
        SandboxError: it needs a sandbox, and there is none.
    """
    confinement = confinement_of(spec, (), trusted=trusted, sandbox=sandbox)
    with temporary_folder("freezer-inspection-") as folder:
        question = {"model": spec, "trusted": trusted, "device": device}
        (folder / QUESTION).write_text(json.dumps(question))
        process = WorkerProcess("inspect", folder, trusted=trusted, confinement=confinement)
        try:
            answers = deque((line for line in process.lines(time.monotonic() + limit_s) if line is not None), maxlen=1)
            if process.exit_code is None:
                raise ModelSpecError(f"MODEL {spec!r}: looking at it takes more than {limit_s:g} s; record it unseen")
        finally:
            process.close()
    if process.excess is not None:
        raise ModelSpecError(f"MODEL {spec!r}: looking at it was ended: {process.excess.message}; record it unseen")
    if not answers and process.sandbox_problem is not None:
        raise SandboxError(process.sandbox_problem)
    if not answers:
        _, message = cause_of(process.exit_code or 0)
        last = "; ".join(process.printed[-_PRINTED_LINES:])
        raise ModelSpecError(f"MODEL {spec!r}: looking at it failed: {message}. Last it said: {last or 'nothing'}")
    try:
        answer = read_fields(_Answer, read_object(answers[-1]))
    except ValueError as error:
        raise ModelSpecError(f"MODEL {spec!r}: looking at it failed: what it sent is no answer: {error}") from error
    if answer.summary is None:
        raise ModelSpecError(answer.error or f"MODEL {spec!r}: looking at it failed")
    return answer.summary


@dataclass(frozen=True, slots=True)
class _Answer:
    summary: ModelSummary | None = None
    error: str | None = None
