"""Holds a process at one of its points, so that a strike hits it there.

The struck process imports this module. The file `STOP_AT` in its working directory contains the number of the point;
with 0 the process passes all points and lists them in `POINTS`.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

STOP_AT, POINTS, REACHED = "stop_at", "points", "reached"


class Stops:
    """Counts points, and sleeps at one of them until the strike.

    Attributes:
        noted: the state of the journal so far, from which follows what the trace must contain.
    """

    def __init__(self) -> None:
        self._folder = Path.cwd()
        self._at = int((self._folder / STOP_AT).read_text())
        self._passed = 0
        self.noted: dict[str, Any] = {"place": None, "begun": False, "frozen": False, "ended": 0, "steps": 0}

    def point(self, what: str) -> None:
        """Passes a point."""
        self._passed += 1
        if self._at == 0:
            with (self._folder / POINTS).open("a") as lines:
                lines.write(json.dumps([what, self.noted]) + "\n")
        if self._passed == self._at:
            unfinished = self._folder / f"{REACHED}.new"
            unfinished.write_text(json.dumps({"pid": os.getpid(), "what": what} | self.noted))
            unfinished.rename(self._folder / REACHED)
            time.sleep(600)


def stop_in_journal() -> None:
    """Adds a point after each note that a recording in a child process writes to its journal."""
    from freeze_engine.worker.journal import Journal

    stops = Stops()
    noted = stops.noted

    def begun(value: Any) -> None:
        noted["begun"] = True

    def frozen(value: Any) -> None:
        noted["frozen"] = True

    def ended(step: Any) -> None:
        noted["ended"] += 1

    def under_way(place: Any) -> None:
        noted["place"] = place

    def grown(trace: Any) -> None:
        noted["steps"] = len(trace.steps)

    # Between the two calls that write a file and rename it.
    _precede(Path, "replace", stops)
    notes = {"notes": begun, "frozen": frozen, "ended": ended, "under_way": under_way, "trace": grown}
    for name, note in (notes | {"doing": lambda what: None}).items():
        _follow(Journal, name, note, stops)


def stop_in_passes() -> None:
    """Adds a point before each pass of TorchScript, for recordings without a journal."""
    import torch

    stops = Stops()
    names = [name for name in dir(torch._C) if name.startswith(("_jit_pass_fold_frozen", "_jit_pass_remove_dropout"))]
    for name in ("_freeze_module", "_jit_pass_concat_frozen_linear", *names):
        _precede(torch._C, name, stops)


def _follow(owner: Any, name: str, note: Callable[[Any], object], stops: Stops) -> None:
    original = getattr(owner, name)

    def followed(self: Any, value: Any) -> Any:
        result = original(self, value)
        note(value)
        stops.point(f"{name} {value!s:.60}")
        return result

    setattr(owner, name, followed)


def _precede(owner: Any, name: str, stops: Stops) -> None:
    original = getattr(owner, name)

    def preceded(*args: Any) -> Any:
        stops.point(name)
        return original(*args)

    setattr(owner, name, preceded)
