"""Reads the texts of the graphs of one freeze, of which each repeats most of the one before."""

from __future__ import annotations

from freeze_engine.backends.torchscript.graph.parser import KnownLines, parse_graph
from freeze_engine.trace import GraphSnapshot


class KnownGraphs:
    """The graphs of one freeze that were read so far: no text and no line is read twice.

    So the nodes that a pass left alone are the same objects before and after it, as far as torch prints them.
    """

    def __init__(self) -> None:
        self._graphs: dict[str, GraphSnapshot] = {}
        self._lines = KnownLines()

    def read(self, text: str) -> GraphSnapshot:
        """Returns the graph that `parse_graph` makes of a text.

        Raises:
            GraphTextError: the text does not follow torch's printer.
        """
        text = text.rstrip("\n")
        if text not in self._graphs:
            self._graphs[text] = parse_graph(text, self._lines)
        return self._graphs[text]
