"""The list of recent traces, and the folder of the recordings made from the page."""

from __future__ import annotations

import json
import os
import re
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any, Final

import platformdirs

import freeze_engine as fe
from freeze_engine import analysis, process

MAX_RECENT: Final = 50
"""Most entries in the list of recent traces."""

_APPLICATION: Final = "freezer-ui"
_RECORDING: Final = re.compile(r"-\d{8}-\d{6}(-\d+)?\.fztrace$")
#: A file is created first and locked next; a younger file may be between the two.
_YOUNG_S: Final = 60.0
#: Descriptors of the empty files that this process has created; a lock on each shows that the process lives.
_CLAIMED: dict[Path, int] = {}
_NOT_IN_NAMES: Final = re.compile(r"[^\w.+-]+")


@dataclass(frozen=True, slots=True)
class RecentTrace:
    """Entry of the list of recent traces.

    Attributes:
        path: absolute path of its file.
        name: of its model.
        backend: that recorded it.
        torch: the version that recorded it.
        created: UTC, ISO 8601.
        steps: their number.
        failed: the exception's name if the freeze failed.
        ending: how the recording ended if it did not finish, in a word or two (``cancelled``); ``None`` also in
            entries of earlier versions.
        nodes: their number in the last step's graph, nested ones included.
        unmeasured: requested measurements that failed, and why; ``None`` if none failed.
        verdict: the sentence of its summary, ``None`` in entries of earlier versions.
    """

    path: str
    name: str
    backend: str
    torch: str
    created: str
    steps: int
    failed: str | None
    nodes: int | None
    unmeasured: str | None = None
    verdict: str | None = None
    ending: str | None = None


#: Words for the kinds of `fe.analysis.failure_kind` that are no failure of the freeze.
_ENDINGS: Final = {"cancelled": "cancelled", "died": "crashed", "time limit": "out of time"}
_LIMIT: Final = "over its limit"


def recent_trace(trace: fe.Trace, path: Path, verdict: str | None = None) -> RecentTrace:
    """Returns a trace's entry in the list of recent traces.

    Args:
        trace: the recording.
        path: its file.
        verdict: the sentence of its summary; computed by default.
    """
    unmeasured = analysis.unmeasured(trace)
    return RecentTrace(
        path=str(path),
        name=trace.name,
        backend=trace.backend,
        torch=trace.environment.torch,
        created=trace.created,
        steps=len(trace.steps),
        failed=trace.failure.type if trace.failure else None,
        nodes=sum(1 for _ in trace.steps[-1].graph.walk()) if trace.steps else None,
        unmeasured=None if unmeasured is None else str(unmeasured),
        verdict=fe.summarize(trace).sentence if verdict is None else verdict,
        ending=_ending(trace),
    )


def _ending(trace: fe.Trace) -> str | None:
    if trace.failure is None:
        return None
    kind = analysis.failure_kind(trace.failure)
    if kind == "failed":
        return "recording failed" if trace.failure.stage in ("build", "measure") else "freeze failed"
    return _ENDINGS.get(kind, _LIMIT)


class Library:
    """The list of recent traces, in a file that several servers may share.

    Args:
        file: that holds the list; by default in the user's state folder.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file or Path(platformdirs.user_state_dir(_APPLICATION)) / "recent.json"

    def view(self) -> dict[str, Any]:
        """Returns the page's data: the examples, and the recent traces with whether their file is missing."""
        return {
            "examples": [
                {"name": example.name, "summary": example.summary, "shows": example.shows}
                for example in fe.EXAMPLES.values()
            ],
            "recent": [asdict(entry) | {"missing": not Path(entry.path).is_file()} for entry in self._read()],
        }

    def remember(self, *entries: RecentTrace) -> bool:
        """Puts traces first in the list.

        Returns:
            Whether the list changed.
        """
        before = self._read()
        paths = {entry.path for entry in entries}
        after = [*entries, *(entry for entry in before if entry.path not in paths)][:MAX_RECENT]
        if after == before:
            return False
        self._write(after)
        return True

    def forget(self, path: str) -> None:
        """Removes a trace from the list; its file stays."""
        self._write([entry for entry in self._read() if entry.path != path])

    def _read(self) -> list[RecentTrace]:
        """Returns the list; skips invalid entries, as in a damaged file."""
        try:
            rows = json.loads(self._file.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return []
        found = [_entry(row) for row in rows] if isinstance(rows, list) else []
        return [entry for entry in found if entry is not None]

    def _write(self, entries: list[RecentTrace]) -> None:
        """Replaces the file atomically; if that fails, the change is lost and nothing else."""
        text = json.dumps([asdict(entry) for entry in entries], indent=1)
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            process.write_files({self._file: text.encode()})
        except OSError:  # such as a full disk
            return


def recordings_folder() -> Path:
    """Returns the folder of the recordings made from the page, in the user's data folder; it need not exist yet."""
    return Path(platformdirs.user_data_dir(_APPLICATION)) / "recordings"


def new_recording(folder: Path, name: str, now: datetime) -> Path:
    """Creates an empty file for a recording, so that no other recording can take its name.

    Args:
        folder: where to put it.
        name: of the model.
        now: local time.

    Raises:
        FreezerError: the folder is not writable.
    """
    stem = f"{_NOT_IN_NAMES.sub('-', name).strip('-.')[:80] or 'model'}-{now:%Y%m%d-%H%M%S}"
    names = (f"{stem}.fztrace" if number == 1 else f"{stem}-{number}.fztrace" for number in count(1))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return next(path for name in names if _is_new(path := folder / name))
    except OSError as error:
        raise fe.FreezerError(
            f"a recording cannot be written to {folder}: {error.strerror}; make room there, or name another data "
            "folder in XDG_DATA_HOME"
        ) from error


def _is_new(path: Path) -> bool:
    """Creates and locks a file; returns false if one of that name exists."""
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    except FileExistsError:
        return False
    if not process.IS_POSIX:  # an open file could not be replaced there
        os.close(descriptor)
        return True
    _CLAIMED[path] = descriptor
    with suppress(OSError):  # a file system without locks
        process.try_lock(descriptor)
    return True


def drop_if_empty(path: Path) -> None:
    """Releases the file of a recording, and removes it if the recording left no trace."""
    if (descriptor := _CLAIMED.pop(path, None)) is not None:
        os.close(descriptor)
    if path.is_file() and path.stat().st_size == 0:
        path.unlink()


def drop_abandoned(folder: Path) -> None:
    """Removes the empty files of recordings whose server was killed: no process holds their locks any more.

    Args:
        folder: of the recordings; it need not exist.
    """
    for path in folder.glob("*.fztrace") if process.IS_POSIX and folder.is_dir() else ():
        if _RECORDING.search(path.name):
            # It may belong to another user, or have just become a trace.
            with suppress(OSError):
                _drop_if_abandoned(path)


def _drop_if_abandoned(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        status = os.fstat(descriptor)
        if status.st_size > 0 or time.time() - status.st_mtime < _YOUNG_S:
            return
        process.try_lock(descriptor)
        if os.path.samestat(path.stat(), status):  # the trace takes the place of the empty file
            path.unlink()
    finally:
        os.close(descriptor)


def _entry(row: object) -> RecentTrace | None:
    if not isinstance(row, dict):
        return None
    try:
        entry = RecentTrace(**row)
    except TypeError:
        return None
    optional = dict.fromkeys(("failed", "unmeasured", "verdict", "ending"), str | None)
    kinds = {"steps": int, "nodes": int | None, **optional}
    fitting = all(isinstance(getattr(entry, each.name), kinds.get(each.name, str)) for each in fields(entry))
    return entry if fitting else None
