"""Traceback with the user's and torch's frames, without those of this package."""

from __future__ import annotations

import importlib
import traceback
from pathlib import Path

from freeze_engine.errors import FreezerError

_PACKAGE = Path(__file__).parents[1]
_EXAMPLES = _PACKAGE / "examples"


def user_traceback(error: BaseException) -> tuple[str, ...]:
    """Formats a traceback for the author of the model, without frames of this package.

    Args:
        error: the exception that ended the recording. For one of this package's own errors, its cause is formatted.

    Returns:
        The lines; none for an own error without a cause from outside this package.
    """
    told = error.__cause__ if isinstance(error, FreezerError) else error
    if told is None:
        return ()
    found = traceback.TracebackException.from_exception(told)
    frames = [_strip(each) for each in _chain(found)]
    if isinstance(error, FreezerError) and not any(frames):
        return ()
    return tuple("".join(found.format()).splitlines())


def _chain(found: traceback.TracebackException) -> list[traceback.TracebackException]:
    chain = []
    waiting: list[traceback.TracebackException | None] = [found]
    while waiting:
        each = waiting.pop()
        if each is not None and each not in chain:
            chain.append(each)
            waiting += (each.__cause__, each.__context__)
    return chain


def _strip(found: traceback.TracebackException) -> int:
    """Removes frames that are not the user's or torch's, and returns how many are left."""
    found.stack = traceback.StackSummary.from_list([frame for frame in found.stack if not _is_own(frame.filename)])
    return len(found.stack)


def _is_own(file: str) -> bool:
    if file.startswith("<frozen importlib") or file == importlib.__file__:
        return True
    path = Path(file)
    return path.is_relative_to(_PACKAGE) and not path.is_relative_to(_EXAMPLES)
