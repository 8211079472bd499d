"""The processes that a worker started, the memory they take, and their end; by ``/proc``, so on Linux only."""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_VARIABLE: Final = "FREEZER_WORKER"
_KIB: Final = 1 << 10
_ENDED: Final = "ZX"
#: Time for a process to end, such as one with much memory to release.
_DEATH_S: Final = 0.5
#: A process may start others while it is killed: the search is repeated, but not without limit.
_ROUNDS: Final = 20
#: Wait for a process that is loading its program.
_LOADING_S: Final = 0.05
#: Parent of the kernel's own threads, which have no environment.
_KERNEL: Final = 2

HAS_PROC = (_PROC / "self" / "stat").exists()
"""Whether other processes can be seen here."""


@dataclass(frozen=True, slots=True)
class _Status:
    """One process, from ``/proc/PID/stat``.

    Attributes:
        pid: its id.
        state: one letter, ``Z`` for one that has ended.
        parent: id of its parent.
        session: id of the leader of its session.
        started: when, in ticks since boot; with ``pid`` it names a process for all time.
    """

    pid: int
    state: str
    parent: int
    session: int
    started: int


class ProcessTree:
    """The first process of a worker and all that descend from it, also those that left its session or their parents.

    A process belongs to the tree by its session, by its parent, or by an inherited mark in its environment.
    """

    def __init__(self) -> None:
        self._mark = secrets.token_hex(8)
        self._root: int | None = None
        self._verdicts: dict[tuple[int, int], bool] = {}

    @classmethod
    def of_this_process(cls, root: int) -> ProcessTree:
        """Returns the tree that this process belongs to.

        Args:
            root: id of its first process.
        """
        tree = cls()
        marks = os.environ.get(_VARIABLE, "").split()
        if marks:
            tree._mark = marks[-1]
        tree.begins_with(root)
        return tree

    def marked(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Returns an environment with the mark, in which the first process is to be started.

        Args:
            environment: of the caller; the mark of a worker that the caller itself runs in stays in it.
        """
        marks = [*environment.get(_VARIABLE, "").split(), self._mark]
        return {**environment, _VARIABLE: " ".join(marks)}

    def begins_with(self, pid: int) -> None:
        """Names the first process, the leader of a new session."""
        self._root = pid

    def pids(self) -> list[int]:
        """Returns the ids of all that run, the first process included."""
        return [status.pid for status in self._running()]

    def memory_bytes(self) -> int:
        """Returns the memory of all of them in bytes that the system cannot reclaim without ending them.

        That is anonymous and shared memory, and what of it is swapped out; not pages of files. What processes share
        since a fork counts once. 0 where `HAS_PROC` is false.
        """
        return sum(_own_bytes(pid) for pid in self.pids())

    def takes_more_than(self, limit_bytes: int) -> int | None:
        """Returns `memory_bytes` if that exceeds a limit, else ``None``; cheaper than `memory_bytes` itself."""
        if sum(_resident_bytes(pid) for pid in self.pids()) <= limit_bytes:
            return None
        taken = self.memory_bytes()
        return taken if taken > limit_bytes else None

    def kill(self) -> None:
        """Ends all of them but the calling process, and those that they start meanwhile."""
        if self._root is None:
            return
        # Once the process is gone its group may be as well.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._root, signal.SIGKILL)
        for _ in range(_ROUNDS):
            running, may_be_more = self._look()
            others = [status for status in running if status.pid != os.getpid()]
            for status in others:
                _kill(status)
            if not others:
                if not may_be_more:
                    return
                time.sleep(_LOADING_S)

    def _running(self) -> list[_Status]:
        return self._look()[0]

    def _look(self) -> tuple[list[_Status], bool]:
        """Returns all that run, and whether there may be more: processes that load their programs cannot be asked."""
        members: set[int] = set() if self._root is None else {self._root}
        running = []
        may_be_more = False
        for status in _statuses():
            key = status.pid, status.started
            belongs = self._verdicts.get(key)
            if belongs is None:
                belongs = self._belongs(status, members)
                if belongs is None:
                    may_be_more = True
                else:
                    self._verdicts[key] = belongs
            if belongs:
                members.add(status.pid)
                if status.state not in _ENDED:
                    running.append(status)
        return running, may_be_more

    def _belongs(self, status: _Status, members: set[int]) -> bool | None:
        """Returns whether a process is one of them, ``None`` while that cannot be known."""
        if status.pid == self._root or status.session == self._root or status.parent in members:
            return True
        if status.parent == _KERNEL or status.state in _ENDED:
            return False
        try:
            environment = _environment(status.pid)
        except OSError:  # gone by now, or another user's
            return False
        return None if environment is None else self._mark.encode() in environment


def _statuses() -> Iterator[_Status]:
    """Reads what processes there are, in the order of their ids."""
    if not HAS_PROC:
        return
    for pid in sorted(int(each.name) for each in _PROC.iterdir() if each.name.isdecimal()):
        status = _status(pid)
        if status is not None:
            yield status


def _status(pid: int) -> _Status | None:
    try:
        # The name before it, in brackets, may hold anything.
        fields = (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return _Status(pid, fields[0].decode(), int(fields[1]), int(fields[3]), int(fields[19]))


def _environment(pid: int) -> bytes | None:
    """Returns the environment of one process, ``None`` while it loads its program.

    From the start of an exec until the new program is in place both files are empty.
    """
    folder = _PROC / str(pid)
    environment = (folder / "environ").read_bytes()
    if not environment and not (folder / "cmdline").read_bytes():
        return None
    return environment or (folder / "environ").read_bytes()


def _kill(status: _Status) -> None:
    """Ends a process, if it is still the one that it was, and waits a little for that."""
    with contextlib.suppress(OSError):
        descriptor = os.pidfd_open(status.pid)
        try:
            now = _status(status.pid)
            if now is not None and now.started == status.started:
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                ended = select.poll()
                ended.register(descriptor, select.POLLIN)
                ended.poll(_DEATH_S * 1000)
        finally:
            os.close(descriptor)


def _resident_bytes(pid: int) -> int:
    """Returns the memory of one process; what it shares since a fork counts for each that has it."""
    return _sum_of(_PROC / str(pid) / "status", (b"RssAnon:", b"RssShmem:", b"VmSwap:"))


def _own_bytes(pid: int) -> int:
    """Returns the memory of one process, with its share of the memory shared since a fork (Linux 5.9 and later)."""
    return _sum_of(_PROC / str(pid) / "smaps_rollup", (b"Pss_Anon:", b"Pss_Shmem:", b"SwapPss:"))


def _sum_of(path: Path, names: tuple[bytes, ...]) -> int:
    try:
        lines = path.read_bytes().splitlines()
    except OSError:  # it has ended
        return 0
    return sum(int(line.split()[1]) * _KIB for line in lines if line.startswith(names))
