"""Payload → trace: strict, because a file can come from anywhere.

A payload either fits the schema in every detail or is refused with the place that does not. Reading makes
instances of the types of `freeze_engine.trace` from numbers and strings and nothing else; equal parts of the
trace become shared objects, as their table holds them once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from freeze_engine.serde.delta import spliced
from freeze_engine.serde.schema import (
    MAX_NESTING,
    NODES_COLUMN,
    TABLES,
    Convert,
    Converter,
    Json,
    MalformedError,
    all_columns,
    columns,
)
from freeze_engine.trace import GraphSnapshot, Node, Trace

_REFERENCE_BYTES = 8
_NONFINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class TooLargeError(Exception):
    """A file unpacks to more than it may."""


def decode(payload: Json, version: int, max_bytes: int) -> Trace:
    """Returns the trace that `freeze_engine.serde.encode.encode` turned into ``payload``.

    Args:
        payload: what `json` read.
        version: of the schema it was written with.
        max_bytes: how much what splices make may take, which could be much from little: thousands of
            snapshots, each as large as the first.

    Raises:
        MalformedError: the payload does not fit the schema.
        TooLargeError: snapshots and long texts take more than ``max_bytes``.
    """
    keys = {"columns", "tables", "trace"}
    if type(payload) is not dict or payload.keys() != keys:
        raise MalformedError(f"expected an object with exactly {', '.join(sorted(keys))}")
    _check_columns(payload["columns"], version)
    decoder = _Decoder(version, max_bytes)
    decoder.read_tables(payload["tables"])
    try:
        trace = decoder.row(Trace)(payload["trace"])
    except MalformedError as error:
        raise error.within("trace") from None
    assert isinstance(trace, Trace)
    return trace


def joined(instalments: Iterable[Json], version: int, max_bytes: int) -> Trace | None:
    """Returns a trace as far as it was encoded in instalments (`freeze_engine.serde.encode.Instalments`).

    Args:
        instalments: in order, from the first on.
        version: of the schema they were written with.
        max_bytes: as for `decode`.

    Returns:
        The trace, ``None`` without any instalment.

    Raises:
        MalformedError: they do not fit the schema.
        TooLargeError: as for `decode`.
    """
    tables: dict[str, list[Json]] = {kind.__name__: [] for kind in TABLES}
    steps: list[Json] = []
    found: Json = None
    for instalment in instalments:
        for name, rows in instalment["tables"].items():
            tables[name] += rows
        for index, row in instalment["steps"]:
            steps[index : index + 1] = [row]
        found = instalment["trace"] or found
    if found is None:
        return None
    column = columns(Trace, version).index("steps")
    row = [*found[:column], steps, *found[column + 1 :]]
    return decode({"columns": all_columns(version), "tables": tables, "trace": row}, version, max_bytes)


def _check_columns(found: Json, version: int) -> None:
    expected = all_columns(version)
    if type(found) is not dict or found.keys() != expected.keys():
        raise MalformedError(f"expected exactly the types {', '.join(expected)}", "columns")
    for name, names in expected.items():
        if found[name] != names:
            raise MalformedError(
                f"expected the fields {', '.join(names)}, found {found[name]!r:.200}", f"columns.{name}"
            )


class _Decoder(Converter):
    """Turns rows into values, looking up what stands in the tables read so far."""

    def __init__(self, version: int, max_bytes: int) -> None:
        super().__init__(version)
        self._tables: dict[type, list[Any]] = {kind: [] for kind in TABLES}
        self._left_bytes = max_bytes
        # What splices apply to, by the position of the row: the lines of long texts, the nodes of snapshots.
        self._made: dict[type, dict[int, list[Json]]] = {str: {}, GraphSnapshot: {}}
        # Only nodes that hold others are in these: how many they hold, and how deep.
        self._held: dict[int, int] = {}
        self._depths: dict[int, int] = {}

    def read_tables(self, tables: Json) -> None:
        """Reads all tables, in their order."""
        names = [kind.__name__ for kind in TABLES]
        if type(tables) is not dict or tables.keys() != set(names):
            raise MalformedError(f"expected exactly the tables {', '.join(names)}", "tables")
        for kind, name in zip(TABLES, names, strict=True):
            convert = self._of_table(kind)
            table = self._tables[kind]
            try:
                for row in _expect(tables[name], list):
                    table.append(convert(row))
            except MalformedError as error:
                raise error.within(f"tables.{name}[{len(table)}]") from None

    def _of_table(self, kind: type) -> Convert:
        special: dict[type, Convert] = {str: self._text, Node: self._node, GraphSnapshot: self._snapshot}
        return special.get(kind) or self.row(kind)

    def _text(self, row: Json) -> str:
        if type(row) is str:
            return row
        text = self.reference(str)
        lines = [text(line) for line in self._changed(str, *_row(row, 2))]
        self._take(sum(map(len, lines)))
        return "\n".join(lines)

    def _changed(self, kind: type, base: Json, changes: Json) -> list[Json]:
        """Returns the positions that make up a new row of ``kind``, told as what changes in an earlier one."""
        made = self._made[kind]
        if base is not None and (type(base) is not int or base not in made):
            raise MalformedError(f"{base!r:.40} is no earlier row made of splices")
        positions = made[len(self._tables[kind])] = _spliced([] if base is None else made[base], changes)
        self._take(_REFERENCE_BYTES * len(positions))
        return positions

    def _take(self, taken_bytes: int) -> None:
        self._left_bytes -= taken_bytes
        if self._left_bytes < 0:
            raise TooLargeError

    def _node(self, row: Json) -> Node:
        node: Node = self.row(Node)(row)
        held = [inner for block in node.blocks for inner in block.nodes]
        if not held:
            return node
        self._held[id(node)] = len(held) + self._held_by(held)
        self._depths[id(node)] = depth = 1 + max(self._depths.get(id(inner), 1) for inner in held)
        if depth > MAX_NESTING:
            raise MalformedError(f"blocks nest more than {MAX_NESTING} deep")
        return node

    def _held_by(self, nodes: Sequence[Node]) -> int:
        return sum(self._held.get(id(node), 0) for node in nodes) if self._held else 0

    def _snapshot(self, row: Json) -> GraphSnapshot:
        base, *fields = _row(row, 1 + len(columns(GraphSnapshot, self.version)))
        fields[NODES_COLUMN] = self._changed(GraphSnapshot, base, fields[NODES_COLUMN])
        graph: GraphSnapshot = self.row(GraphSnapshot)(fields)
        self._take(_REFERENCE_BYTES * self._held_by(graph.nodes))
        return graph

    def reference(self, kind: type) -> Convert:
        table = self._tables[kind]

        def convert(position: Json) -> Any:
            if type(position) is not int or not 0 <= position < len(table):
                raise MalformedError(f"{position!r:.40} is no position in the table {kind.__name__} of {len(table)}")
            return table[position]

        return convert

    def leaf(self, kind: type) -> Convert:
        return _float if kind is float else _exactly(kind)

    def literal(self, members: tuple[str, ...]) -> Convert:
        text = self.reference(str)

        def convert(position: Json) -> str:
            member: str = text(position)
            if member not in members:
                raise MalformedError(f"{member!r:.40} is none of {', '.join(members)}")
            return member

        return convert

    def items(self, item: Convert) -> Convert:
        def convert(row: Json) -> tuple[Any, ...]:
            parts: list[Json] = _expect(row, list)
            values: list[Any] = []
            try:
                for part in parts:
                    values.append(item(part))
            except MalformedError as error:
                raise error.within(f"[{len(values)}]") from None
            return tuple(values)

        return convert

    def group(self, parts: list[Convert]) -> Convert:
        def convert(row: Json) -> tuple[Any, ...]:
            return tuple(part(value) for part, value in zip(parts, _row(row, len(parts)), strict=True))

        return convert

    def record(self, kind: type, names: tuple[str, ...], parts: list[Convert]) -> Convert:
        def convert(row: Json) -> Any:
            pairs = zip(parts, _row(row, len(parts)), strict=True)
            values: list[Any] = []
            try:
                for part, value in pairs:
                    values.append(part(value))
            except MalformedError as error:
                raise error.within(f".{names[len(values)]}") from None
            return kind(**dict(zip(names, values, strict=True)))

        return convert


def _expect(value: Json, kind: type) -> Any:
    if type(value) is not kind:
        raise MalformedError(f"expected {kind.__name__}, found {type(value).__name__}")
    return value


def _exactly(kind: type) -> Convert:
    return lambda value: _expect(value, kind)


def _row(value: Json, length: int) -> list[Json]:
    row: list[Json] = _expect(value, list)
    if len(row) != length:
        raise MalformedError(f"expected {length} items, found {len(row)}")
    return row


def _float(value: Json) -> float:
    if type(value) is str and value in _NONFINITE:
        return _NONFINITE[value]
    number: float = _expect(value, float)
    if not math.isfinite(number):
        raise MalformedError("expected a finite number")
    return number


def _spliced(before: list[int], row: Json) -> list[Json]:
    found = [_row(splice, 3) for splice in _expect(row, list)]
    checked = [(_expect(start, int), _expect(gone, int), _expect(new, list)) for start, gone, new in found]
    try:
        return spliced(before, checked)
    except ValueError as error:
        raise MalformedError(str(error)) from error
