"""Shortens words that are too long for a page: a browser takes minutes to lay out names of 100,000 letters.

Equal words stay equal and others differ, so that a page still finds a node or an attribute by its name.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from typing import Any, Final

_LONGEST: Final = 1000
_KEPT: Final = (200, 80)
_LONG: Final = re.compile(rf"(?<!\S)\S{{{_LONGEST + 1},}}")
_TABLES: Final = ("nodes", "lists", "snapshots", "sources")
"""Parts of a graph's data that refer to its texts by number, and are large."""


def legible(data: Any) -> Any:
    """Returns data for a page with short words only.

    Args:
        data: of lists, dictionaries, texts and numbers.
    """
    if isinstance(data, str):
        return data if len(data) <= _LONGEST else _LONG.sub(lambda found: _short(found[0]), data)
    if isinstance(data, dict):
        return {legible(key): legible(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [legible(value) for value in data]
    return data


def legible_graph(graph: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a graph's data with short words only.

    Args:
        graph: result of `viewer.views.graph_data.graph_data`.
    """
    return {name: part if name in _TABLES else legible(part) for name, part in graph.items()}


def _short(word: str) -> str:
    first, last = _KEPT
    return f"{word[:first]}…{zlib.crc32(word.encode(errors='surrogatepass')):08x}…{word[-last:]}"
