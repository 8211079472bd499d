"""The folder of a sweep: its traces, one row for each recording, and the table of all rows."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from freeze_engine.errors import FreezerError
from freeze_engine.process.posix import try_lock, unlock
from freeze_engine.process.whole_file import write_files
from freeze_engine.sweep.bounded_json import MAX_MANIFEST_BYTES, MAX_ROW_BYTES, MAX_ROWS_BYTES, parsed, read_bounded
from freeze_engine.sweep.row import SweepRow, read_row, row_text

MANIFEST: Final = "sweep.json"
ROWS: Final = "rows"
TRACES: Final = "traces"
UNFINISHED: Final = "unfinished"
_LOCK: Final = ".lock"
_FORMAT: Final = "freezer-ui sweep"
_VERSION: Final = 1
_SHORT: Final = 8
_LONGEST: Final = 120


@dataclass(frozen=True, slots=True)
class Sweep:
    """Contents of a sweep's folder.

    Attributes:
        name: of the sweep.
        rows: of the recordings that have ended, in the order of the sweep's file.
        waiting: labels of those that have not.
        is_running: whether a process is at work in the folder.
        folder: the folder.
    """

    name: str
    rows: tuple[SweepRow, ...]
    waiting: tuple[str, ...]
    is_running: bool
    folder: Path

    def trace_path(self, row: SweepRow) -> Path | None:
        """Returns the path of a row's trace, ``None`` if it has none."""
        return self.folder / row.trace if row.trace else None


def is_sweep(folder: Path) -> bool:
    """Returns whether a folder is that of a sweep."""
    return (folder / MANIFEST).is_file()


def sweep_name(folder: Path) -> str:
    """Returns the name of a sweep.

    Raises:
        FreezerError: as of `read_sweep`.
    """
    return _manifest(folder)[0]


def read_sweep(folder: Path) -> Sweep:
    """Reads the folder of a sweep, also while it runs.

    Args:
        folder: the folder.

    Raises:
        FreezerError: it is not the folder of a sweep, or a file in it is damaged.
    """
    name, planned = _manifest(folder)
    rows, waiting, left_bytes = [], [], MAX_ROWS_BYTES
    for key, label in planned:
        text = _row_bytes(folder, key)
        left_bytes -= len(text or b"")
        if left_bytes < 0:
            raise FreezerError(f"{folder}: the rows have more than {MAX_ROWS_BYTES} bytes, and are not read")
        row = None if text is None else _read_row(folder, key, text)
        if row is None:
            waiting.append(label)
        else:
            rows.append(row)
    return Sweep(name, tuple(rows), tuple(waiting), _is_locked(folder), folder)


def finished_row(folder: Path, key: str) -> SweepRow | None:
    """Returns the row of a recording that has ended, ``None`` if it has not.

    Raises:
        FreezerError: the row's file is damaged.
    """
    text = _row_bytes(folder, key)
    return None if text is None else _read_row(folder, key, text)


def _row_path(folder: Path, key: str) -> Path:
    return folder / ROWS / f"{key}.json"


def _row_bytes(folder: Path, key: str) -> bytes | None:
    path = _row_path(folder, key)
    try:
        return read_bounded(path, MAX_ROW_BYTES)
    except FileNotFoundError:
        return None
    except (OSError, FreezerError) as error:
        raise _unreadable(path, error) from error


def _read_row(folder: Path, key: str, text: bytes) -> SweepRow:
    try:
        row = read_row(text)
    except FreezerError as error:
        raise _unreadable(_row_path(folder, key), error) from error
    # The folder may come from elsewhere: a row names a file inside of it, or none.
    is_inside = re.fullmatch(rf"{TRACES}/[^/\0]+", row.trace) is not None
    return row if is_inside or not row.trace else replace(row, trace="")


def _unreadable(path: Path, error: Exception) -> FreezerError:
    return FreezerError(f"{path}: the row cannot be read: {error}; remove it to record it anew")


@contextlib.contextmanager
def at_work(folder: Path) -> Iterator[None]:
    """Makes the folder, and keeps other sweeps out of it for the block, however this process ends.

    Raises:
        FreezerError: another process is at work in it, it holds something else, or it cannot be made.
    """
    try:
        if holds_something_else(folder):
            raise FreezerError(f"{folder} holds something else; choose a folder that is empty or not there")
        for part in (ROWS, TRACES):
            (folder / part).mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise FreezerError(f"{folder}: the folder of the sweep cannot be made: {error.strerror}") from error
    try:
        _lock(descriptor, folder)
        shutil.rmtree(folder / UNFINISHED, ignore_errors=True)  # left behind by a sweep that was killed
        (folder / UNFINISHED).mkdir()
        try:
            yield
        finally:
            shutil.rmtree(folder / UNFINISHED, ignore_errors=True)
    finally:
        os.close(descriptor)


def holds_something_else(folder: Path) -> bool:
    """Returns whether a folder has files, and is not that of a sweep, also one that was killed when it began.

    Raises:
        OSError: it cannot be read.
    """
    if is_sweep(folder) or not folder.exists():
        return False
    return not {path.name for path in folder.iterdir()} <= {ROWS, TRACES, UNFINISHED, _LOCK}


def _lock(descriptor: int, folder: Path) -> None:
    """Locks the folder for this process.

    Raises:
        FreezerError: another process is at work in it, or its file system has no locks.
    """
    try:
        while True:
            with contextlib.suppress(BlockingIOError):
                return try_lock(descriptor)
            # A reader that looks whether a sweep runs (`_is_locked`) shares the lock for a moment; a sweep does not.
            try_lock(descriptor, shared=True)
            unlock(descriptor)
    except BlockingIOError as error:
        raise FreezerError(f"{folder}: another sweep is at work in this folder; wait for its end, or end it") from error
    except OSError as error:
        raise FreezerError(f"{folder}: the folder cannot be locked: {error.strerror}; choose a local one") from error


def write_manifest(folder: Path, name: str, planned: Iterable[tuple[str, str]]) -> None:
    """Writes which recordings the sweep has.

    Args:
        folder: of the sweep.
        name: of the sweep.
        planned: key and label of each recording, in their order.
    """
    rows = [{"key": key, "label": label} for key, label in planned]
    document = {"format": _FORMAT, "version": _VERSION, "name": name, "rows": rows}
    write_files({folder / MANIFEST: json.dumps(document, ensure_ascii=False, indent=1).encode()})


def finish_row(folder: Path, row: SweepRow, unfinished: Path | None) -> SweepRow:
    """Moves a recording's trace to its place, and writes its row: from then on the recording has ended.

    Args:
        folder: of the sweep.
        row: without the path of the trace.
        unfinished: the trace as it was recorded, in the same file system, ``None`` if there is none.

    Returns:
        The row with the path.
    """
    if unfinished is not None:
        name = f"{_file_name(row)}.fztrace"
        unfinished.replace(folder / TRACES / name)
        row = replace(row, trace=f"{TRACES}/{name}")
    write_files({folder / ROWS / f"{row.key}.json": row_text(row).encode()})
    return row


def _file_name(row: SweepRow) -> str:
    words = "-".join(filter(None, (row.model, row.options, row.backend, row.environment)))
    plain = re.sub(r"[^\w.-]+", "_", words).lstrip(".")
    # File systems limit the bytes of a name.
    return f"{plain.encode()[:_LONGEST].decode(errors='ignore')}-{row.key[:_SHORT]}"


def _manifest(folder: Path) -> tuple[str, list[tuple[str, str]]]:
    path = folder / MANIFEST
    try:
        document = parsed(read_bounded(path, MAX_MANIFEST_BYTES))
        version = document["version"]
        planned = [(str(row["key"]), str(row["label"])) for row in document["rows"]]
        name = str(document["name"])
    except FileNotFoundError as error:
        raise FreezerError(f"{folder} is not the folder of a sweep: it has no {MANIFEST}") from error
    except (OSError, FreezerError, KeyError, TypeError) as error:
        raise FreezerError(f"{path} is damaged: {error}; run the sweep again, which does nothing twice") from error
    if version != _VERSION:
        raise FreezerError(
            f"{path} is of version {version!r}, and this is version {_VERSION}: install a newer freezer-ui"
        )
    damaged = next((key for key, _ in planned if not re.fullmatch(r"\w{1,64}", key)), None)
    if damaged is not None:
        raise FreezerError(f"{path} is damaged: {damaged!r:.80} is no key of a row")
    return name, planned


def _is_locked(folder: Path) -> bool:
    try:
        descriptor = os.open(folder / _LOCK, os.O_RDONLY)
    except OSError:
        return False
    try:
        try_lock(descriptor, shared=True)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
