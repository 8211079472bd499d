"""Locks, limits and signals that only POSIX systems have: what stands for them elsewhere, and what is refused.

Traces are opened, shown, compared and checked on any system. Recording in a child process is not: it needs process
groups, signals and limits.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Final

from freeze_engine.errors import FreezerError

IS_POSIX: Final = os.name == "posix" and sys.platform != "win32"

END_SIGNALS: Final[tuple[signal.Signals, ...]] = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""The signals that ask a process to end, as far as this system has them."""


def require_posix(what: str) -> None:
    """Checks that this system can do something that needs POSIX.

    Args:
        what: in words that begin a sentence (``Recording a model``).

    Raises:
        FreezerError: it cannot; the message names the system and a way out.
    """
    if not IS_POSIX:
        raise FreezerError(
            f"{what} needs Linux or macOS, and this is {sys.platform}: record there (on Windows in WSL), and copy the "
            "trace. Traces, frozen files and torch's logs open here."
        )


def try_lock(descriptor: int, *, shared: bool = False) -> None:
    """Locks an open file or folder without waiting; does nothing on a system without such locks.

    Args:
        descriptor: of the file. The lock ends when it is closed.
        shared: whether others may share the lock.

    Raises:
        BlockingIOError: another process holds it.
        OSError: the file system has no locks.
    """
    if IS_POSIX:
        import fcntl

        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


def unlock(descriptor: int) -> None:
    """Releases the lock of `try_lock`."""
    if IS_POSIX:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_UN)


def open_file_limit() -> tuple[int, int] | None:
    """Returns the limits of open files of this process, now and at most; ``None`` on a system without limits."""
    if not IS_POSIX:
        return None
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    endless = sys.maxsize
    return (
        endless if soft == resource.RLIM_INFINITY else soft,
        endless if hard == resource.RLIM_INFINITY else hard,
    )


def set_open_file_limit(soft: int, hard: int) -> None:
    """Sets the limits of open files of this process.

    Args:
        soft, hard: as `open_file_limit` returns them.
    """
    import resource

    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, resource.RLIM_INFINITY if hard == sys.maxsize else hard))
