"""Trace → payload: tables of rows, and a row for the trace itself.

The same trace gives the same payload, whether its equal parts are shared objects or not: rows are identified
by their content and numbered by their first use.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from freeze_engine.errors import InvalidTraceError
from freeze_engine.serde.delta import splices
from freeze_engine.serde.schema import (
    LONG_TEXT_LINES,
    NODES_COLUMN,
    TABLES,
    Convert,
    Converter,
    Json,
    MalformedError,
    all_columns,
)
from freeze_engine.trace import Block, GraphSnapshot, Node, RuntimeGraph, Step, Trace
from freeze_engine.trace.rules.graphs import MAX_NESTING


def encode(trace: Trace, version: int) -> dict[str, Json]:
    """Returns the payload of ``trace``, which `json` can write.

    Args:
        trace: any trace; it need not pass `freeze_engine.trace.validation.check_trace`.
        version: of the schema, the newest.

    Returns:
        ``columns`` (the fields of each type), ``tables`` (rows by type) and ``trace`` (its row).

    Raises:
        InvalidTraceError: it holds something that its type hints do not allow.
    """
    encoder = _Encoder(version)
    try:
        encoder.add_snapshots(_expect(trace, Trace))
        row = encoder.row(Trace)(trace)
    except MalformedError as error:
        raise InvalidTraceError(f"cannot be stored: {error.within('trace')}") from error
    tables = {kind.__name__: rows for kind, rows in encoder.rows.items()}
    return {"columns": all_columns(version), "tables": tables, "trace": row}


class Instalments:
    """Encodes a trace that grows: each instalment holds what is new since the one before.

    Put together (`freeze_engine.serde.decode.joined`), instalments are a payload of the same schema.

    Args:
        version: of the schema, the newest.
    """

    def __init__(self, version: int) -> None:
        self._encoder = _Encoder(version)
        self._rest: Trace | None = None
        # The encoder knows by identity what it has stored, so the steps are kept alive.
        self._steps: tuple[Step, ...] = ()

    def next(self, trace: Trace) -> dict[str, Json]:
        """Returns an instalment, which `json` can write.

        Args:
            trace: the one before with steps added; of old steps all but the graph may have changed.

        Returns:
            ``tables`` (the rows that are new, by type), ``steps`` (position and row of those that are new or changed)
            and ``trace`` (its row but for the steps, ``None`` where that is as it was).

        Raises:
            InvalidTraceError: it holds something that its type hints do not allow.
        """
        encoder, known = self._encoder, len(self._steps)
        told = {kind: len(rows) for kind, rows in encoder.rows.items()}
        rest = replace(trace, steps=())
        try:
            encoder.add_snapshots(trace)
            changed = (pair for pair in enumerate(trace.steps) if pair[0] >= known or pair[1] != self._steps[pair[0]])
            steps = [[index, encoder.row(Step)(step)] for index, step in changed]
            row = encoder.row(Trace)(rest) if rest != self._rest else None
        except MalformedError as error:
            raise InvalidTraceError(f"cannot be stored: {error.within('trace')}") from error
        self._steps, self._rest = trace.steps, rest
        tables = {kind.__name__: rows[told[kind] :] for kind, rows in encoder.rows.items()}
        return {"tables": tables, "steps": steps, "trace": row}


class _Encoder(Converter):
    """Fills the tables while turning values into rows.

    Attributes:
        rows: the tables.
    """

    def __init__(self, version: int) -> None:
        super().__init__(version)
        self.rows: dict[type, list[Json]] = {kind: [] for kind in TABLES}
        self._positions: dict[type, dict[str, int]] = {kind: {} for kind in TABLES}
        # Snapshots share most of their nodes, so what was stored once is found by identity.
        self._stored: dict[int, int] = {}
        self._depths: dict[int, int] = {}
        # By method, the position of the snapshot stored last, and by position, the nodes of each.
        self._last: dict[str, int] = {}
        self._contents: list[list[int]] = []
        # By their first line, the long texts stored last: position, and positions of their lines.
        self._long_texts: dict[int, tuple[int, list[int]]] = {}

    def add_snapshots(self, trace: Trace) -> None:
        """Stores the graph of each step and runtime in its table as the changes since the method's previous graph."""
        for index, step in enumerate(_expect(trace.steps, tuple)):
            self._last[step.method] = self._add_graph(_expect(step, Step), f".steps[{index}].graph")
        for index, runtime in enumerate(_expect(trace.runtime, tuple)):
            if _expect(runtime, RuntimeGraph).graph is not None:
                self._add_graph(runtime, f".runtime[{index}].graph")

    def _add_graph(self, owner: Step | RuntimeGraph, place: str) -> int:
        if id(owner.graph) not in self._stored:
            try:
                self._stored[id(owner.graph)] = self._snapshot(owner.graph, self._last.get(owner.method))
            except MalformedError as error:
                raise error.within(place) from None
        return self._stored[id(owner.graph)]

    def _snapshot(self, graph: GraphSnapshot | None, base: int | None) -> int:
        row = self.row(GraphSnapshot)(graph)
        nodes = row[NODES_COLUMN]
        position = self._positions[GraphSnapshot].setdefault(repr(row), len(self._contents))
        if position == len(self._contents):
            self._contents.append(nodes)
            row[NODES_COLUMN] = splices([] if base is None else self._contents[base], nodes)
            self.rows[GraphSnapshot].append([base, *row])
        return position

    def _node(self, node: Node) -> int:
        """Stores a node after those it holds, without recursion."""
        if id(_expect(node, Node)) in self._stored:
            return self._stored[id(node)]
        found = [node]
        for outer in found:  # grows while it is read
            found += (inner for inner in _held(outer) if id(inner) not in self._stored)
        for inner in reversed(found):
            self._depths[id(inner)] = 1 + max((self._depths[id(held)] for held in _held(inner)), default=0)
            if self._depths[id(inner)] > MAX_NESTING:
                raise MalformedError(f"the blocks of node {node.id!r} nest more than {MAX_NESTING} deep")
            self._stored[id(inner)] = self._position(Node, self.row(Node)(inner))
        return self._stored[id(node)]

    def _text(self, value: Any) -> int:
        text = str(_expect(value, str))
        position = self._positions[str].get(text)
        if position is None:
            lines = text.split("\n")
            row = text if len(lines) < LONG_TEXT_LINES else self._long_text([self._text(line) for line in lines])
            position = self._positions[str][text] = len(self.rows[str])
            self.rows[str].append(row)
        return position

    def _long_text(self, lines: list[int]) -> Json:
        """Returns the row of the next text, encoded as its difference from one that begins alike."""
        base, before = self._long_texts.get(lines[0], (None, []))
        self._long_texts[lines[0]] = (len(self.rows[str]), lines)
        return [base, splices(before, lines)]

    def _position(self, kind: type, row: Json) -> int:
        # repr separates 0.0 from -0.0 and 1 from True, which compare equal.
        position = self._positions[kind].setdefault(repr(row), len(self.rows[kind]))
        if position == len(self.rows[kind]):
            self.rows[kind].append(row)
        return position

    def leaf(self, kind: type) -> Convert:
        return _float if kind is float else _exactly(kind)

    def literal(self, members: tuple[str, ...]) -> Convert:
        def convert(value: object) -> int:
            if value not in members:
                raise MalformedError(f"{value!r} is none of {', '.join(members)}")
            return self._text(value)

        return convert

    def reference(self, kind: type) -> Convert:
        if kind is Node:
            return self._node
        if kind is GraphSnapshot:
            return lambda graph: self._stored[id(graph)]
        if kind is str:
            return self._text
        return lambda value: self._position(kind, self.row(kind)(value))

    def items(self, item: Convert) -> Convert:
        def convert(values: object) -> list[Json]:
            given = _expect(values, tuple)
            converted: list[Json] = []
            try:
                for value in given:
                    converted.append(item(value))
            except MalformedError as error:
                raise error.within(f"[{len(converted)}]") from None
            return converted

        return convert

    def group(self, parts: list[Convert]) -> Convert:
        def convert(values: object) -> list[Json]:
            given = _expect(values, tuple)
            if len(given) != len(parts):
                raise MalformedError(f"expected {len(parts)} items, found {len(given)}")
            return [part(value) for part, value in zip(parts, given, strict=True)]

        return convert

    def record(self, kind: type, names: tuple[str, ...], parts: list[Convert]) -> Convert:
        fields = tuple(zip(names, parts, strict=True))

        def convert(value: object) -> list[Json]:
            _expect(value, kind)
            row: list[Json] = []
            try:
                for name, part in fields:
                    row.append(part(getattr(value, name)))
            except MalformedError as error:
                raise error.within(f".{names[len(row)]}") from None
            return row

        return convert


def _held(node: Node) -> Iterator[Node]:
    """Yields the nodes in a node's blocks, not those nested deeper."""
    for block in _expect(node.blocks, tuple):
        for inner in _expect(_expect(block, Block).nodes, tuple):
            yield _expect(inner, Node)


def _expect(value: Any, kind: type) -> Any:
    """Returns ``value`` if it is a ``kind``; a bool is no int, though Python says so."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise MalformedError(f"expected {kind.__name__}, found {type(value).__name__}")
    return value


def _exactly(kind: type) -> Convert:
    return lambda value: kind(_expect(value, kind))


def _float(value: Any) -> float | str:
    number = float(value if type(value) is int else _expect(value, float))
    return number if math.isfinite(number) else str(number)
