"""Inspects a model in the child process."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from freeze_engine.errors import FreezerError
from freeze_engine.worker.child_main import Send
from freeze_engine.worker.question import question_of
from freeze_engine.worker.user_code import code_of


def run(folder: Path, send: Send) -> None:
    """Inspects the model that the request in the folder names.

    Args:
        folder: holds the request.
        send: called with the answer: the summary, or the text of the error.
    """
    question: dict[str, Any] = question_of(folder)
    answer: dict[str, object]
    try:
        from freeze_engine.models.inspection import model_summary
        from freeze_engine.models.loading import load_model

        with code_of(question["model"]):
            model = load_model(
                question["model"],
                map_location=question["device"],
                imports=question["imports"],
                trusted=question["trusted"],
            )
            answer = {"summary": asdict(model_summary(model))}
    except FreezerError as error:
        answer = {"error": str(error)}
    send(json.dumps(answer))
