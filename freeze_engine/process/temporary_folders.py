"""Temporary folders that are removed soon, even those of killed processes."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from freeze_engine.errors import FreezerError
from freeze_engine.process.posix import IS_POSIX, try_lock

#: The prefixes that this software uses; each start of any part of it removes the stale folders of all of them.
_KINDS: Final = (
    "freezer-bisect-",
    "freezer-card-",
    "freezer-check-",
    "freezer-inspection-",
    "freezer-package-",
    "freezer-probe-",
    "freezer-program-",
    "freezer-recording-",
    "freezer-saving-",
    "freezer-search-",
    "freezer-ui-",
)
#: What `tempfile.mkdtemp` puts behind a prefix, and its mode: a folder of the user's may begin with the same words.
_MADE_NAME: Final = "[a-z0-9_]{8}"
_MADE_MODE: Final = 0o700
#: A folder is made first and locked next; what is younger may be between the two.
_YOUNG_S = 60.0


class NoTemporaryFolderError(FreezerError, OSError):
    """No temporary folder can be made."""


_within: Path | None = None


def keep_within(folder: Path) -> None:
    """Makes all temporary folders of this process in one that its caller removes, even if this process is killed."""
    global _within
    _within = folder


@contextlib.contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """Makes a folder for the time of the block, and removes those whose owners are dead.

    An owner holds a lock on its folder, which the system releases however the owner ends. So it does not matter
    whether the owner can be seen from here, as one in another container cannot.

    Args:
        prefix: what its name begins with.

    Yields:
        The folder.

    Raises:
        NoTemporaryFolderError: none can be made.
    """
    with _made(prefix) as folder:
        if not IS_POSIX:  # no lock shows there whether a folder is stale
            yield Path(folder)
            return
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            # On a file system without locks, no process can mistake the folder for a stale one either.
            with contextlib.suppress(OSError):
                try_lock(descriptor)
            yield Path(folder)
        finally:
            os.close(descriptor)


def _made(prefix: str) -> tempfile.TemporaryDirectory[str]:
    try:
        if IS_POSIX:
            _remove_stale({prefix, *_KINDS})
        return tempfile.TemporaryDirectory(prefix=prefix, dir=_within, ignore_cleanup_errors=True)
    except OSError as error:
        raise NoTemporaryFolderError(
            f"no temporary folder can be made: {error.strerror}. Make room, or name another place in TMPDIR."
        ) from error


def _remove_stale(prefixes: set[str]) -> None:
    made = re.compile(f"({'|'.join(map(re.escape, sorted(prefixes)))}){_MADE_NAME}")
    for folder in Path(tempfile.gettempdir()).glob("*"):
        if not made.fullmatch(folder.name):
            continue
        # Folders of other users, and those that another process is removing, are skipped.
        with contextlib.suppress(OSError):
            _remove_if_stale(folder)


def _remove_if_stale(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        status = os.fstat(descriptor)
        is_own = status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) == _MADE_MODE
        if not is_own or time.time() - status.st_mtime < _YOUNG_S:
            return
        try_lock(descriptor)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(descriptor)
