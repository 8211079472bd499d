"""Lets child processes of the same Python record their freezes, from the moment they import torch.

The environment of the children names the folder. Python runs ``startup/sitecustomize.py`` in each, since that stands on
``PYTHONPATH``; this is how other tools that follow child processes do it, too. Code that gives a process an environment
of its own, or sets ``PYTHONPATH`` anew, gets both added (`followed`). A child that ignores its environment
(``python -I``, ``-E``, ``-S``), or another Python, is not recorded. `freeze_engine.captures.child_start` is the
children's side.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

VARIABLE: Final = "FREEZER_RECORD_CHILDREN"
STARTUP: Final = Path(__file__).parent / "startup"
"""Folder that Python runs at the start of a child."""


@dataclass(frozen=True, slots=True)
class ChildPlace:
    """Place and way of recording child processes.

    Attributes:
        folder: for their traces.
        stem: what the names of the traces begin with.
        began_ns: when the run began (``time.time_ns``).
        values: as of `freeze_engine.capture`.
    """

    folder: Path
    stem: str
    began_ns: int
    values: bool = True

    def text(self) -> str:
        """Returns the value of the variable for child processes."""
        place = {
            "folder": str(self.folder),
            "stem": self.stem,
            "began_ns": self.began_ns,
            "values": self.values,
            "prefix": sys.prefix,
            "package": str(Path(__file__).parents[2]),
        }
        return json.dumps(place)


def followed(environment: Mapping[str, str], place: str) -> Mapping[str, str]:
    """Returns an environment in which Python records: the given one, or a copy with what it lacks.

    Args:
        environment: of a process.
        place: the variable's value where there is none.
    """
    paths = environment.get("PYTHONPATH")
    if VARIABLE in environment and str(STARTUP) in (paths or "").split(os.pathsep):
        return environment
    return {VARIABLE: place, **environment, "PYTHONPATH": os.pathsep.join(filter(None, (str(STARTUP), paths)))}


@contextlib.contextmanager
def recording_children(of: ChildPlace) -> Iterator[None]:
    """Makes the child processes that start in the block record their freezes.

    Args:
        of: where and how.
    """
    needed = followed({name: text for name, text in os.environ.items() if name != VARIABLE}, of.text())
    changed = {name: needed[name] for name in (VARIABLE, "PYTHONPATH")}
    before = {name: os.environ.get(name) for name in changed}
    os.environ.update(changed)
    try:
        yield
    finally:
        for name, value in before.items():
            if os.environ.get(name) != changed[name]:
                continue  # the user's code has changed it since
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
