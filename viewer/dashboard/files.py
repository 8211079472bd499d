"""Files to choose from: what a folder holds, and what a file is by its content."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path
from typing import Any, Final, Literal

import freeze_engine as fe

FileKind = Literal["torchscript", "exported", "trace", "tensor", "legacy"]

MAX_ENTRIES: Final = 5_000
"""How many entries of a folder are told."""

_LEGACY_SAVE: Final = b"\x80\x02\x8a\nl\xfc\x9cF"  # MAGIC_NUMBER of torch/serialization.py, pickled
_MODEL_SUFFIXES: Final = (".pt", ".pth", ".ts", ".pt2", ".torchscript", ".zip")


def file_kind(path: Path) -> FileKind | None:
    """Returns what a file is, by looking at it; nothing of it is run or unpickled.

    Args:
        path: of the file.

    Returns:
        ``None`` if it is nothing that can be opened or recorded. A ``tensor`` file is one that ``torch.save`` wrote;
        a ``legacy`` one as well, before torch 1.6, and is not opened here.
    """
    if fe.is_trace_file(path):
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


def folder_view(path: Path) -> dict[str, Any]:
    """Returns what a folder holds: folders first, then files, by name.

    Args:
        path: of the folder.

    Raises:
        FreezerError: it is missing, no folder, or not ours to read.
    """
    folder = path.expanduser().resolve()
    try:
        found = [_entry(child) for child in folder.iterdir() if not child.name.startswith(".")]
    except OSError as error:
        raise fe.FreezerError(f"cannot list {folder}: {error.strerror}; choose another folder") from error
    entries = sorted((entry for entry in found if entry), key=lambda entry: (entry["kind"] != "folder", entry["name"]))
    parent = None if folder.parent == folder else str(folder.parent)
    return {"path": str(folder), "parent": parent, "entries": entries[:MAX_ENTRIES]}


def _entry(path: Path) -> dict[str, Any] | None:
    try:
        status = path.stat()
    except OSError:
        return None  # gone meanwhile, or a link to nowhere
    is_folder = stat.S_ISDIR(status.st_mode)
    if not is_folder and not stat.S_ISREG(status.st_mode):
        return None
    return {
        "name": path.name,
        "path": str(path),
        "kind": "folder" if is_folder else _kind_by_name(path),
        "size_bytes": None if is_folder else status.st_size,
        "modified": status.st_mtime,
    }


def _kind_by_name(path: Path) -> str:
    suffix = path.suffix.lower()
    return "trace" if suffix == ".fztrace" else "model" if suffix in _MODEL_SUFFIXES else "other"


def _archive_members(path: Path) -> frozenset[str]:
    """Names in a zip file, with and without the archive's own top folder; empty if it is no zip file."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile:
        return frozenset()
    return frozenset(names) | {name.partition("/")[2] for name in names}
