"""Finds the pass that runs inside ``_freeze_module``, where the recording itself cannot report."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

from freeze_engine.backends.common.observer import FREEZING
from freeze_engine.backends.torchscript.graph.stages import PROPAGATE_ATTRIBUTES, RECORD_MUTABLE_ATTRIBUTES
from freeze_engine.worker.events import JobEvent, JobProgress
from freeze_engine.worker.left_files import open_left

_TAIL_BYTES = 1 << 18
#: As `freeze_engine.backends.torchscript.log.steps` separates the passes.
_MARKS = re.compile(
    rb"\.cpp:\d+\] (?:(?P<phase>Analyzing|Recording mutable attrs for|Propagating) function: (?P<method>[^\s]+)"
    rb"|(?:Before|After \w+\s*, before) (?P<pass>\w+)|(?P<end>Cleaning up module))"
)
_PHASES = {
    b"Analyzing": "Inline",
    b"Recording mutable attrs for": RECORD_MUTABLE_ATTRIBUTES,
    b"Propagating": PROPAGATE_ATTRIBUTES,
}


class FreezeProgress:
    """Follows torch's log while a module is being frozen.

    Args:
        log: torch's log, which need not be there yet.
    """

    def __init__(self, log: Path) -> None:
        self._log = log
        self._latest: JobProgress | None = None
        self._told: str | None = None
        self._sent: JobProgress | None = None

    def note(self, event: JobEvent) -> None:
        """Receives each event; those that the recording itself sent say whether a module is being frozen."""
        if isinstance(event, JobProgress) and event is not self._sent:
            self._latest = event

    def event(self) -> JobProgress | None:
        """Returns the pass to report now, once, while ``_freeze_module`` runs."""
        if self._latest is None or self._latest.message != FREEZING:
            return None
        under_way = pass_under_way(_tail(self._log))
        if under_way is None or under_way == self._told:
            return None
        self._told = under_way
        self._sent = replace(self._latest, message=f"{FREEZING}: {under_way}", left_s=None)
        return self._sent


def pass_under_way(log: bytes) -> str | None:
    """Returns the pass that began last according to torch's log, or its end; ``None`` if there is none."""
    marks = list(_MARKS.finditer(log))
    if not marks:
        return None
    mark = marks[-1]
    if mark["end"]:
        return "CleanupFrozenModule"
    if mark["phase"]:
        return f"{_PHASES[mark['phase']]} of {mark['method'].decode(errors='replace')}"
    return mark["pass"].decode()


def _tail(path: Path) -> bytes:
    try:
        with open_left(path) as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - _TAIL_BYTES))
            return stream.read()
    except OSError:  # not there yet, or put there by a model
        return b""
