"""The Python that a recording runs in: the caller's own, or that of another environment, with another torch."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import lazy_loader

#: Variables that would make another Python take modules of this one.
_OWN_VARIABLES: Final = ("PYTHONPATH", "PYTHONHOME")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python to record in.

    Attributes:
        python: path of its executable, ``None`` for the caller's. Another one needs torch and numpy; it finds this
            package behind all that it has itself.
        paths: folders to import the MODEL from, before all others.
    """

    python: str | None = None
    paths: tuple[str, ...] = ()

    @property
    def executable(self) -> str:
        """Path of the executable."""
        return self.python or sys.executable

    @property
    def entries(self) -> list[str]:
        """Entries of the search path; for another Python those before its own, an empty text, and those behind it."""
        if self.python is None:
            return [*self.paths, *(entry for entry in sys.path if isinstance(entry, str))]
        own = (Path(__file__).parents[2], Path(lazy_loader.__file__).parents[1])
        return [*self.paths, "", *dict.fromkeys(map(str, own))]

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """Returns the environment variables of a process of this Python.

        Args:
            variables: of a process of the caller's.
        """
        unwanted = () if self.python is None else _OWN_VARIABLES
        return {name: value for name, value in variables.items() if name not in unwanted}
