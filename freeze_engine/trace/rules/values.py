"""Rules of single fields: text that can be written, numbers within bounds, words of a list.

One pass over the dataclasses of a trace. What is shared is visited once: a node that is in thirty snapshots costs
as much as one that is in one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from freeze_engine.trace import Interval, Trace
from freeze_engine.trace.rules.hints import type_hints

MAX_INT = 2**63 - 1
"""The largest number that a trace holds, of bytes, of nanoseconds or of anything else."""

_POSITIVE = {("Step", "round")}
_LEAST, _MOST = 1e-30, 1e30
"""Bounds of what an interval holds, times and their ratios: one divided by another is a finite number, too."""

Fits = Callable[[Any], bool]
Explain = Callable[[Any, str], Iterator[str]]


@dataclass(frozen=True, slots=True)
class _Rule:
    """The rules for the values of a type.

    Attributes:
        fits: whether a value keeps the rule, as fast as can be.
        explain: yields what is wrong with one that does not, given its place.
    """

    fits: Fits
    explain: Explain


def value_problems(trace: Trace) -> Iterator[str]:
    """Yields what is wrong with single fields, such as ``steps[3].duration_ns: -5 is not within 0 … 2**63 - 1``."""
    rules = _at_hand()
    rule = rules.of_type(Trace)
    try:
        if not rule.fits(trace):
            rules.forget()
            yield from rule.explain(trace, "")
    finally:
        rules.forget()
        _idle.append(rules)


def is_text(text: str) -> bool:
    """Returns whether a text can be written as UTF-8: a lone surrogate cannot."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class _Rules:
    """The rules of all types, and what they were found to hold for."""

    def __init__(self) -> None:
        self._types: dict[type, _Rule] = {}
        self._sound: set[int] = set()

    def forget(self) -> None:
        """Takes nothing for visited any more."""
        self._sound.clear()

    def of_type(self, kind: type) -> _Rule:
        """Returns the rule for the instances of a dataclass."""
        if kind not in self._types:
            parts: list[tuple[str, _Rule]] = []
            self._types[kind] = self._of_fields(parts)  # before its parts, for blocks hold nodes
            hints = type_hints(kind)
            found = ((field.name, self._of(hints[field.name], kind.__name__, field.name)) for field in fields(kind))
            parts += (part for part in found if part[1] is not _ANYTHING)
        return self._types[kind]

    def _of_fields(self, parts: list[tuple[str, _Rule]]) -> _Rule:
        sound = self._sound

        def fits(value: Any) -> bool:
            if id(value) in sound:
                return True
            sound.add(id(value))
            return all(rule.fits(getattr(value, name)) for name, rule in parts) and _in_order(value)

        def explain(value: Any, place: str) -> Iterator[str]:
            if id(value) in sound:
                return
            sound.add(id(value))
            for name, rule in parts:
                yield from rule.explain(getattr(value, name), f"{place}.{name}" if place else name)
            if not _in_order(value):
                yield f"{place}: {value!r} does not have its value between its ends"

        return _Rule(fits, explain)

    def _of(self, hint: Any, kind: str, field: str) -> _Rule:
        if is_dataclass(hint) and isinstance(hint, type):
            return self.of_type(hint)
        arguments = get_args(hint)
        if get_origin(hint) is Literal:
            return _leaf(arguments.__contains__, f"is none of {', '.join(arguments)}")
        if get_origin(hint) is tuple and arguments[-1] is Ellipsis:
            # Of a snapshot's nodes most were visited with the one before it.
            return _items(self._of(arguments[0], kind, field), self._sound if is_dataclass(arguments[0]) else None)
        if get_origin(hint) is tuple:
            return _group([self._of(argument, kind, field) for argument in arguments])
        if NoneType in arguments:
            (present,) = (self._of(argument, kind, field) for argument in arguments if argument is not NoneType)
            return _optional(present)
        return self._leaf_of(hint, kind, field)

    def _leaf_of(self, hint: Any, kind: str, field: str) -> _Rule:
        if hint is str:
            return _leaf(self._is_text, "holds a lone surrogate, which is not a text")
        if hint is int:
            least = 1 if (kind, field) in _POSITIVE else 0
            return _leaf(lambda number: least <= number <= MAX_INT, f"is not within {least} … 2**63 - 1")
        if hint is float and kind == Interval.__name__:
            return _leaf(lambda number: _LEAST <= number <= _MOST, f"is not within {_LEAST:g} … {_MOST:g}")
        return _ANYTHING

    def _is_text(self, text: str) -> bool:
        # A long text may be referred to many times, and trying it takes as long as it is.
        if text.isascii() or id(text) in self._sound:
            return True
        if is_text(text):
            self._sound.add(id(text))
            return True
        return False


def _in_order(value: object) -> bool:
    return type(value) is not Interval or not (value.value < value.low or value.high < value.value)


def _leaf(fits: Fits, wrong: str) -> _Rule:
    def explain(value: Any, place: str) -> Iterator[str]:
        if not fits(value):
            yield f"{place}: {value!r:.80} {wrong}"

    return _Rule(fits, explain)


_ANYTHING = _leaf(lambda value: True, "")


def _items(item: _Rule, visited: set[int] | None) -> _Rule:
    def explain(values: Any, place: str) -> Iterator[str]:
        for number, value in enumerate(values):
            yield from item.explain(value, f"{place}[{number}]")

    fits = item.fits
    if visited is None:
        return _Rule(lambda values: not values or all(map(fits, values)), explain)
    return _Rule(lambda values: all(map(fits, [value for value in values if id(value) not in visited])), explain)


def _group(parts: list[_Rule]) -> _Rule:
    def explain(values: Any, place: str) -> Iterator[str]:
        for number, (part, value) in enumerate(zip(parts, values, strict=True)):
            yield from part.explain(value, f"{place}[{number}]")

    return _Rule(lambda values: all(part.fits(value) for part, value in zip(parts, values, strict=True)), explain)


def _optional(present: _Rule) -> _Rule:
    def explain(value: Any, place: str) -> Iterator[str]:
        if value is not None:
            yield from present.explain(value, place)

    return _Rule(lambda value: value is None or present.fits(value), explain)


_idle: list[_Rules] = []
"""Rules that nobody uses at the moment, for making them takes longer than checking a small trace."""


def _at_hand() -> _Rules:
    try:
        return _idle.pop()
    except IndexError:  # not checked beforehand: another thread may take the last ones
        return _Rules()
