"""Makes a trace of the folder that torch writes with ``TORCH_COMPILE_DEBUG``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from freeze_engine.errors import ModelSpecError
from freeze_engine.opening.bounds import MAX_KEPT_BYTES, MAX_TEXT_BYTES, few_notices
from freeze_engine.opening.compile_trace import Compile, GraphText, compile_trace
from freeze_engine.opening.environment import UNKNOWN_ENVIRONMENT
from freeze_engine.opening.inside import Inside
from freeze_engine.trace import Notice, Trace

_CODE: Final = "output_code.py"
_RUNNABLE: Final = "fx_graph_runnable.py"
_GRAPHS: Final = {"fx_graph_readable.py": "before_post_grad_graph", "fx_graph_transformed.py": "after_post_grad_graph"}
_MODEL: Final = re.compile(r"(?P<name>.+)_\d+\.(?P<number>\d{1,9})")
_MAX_COMPILES: Final = 500
#: Where the folders of single compiles are, seen from the folder that the user names.
_PLACES: Final = ("*", "torchinductor/*", "run_*/torchinductor/*")
#: Where torch puts the log of the same run, seen from there.
_LOGS: Final = ("tlparse/*.log", "*/tlparse/*.log", "*/*/tlparse/*.log")


def compile_folders(folder: Path, inside: Inside | None = None) -> tuple[Path, ...]:
    """Returns the folders of single compiles in a folder of ``TORCH_COMPILE_DEBUG``, or the folder if it is one.

    Args:
        folder: ``torch_compile_debug``, or one inside of it.
        inside: says which paths lie in the folder; links that lead out of it are not followed.
    """
    inside = Inside(folder) if inside is None else inside
    if _is_compile(folder):
        return (folder,)
    for place in _PLACES:
        found = [each for each in folder.glob(place) if _is_compile(each) and inside.has(each)]
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
    inside = Inside(folder)
    folders = compile_folders(folder, inside)
    head = Trace(
        name or folder.resolve().name, "inductor", call, (), (), UNKNOWN_ENVIRONMENT, (), origin="compile_debug"
    )
    several = len({each.parent for each in folders}) > 1
    texts = _Texts(inside)
    compiles = [_compile(each, several, texts) for each in folders[:_MAX_COMPILES]]
    return compile_trace(head, compiles, few_notices(_notices(folder, folders, texts), "folder"))


def _compile(folder: Path, several: bool, texts: _Texts) -> Compile:
    match = _MODEL.fullmatch(folder.name)
    name = match["name"] if match else folder.name
    compiled = Compile(f"{folder.parent.parent.name}, {name}" if several else name)
    for file, stage in _GRAPHS.items():
        if text := texts.read(folder / file):
            compiled.graphs.append(GraphText("post_grad", stage, text))
    compiled.code = texts.read(folder / _CODE)
    compiled.runnable = texts.read(folder / _RUNNABLE)
    return compiled


@dataclass(slots=True)
class _Texts:
    """Reads the files of a folder.

    Attributes:
        inside: says which of them lie in the folder.
        left: bytes that may still be read.
        beyond: files for which no bytes were left.
    """

    inside: Inside
    left: int = field(default_factory=lambda: MAX_KEPT_BYTES)
    beyond: list[Path] = field(default_factory=list)

    def read(self, path: Path) -> str:
        """Returns the text of a file, empty if there is none, or it leads out of the folder.

        Raises:
            ModelSpecError: it is too long.
        """
        if not path.is_file() or not self.inside.has(path):
            return ""
        size = path.stat().st_size
        if size > MAX_TEXT_BYTES:
            raise ModelSpecError(f"{path} has {size} bytes; up to {MAX_TEXT_BYTES} are read. Remove it first.")
        if size > self.left:
            self.beyond.append(path)
            return ""
        self.left -= size
        with path.open("rb") as stream:
            return stream.read(size).decode(errors="replace").replace("\r\n", "\n")  # as Windows ends lines


def _notices(folder: Path, folders: tuple[Path, ...], texts: _Texts) -> Iterator[Notice]:
    if len(folders) > _MAX_COMPILES:
        text = f"The folder has {len(folders)} compiles; the first {_MAX_COMPILES} are read."
        yield Notice("unread", text)
    if texts.beyond:
        first = f"{len(texts.beyond)} files are left out, {texts.beyond[0]} first"
        text = f"{first}: up to {MAX_KEPT_BYTES} bytes are read of all files together."
        yield Notice("unread", text)
    for path in texts.inside.refused:
        text = f"{path} is left out: it is a link that leads out of {folder}. Put a copy in its place."
        yield Notice("unread", text)
    text = "The folder keeps graphs before and after the post-grad passes only; those of Dynamo and AOTAutograd"
    logs = sorted(each.name for place in _LOGS for each in folder.glob(place))
    where = f" are in its log, tlparse/{logs[0]}." if logs else " are unknown."
    yield Notice("not_logged", text + where)
