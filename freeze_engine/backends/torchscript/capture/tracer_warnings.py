"""Warnings of torch's tracer, with the user's lines that cause them."""

from __future__ import annotations

import inspect
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Final, TextIO

import torch

from freeze_engine.analysis.name_texts import listed
from freeze_engine.trace import Notice

_NOT_THE_USERS: Final = (str(Path(torch.__file__).parent), warnings.__file__)


@dataclass(frozen=True, slots=True)
class Warned:
    """One warning.

    Attributes:
        message: as it was raised.
        category: its class.
        filename, line: where Python says it comes from, as for `warnings.warn_explicit`.
        place: ``file:line`` of the innermost code below the listener that is not torch's own, else the same.
    """

    message: Warning | str
    category: type[Warning]
    filename: str
    line: int
    place: str


@contextmanager
def listening() -> Iterator[list[Warned]]:
    """Collects every warning of the block, and shows none.

    Yields:
        The warnings so far.
    """
    told: list[Warned] = []
    listener = inspect.currentframe()
    top = None if listener is None or listener.f_back is None else listener.f_back.f_back

    def keep(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        place = _user_place(inspect.currentframe(), top) or f"{filename}:{lineno}"
        told.append(Warned(message, category, filename, lineno, place))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = keep
        yield told


def show_again(told: Iterable[Warned]) -> None:
    """Issues the collected warnings again, as Python would have: repeated ones once."""
    seen: dict[Any, Any] = {}
    for each in told:
        warnings.warn_explicit(each.message, each.category, each.filename, each.line, registry=seen)


def tracer_notices(told: Iterable[Warned]) -> Iterator[Notice]:
    """Yields a notice for each warning of the tracer, with the places it came from."""
    places: dict[str, dict[str, None]] = {}
    for each in told:
        if issubclass(each.category, torch.jit.TracerWarning):  # type: ignore[attr-defined]
            places.setdefault(str(each.message), {})[each.place] = None
    for message, found in places.items():
        yield Notice("tracer_warning", f"{listed(found)}: {message}")


def _user_place(frame: FrameType | None, top: FrameType | None) -> str | None:
    """Returns the place of the innermost code between two frames that is neither torch's nor Python's machinery."""
    if frame is None:
        return None
    for each, line in traceback.walk_stack(frame.f_back):
        if each is top:
            return None
        file = each.f_code.co_filename
        if not file.startswith(_NOT_THE_USERS):
            return f"{file}:{line}"
    return None
