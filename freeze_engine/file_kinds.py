"""What a file is, told by its content; nothing of it is run or unpickled, and torch is not needed."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Final, Literal

from freeze_engine.serde import is_trace_file

FileKind = Literal["torchscript", "exported", "trace", "tensor", "legacy"]

_LEGACY_SAVE: Final = b"\x80\x02\x8a\nl\xfc\x9cF"  # MAGIC_NUMBER of torch/serialization.py, pickled


def file_kind(path: Path) -> FileKind | None:
    """Returns what a file is.

    Args:
        path: of the file.

    Returns:
        ``None`` if it is nothing that can be opened or recorded. A ``tensor`` file is one that ``torch.save`` wrote;
        a ``legacy`` one as well, before torch 1.6, and is not opened here.

    Raises:
        OSError: it cannot be read.
    """
    if is_trace_file(path):
        return "trace"
    with path.open("rb") as stream:
        if stream.read(len(_LEGACY_SAVE)) == _LEGACY_SAVE:
            return "legacy"
    members = _archive_members(path)
    if {"constants.pkl", "data.pkl"} <= members:
        return "torchscript"
    if "archive_format" in members or "serialized_exported_program.json" in members:
        return "exported"
    return "tensor" if "data.pkl" in members else None


def _archive_members(path: Path) -> frozenset[str]:
    """Names in a zip file, with and without the archive's own top folder; empty if it is no zip file."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile:
        return frozenset()
    # An older exported program has no top folder (torch 2.13 still reads it, torch/export/__init__.py).
    return frozenset(names) | {name.partition("/")[2] for name in names}
