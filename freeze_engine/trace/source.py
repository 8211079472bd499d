"""Places in the user's source, the lines that a trace keeps of it, and the calls that lead to nodes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceRef:
    """A place in the user's source.

    Attributes:
        file: path as torch recorded it.
        line: 1-based.
        column: 0-based, as in torch's ``# file:line:column`` comments.
    """

    file: str
    line: int
    column: int = 0


@dataclass(frozen=True, slots=True)
class SourceLines:
    """Consecutive source lines kept in the trace, so that they can be shown on another machine.

    Attributes:
        file: path as in `SourceRef.file`.
        first_line: 1-based number of ``lines[0]``.
        lines: text without line ends.
    """

    file: str
    first_line: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallPath:
    """The calls that lead to nodes, from the method to the place in `Node.source`.

    Attributes:
        method: the method whose steps have the nodes.
        calls: places of the calls, the outermost first; `Node.source` of the nodes is not among them. For a loaded
            file also the places of calls and nodes in the code that was saved with it.
        nodes: ids of nodes, each in at least one snapshot of the method.
    """

    method: str
    calls: tuple[SourceRef, ...]
    nodes: tuple[str, ...]
