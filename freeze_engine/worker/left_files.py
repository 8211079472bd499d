"""Reads files from the folder of a sandboxed process, which may hold anything, such as links."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO, Final

_CHUNK_BYTES: Final = 1 << 20


def open_left(path: Path) -> IO[bytes]:
    """Opens a regular file for reading; a link is not followed, a pipe not waited for.

    Args:
        path: of the file; its folder is the caller's own.

    Raises:
        OSError: it is missing, or something else than a regular file.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path.name} is no regular file")
    return os.fdopen(descriptor, "rb")


def read_left(path: Path, most_bytes: int) -> bytes:
    """Returns the beginning of a file.

    Args:
        path: as for `open_left`.
        most_bytes: how much of it.

    Raises:
        OSError: as for `open_left`.
    """
    with open_left(path) as stream:
        return stream.read(most_bytes)


def copy_left(path: Path, target: Path, most_bytes: int) -> None:
    """Copies a file to a new one, so that the sandboxed process cannot change it any more.

    Args:
        path: as for `open_left`.
        target: path of the copy; it must not exist.
        most_bytes: how large it may be.

    Raises:
        OSError: as for `open_left`, or the file is larger, or cannot be written.
    """
    left_bytes = most_bytes
    with open_left(path) as stream, target.open("xb") as copy:
        while chunk := stream.read(min(_CHUNK_BYTES, left_bytes + 1)):
            left_bytes -= len(chunk)
            if left_bytes < 0:
                raise OSError(f"{path.name} has more than {most_bytes} bytes")
            copy.write(chunk)


def write_for(path: Path, text: str) -> None:
    """Writes a file into the folder, in place of whatever is there under its name.

    Args:
        path: of the file.
        text: what to write.

    Raises:
        OSError: it cannot be written.
    """
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
