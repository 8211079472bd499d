"""Tries one call of a model in the child process."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from freeze_engine.backends.common.deprecation import undeprecated
from freeze_engine.errors import FreezerError
from freeze_engine.worker.child_main import Send
from freeze_engine.worker.question import question_of
from freeze_engine.worker.user_code import code_of


def run(folder: Path, send: Send) -> None:
    """Calls the model that the request in the folder names, on the inputs that it describes.

    Args:
        folder: holds the request.
        send: called with the answer: the outcome, or the text of the error.
    """
    question: dict[str, Any] = question_of(folder)
    answer: dict[str, object]
    try:
        from freeze_engine.models.inspection import parameters_of
        from freeze_engine.models.loading import load_model
        from freeze_engine.models.trial.call import try_call

        device, trusted = question["device"], question["trusted"]
        with code_of(question["model"]), undeprecated():
            imports = question["imports"]
            model = load_model(question["model"], map_location=device, imports=imports, trusted=trusted)
            parameters = parameters_of(model)
            trial = try_call(model, question["inputs"], parameters, device=device or "cpu", trusted=trusted)
        answer = {"trial": asdict(trial)}
    except FreezerError as error:
        answer = {"error": str(error)}
    send(json.dumps(answer))
