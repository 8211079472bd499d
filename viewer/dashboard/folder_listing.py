"""Lists a folder for the page's file dialog."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any, Final

import freeze_engine as fe

MAX_ENTRIES: Final = 5_000
"""Most entries listed of a folder."""

_SHOWN: Final = 200
_MODEL_SUFFIXES: Final = (".pt", ".pth", ".ts", ".pt2", ".torchscript", ".zip")


def page_path(text: str) -> Path:
    """Returns the absolute path that a page names; the file need not exist.

    Args:
        text: as typed into the page, or from an address; ``~`` is the user's home.

    Raises:
        FreezerError: no file can have that name.
    """
    try:
        path = Path(text).expanduser().absolute()
        path.is_file()
    except RuntimeError as error:  # of expanduser
        raise fe.FreezerError(f"{text[:_SHOWN]!r} names the home of a user that this machine does not have.") from error
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or error
        raise fe.FreezerError(f"{text[:_SHOWN]!r} cannot be the path of a file here: {cause}.") from error
    if "\0" in text:
        raise fe.FreezerError(f"{text[:_SHOWN]!r} cannot be the path of a file here: it has a NUL byte.")
    return path


def folder_view(path: Path) -> dict[str, Any]:
    """Returns the entries of a folder: folders first, then files, by name.

    Args:
        path: of the folder.

    Raises:
        FreezerError: it is missing, not a folder, or not readable.
    """
    try:
        folder = path.expanduser().resolve()
    except (OSError, RuntimeError) as error:  # a loop of links
        raise fe.FreezerError(f"cannot list {path}: {error}; choose another folder") from error
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
        return None  # removed meanwhile, or a dangling link
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
