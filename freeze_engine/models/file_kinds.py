"""Detects the kind of a file by its content, without running or unpickling any of it, and without torch."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from freeze_engine.models.untrusted.exported_program import is_exported_program
from freeze_engine.models.untrusted.script_archive import is_frozen_file
from freeze_engine.models.untrusted.strict_zip import ZipRefusedError, zip_members
from freeze_engine.models.untrusted.zip_names import loose_names
from freeze_engine.serde import is_trace_file

FileKind = Literal["torchscript", "frozen", "exported", "trace", "tensor", "legacy"]

_LEGACY_SAVE: Final = b"\x80\x02\x8a\nl\xfc\x9cF"  # MAGIC_NUMBER of torch/serialization.py, pickled


def file_kind(path: Path) -> FileKind | None:
    """Returns the kind of a file.

    Args:
        path: of the file.

    Returns:
        ``None`` if it can neither be opened nor recorded. A ``frozen`` file is TorchScript with a module that was
        frozen before it was saved. A ``tensor`` file is one that ``torch.save`` wrote; a ``legacy`` one as well, before
        torch 1.6, and is not opened here.

    Raises:
        OSError: it cannot be read.
    """
    if is_trace_file(path):
        return "trace"
    with path.open("rb") as stream:
        if stream.read(len(_LEGACY_SAVE)) == _LEGACY_SAVE:
            return "legacy"
    names = _archive_names(path)
    if is_exported_program(names):
        return "exported"
    roots = {name.partition("/")[0] for name in names if name.endswith("/data.pkl")}
    if any(f"{root}/data.pkl" in names and f"{root}/constants.pkl" in names for root in roots):
        return "frozen" if is_frozen_file(path, names) else "torchscript"
    return "tensor" if any(f"{root}/data.pkl" in names for root in roots) else None


def _archive_names(path: Path) -> frozenset[str]:
    """Names in a zip file; empty if it is no zip file.

    If the file is unambiguous, torch finds the same names. An ambiguous one that comes from somebody
    else is refused when it is opened, with the reason; so the first impression is enough here.
    """
    try:
        with path.open("rb") as stream:
            return frozenset(member.name for member in zip_members(stream))
    except ZipRefusedError:
        pass
    return frozenset(loose_names(path) or ())
