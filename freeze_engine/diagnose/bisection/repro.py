"""A recipe that reproduces a fault with torch alone, from which a script is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from freeze_engine.diagnose.bisection.result import FORWARD
from freeze_engine.requests.inputs import Inputs


@dataclass(frozen=True, slots=True)
class Recipe:
    """A way to reproduce a fault.

    Attributes:
        is_reduced: whether only the nodes that are involved are in it.
        suffix: what the name of the module's file ends with.
        save: writes the module to that file and returns what to call it with.
        load: lines that load it; ``{file}`` stands for the file.
        freeze: lines that run the culprit.
        method: the method of the module that is called.
    """

    is_reduced: bool
    suffix: str
    save: Callable[[Path], Inputs]
    load: Sequence[str]
    freeze: Sequence[str]
    method: str = FORWARD
