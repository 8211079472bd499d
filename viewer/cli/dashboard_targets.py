"""What the words after ``freezer-ui`` name: traces, a model, a folder, or something that is read into a trace."""

from __future__ import annotations

import difflib
import re
import shlex
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import freeze_engine as fe
from freeze_engine import analysis, models, opening, requests, sweep
from viewer.cli.command import COMMAND_NAMES, CommandError
from viewer.cli.terminal import remark

_FACTORY: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
_EXAMPLE: Final = "example:"


@dataclass(frozen=True, slots=True)
class Start:
    """The initial page of the dashboard.

    Attributes:
        query: arguments of the page's address.
        traces: absolute paths of the traces that it shows.
        model: model to record at once.
    """

    query: dict[str, str]
    traces: tuple[Path, ...] = ()
    model: str | None = None


def find_start(targets: list[str]) -> Start:
    """Returns the initial page for the words on the command line.

    Raises:
        CommandError: they cannot be opened, or not together.
    """
    if not targets:
        return Start({})
    kinds = [_kind(target) for target in targets]
    paths = tuple(Path(target).absolute() for target in targets)
    match kinds:
        case ["model"]:
            return Start({}, model=targets[0])
        case ["existing"]:
            read = _read(targets[0])
            return Start({"trace": str(read)}, (read,))
        case ["sweep"]:
            return Start({"sweep": str(paths[0])})
        case ["sweep", "sweep"]:
            return Start({"sweep": str(paths[1]), "since": str(paths[0])})
        case ["folder"]:
            return Start({"folder": str(paths[0])})
        case ["trace"]:
            return Start({"trace": str(paths[0])}, paths)
        case ["trace", "trace"]:
            return Start({"compare": str(paths[0]), "with": str(paths[1])}, paths)
    raise CommandError("give one TRACE, MODEL or FOLDER, or two TRACEs to see side by side")


def _read(target: str) -> Path:
    """Returns the file of a new trace of what exists already."""
    from viewer.dashboard.library import new_recording, recordings_folder

    name = Path(target).resolve().stem
    trace = opening.open_existing(target, name=name, call=f"freezer-ui {shlex.quote(target)}")
    output = new_recording(recordings_folder(), name, datetime.now())
    fe.save(trace, output)
    remark(f"{target} is {analysis.ORIGINS[trace.origin]}, so it was read; nothing of it was run or measured")
    return output


def _kind(target: str) -> str:
    """Returns whether a word names a ``sweep``, another ``folder``, a ``trace``, a ``model``, or something to read.

    Raises:
        CommandError: it names none of these.
    """
    path = Path(target)
    if not target:
        raise CommandError("'' names nothing to open; is a variable empty? For this folder, give .")
    if path.is_dir():
        if sweep.is_sweep(path):
            return "sweep"
        return "folder" if opening.existing_kind(path) is None else "existing"
    if path.is_file():
        kind = models.file_kind(path)
        if opening.existing_kind(path) is not None:
            return "existing"
        if kind not in ("trace", "torchscript", "exported"):
            found = models.other_file(path)
            raise CommandError(f"{target} is {found.what}. {found.remedy}")
        return "trace" if kind == "trace" else "model"
    if target.startswith(_EXAMPLE):
        name = target.removeprefix(_EXAMPLE)
        if name not in fe.EXAMPLES:
            meant = requests.did_you_mean(name, fe.EXAMPLES)
            raise CommandError(f"there is no example {name!r}.{meant} The examples are {', '.join(fe.EXAMPLES)}.")
        return "model"
    if _FACTORY.fullmatch(target):
        return "model"
    if path.suffix or path.name != target:
        raise CommandError(f"there is no file or folder {path.absolute()}{_near(path)}")
    raise CommandError(
        f"{target!r} is not a file, folder, example:NAME, package.module:factory or command{_hint(target)}"
    )


def _near(path: Path) -> str:
    """Returns a hint that names a similar file, if there is one."""
    if not path.parent.is_dir():
        return f"; there is not even a folder {path.parent}"
    names = {child.stem: child.name for child in path.parent.iterdir()}
    close = difflib.get_close_matches(path.stem, names, n=1)
    return f"; did you mean {path.with_name(names[close[0]])}?" if close else "; check the name"


def _hint(target: str) -> str:
    close = difflib.get_close_matches(target, COMMAND_NAMES, n=1)
    if close:
        return f"; did you mean freezer-ui {close[0]}?"
    return f"; did you mean {_EXAMPLE}{target}?" if target in fe.EXAMPLES else ""
