"""Payload → trace: strict, because a file can come from anywhere.

A payload that does not fit the schema in every detail is refused, with the place of the defect. Reading makes
instances of the types of `freeze_engine.trace` from numbers and strings and nothing else; equal parts of the
trace become shared objects, as their table holds them once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from freeze_engine.serde.bounds import SNAPSHOT_NODE_BYTES, TEXT_LINE_BYTES, Allowance
from freeze_engine.serde.delta import spliced, spliced_length
from freeze_engine.serde.schema import (
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
from freeze_engine.trace.rules.graphs import MAX_NESTING

_NONFINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def decode(payload: Json, version: int, allowance: Allowance) -> Trace:
    """Returns the trace that `freeze_engine.serde.encode.encode` turned into ``payload``.

    Args:
        payload: what `json` read.
        version: of the schema it was written with.
        allowance: how much memory is left for what splices make, which could be much from little: thousands of
            snapshots, each as large as the first.

    Raises:
        MalformedError: the payload does not fit the schema.
        TooLargeError: snapshots and texts take more than ``allowance``.
    """
    keys = {"columns", "tables", "trace"}
    if type(payload) is not dict or payload.keys() != keys:
        raise MalformedError(f"expected an object with exactly {', '.join(sorted(keys))}")
    _check_columns(payload["columns"], version)
    decoder = _Decoder(version, allowance)
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
        max_bytes: how much memory may be taken by what splices make.

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
    return decode({"columns": all_columns(version), "tables": tables, "trace": row}, version, Allowance(max_bytes))


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
    """Turns rows into values with the tables read so far."""

    def __init__(self, version: int, allowance: Allowance) -> None:
        super().__init__(version)
        self._tables: dict[type, list[Any]] = {kind: [] for kind in TABLES}
        self._take = allowance.take
        # The bases of splices, by the position of the row: the lines of long texts, the nodes of snapshots.
        self._lines: dict[int, list[str]] = {}
        self._nodes: dict[int, list[Node]] = {}
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
        base, changes = _row(row, 2)
        lines = self._changed(str, base, changes, self._lines, TEXT_LINE_BYTES)
        self._take(4 * (sum(map(len, lines)) + len(lines)))
        return "\n".join(lines)

    def _changed(self, kind: type, base: Json, changes: Json, made: dict[int, list[Any]], each_bytes: int) -> list[Any]:
        """Returns the items of a new row of ``kind``, encoded as changes to an earlier one."""
        if base is not None and (type(base) is not int or base not in made):
            raise MalformedError(f"{base!r:.40} is not an earlier row made of splices")
        before = [] if base is None else made[base]
        found = [_splice(splice) for splice in _expect(changes, list)]
        self._take(each_bytes * spliced_length(before, found))
        item = self.reference(kind if kind is str else Node)
        items = made[len(self._tables[kind])] = _spliced(
            before, [(start, removed, [item(position) for position in inserted]) for start, removed, inserted in found]
        )
        return items

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
        base, *cells = _row(row, 1 + len(columns(GraphSnapshot, self.version)))
        try:
            nodes = self._changed(GraphSnapshot, base, cells[NODES_COLUMN], self._nodes, SNAPSHOT_NODE_BYTES)
        except MalformedError as error:
            raise error.within(".nodes") from None
        self._take(SNAPSHOT_NODE_BYTES * self._held_by(nodes))
        cells[NODES_COLUMN] = []
        graph: GraphSnapshot = self.row(GraphSnapshot)(cells)
        return GraphSnapshot(graph.inputs, tuple(nodes), graph.outputs)

    def reference(self, kind: type) -> Convert:
        table = self._tables[kind]

        def convert(position: Json) -> Any:
            if type(position) is not int or not 0 <= position < len(table):
                raise MalformedError(f"{position!r:.40} is not a position in the table {kind.__name__} of {len(table)}")
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
                values.extend(map(item, parts))  # what came before an error stays in the list
            except MalformedError as error:
                raise error.within(f"[{len(values)}]") from None
            return tuple(values)

        return convert

    def group(self, parts: list[Convert]) -> Convert:
        def convert(row: Json) -> tuple[Any, ...]:
            return tuple(part(value) for part, value in zip(parts, _row(row, len(parts)), strict=True))

        return convert

    def record(self, kind: type, names: tuple[str, ...], parts: list[Convert]) -> Convert:
        is_whole = names == tuple(field.name for field in fields(kind))

        def convert(row: Json) -> Any:
            given = _row(row, len(parts))
            try:
                values = [part(value) for part, value in zip(parts, given, strict=True)]
            except MalformedError:
                raise _misfit(names, parts, given) from None
            return kind(*values) if is_whole else kind(**dict(zip(names, values, strict=True)))

        return convert


def _misfit(names: Sequence[str], parts: Sequence[Convert], row: Sequence[Json]) -> MalformedError:
    """Returns the error of a row that does not fit, with the field that it lies in."""
    for name, part, value in zip(names, parts, row, strict=True):
        try:
            part(value)
        except MalformedError as error:
            return error.within(f".{name}")
    raise AssertionError("a row did not fit, and now it does")


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


def _splice(row: Json) -> tuple[int, int, list[Json]]:
    start, removed, inserted = _row(row, 3)
    return _expect(start, int), _expect(removed, int), _expect(inserted, list)


def _spliced(before: list[Any], found: Sequence[tuple[int, int, list[Any]]]) -> list[Any]:
    try:
        return spliced(before, found)
    except ValueError as error:
        raise MalformedError(str(error)) from error
