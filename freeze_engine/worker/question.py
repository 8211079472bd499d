"""Asks a child process one question about a model, and waits for its answer."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from freeze_engine.errors import ModelSpecError, SandboxError
from freeze_engine.process.exit_cause import cause_of
from freeze_engine.process.temporary_folders import temporary_folder
from freeze_engine.worker.child_process import WorkerProcess
from freeze_engine.worker.limits import Limits
from freeze_engine.worker.sandbox import confinement_of

QUESTION = "question.json"
_PRINTED_LINES = 5


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a model.

    Attributes:
        task: the child process's task.
        doing: what the process does, as in ``looking at it``.
        instead: what to do if that is impossible, as in ``record it unseen``.
        model: a MODEL as on the command line.
        inputs: texts of ``--input`` whose files the process needs.
        imports, trusted, sandbox: as in `RecordRequest`.
        limit_s: seconds after which to give up.
        memory_bytes: memory limit, ``None`` for none.
    """

    task: str
    doing: str
    instead: str
    model: str
    inputs: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    trusted: bool = True
    sandbox: bool | None = None
    limit_s: float = 60
    memory_bytes: int | None = None


def answer(question: Question, fields: Mapping[str, object]) -> bytes:
    """Asks a question in a child process, and returns the line that it answers.

    Args:
        question: what to ask about which model.
        fields: what the task reads from the folder.

    Raises:
        ModelSpecError: the process crashes, takes too long, or says nothing; the message says why.
        SandboxError: it needs a sandbox, and there is none.
    """
    confinement = confinement_of(
        question.model,
        question.inputs,
        imports=question.imports,
        trusted=question.trusted,
        sandbox=question.sandbox,
    )
    with temporary_folder("freezer-inspection-") as folder:
        (folder / QUESTION).write_text(json.dumps(fields))
        limits = Limits(question.memory_bytes)
        process = WorkerProcess(question.task, folder, trusted=question.trusted, limits=limits, confinement=confinement)
        try:
            until_s = time.monotonic() + question.limit_s
            answers = deque((line for line in process.lines(until_s) if line is not None), maxlen=1)
            failed = _failure(question, process, answers)
        finally:
            process.close()
    if failed is not None:
        raise failed
    return answers[-1]


def _failure(
    question: Question, process: WorkerProcess, answers: Sequence[bytes]
) -> ModelSpecError | SandboxError | None:
    where = f"MODEL {question.model!r}: {question.doing}"
    if process.exit_code is None:
        return ModelSpecError(f"{where} takes more than {question.limit_s:g} s; {question.instead}")
    if process.excess is not None:
        return ModelSpecError(f"{where} was ended: {process.excess.message}; {question.instead}")
    if answers:
        return None
    if process.sandbox_problem is not None:
        return SandboxError(process.sandbox_problem)
    _, message = cause_of(process.exit_code or 0)
    last = "; ".join(process.printed[-_PRINTED_LINES:])
    return ModelSpecError(f"{where} failed: {message}. Last it said: {last or 'nothing'}")


def question_of(folder: Path) -> dict[str, object]:
    """Returns the fields of the question that lies in a folder."""
    found: dict[str, object] = json.loads((folder / QUESTION).read_text())
    return found
