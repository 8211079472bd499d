"""The notice of a freeze that this package could not read to its end."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Final

from freeze_engine.trace import Notice

_PACKAGE: Final = Path(__file__).parents[2]


def unread(error: BaseException) -> Notice:
    """Returns the notice with the reason.

    Args:
        error: the exception that reading raised.
    """
    lines = str(error).strip().splitlines()
    reason = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    return Notice(
        "unread",
        f"The trace is only a part, for reading the rest failed{_place(error)}: {reason}. The freeze itself is not "
        "affected.",
    )


def _place(error: BaseException) -> str:
    """Returns the innermost line of this package that the exception passed, in words."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.is_relative_to(_PACKAGE):
            return f" at {path.relative_to(_PACKAGE.parent)}:{frame.lineno}"
    return ""
