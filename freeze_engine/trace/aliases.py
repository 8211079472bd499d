"""torch's alias analysis of a graph: the values that share memory, and the nodes that write it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from freeze_engine.trace.source import SourceRef


@dataclass(frozen=True, slots=True)
class AliasEntry:
    """One line of torch's alias analysis.

    Attributes:
        value: the value's name.
        relation: how it relates to the targets.
        targets: value names, or torch's ``WILDCARD for type …``.
    """

    value: str
    relation: Literal["points to", "contains"]
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Write:
    """A node that writes memory.

    Attributes:
        node: its id.
        op: its operator.
        targets: what may be written, value names or wildcards.
        source: the user's source line.
    """

    node: str
    op: str
    targets: tuple[str, ...]
    source: SourceRef | None = None


@dataclass(frozen=True, slots=True)
class AliasAnalysis:
    """torch's alias database of one snapshot: the values that share memory, and the nodes that write."""

    entries: tuple[AliasEntry, ...]
    writes: tuple[Write, ...]
