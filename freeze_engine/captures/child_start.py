"""Records the freezes of a child process, if its environment asks for it (`freeze_engine.captures.child`)."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Final

from freeze_engine.captures.child import VARIABLE
from freeze_engine.process.import_hook import AfterImport

#: Processes of torch and of this package, as modules, the beginning of an import, a program, and the end of a path.
_MODULES: Final = ("freeze_engine", "viewer.cli", "torch._inductor.compile_worker")
_IMPORT: Final = "from freeze_engine.worker."
_PROGRAM: Final = "freezer-ui"
_SCRIPT: Final = ("compile_worker", "__main__.py")
_WITH_VALUE: Final = ("-W", "-X")


def begin_in_child() -> None:
    """Records the freezes of this process once it imports torch, if it was started to be recorded."""
    text = os.environ.get(VARIABLE)
    words = getattr(sys, "orig_argv", sys.argv)
    if text is None or is_tool(words):
        return
    place = json.loads(text)
    if place["prefix"] != sys.prefix:
        return
    sys.meta_path.insert(
        0, AfterImport("torch", lambda: _record(Path(place["folder"]), place["stem"], place["values"]))
    )


def is_tool(words: Sequence[str]) -> bool:
    """Returns whether Python runs a process of torch's or of this package, which freezes nothing of the user's.

    Args:
        words: as of `sys.orig_argv`.
    """
    rest = iter(words[1:])
    for word in rest:
        if word == "-m":
            module = next(rest, "")
            return any(f"{module}.".startswith(f"{known}.") for known in _MODULES)
        if word == "-c":
            return _IMPORT in next(rest, "")
        if word in _WITH_VALUE:
            next(rest, "")
        elif not word.startswith("-"):
            path = PurePath(word)
            return path.name == _PROGRAM or path.parts[-len(_SCRIPT) :] == _SCRIPT
    return False


def _record(folder: Path, stem: str, values: bool) -> None:
    from freeze_engine.captures.process_recorder import ProcessRecorder, recording

    recorder = ProcessRecorder(folder, folder, stem, os.getpid())
    stack = contextlib.ExitStack()
    stack.enter_context(recording(recorder, values=values))
    atexit.register(stack.close)
