"""Writes a file whole or not at all, also where the process is killed in the midst of it."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, data: bytes, unfinished: Path) -> None:
    """Writes a file, and replaces an existing one only when all of it is there.

    Where the file system has files without a name (``O_TMPFILE``, open(2)), a process that is killed while it writes
    leaves nothing; elsewhere it leaves ``unfinished``.

    Args:
        path: the file.
        data: what to write.
        unfinished: a name in the same folder, taken on the way; the caller removes it after an error.

    Raises:
        OSError: it cannot be written there.
        ValueError: the path holds a null character.
    """
    try:
        _write_nameless(data, unfinished)
    except (OSError, AttributeError):  # no such files here; or nothing can be written, as is found out next
        unfinished.write_bytes(data)
    unfinished.replace(path)


def _write_nameless(data: bytes, name: Path) -> None:
    """Writes a file that has no name before all of it is there."""
    descriptor = os.open(name.parent, os.O_TMPFILE | os.O_WRONLY, 0o666)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        # With a descriptor `os.link` follows the link, as linkat(2) needs it; the path is absolute all the same.
        os.link(f"/proc/self/fd/{descriptor}", name, src_dir_fd=descriptor)
