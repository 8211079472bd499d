"""Records the freezes of a child process, if its environment asks for it (`freeze_engine.captures.child`)."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import sys
from pathlib import Path

from freeze_engine.captures.child import VARIABLE, ChildPlace
from freeze_engine.captures.tool_processes import is_tool
from freeze_engine.process.import_hook import AfterImport


def begin_in_child() -> None:
    """Records the freezes of this process once it imports torch, if it was started to be recorded."""
    text = os.environ.get(VARIABLE)
    words = getattr(sys, "orig_argv", sys.argv)
    if text is None or is_tool(words):
        return
    place = json.loads(text)
    if place["prefix"] != sys.prefix:
        return
    known = ChildPlace(Path(place["folder"]), place["stem"], place["began_ns"], place["values"])
    stack = contextlib.ExitStack()
    # Exit handlers run in the reverse order: those of the program, which may freeze, run before this first one.
    atexit.register(stack.close)
    sys.meta_path.insert(0, AfterImport("torch", lambda: _record(known, stack)))


def _record(place: ChildPlace, stack: contextlib.ExitStack) -> None:
    from freeze_engine.captures.process_recorder import ProcessRecorder, recording
    from freeze_engine.captures.process_starts import observing_starts
    from freeze_engine.captures.unrecorded_children import ChildWatch

    stack.enter_context(observing_starts(ChildWatch(place=place.text())))
    recorder = ProcessRecorder(place.folder, place.folder, place.stem, os.getpid(), place.began_ns)
    stack.enter_context(recording(recorder, values=place.values))
