"""Text of models, traces and files, so that a terminal shows it and does not obey it."""

from __future__ import annotations

import re
from typing import Final

#: Colours and erasing the rest of the line, which do no more than that.
_HARMLESS: Final = re.compile(r"\x1b\[[0-9;:]{0,40}[mK]")
_BEGINS: Final = re.compile(r"\x1b(\[[0-9;:]{0,40})?\Z")


def printable(text: str, keep: str = "") -> str:
    """Returns text with every character escaped that a terminal does not print as such.

    That is control characters (ESC, which begins a command to the terminal, and those of C1 among them), signs that
    turn the direction of writing, separators of lines, and halves of surrogate pairs.

    Args:
        text: what to print.
        keep: characters that stay all the same.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in keep else _escaped(char) for char in text)


def printable_json(text: str) -> str:
    """Returns JSON with the same characters escaped as JSON does it; line ends between values stay."""
    return "".join(char if char.isprintable() or char == "\n" else _json_escaped(char) for char in text)


class PassedOn:
    """What a program prints, for a terminal: colours, tabs and returns to the line's start stay, the rest is shown.

    Sequences may come in pieces.
    """

    def __init__(self) -> None:
        self._begun = ""

    def shown(self, text: str) -> str:
        """Returns what to send to the terminal; the beginning of a sequence waits for its rest."""
        text = self._begun + text
        match = _BEGINS.search(text)
        self._begun = match[0] if match else ""
        text = text[: len(text) - len(self._begun)]
        parts, end = [], 0
        for harmless in _HARMLESS.finditer(text):
            parts += [printable(text[end : harmless.start()], "\n\t\r"), harmless[0]]
            end = harmless.end()
        return "".join([*parts, printable(text[end:], "\n\t\r")])


def _escaped(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode()


def _json_escaped(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
