"""Loads the trace file of a command; says what a file of another kind is, and which command takes it."""

from __future__ import annotations

from pathlib import Path

import freeze_engine as fe
from freeze_engine import models, opening
from viewer.cli.command import CommandError

_RECORD = "Record it with freezer-ui record {} -o TRACE, or in the dashboard with freezer-ui {}."
_READ = "Read it into a trace with freezer-ui record {} -o TRACE, or open it with freezer-ui {}."
_KINDS = {
    "torchscript": ("a TorchScript file", _RECORD),
    "exported": ("an exported program", _RECORD),
}
_EXISTING = {
    "frozen_file": "a TorchScript file with a frozen module",
    "torch_trace": "a log of TORCH_TRACE",
    "compile_debug": "a folder of TORCH_COMPILE_DEBUG",
}


def load_trace(path: str | Path) -> fe.Trace:
    """Loads a trace.

    Args:
        path: of the trace file, as the user gave it.

    Raises:
        TraceFileError: it is a damaged trace, or cannot be read.
        CommandError: it is something else; the message says what, and what to do with it.
    """
    try:
        return fe.load(path)
    except fe.TraceFileError as error:
        other = _other(Path(path))
        if other is None:
            raise
        raise CommandError(f"{path} is no trace but {other[0]}. {other[1].format(path, path)}") from error


def _other(path: Path) -> tuple[str, str] | None:
    """Returns what a file or folder is and what to do with it, ``None`` if the trace file's error says more."""
    try:
        existing = opening.existing_kind(path)
        if existing is not None:
            return _EXISTING[existing], _READ
        if not path.is_file() or path.stat().st_size == 0 or path.suffix == ".fztrace":
            return None
        kind = models.file_kind(path)
        if kind in _KINDS:
            return _KINDS[kind]
        if kind == "trace":
            return None
        found = models.other_file(path)
    except OSError:
        return None
    return None if found.what.startswith("neither") else (found.what, _literal(found.remedy))


def _literal(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
