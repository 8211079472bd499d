"""The most memory that a piece of work takes, as the operating system counts it.

A thread that looks now and then would not see a freeze: that holds the interpreter lock. The kernel keeps the peak by
itself. On Linux, writing 5 to ``/proc/self/clear_refs`` sets it back to what is resident now (proc(5), Linux 4.0);
elsewhere, and where that file may not be written, the peak is unknown.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PROCESS = Path("/proc/self")
_RESET_PEAK = "5"


@dataclass(slots=True)
class Peak:
    """The memory that a piece of work took.

    Attributes:
        nbytes: the most that was resident in this process beyond what was before, once it is over; ``None`` where
            unknown. Memory that the process had freed but not given back counts as what was before.
    """

    nbytes: int | None = None


@contextlib.contextmanager
def peak_memory(wanted: bool = True, process: Path = _PROCESS) -> Iterator[Peak]:
    """Notes the peak of resident memory during the body, which it does not slow down.

    The process's own record of its peak (``VmHWM``, ``getrusage``) starts anew with it.

    Args:
        wanted: whether to look at all; the peak is unknown without.
        process: the process's folder in the kernel's file system.

    Yields:
        The result, filled in at the end.
    """
    peak = Peak()
    if not wanted:
        yield peak
        return
    try:
        (process / "clear_refs").write_text(_RESET_PEAK)
        before = _status_bytes(process, "VmRSS")
    except OSError:
        before = None
    try:
        yield peak
    finally:
        after = None if before is None else _status_bytes(process, "VmHWM")
        if before is not None and after is not None:
            peak.nbytes = max(0, after - before)


def _status_bytes(process: Path, name: str) -> int | None:
    for line in (process / "status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return None
