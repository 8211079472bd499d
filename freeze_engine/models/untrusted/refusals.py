"""The base of the errors that refuse a file: they quote the file, but not more of it than a reader can use."""

from __future__ import annotations

from typing import Final

_MOST_CHARACTERS: Final = 500


class UntrustedFileError(Exception):
    """A file from somebody else is refused; the text says why.

    Args:
        why: in words; shortened if the file made it long.
    """

    def __init__(self, why: str) -> None:
        super().__init__(quoted(why))


def quoted(text: str) -> str:
    """Returns a text that contains parts of a file, with its end left out if it is long."""
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"
