"""Suggestions for misspelt names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Returns `` Did you mean …?`` with names close to ``word``, or nothing if there are none.

    Args:
        word: as it was written; upper and lower case count as the same.
        known: the valid names.
    """
    spelt = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), spelt, n=3)
    return f" Did you mean {' or '.join(spelt[name] for name in close)}?" if close else ""
