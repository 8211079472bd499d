"""Names in a sentence, however many there are."""

from __future__ import annotations

import re
from collections.abc import Iterable

from freeze_engine.errors import shortened as shortened


def listed(names: Iterable[str], most: int = 4, joint: str = ", ") -> str:
    """Joins names for a sentence: the first ones, and how many more there are.

    A model may have thousands of whatever a sentence names: readers of one weight, aliases, places that write.

    Args:
        names: in their order in the sentence.
        most: how many the sentence names; it counts the others.
        joint: the separator, if the sentence names all of them.

    Returns:
        ``"a, b"``, or ``"a, b, c, d and 396 more"``.
    """
    found = list(names)
    if len(found) <= most:
        return joint.join(found)
    return f"{', '.join(found[:most])} and {len(found) - most} more"


def alike_listed(paths: Iterable[str], most: int = 4, longest: int = 60) -> str:
    """Lists paths for a title: those that differ in numbers only, such as the layers of a stack, stand as one.

    Args:
        paths: of modules or attributes.
        most: as in `listed`.
        longest: largest number of letters of a path; a longer one keeps its end.

    Returns:
        For example ``"layers.*.bias (48), head.weight"``, in the order of the first path of each kind.
    """
    kinds: dict[tuple[str, ...], list[list[str]]] = {}
    for path in paths:
        parts = path.split(".")
        kinds.setdefault(tuple("*" if part.isdigit() else part for part in parts), []).append(parts)
    return listed((_cut(_alike(alike), longest) for alike in kinds.values()), most)


def _alike(paths: list[list[str]]) -> str:
    name = ".".join(parts[0] if len(set(parts)) == 1 else "*" for parts in zip(*paths, strict=True))
    return name if len(paths) == 1 else f"{name} ({len(paths)})"


def _cut(name: str, longest: int) -> str:
    return name if len(name) <= longest else f"…{name[1 - longest :]}"


def natural_order(path: str) -> list[tuple[int, str]]:
    """Returns a key by which paths are sorted as people count: ``layers.2`` before ``layers.10``.

    Args:
        path: of a module or an attribute.
    """
    parts = re.split(r"0*([0-9]+)", path)
    return [(len(part) if place % 2 else 0, part) for place, part in enumerate(parts)]
