"""A look at a model in a process of its own."""

from __future__ import annotations

import json
import time
from typing import Any

from freeze_engine.errors import ModelSpecError
from freeze_engine.model_summary import ModelAttribute, ModelSummary
from freeze_engine.temporary import temporary_folder
from freeze_engine.worker.death import cause_of
from freeze_engine.worker.inspect_task import QUESTION
from freeze_engine.worker.process import WorkerProcess

_PRINTED_LINES = 5


def inspect_model(spec: str, *, trusted: bool = True, device: str | None = None, limit_s: float = 60) -> ModelSummary:
    """Looks at a model in a process of its own.

    Args:
        spec: a MODEL as on the command line.
        trusted: as in `RecordRequest`.
        device: where to load it.
        limit_s: seconds after which to give up.

    Returns:
        What it holds.

    Raises:
        ModelSpecError: the MODEL cannot be used, also where looking at it crashes or takes too long; the message says
            why.
    """
    with temporary_folder("freezer-inspection-") as folder:
        question = {"model": spec, "trusted": trusted, "device": device}
        (folder / QUESTION).write_text(json.dumps(question))
        process = WorkerProcess("inspect", folder, trusted=trusted)
        try:
            answers = [line for line in process.lines(time.monotonic() + limit_s) if line is not None]
            if process.exit_code is None:
                raise ModelSpecError(f"MODEL {spec!r}: looking at it takes more than {limit_s:g} s; record it unseen")
        finally:
            process.close()
    if not answers:
        _, message = cause_of(process.exit_code or 0)
        last = "; ".join(process.printed[-_PRINTED_LINES:])
        raise ModelSpecError(f"MODEL {spec!r}: looking at it failed: {message}. Last it said: {last or 'nothing'}")
    answer: dict[str, Any] = json.loads(answers[-1])
    if "error" in answer:
        raise ModelSpecError(answer["error"])
    return _summary(answer["summary"])


def _summary(fields: dict[str, Any]) -> ModelSummary:
    lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    attributes = tuple(
        ModelAttribute(**(each | {"shape": None if each["shape"] is None else tuple(each["shape"])}))
        for each in fields["attributes"]
    )
    return ModelSummary(**(fields | lists | {"attributes": attributes}))
