"""Writes the trace file so that no partial file stays, whenever the writing process dies."""

from __future__ import annotations

import contextlib
from pathlib import Path

from freeze_engine.errors import TraceFileError
from freeze_engine.process.whole_file import write_whole
from freeze_engine.serde import dumps
from freeze_engine.trace import Trace
from freeze_engine.trace.rules.texts import with_plain_texts


def write_output(trace: Trace, output: Path, folder: Path) -> None:
    """Writes a trace file, completely or not at all.

    Args:
        trace: what to write.
        output: the file.
        folder: the recording's own; by its name `remove_unfinished` finds unfinished files.

    Raises:
        TraceFileError: it cannot be written there.
    """
    unfinished = unfinished_file(output, folder)
    try:
        write_whole(output, dumps(with_plain_texts(trace)), unfinished)
    except (OSError, ValueError) as error:
        remove_unfinished(output, folder)
        raise TraceFileError(f"{output}: cannot be written: {error}") from error


def remove_unfinished(output: Path, folder: Path) -> None:
    """Removes the unfinished file of a process that died in `write_output`."""
    # Gone where all went well; elsewhere the folder may not be writable, and then there is nothing.
    with contextlib.suppress(OSError, ValueError):
        unfinished_file(output, folder).unlink()


def unfinished_file(output: Path, folder: Path) -> Path:
    """Returns the path of a trace file before it replaces another."""
    return output.with_name(f".{folder.name}.unfinished")
