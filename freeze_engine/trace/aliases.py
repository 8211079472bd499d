"""torch's alias analysis of a graph: who shares memory with whom, and who writes it."""

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
    """torch's alias database of one snapshot: who shares memory with whom, and who writes."""

    entries: tuple[AliasEntry, ...]
    writes: tuple[Write, ...]
