"""``freezer-ui doctor``."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import ClassVar, Final

from freeze_engine import worker
from viewer.cli.command import CHECK_FAILED, FINE
from viewer.cli.terminal import say

_WITHOUT_SANDBOX: Final = "The dashboard asks before it opens a model file, and then opens it without one"
_WIDTH: Final = 14


@dataclass(frozen=True, slots=True)
class _Line:
    """Result of one check.

    Attributes:
        name: of the checked component.
        found: its version or path, or that it is missing and how to get it.
        is_needed: whether it is missing and recording needs it.
    """

    name: str
    found: str
    is_needed: bool = False


class DoctorCommand:
    """List the programs and libraries that freezer-ui uses, and whether this machine has them.

    The list includes the sandbox in which the dashboard opens model files. Exits with 1 if something is missing that
    every recording needs. Does not import torch.
    """

    name: ClassVar[str] = "doctor"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds no arguments."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Prints the lines."""
        lines = tuple(_lines())
        say("".join(f"{line.name:<{_WIDTH}}{line.found}\n" for line in lines))
        return CHECK_FAILED if any(line.is_needed for line in lines) else FINE


def _lines() -> Iterator[_Line]:
    yield _Line("freezer-ui", _version("freezer-ui") or "not installed as a package")
    yield _Line("Python", f"{platform.python_version()} ({platform.machine()}, {platform.system()})")
    torch = _version("torch")
    yield _Line("torch", torch or "missing: nothing can be recorded; pip install torch", torch is None)
    yield _sandbox()
    yield _compiler()
    yield _program("Graphviz", ("dot",), "freezer-ui does without it; only exported graph files are drawn with it")
    yield _data_folder()


def _sandbox() -> _Line:
    status = worker.sandbox_status()
    if status.problem is not None:
        return _Line("sandbox", f"none: {status.problem}. {_WITHOUT_SANDBOX}")
    missing = f"; {status.missing}" if status.missing else ""
    return _Line("sandbox", f"{status.name} ({status.path}): model files of the dashboard are opened in it{missing}")


def _compiler() -> _Line:
    own = os.environ.get("CXX")
    return _program("C++ compiler", (own,) if own else ("g++", "clang++", "c++"), "Inductor cannot compile for the CPU")


def _program(name: str, programs: tuple[str, ...], without: str) -> _Line:
    found = next(filter(None, map(shutil.which, programs)), None)
    return _Line(name, found or f"none ({' or '.join(programs)}): {without}")


def _data_folder() -> _Line:
    from viewer.dashboard.library import recordings_folder

    folder = recordings_folder()
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if os.access(nearest, os.W_OK | os.X_OK) and nearest.is_dir():
        return _Line("recordings", str(folder))
    problem = f"{folder}: nothing can be written to {nearest}; name another data folder in XDG_DATA_HOME"
    return _Line("recordings", problem, is_needed=True)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
