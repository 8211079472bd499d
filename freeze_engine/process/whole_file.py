"""Writes files completely or not at all, even if the process is killed while it writes."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Mapping
from pathlib import Path


def write_whole(path: Path, data: bytes, unfinished: Path) -> None:
    """Writes a file, and replaces an existing one only when the new one is complete.

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
    _write(data, unfinished)
    unfinished.replace(path)


def write_files(files: Mapping[Path, bytes]) -> None:
    """Writes files, each whole or not at all; none is replaced before all are written.

    Args:
        files: what to write, by path. A link is followed.

    Raises:
        OSError: one cannot be written; ``filename`` is the path that was given.
    """
    moves: list[tuple[Path, Path, Path]] = []
    current = Path()
    try:
        for path, data in files.items():
            current = path
            if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113 - Path's raise for long names
                raise OSError(errno.EINVAL, "it is not an ordinary file (a folder, device or pipe)")
            target = Path(os.path.realpath(path))
            unfinished = target.parent / f".{secrets.token_hex(8)}.unfinished"
            moves.append((path, unfinished, target))
            _write(data, unfinished)
        for path, unfinished, target in moves:
            current = path
            unfinished.replace(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(current)) from error
    finally:
        # After success it is gone; after a failure the user needs to see the original error.
        for _, unfinished, _ in moves:
            with contextlib.suppress(OSError):
                unfinished.unlink()


def _write(data: bytes, unfinished: Path) -> None:
    try:
        _write_nameless(data, unfinished)
    except (OSError, AttributeError):  # no such files here; or nothing can be written, as is found out next
        unfinished.write_bytes(data)


def _write_nameless(data: bytes, name: Path) -> None:
    """Writes a file that has no name before it is complete."""
    descriptor = os.open(name.parent, os.O_TMPFILE | os.O_WRONLY, 0o666)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        # With a descriptor `os.link` follows the link, as linkat(2) needs it; the path is absolute all the same.
        os.link(f"/proc/self/fd/{descriptor}", name, src_dir_fd=descriptor)
