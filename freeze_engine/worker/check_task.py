"""Validates a trace file of a sandboxed recording in a child process, since the file may hold anything."""

from __future__ import annotations

import json
from pathlib import Path

from freeze_engine.errors import FreezerError
from freeze_engine.serde import load
from freeze_engine.worker.child_main import Send

QUESTION = "check.json"


def run(folder: Path, send: Send) -> None:
    """Reads the file that the request in the folder names.

    Args:
        folder: holds the request.
        send: called with the answer: the text of the error, ``None`` if the file is a trace.
    """
    path = json.loads((folder / QUESTION).read_text())["path"]
    error = None
    try:
        load(path)
    except FreezerError as refused:
        error = str(refused)
    send(json.dumps({"error": error}))
