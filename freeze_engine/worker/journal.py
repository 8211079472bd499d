"""What a recording writes down as it goes, and what is read of it after its process has died.

A folder holds, beside the request, a file of one JSON object a line for what is known once, and a file of fixed
size for what is being done right now. Both are written without buffers: what was written when the process dies stays.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from freeze_engine.backends.torchscript.post_mortem import NotedStep, Remains
from freeze_engine.backends.torchscript.watcher import FreezeNotes, MethodNotes
from freeze_engine.serde import dumps, loads
from freeze_engine.trace import Trace

TORCH_LOG = "torch.log"
_JOURNAL = "journal.jsonl"
_DOING = "doing"
_DOING_BYTES = 500
_HEAD, _NOTES, _FROZEN, _BEGUN, _STEP = "head", "notes", "frozen", "begun", "step"


class Journal:
    """Writes down how a recording goes.

    Args:
        folder: an existing folder that is this recording's own.
    """

    def __init__(self, folder: Path) -> None:
        self._lines = (folder / _JOURNAL).open("ab", buffering=0)
        self._doing = (folder / _DOING).open("w+b", buffering=0)
        self._texts: dict[str, str] = {}

    def close(self) -> None:
        """Closes the files."""
        self._lines.close()
        self._doing.close()

    def doing(self, what: str) -> None:
        """Notes what is being done from now on."""
        os.pwrite(self._doing.fileno(), what.encode(errors="replace")[:_DOING_BYTES].ljust(_DOING_BYTES), 0)

    def head(self, trace: Trace) -> None:
        """Notes the trace without its steps."""
        self._note(_HEAD, base64.b64encode(dumps(trace)).decode())

    def notes(self, notes: FreezeNotes) -> None:
        """Notes what is known when ``_freeze_module`` begins."""
        self._note(_NOTES, asdict(notes))

    def frozen(self, graphs: Mapping[str, str]) -> None:
        """Notes the graphs after ``_freeze_module``."""
        self._texts |= graphs
        self._note(_FROZEN, dict(graphs))

    def begun(self, stage: str, name: str, method: str) -> None:
        """Notes that a pass begins."""
        self._note(_BEGUN, [stage, name, method])

    def ended(self, step: NotedStep) -> None:
        """Notes that a pass has ended; a graph is written only where it differs from the one before."""
        fields = asdict(step)
        if self._texts.get(step.method) == step.text:
            fields["text"] = None
        elif step.text is not None:
            self._texts[step.method] = step.text
        self._note(_STEP, fields)

    def _note(self, kind: str, value: Any) -> None:
        data = json.dumps([kind, value]).encode() + b"\n"
        while data:
            data = data[self._lines.write(data) or 0 :]


def read_doing(folder: Path) -> str:
    """Returns what was being done last, empty if nothing was noted."""
    try:
        return (folder / _DOING).read_bytes().decode(errors="replace").rstrip()
    except FileNotFoundError:
        return ""


def read_remains(folder: Path) -> Remains | None:
    """Returns what a recording left, ``None`` if it died before the freeze began."""
    head, notes, frozen = None, None, None
    steps: list[NotedStep] = []
    under_way: tuple[str, str, str] | None = None
    for kind, value in _entries(folder / _JOURNAL):
        if kind == _HEAD:
            head = loads(base64.b64decode(value))
        elif kind == _NOTES and notes is None:
            notes = _read_notes(value)
        elif kind == _FROZEN:
            frozen = value
        elif kind == _BEGUN:
            under_way = (value[0], value[1], value[2])
        elif kind == _STEP:
            steps.append(NotedStep(**value))
            under_way = None
    if head is None or notes is None:
        return None
    log = folder / TORCH_LOG
    return Remains(head, notes, log.read_bytes() if log.exists() else None, frozen, tuple(steps), under_way)


def _entries(path: Path) -> list[tuple[str, Any]]:
    """Reads the lines; the last one may have been cut off in the middle."""
    if not path.exists():
        return []
    entries = []
    for line in path.read_bytes().splitlines(keepends=True):
        if line.endswith(b"\n"):
            kind, value = json.loads(line)
            entries.append((kind, value))
    return entries


def _read_notes(value: dict[str, Any]) -> FreezeNotes:
    methods = tuple(MethodNotes(**(each | {"modules": tuple(each["modules"])})) for each in value["methods"])
    return FreezeNotes(methods, tuple(value["attributes"]))
