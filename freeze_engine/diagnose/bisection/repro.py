"""A way to show a fault with torch alone, of which a script is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from freeze_engine.diagnose.bisection.result import FORWARD
from freeze_engine.requests.inputs import Inputs


@dataclass(frozen=True, slots=True)
class Recipe:
    """A way to show a fault.

    Attributes:
        is_reduced: whether only the nodes that are involved are in it.
        suffix: what the name of the module's file ends with.
        save: writes the module to that file and returns what to call it with.
        load: lines that load it, ``{file}`` standing for the file.
        freeze: lines that do what is to blame.
        method: what is called of the module.
    """

    is_reduced: bool
    suffix: str
    save: Callable[[Path], Inputs]
    load: Sequence[str]
    freeze: Sequence[str]
    method: str = FORWARD
