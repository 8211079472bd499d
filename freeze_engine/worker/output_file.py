"""Writes the trace file so that nothing half written stays, whenever the process that writes it dies."""

from __future__ import annotations

import contextlib
from pathlib import Path

from freeze_engine.errors import TraceFileError
from freeze_engine.process.whole_file import write_whole
from freeze_engine.serde import dumps
from freeze_engine.trace import Trace
from freeze_engine.trace.rules.texts import with_plain_texts


def write_output(trace: Trace, output: Path, folder: Path) -> None:
    """Writes a trace file, whole or not at all.

    Args:
        trace: what to write.
        output: the file.
        folder: the recording's own, by whose name `remove_unfinished` finds what was not finished.

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
    """Removes what a process that died in `write_output` left."""
    # Gone where all went well; elsewhere the folder may not be writable, and then there is nothing.
    with contextlib.suppress(OSError, ValueError):
        unfinished_file(output, folder).unlink()


def unfinished_file(output: Path, folder: Path) -> Path:
    """Returns where a trace file is written before it takes the place of another."""
    return output.with_name(f".{folder.name}.unfinished")
