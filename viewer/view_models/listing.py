"""The IR diff: how each step's text differs from the text before it.

The lines themselves are not here: the browser prints them from the graph data (`viewer.graph_data`), in the order of
`freeze_engine.graph_lines`, and these opcodes say which of them were kept, dropped and added.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeAlias

import freeze_engine as fe

Opcodes: TypeAlias = "list[int | list[int]]"
"""In order: ``n`` keeps n lines, ``-n`` drops n lines, ``[n]`` adds n lines."""


class LineNumbers:
    """Numbers the different lines of a trace's snapshots, so that equal lines have equal numbers."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._nodes: dict[int, int] = {}

    def of(self, graph: fe.GraphSnapshot) -> list[int]:
        """Returns one number per line of `freeze_engine.graph_lines`."""
        lines = [self._number(("graph", graph.inputs))]
        self._walk(graph.nodes, 1, lines)
        lines.append(self._number(("return", graph.outputs)))
        return lines

    def _walk(self, nodes: tuple[fe.Node, ...], depth: int, lines: list[int]) -> None:
        for node in nodes:
            lines.append(self._number((depth, self._node(node))))
            for number, block in enumerate(node.blocks):
                lines.append(self._number((depth, number, block.inputs)))
                self._walk(block.nodes, depth + 2, lines)
                lines.append(self._number((depth, "yields", block.outputs)))

    def _node(self, node: fe.Node) -> int:
        # Snapshots share equal nodes, so most lookups end here; the trace keeps the objects, and so their ids, alive.
        known = self._nodes.get(id(node))
        if known is not None:
            return known
        texts = (node.id, node.op, node.inputs, node.outputs, node.attributes, node.source)
        self._nodes[id(node)] = number = self._number((texts, node.module, node.constant))
        return number

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))


def opcodes(before: Sequence[int], after: Sequence[int]) -> Opcodes:
    """Returns how to make ``after`` from ``before``.

    Args:
        before: numbers of the earlier text's lines.
        after: numbers of the later text's lines.
    """
    codes: Opcodes = []
    kept = old = new = 0
    for next_old, next_new in [*fe.align(before, after), (len(before), len(after))]:
        if kept and (next_old > old or next_new > new):
            codes.append(kept)
            kept = 0
        if next_old > old:
            codes.append(old - next_old)
        if next_new > new:
            codes.append([next_new - new])
        kept += next_old < len(before)
        old, new = next_old + 1, next_new + 1
    return [*codes, kept] if kept else codes


def source_row(source: fe.SourceRef | None) -> dict[str, str | int] | None:
    """Returns a place in the user's source as the views read it."""
    if source is None:
        return None
    return {"file": source.file, "line": source.line, "column": source.column}
