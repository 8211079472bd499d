"""`open_existing()`: makes a trace of something that exists already."""

from __future__ import annotations

from pathlib import Path

from freeze_engine.errors import ModelSpecError
from freeze_engine.models.file_kinds import file_kind
from freeze_engine.trace import Origin, Trace
from freeze_engine.trace.rules.texts import with_plain_texts


def existing_kind(path: str | Path) -> Origin | None:
    """Returns what `open_existing` makes of a file or folder, ``None`` if it makes nothing of it.

    Args:
        path: need not exist.

    Raises:
        OSError: it cannot be read.
    """
    path = Path(path)
    if path.is_file():
        return "frozen_file" if file_kind(path) == "frozen" else None
    return None


def open_existing(path: str | Path, *, name: str | None = None, call: str | None = None) -> Trace:
    """Returns a trace of a freeze that was not recorded, as far as what it left tells.

    Nothing is run, and torch is not imported. The trace has no passes, times or numeric errors, and its `Trace.origin`
    says what it was made of.

    Args:
        path: a TorchScript file with a frozen module.
        name: the model's name in the trace, by default the name of the file or folder.
        call: the call or command to show in the trace.

    Raises:
        ModelSpecError: the path names nothing of this kind, or something damaged.
    """
    path = Path(path)
    try:
        kind = existing_kind(path)
        if kind == "frozen_file":
            from freeze_engine.opening.frozen_file import open_frozen_file

            return with_plain_texts(open_frozen_file(path, name, call or f"open_existing({str(path)!r})"))
    except OSError as error:
        raise ModelSpecError(f"{path} cannot be read: {error.strerror}. Check its permissions.") from error
    raise ModelSpecError(f"{path} is no TorchScript file with a frozen module. To record a model, use fe.record().")
