"""`open_existing()`: makes a trace of something that exists already."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from freeze_engine.errors import ModelSpecError
from freeze_engine.models.file_kinds import file_kind
from freeze_engine.opening.compile_debug import compile_folders, open_compile_debug
from freeze_engine.opening.frozen_file import open_frozen_file
from freeze_engine.opening.structured_log import is_structured_log, log_files
from freeze_engine.opening.torch_trace import open_torch_trace
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
        if is_structured_log(path):
            return "torch_trace"
        return "frozen_file" if file_kind(path) == "frozen" else None
    if path.is_dir():
        if log_files(path):
            return "torch_trace"
        return "compile_debug" if compile_folders(path) else None
    return None


def open_existing(path: str | Path, *, name: str | None = None, call: str | None = None) -> Trace:
    """Returns a trace of a freeze that was not recorded, from what it left behind.

    Nothing is run, and torch is not imported. The trace has no times or numeric errors, and its `Trace.origin` says
    what it was made of.

    Args:
        path: a TorchScript file with a frozen module; a log of ``TORCH_TRACE``, or a folder with such logs; a folder of
            ``TORCH_COMPILE_DEBUG``.
        name: the model's name in the trace, by default the name of the file or folder.
        call: the call or command to show in the trace.

    Raises:
        ModelSpecError: the path names nothing of this kind, or something damaged.
    """
    path = Path(path)
    call = call or f"open_existing({str(path)!r})"
    try:
        kind = existing_kind(path)
        if kind is not None:
            return with_plain_texts(_OPENERS[kind](path, name, call))
    except OSError as error:
        raise ModelSpecError(f"{path} cannot be read: {error.strerror}. Check its permissions.") from error
    raise ModelSpecError(
        f"{path} is neither a TorchScript file with a frozen module nor a log of TORCH_TRACE nor a folder of "
        "TORCH_COMPILE_DEBUG. To record a model, use fe.record()."
    )


_OPENERS: Final[Mapping[Origin, Callable[[Path, str | None, str], Trace]]] = {
    "frozen_file": open_frozen_file,
    "torch_trace": open_torch_trace,
    "compile_debug": open_compile_debug,
}
