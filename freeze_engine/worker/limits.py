"""Limits of a worker, for all its processes together, and the guard that ends it when it exceeds them."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from freeze_engine.errors import FreezerError
from freeze_engine.worker.process_tree import HAS_PROC, ProcessTree

MEMORY_LIMIT: Final = "memory limit"
PROCESS_LIMIT: Final = "process limit"
DISK_LIMIT: Final = "disk limit"
LimitName = Literal["memory limit", "process limit", "disk limit"]

_LOOK_S: Final = 0.05
#: The watch takes at most this fraction (one over the number) of a processor, whatever else runs on the machine.
_SHARE: Final = 50
_MIB: Final = 1 << 20
#: Of a sandboxed worker. Inductor compiles with a process for each core, and each runs a compiler.
_PROCESSES: Final = 512
_MOST_OF_MEMORY: Final = 0.8
_FOLDER_BYTES: Final = 8 << 30
_BLOCK_BYTES: Final = 16 << 10
#: What Python, torch and its libraries reserve without using it (torch 2.13 on the CPU: 110 MiB, stacks apart).
_RESERVED_BYTES: Final = 256 * _MIB
_STACK_BYTES: Final = 8 * _MIB
#: Messages of Python, torch's allocator (c10/core/impl/alloc_cpu.cpp, torch 2.13) and C++ when memory is refused.
_REFUSALS: Final = ("MemoryError", "not enough memory", "Cannot allocate memory", "can't allocate memory", "bad_alloc")
_UNITS: Final = ("bytes", "KiB", "MiB", "GiB", "TiB")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for all processes of a worker together.

    Attributes:
        memory_bytes: anonymous and shared memory, swapped out or not; ``None`` for no limit.
        processes: how many may run at a time; ``None`` for no limit.
        folder_bytes: how much the files in the job's folder may take on the disk; ``None`` for no limit.
    """

    memory_bytes: int | None = None
    processes: int | None = None
    folder_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Excess:
    """A limit that a worker exceeded.

    Attributes:
        limit: which one.
        message: how much it took, and what it may take, as part of a sentence.
    """

    limit: LimitName
    message: str


class LimitWatch:
    """Watches the resources of a worker's processes on a separate thread, and ends the worker if it exceeds a limit.

    Args:
        tree: the processes.
        limits: their limits.
        end: ends them; called once, on the thread.
        folder: of the job.

    Attributes:
        excess: the limit that was passed, ``None`` if none was.
    """

    def __init__(self, tree: ProcessTree, limits: Limits, end: Callable[[], None], folder: Path | None = None) -> None:
        self._folder = folder
        self.excess: Excess | None = None
        self._tree = tree
        self._limits = limits
        self._end = end
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._look, name="limits of a worker", daemon=True)

    def start(self) -> None:
        """Starts the watch, if there is a limit."""
        if self._limits != Limits():
            self._thread.start()

    def stop(self) -> None:
        """Stops the watch and waits for its end."""
        self._stopped.set()
        if self._thread.ident is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def is_far_exceeded(self) -> bool:
        """Returns whether the worker takes half as much again as a limit allows, so that it must be killed at once."""
        limits = self._limits
        raised = (limits.memory_bytes, limits.processes, limits.folder_bytes)
        return self._found(Limits(*(None if most is None else most + most // 2 for most in raised))) is not None

    def _look(self) -> None:
        pause_s = 0.0
        while not self._stopped.wait(pause_s):
            began_s = time.thread_time()
            self.excess = self._found(self._limits)
            if self.excess is not None:
                self._end()
                return
            pause_s = max(_LOOK_S, (time.thread_time() - began_s) * _SHARE)

    def _found(self, limits: Limits) -> Excess | None:
        most, limit_bytes = limits.processes, limits.memory_bytes
        if most is not None and len(self._tree.pids()) > most:
            return Excess(PROCESS_LIMIT, f"it started more than {most} processes, its limit")
        most_bytes = limits.folder_bytes
        if most_bytes is not None and self._folder is not None and disk_bytes(self._folder) > most_bytes:
            return Excess(DISK_LIMIT, f"its files took more than {size_text(most_bytes)} of the disk, their limit")
        taken = None if limit_bytes is None else self._tree.takes_more_than(limit_bytes)
        if taken is None or limit_bytes is None:
            return None
        text = f"it took {size_text(taken)} of memory, more than its limit of {size_text(limit_bytes)}"
        return Excess(MEMORY_LIMIT, text)


def confined_limits(limits: Limits) -> Limits:
    """Returns the limits of a sandboxed worker: the requested ones, and defaults for the others.

    Args:
        limits: as requested.
    """
    memory_bytes = limits.memory_bytes or int(_MOST_OF_MEMORY * _machine_bytes())
    return Limits(memory_bytes, limits.processes or _PROCESSES, limits.folder_bytes or _FOLDER_BYTES)


def _machine_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def disk_bytes(folder: Path) -> int:
    """Returns the disk space of a folder's files in bytes; links in it are not followed.

    Args:
        folder: of a job. Each file counts for a block at least, so that the number of empty files is limited, too.
    """
    taken = 0
    waiting = [str(folder)]
    while waiting and taken <= _FOLDER_BYTES:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                taken += _taken_bytes(entry, waiting)
                if taken > _FOLDER_BYTES:
                    break
    return taken


def _taken_bytes(entry: os.DirEntry[str], folders: list[str]) -> int:
    """Returns the disk space of one entry, and adds it to the folders if it is one."""
    with contextlib.suppress(OSError):  # removed meanwhile
        if entry.is_dir(follow_symlinks=False):
            folders.append(entry.path)
        return max(entry.stat(follow_symlinks=False).st_blocks * 512, _BLOCK_BYTES)
    return 0


def require_limits(limits: Limits) -> None:
    """Checks that limits can be held here.

    Raises:
        FreezerError: they cannot.
    """
    if limits != Limits() and not HAS_PROC:
        raise FreezerError("a memory limit needs /proc, as on Linux: what processes take cannot be seen here; leave it")


def limit_this_process(memory_bytes: int) -> None:
    """Makes the system refuse allocations beyond any limit, for this process and each that it starts.

    So an allocation that is far too large fails at once, and the process can report where, before the machine swaps.
    Memory that is reserved but unused counts here, in contrast to `LimitWatch`; so there is room for it.

    Args:
        memory_bytes: the limit of the worker.
    """
    import resource  # this runs in the worker, which only POSIX systems have

    threads = max(os.cpu_count() or 1, 16)
    wanted = memory_bytes + _RESERVED_BYTES + 2 * threads * _STACK_BYTES
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def was_refused(text: str) -> bool:
    """Returns whether an error's text, or what a process printed last, says that memory was refused."""
    return any(refusal in text for refusal in _REFUSALS)


def refused_text(memory_bytes: int) -> str:
    """Returns the message for a process with a limit that was refused memory, as part of a sentence."""
    return f"it needed more memory than its limit of {size_text(memory_bytes)} leaves"


def size_text(size_bytes: int) -> str:
    """Returns a size with a unit, such as ``1.5 GiB``."""
    size, unit = float(size_bytes), 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:.4g} {_UNITS[unit]}"
