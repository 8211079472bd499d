"""File layout of the types of `freeze_engine.trace`, derived from their type hints.

Only `SINCE` names fields: those that a version later than the first added, each with a default. Two converters walk
the hints the same way: one writes (`freeze_engine.serde.encode`), one reads (`freeze_engine.serde.decode`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from freeze_engine.trace import Constant, GraphSnapshot, Node, SourceRef, Trace, Value
from freeze_engine.trace.rules.hints import type_hints

Json = Any
"""Values that `json` writes and reads: lists, dicts, strings, numbers, booleans and ``None``."""

Convert = Callable[[Any], Any]

TABLES: tuple[type, ...] = (str, SourceRef, Value, Constant, Node, GraphSnapshot)
"""Types that stand in a table each and are referred to by position, in the order the tables are read.

Rows refer to earlier tables and to earlier rows of their own, so that reading is one pass, without
recursion or cycles.
"""

SINCE: dict[tuple[str, str], int] = {
    ("Latency", "previous"): 2,
    ("Latency", "change"): 2,
    ("OutputError", "max_ulp"): 2,
    ("Numerics", "inputs"): 2,
    ("Trace", "checks"): 2,
    ("Trace", "memory"): 2,
    ("Trace", "programs"): 2,
    ("Trace", "ablation"): 2,
    ("AttributeFate", "same_as"): 3,
    ("NearMiss", "saved_bytes"): 3,
    ("Step", "passes"): 3,
    ("Step", "inputs"): 3,
    ("Trace", "call_paths"): 4,
    ("Constant", "values"): 5,
    ("AttributeFate", "tensor"): 5,
    ("AttributeFate", "updatable"): 6,
    ("Trace", "package"): 6,
    ("Trace", "origin"): 7,
    ("Trace", "runtime"): 7,
    ("Trace", "layer_errors"): 8,
    ("RuntimeGraph", "times"): 9,
}
"""The version that brought a field, by ``(type, field)``; all others are of the first. Older files get its default."""

LONG_TEXT_LINES = 8
"""Number of lines from which a text is stored as its changes to an earlier one (a method's code, step by step)."""


class MalformedError(ValueError):
    """Something does not fit the schema.

    Attributes:
        problem: what is wrong.
        place: where, such as ``.steps[3].duration_ns``; grows at its front while the error passes outwards.
    """

    def __init__(self, problem: str, place: str = "") -> None:
        super().__init__(problem, place)
        self.problem = problem
        self.place = place

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}" if self.place else self.problem

    def within(self, place: str) -> MalformedError:
        """Returns the same error as seen from outside ``place``."""
        return MalformedError(self.problem, place + self.place)


class Converter(ABC):
    """Makes the function that converts values of a type, given as its type hint.

    The functions raise `MalformedError` for whatever does not fit.

    Attributes:
        version: of the schema, which decides what fields the types have.
    """

    def __init__(self, version: int) -> None:
        self._rows: dict[type, Convert] = {}
        self.version = version

    def converter(self, hint: Any) -> Convert:
        """Returns the function for ``hint``: a leaf, ``X | None``, a tuple, a ``Literal`` or a dataclass."""
        if hint in TABLES:
            return self.reference(hint)
        if is_dataclass(hint) and isinstance(hint, type):
            return self.row(hint)
        arguments = get_args(hint)
        if get_origin(hint) is Literal:
            return self.literal(arguments)
        if get_origin(hint) is tuple:
            return self._tuple(arguments)
        if NoneType in arguments:
            return self._optional(arguments)
        return self.leaf(hint)

    def row(self, kind: type) -> Convert:
        """Returns the function for the fields of a dataclass, in their order; made once per type."""
        if kind not in self._rows:
            hints = type_hints(kind)
            names = columns(kind, self.version)
            self._rows[kind] = self.record(kind, names, [self.converter(hints[name]) for name in names])
        return self._rows[kind]

    def _tuple(self, arguments: tuple[Any, ...]) -> Convert:
        if arguments[-1] is Ellipsis:
            return self.items(self.converter(arguments[0]))
        return self.group([self.converter(argument) for argument in arguments])

    def _optional(self, arguments: tuple[Any, ...]) -> Convert:
        (present,) = (self.converter(argument) for argument in arguments if argument is not NoneType)
        return lambda value: None if value is None else present(value)

    @abstractmethod
    def leaf(self, kind: type) -> Convert:
        """Returns the function for ``bool``, ``int`` or ``float``."""

    @abstractmethod
    def literal(self, members: tuple[str, ...]) -> Convert:
        """Returns the function for one of several strings."""

    @abstractmethod
    def reference(self, kind: type) -> Convert:
        """Returns the function for a value that is kept in a table."""

    @abstractmethod
    def items(self, item: Convert) -> Convert:
        """Returns the function for a tuple of any length."""

    @abstractmethod
    def group(self, parts: list[Convert]) -> Convert:
        """Returns the function for a tuple of known length."""

    @abstractmethod
    def record(self, kind: type, names: tuple[str, ...], parts: list[Convert]) -> Convert:
        """Returns the function for a dataclass with the fields ``names``, converted by ``parts``."""


def columns(kind: type, version: int) -> tuple[str, ...]:
    """Returns the field names of a dataclass in a version of the schema, in the order its rows have."""
    return tuple(field.name for field in fields(kind) if SINCE.get((kind.__name__, field.name), 1) <= version)


NODES_COLUMN = columns(GraphSnapshot, 1).index("nodes")
"""Position of the nodes in a snapshot's row; they are stored as splices of another snapshot's."""


def all_columns(version: int) -> dict[str, list[str]]:
    """Returns the field names of every type that a trace can hold, by type name, as a file of a version states them."""
    found: dict[str, list[str]] = {}
    waiting: list[Any] = [Trace]
    while waiting:
        hint = waiting.pop()
        if is_dataclass(hint) and isinstance(hint, type) and hint.__name__ not in found:
            names = columns(hint, version)
            found[hint.__name__] = list(names)
            hints = type_hints(hint)
            waiting += (hints[name] for name in names)
        waiting += get_args(hint) if get_origin(hint) is not Literal else ()
    return dict(sorted(found.items()))
