"""Makes a trace of the folder that torch writes with ``TORCH_COMPILE_DEBUG``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from freeze_engine.errors import ModelSpecError
from freeze_engine.opening.code_graph import MAX_TEXT_BYTES
from freeze_engine.opening.compile_trace import Compile, GraphText, compile_trace
from freeze_engine.opening.environment import UNKNOWN_ENVIRONMENT
from freeze_engine.trace import Notice, Trace

_CODE: Final = "output_code.py"
_RUNNABLE: Final = "fx_graph_runnable.py"
_GRAPHS: Final = {"fx_graph_readable.py": "before_post_grad_graph", "fx_graph_transformed.py": "after_post_grad_graph"}
_MODEL: Final = re.compile(r"(?P<name>.+)_\d+\.(?P<number>\d{1,9})")
_MAX_COMPILES: Final = 500
#: Where the folders of single compiles are, seen from the folder that the user names.
_PLACES: Final = ("*", "torchinductor/*", "run_*/torchinductor/*")


def compile_folders(folder: Path) -> tuple[Path, ...]:
    """Returns the folders of single compiles in a folder of ``TORCH_COMPILE_DEBUG``, or the folder if it is one.

    Args:
        folder: ``torch_compile_debug``, or one inside of it.
    """
    if _is_compile(folder):
        return (folder,)
    for place in _PLACES:
        found = [each for each in folder.glob(place) if _is_compile(each)]
        if found:
            return tuple(sorted(found, key=lambda each: (each.parent, _order(each))))
    return ()


def _is_compile(folder: Path) -> bool:
    try:
        return folder.is_dir() and any((folder / name).is_file() for name in _GRAPHS)
    except PermissionError:  # a folder of another user, such as those in /tmp
        return False


def _order(folder: Path) -> tuple[int, str]:
    match = _MODEL.fullmatch(folder.name)
    return (int(match["number"]) if match else 0, folder.name)


def open_compile_debug(folder: Path, name: str | None = None, call: str = "") -> Trace:
    """Returns the trace of a folder of ``TORCH_COMPILE_DEBUG``.

    Args:
        folder: as `compile_folders` takes it.
        name: in the trace, by default the folder's name.
        call: the call or command to show in the trace.

    Raises:
        ModelSpecError: a file is too long.
        OSError: a file cannot be read.
    """
    folders = compile_folders(folder)
    head = Trace(
        name or folder.resolve().name, "inductor", call, (), (), UNKNOWN_ENVIRONMENT, (), origin="compile_debug"
    )
    several = len({each.parent for each in folders}) > 1
    compiles = [_compile(each, several) for each in folders[:_MAX_COMPILES]]
    return compile_trace(head, compiles, _notices(folder, folders))


def _compile(folder: Path, several: bool) -> Compile:
    match = _MODEL.fullmatch(folder.name)
    name = match["name"] if match else folder.name
    compiled = Compile(f"{folder.parent.parent.name}, {name}" if several else name)
    for file, stage in _GRAPHS.items():
        if text := _text(folder / file):
            compiled.graphs.append(GraphText("post_grad", stage, text))
    compiled.code = _text(folder / _CODE)
    compiled.runnable = _text(folder / _RUNNABLE)
    return compiled


def _text(path: Path) -> str:
    if not path.is_file():
        return ""
    if path.stat().st_size > MAX_TEXT_BYTES:
        raise ModelSpecError(
            f"{path} has {path.stat().st_size} bytes; up to {MAX_TEXT_BYTES} are read. Remove it first."
        )
    return path.read_text(encoding="utf-8", errors="replace")


def _notices(folder: Path, folders: tuple[Path, ...]) -> Iterator[Notice]:
    if len(folders) > _MAX_COMPILES:
        text = f"The folder has {len(folders)} compiles; the first {_MAX_COMPILES} are read."
        yield Notice("unread", text)
    text = "The folder keeps graphs before and after the post-grad passes only; those of Dynamo and AOTAutograd"
    logs = sorted(each.name for each in folder.glob("**/tlparse/*.log"))
    where = f" are in its log, tlparse/{logs[0]}." if logs else " are unknown."
    yield Notice("not_logged", text + where)
