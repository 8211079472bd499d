"""Reads the JSON files of a sweep's folder within limits: the folder may come from somebody else."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any, Final

from freeze_engine.errors import FreezerError

MAX_MANIFEST_BYTES: Final = 16 << 20
"""The longest list of recordings that is read."""
MAX_ROW_BYTES: Final = 4 << 20
"""The longest row that is read; most of it is names of preserved attributes."""
MAX_ROWS_BYTES: Final = 128 << 20
"""The most bytes of all rows."""
#: A float has fewer.
_MOST_DIGITS: Final = 300


def read_bounded(path: Path, most_bytes: int) -> bytes:
    """Returns the content of a regular file.

    Args:
        path: of the file, or of a link to it.
        most_bytes: how long it may be.

    Raises:
        FreezerError: it is longer, or something else than a regular file, such as a pipe, which could block.
        OSError: it is missing, or cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FreezerError("it is not an ordinary file")
        data = stream.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise FreezerError(f"it has more than {most_bytes} bytes")
    return data


def parsed(data: bytes | str) -> Any:
    """Returns what a JSON text holds.

    Raises:
        FreezerError: it is no JSON, nests too deeply, or has a number or a text that cannot be shown.
    """
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
        found = json.loads(text, parse_int=_integer)
        # An escape can stand for half of a character, which no page and no file takes.
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    except RecursionError as error:
        raise FreezerError("it is not JSON: it nests too deeply") from error
    except UnicodeEncodeError as error:
        raise FreezerError("it has a text that is not Unicode") from error
    except ValueError as error:
        raise FreezerError(f"it is not JSON: {error}") from error
    return found


def _integer(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"a number has more than {_MOST_DIGITS} digits")
    return int(text)
