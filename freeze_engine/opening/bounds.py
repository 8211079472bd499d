"""Limits on what is read from a file, so that a file made to be huge gives a small trace quickly, or an error."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from freeze_engine.errors import FreezerError
from freeze_engine.trace import GraphSnapshot, Notice

MAX_TEXT_BYTES: Final = 16 << 20
"""The longest text that is read."""
MAX_TOKENS: Final = 1_000_000
"""The most words and signs of a text that is parsed; Python's tree takes about 1 KB for each (Python 3.11)."""
MAX_GRAPHS: Final = 2_000
"""The most graphs of a trace."""
MAX_PARTS: Final = 2_000_000
"""The most nodes, inputs and outputs of all graphs of a trace."""
MAX_KEPT_BYTES: Final = 128 << 20
"""The most bytes of all texts of a log or folder that are kept."""
MAX_DEPTH: Final = 60
"""The most modules that nest in each other."""
MAX_NAME: Final = 1_000
"""The most characters of an attribute's name or of a class's."""
_MAX_NOTICES: Final = 200
_MAX_ESCAPES: Final = 1_000_000
_TEXT_OF_A_PART: Final = 100

_STRINGS: Final = (
    r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*(?:"""|\Z)',
    r"'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*(?:'''|\Z)",
    r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"?',
    r"'[^'\\\n]*(?:\\.[^'\\\n]*)*'?",
)
_TOKEN: Final = re.compile(
    r"(?P<comment>#[^\n]*)|(?<!\w)[rRbBuU]{0,2}(?:" + "|".join(_STRINGS) + r")|\w+|[^\w\s]", re.DOTALL
)
_PLAIN: Final = re.compile(r"\w+|[^\w\s]")
#: A string of this kind holds expressions.
_FORMATTED: Final = re.compile(r"\b(?:[ft]|[ft]r|r[ft])[\"']", re.IGNORECASE)


class TooMuchError(FreezerError):
    """A file holds more than is read of it; the message says where and how much."""


@dataclass(slots=True)
class PartBudget:
    """Counts the parts of all graphs that are made of one file.

    Attributes:
        left: parts that may still be read.
    """

    left: int = field(default_factory=lambda: MAX_PARTS)

    def take(self, parts: int, where: str) -> None:
        """Counts parts.

        Args:
            parts: nodes, inputs and outputs.
            where: names their place in messages.

        Raises:
            TooMuchError: they are more than what is left.
        """
        self.left -= parts
        if self.left < 0:
            raise TooMuchError(
                f"{where} is too large: up to {MAX_PARTS} nodes, inputs and outputs are read of all graphs together"
            )


def parts(graph: GraphSnapshot) -> int:
    """Returns the number of a graph's nodes, inputs and outputs; a long text counts as several."""
    count = len(graph.inputs)
    for node in graph.walk():
        count += 1 + len(node.inputs) + len(node.outputs)
        count += sum(len(text) // _TEXT_OF_A_PART for _, text in node.attributes)
    return count


def has_many_tokens(text: str) -> bool:
    """Returns whether Python's tree of a text would take too much memory.

    Comments are not counted, and a string counts as one; where a string may hold expressions, all words count.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    # The pattern of strings takes about 100 bytes for each quote and escape in one of them.
    escapes = sum(map(lines.count, "\\\"'"))
    pattern = _PLAIN if escapes > _MAX_ESCAPES or _FORMATTED.search(lines) else _TOKEN
    count = 0
    for match in pattern.finditer(lines):
        count += match.lastgroup != "comment"
        if count > MAX_TOKENS:
            return True
    return False


def few_notices(notices: Iterable[Notice], what: str) -> Iterator[Notice]:
    """Yields the first notices, then one that counts the others.

    Args:
        notices: any number.
        what: what they are about, such as ``log``.
    """
    more = 0
    for number, notice in enumerate(notices):
        if number < _MAX_NOTICES:
            yield notice
        else:
            more += 1
    if more:
        yield Notice("unread", f"{more} more facts of the {what} are left out.")
