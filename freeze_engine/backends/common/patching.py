"""The only place that replaces functions of torch."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Patch:
    """One replacement.

    Attributes:
        owner: the module or class that holds the name.
        name: the name.
        value: the replacement.
    """

    owner: Any
    name: str
    value: Any


@contextlib.contextmanager
def patched(patches: tuple[Patch, ...]) -> Iterator[None]:
    """Replaces names and restores the originals, also when the body or a replacement raises.

    Args:
        patches: applied in order, undone in reverse.
    """
    with contextlib.ExitStack() as stack:
        for patch in patches:
            # The owner's own entry, not the result of reading it: a staticmethod must be restored as one.
            stack.callback(setattr, patch.owner, patch.name, inspect.getattr_static(patch.owner, patch.name))
            setattr(patch.owner, patch.name, patch.value)
        yield
