"""Escapes text of models, traces and files, so that a terminal shows control sequences and does not interpret them."""

from __future__ import annotations

import re
from typing import Final

#: Harmless sequences: colours, and erasing the rest of the line.
_HARMLESS: Final = re.compile(r"\x1b\[[0-9;:]{0,40}[mK]")
#: Commands to the program that runs a job: a line of GitHub's that begins with two colons, and anywhere in a line the
#: form that GitHub, Azure Pipelines and TeamCity know.
_LINE_COMMAND: Final = re.compile(r"^(\s*):(?=:)", re.MULTILINE)
_COMMAND: Final = re.compile(r"#(?=#\w*\[)")
_BEGINS: Final = re.compile(r"\x1b(\[[0-9;:]{0,40})?\Z")


def printable(text: str, keep: str = "") -> str:
    """Returns text with every non-printable character escaped.

    These are control characters (also ESC, which starts a control sequence, and those of C1), characters that change
    the direction of writing, line separators, and halves of surrogate pairs.

    Args:
        text: to print.
        keep: characters to keep.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in keep else _escaped(char) for char in text)


def printable_json(text: str) -> str:
    """Returns JSON with the same characters as JSON escapes; line ends between values stay."""
    return "".join(char if char.isprintable() or char == "\n" else _json_escaped(char) for char in text)


def without_commands(text: str) -> str:
    """Returns text in which no line is a command to the CI that runs the job; it has been made printable before."""
    return _COMMAND.sub(r"\\x23", _LINE_COMMAND.sub(r"\1\\x3a", text))


def json_without_commands(text: str) -> str:
    """Returns JSON with the same values, in which no line is a command to the CI that runs the job."""
    return _COMMAND.sub(r"\\u0023", text)  # a line of JSON begins with no colon


class PassedOn:
    """Filters a program's output for a terminal: keeps colours, tabs and carriage returns, escapes other sequences.

    A sequence may be split between two pieces of text.
    """

    def __init__(self) -> None:
        self._begun = ""

    def shown(self, text: str) -> str:
        """Returns the text for the terminal; holds an incomplete sequence back until its rest comes."""
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
