"""Names of the traces of one process that no other process of the same folder uses at the same time."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

from freeze_engine.process.posix import try_lock

SUFFIX: Final = ".fztrace"
#: A file's time comes from a coarser clock than the system's (Linux: up to 10 ms).
_COARSE_NS: Final = 20_000_000


class TraceNames:
    """Gives the traces of a process their names.

    Two runs of one script may write into one folder at the same time, and a system uses the number of a process again
    when that has ended. So the first trace of a run is locked until the run ends, and a child process takes another
    name where a file of the same run has its own. A second run is ``STEM-run1234``, a child process ``STEM-p1234``.

    Args:
        folder: of the traces.
        stem: what their names begin with.
        process: number of a child process, ``None`` for the process that the user started.
        began_ns: when the run began.
    """

    def __init__(self, folder: Path, stem: str, process: int | None, began_ns: int) -> None:
        self._folder = folder
        self._lock: int | None = None
        self._is_main = process is None
        tags = self._tags(process)
        self._start = next(start for start in (f"{stem}{tag}" for tag in tags) if not self._is_taken(start, began_ns))

    def of(self, number: int) -> str:
        """Returns the name of the trace with a number."""
        return f"{self._start}-{number}{SUFFIX}"

    def take(self, number: int) -> None:
        """Keeps other runs from a name whose trace has been written; the lock ends with this process."""
        if number != 1 or not self._is_main:
            return
        self._release()
        with contextlib.suppress(OSError):  # a file system without locks
            self._lock = os.open(self._folder / self.of(1), os.O_RDONLY)
            try_lock(self._lock)

    def _tags(self, process: int | None) -> list[str]:
        number = os.getpid() if process is None else process
        own = f"-run{number}" if process is None else f"-p{number}"
        tags = [own, *(f"{own}.{turn}" for turn in range(2, 100))]
        return ["", *tags, ""] if process is None else [*tags, own]

    def _is_taken(self, start: str, began_ns: int) -> bool:
        """Returns whether another process of now, or an ended one of this run, writes traces of these names."""
        first = self._folder / f"{start}-1{SUFFIX}"
        if not self._is_main:
            try:
                return first.stat().st_mtime_ns >= began_ns - _COARSE_NS
            except OSError:
                return False
        return _is_locked(first)

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _is_locked(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        try_lock(descriptor)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(descriptor)
    return False
