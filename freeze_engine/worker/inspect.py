"""Inspects a model in a child process, and tries one call of it in another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from freeze_engine.errors import ModelSpecError
from freeze_engine.models.summary import ModelSummary
from freeze_engine.models.trial.trial import CallTrial
from freeze_engine.worker.question import Question, answer
from freeze_engine.worker.strict import read_fields, read_object

#: A package such as torchao takes seconds to import, and much longer on a busy machine.
_IMPORT_S: Final = 60.0
Kind = TypeVar("Kind", "_Summary", "_Trial")


def inspect_model(
    spec: str,
    *,
    imports: Sequence[str] = (),
    trusted: bool = True,
    device: str | None = None,
    limit_s: float = 60,
    sandbox: bool | None = None,
) -> ModelSummary:
    """Inspects a model in a child process.

    Args:
        spec: a MODEL as on the command line.
        imports, trusted: as in `RecordRequest`.
        device: where to load it.
        limit_s: seconds after which to give up; each import gets 60 s more.
        sandbox: as in `RecordRequest`.

    Returns:
        The model's summary.

    Raises:
        ModelSpecError: the MODEL cannot be used, or inspecting it crashes or takes too long; the message says
            why.
        SandboxError: it needs a sandbox, and there is none.
    """
    question = Question(
        "inspect",
        "looking at it",
        "record it unseen",
        spec,
        imports=tuple(imports),
        trusted=trusted,
        sandbox=sandbox,
        limit_s=limit_s + _IMPORT_S * len(imports),
    )
    line = answer(question, {"model": spec, "imports": list(imports), "trusted": trusted, "device": device})
    found = _read(_Summary, line, question)
    if found.summary is None:
        raise ModelSpecError(found.error or f"MODEL {spec!r}: looking at it failed")
    return found.summary


def try_model(
    spec: str,
    inputs: Sequence[str] = (),
    *,
    imports: Sequence[str] = (),
    trusted: bool = True,
    device: str | None = None,
    limit_s: float = 60,
    memory_bytes: int | None = None,
    sandbox: bool | None = None,
) -> CallTrial:
    """Calls a model once in a child process.

    Args:
        spec: a MODEL as on the command line.
        inputs: texts of ``--input``; without any, those that the MODEL brings.
        imports, trusted, sandbox: as in `RecordRequest`.
        device: where to load it and to make the inputs.
        limit_s: seconds after which to give up; each import gets 60 s more.
        memory_bytes: memory limit, ``None`` for none.

    Returns:
        What it returned and how long that took, or why the call failed.

    Raises:
        ModelSpecError: the MODEL or an input cannot be used, or the call crashes or takes too long.
        SandboxError: it needs a sandbox, and there is none.
    """
    question = Question(
        "try",
        "trying one call of it",
        "record it untried",
        spec,
        tuple(inputs),
        tuple(imports),
        trusted=trusted,
        sandbox=sandbox,
        limit_s=limit_s + _IMPORT_S * len(imports),
        memory_bytes=memory_bytes,
    )
    fields = {"model": spec, "imports": list(imports), "trusted": trusted, "device": device, "inputs": list(inputs)}
    line = answer(question, fields)
    found = _read(_Trial, line, question)
    if found.trial is None:
        raise ModelSpecError(found.error or f"MODEL {spec!r}: trying one call of it failed")
    return found.trial


@dataclass(frozen=True, slots=True)
class _Summary:
    summary: ModelSummary | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class _Trial:
    trial: CallTrial | None = None
    error: str | None = None


def _read(kind: type[Kind], line: bytes, question: Question) -> Kind:
    try:
        return read_fields(kind, read_object(line))
    except ValueError as error:
        where = f"MODEL {question.model!r}: {question.doing}"
        raise ModelSpecError(f"{where} failed: what it sent is not an answer: {error}") from error
