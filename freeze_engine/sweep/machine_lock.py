"""Keeps recordings that measure apart from each other, on one machine."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from freeze_engine.process.posix import try_lock

_NAME: Final = "freezer-ui-measuring.lock"
_LOOK_S: Final = 0.05
WAITING_FOR_ANY: Final = "waiting: it measures, and something else is being recorded on this machine"
"""The activity of a recording that needs the machine alone."""
WAITING_FOR_MEASURING: Final = "waiting: another recording measures on this machine"
"""The activity of a recording that must not disturb another one."""
_PATH_VARIABLE: Final = "FREEZER_UI_MEASURING_LOCK"


def lock_file() -> Path:
    """Returns the file that all sweeps of this machine lock; a variable may name another."""
    return Path(os.environ.get(_PATH_VARIABLE) or Path(tempfile.gettempdir()) / _NAME)


@contextlib.contextmanager
def machine_share(
    *, alone: bool, is_cancelled: Callable[[], bool], on_wait: Callable[[], None] = lambda: None
) -> Iterator[bool]:
    """Waits until this machine may be used, and holds it for the block.

    A recording that measures has the machine alone; those that do not measure share it. The system releases the lock
    however its process ends.

    Args:
        alone: whether nothing else may be recorded meanwhile.
        is_cancelled: ends the wait.
        on_wait: called once if it is not free at once.

    Yields:
        Whether the machine is held; not so if the wait was cancelled.
    """
    descriptor = _opened(lock_file())
    try:
        is_held = has_waited = False
        while not is_held and not is_cancelled():
            with contextlib.suppress(BlockingIOError):
                try_lock(descriptor, shared=not alone)
                is_held = True
            if not is_held:
                if not has_waited:
                    has_waited = True
                    on_wait()
                time.sleep(_LOOK_S)
        yield is_held
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int:
    # A lock needs no right to write; and in a shared /tmp, Linux refuses O_CREAT for another user's file.
    with contextlib.suppress(FileNotFoundError):
        return os.open(path, os.O_RDONLY)
    descriptor = os.open(path, os.O_RDONLY | os.O_CREAT, 0o644)
    with contextlib.suppress(PermissionError):  # another user has made it meanwhile
        os.fchmod(descriptor, 0o644)  # whatever the umask, or the other users of the machine could not lock it
    return descriptor
