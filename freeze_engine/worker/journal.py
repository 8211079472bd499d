"""Journal of a recording, written while it runs and read after its process has died.

A folder holds, beside the request, a file with one JSON object per line for facts, and a file of fixed
size for the current activity. Both are written without buffers: what was written when the process dies stays.
Each line about the trace holds only its new parts, so that a backend can write it as it grows.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from freeze_engine.backends.common.observer import FreezeNotes, MethodNotes, NotedStep
from freeze_engine.backends.torchscript.post_mortem import Place, Remains
from freeze_engine.serde import MAX_BYTES, SCHEMA_VERSION, Instalments, joined
from freeze_engine.trace import Trace
from freeze_engine.worker.left_files import read_left
from freeze_engine.worker.strict import read_fields, read_object

TORCH_LOG = "torch.log"
_JOURNAL = "journal.jsonl"
_NOW = "now"
_NOW_BYTES = 8192
_PLACE_PARTS = 3
_TEXT_CHARACTERS = 200
_TRACE, _NOTES, _FROZEN, _STEP = "trace", "notes", "frozen", "step"


@dataclass(frozen=True, slots=True)
class _Own:
    """A file of the journal, with the identity of its descriptor: a model may close it, and reuse the number."""

    file: IO[bytes]
    status: os.stat_result

    def check(self) -> None:
        if not os.path.samestat(os.fstat(self.file.fileno()), self.status):
            raise OSError(errno.EBADF, "the model closed the journal's descriptor")


class Journal:
    """Writes the journal of a recording; if writing fails, the recording continues without it.

    Args:
        folder: an existing folder that is this recording's own.

    Attributes:
        lost: why writing stopped, in the system's words; ``None`` while it works.
    """

    def __init__(self, folder: Path) -> None:
        self.lost: str | None = None
        self._files = ExitStack()
        self._texts: dict[str, str] = {}
        self._instalments = Instalments(SCHEMA_VERSION)
        self._doing = ""
        self._place: Place | None = None
        self._now = self._opened(folder / _NOW, "w+b")
        self._lines = self._opened(folder / _JOURNAL, "ab")
        self._note_now()

    def close(self) -> None:
        """Closes the files."""
        with suppress(OSError):  # the model may have closed them
            self._files.close()

    def doing(self, what: str) -> None:
        """Notes the current activity."""
        self._doing = what
        self._note_now()

    def under_way(self, place: Place | None) -> None:
        """Notes the pass that runs now, ``None`` if it has ended."""
        self._place = place
        self._note_now()

    def trace(self, trace: Trace) -> None:
        """Notes the trace so far: as noted before, with steps added."""
        if self.lost is None:
            self._note(_TRACE, self._instalments.next(trace))

    def notes(self, notes: FreezeNotes) -> None:
        """Notes the facts that are known when ``_freeze_module`` begins."""
        self._note(_NOTES, asdict(notes))

    def frozen(self, graphs: Mapping[str, str]) -> None:
        """Notes the graphs after ``_freeze_module``."""
        self._texts |= graphs
        self._note(_FROZEN, dict(graphs))

    def ended(self, step: NotedStep) -> None:
        """Notes that a pass has ended; a graph is written only where it differs from the one before."""
        fields = asdict(step)
        if self._texts.get(step.method) == step.text:
            fields["text"] = None
        elif step.text is not None:
            self._texts[step.method] = step.text
        self._note(_STEP, fields)
        self.under_way(None)

    def _opened(self, path: Path, mode: str) -> _Own | None:
        try:
            file = self._files.enter_context(path.open(mode, buffering=0))
            return _Own(file, os.fstat(file.fileno()))
        except OSError as error:
            self._lose(error)
            return None

    def _note(self, kind: str, value: Any) -> None:
        if self.lost is not None or self._lines is None:
            return
        data = json.dumps([kind, value]).encode() + b"\n"
        try:
            self._lines.check()
            while data:
                data = data[self._lines.file.write(data) or 0 :]
        except OSError as error:
            self._lose(error)
            self._note_now()  # its file has its size already, so that a full disk does not matter to it

    def _note_now(self) -> None:
        if self._now is None:
            return
        place = self._place and [text and text[:_TEXT_CHARACTERS] for text in self._place]
        now = {"doing": self._doing[:_TEXT_CHARACTERS], "place": place, "lost": self.lost}
        try:
            self._now.check()
            os.pwrite(self._now.file.fileno(), json.dumps(now).encode().ljust(_NOW_BYTES), 0)
        except OSError as error:
            self._lose(error)

    def _lose(self, error: OSError) -> None:
        self.lost = self.lost or error.strerror or str(error)


@dataclass(frozen=True, slots=True)
class Now:
    """The last activity of a recording.

    Attributes:
        doing: a description, empty if nothing was noted.
        place: the pass that ran; ``None`` if none did.
        lost: why the journal ends before the recording did, ``None`` if it does not.
    """

    doing: str = ""
    place: Place | None = None
    lost: str | None = None


@dataclass(frozen=True, slots=True)
class _NotedNow:
    doing: str
    place: tuple[str | None, ...] | None
    lost: str | None


def read_now(folder: Path) -> Now:
    """Returns the last activity."""
    try:
        given = read_fields(_NotedNow, read_object(read_left(folder / _NOW, _NOW_BYTES)))
    except (OSError, ValueError):
        return Now()
    if given.place is not None and len(given.place) != _PLACE_PARTS:
        return Now()
    stage, name, method = given.place or ("", "", None)
    return Now(given.doing, None if given.place is None else (stage or "", name or "", method), given.lost)


def holds_steps(folder: Path) -> bool:
    """Returns whether a journal has any step, without reading all of it."""
    return any(kind == _NOTES or (kind == _TRACE and value["steps"]) for kind, value in _entries(folder / _JOURNAL))


def read_remains(folder: Path) -> Remains | None:
    """Returns the remains of a recording, ``None`` if it died before it had the model."""
    notes, frozen = None, None
    instalments = []
    steps: list[NotedStep] = []
    for kind, value in _entries(folder / _JOURNAL):
        if kind == _TRACE:
            instalments.append(value)
        elif kind == _NOTES and notes is None:
            notes = _read_notes(value)
        elif kind == _FROZEN:
            frozen = value
        elif kind == _STEP:
            steps.append(NotedStep(**value | {"passes": tuple(value["passes"])}))
    trace = joined(instalments, SCHEMA_VERSION, MAX_BYTES)
    if trace is None:
        return None
    log = folder / TORCH_LOG
    noted = log.read_bytes() if log.exists() else None
    return Remains(trace, notes, noted, frozen, tuple(steps), read_now(folder).place)


def _entries(path: Path) -> Iterator[tuple[str, Any]]:
    """Reads the lines lazily; the last one may have been cut off in the middle."""
    if not path.exists():
        return
    with path.open("rb") as lines:
        for line in lines:
            if line.endswith(b"\n"):
                kind, value = json.loads(line)
                yield kind, value


def _read_notes(value: dict[str, Any]) -> FreezeNotes:
    methods = tuple(MethodNotes(**(each | {"modules": tuple(each["modules"])})) for each in value["methods"])
    return FreezeNotes(methods, tuple(value["attributes"]))
