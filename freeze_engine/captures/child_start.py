"""Records the freezes of a child process, if its environment asks for it (`freeze_engine.captures.child`)."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Final

from freeze_engine.captures.child import VARIABLE
from freeze_engine.process.import_hook import AfterImport

#: Processes of torch and of this package that freeze nothing of the user's.
_TOOLS: Final = ("compile_worker", "freeze_engine", "viewer.cli", "freezer-ui")


def begin_in_child() -> None:
    """Records the freezes of this process once it imports torch, if it was started to be recorded."""
    text = os.environ.get(VARIABLE)
    words = getattr(sys, "orig_argv", sys.argv)
    if text is None or any(tool in word for word in words[1:3] for tool in _TOOLS):
        return
    place = json.loads(text)
    if place["prefix"] != sys.prefix:
        return
    sys.meta_path.insert(
        0, AfterImport("torch", lambda: _record(Path(place["folder"]), place["stem"], place["values"]))
    )


def _record(folder: Path, stem: str, values: bool) -> None:
    from freeze_engine.captures.process_recorder import ProcessRecorder, recording

    recorder = ProcessRecorder(folder, folder, stem, os.getpid())
    stack = contextlib.ExitStack()
    stack.enter_context(recording(recorder, values=values))
    atexit.register(stack.close)
