"""Rules for JSON: each returns a value that it knows, built anew, and refuses every other one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from freeze_engine.models.untrusted.refusals import UntrustedFileError, quoted

Rule = Callable[[Any], Any]

_LARGEST: Final = 2**63


class RefusedError(UntrustedFileError):
    """A value is not one that is known to be harmless.

    Attributes:
        what: the value, in words.
        place: the keys that lead to it, outermost first.
    """

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = quoted(what)
        self.place: list[str] = []

    def __str__(self) -> str:
        return f"{self.what} at {quoted('.'.join(self.place))}" if self.place else self.what


def read_json(data: bytes) -> Any:
    """Reads JSON that every reader understands in the same way.

    Args:
        data: UTF-8 without a byte order mark.

    Raises:
        RefusedError: it is something else, a key occurs twice, or a number is NaN or infinite.
    """
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"JSON that is not understood ({error})") from error


def write_json(value: Any) -> bytes:
    """Returns JSON in ASCII, for what a rule has returned."""
    return json.dumps(value, allow_nan=False).encode("ascii")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is not a number of JSON")


def record(required: Mapping[str, Rule], optional: Mapping[str, Rule] | None = None) -> Rule:
    """Returns a rule for an object with known keys; what an unknown key holds must be empty, and is left out."""
    rules = {**required, **(optional or {})}

    def check(value: Any) -> dict[str, Any]:
        found = _expect(value, dict, "an object")
        for key, each in found.items():
            if key not in rules and each not in (None, "", [], {}, False):
                raise RefusedError(f"{key!r}, which is not known here")
        if missing := [key for key in required if key not in found]:
            raise RefusedError(f"an object without {missing[0]!r}")
        return {key: _at(key, rule, found[key]) for key, rule in rules.items() if key in found}

    return check


def union(**rules: Rule) -> Rule:
    """Returns a rule for an object with one key, which says what it holds."""

    def check(value: Any) -> dict[str, Any]:
        found = _expect(value, dict, "an object")
        key = next(iter(found), None)
        if len(found) != 1 or key not in rules:
            raise RefusedError(f"{_shown(list(found))} where one of {', '.join(rules)} belongs")
        return {key: _at(key, rules[key], found[key])}

    return check


def listed(rule: Rule) -> Rule:
    """Returns a rule for a list."""

    def check(value: Any) -> list[Any]:
        return [_at(f"[{index}]", rule, each) for index, each in enumerate(_expect(value, list, "a list"))]

    return check


def mapped(key_rule: Rule, rule: Rule) -> Rule:
    """Returns a rule for an object with keys of the file's own."""

    def check(value: Any) -> dict[str, Any]:
        return {key_rule(key): _at(key, rule, each) for key, each in _expect(value, dict, "an object").items()}

    return check


def maybe(rule: Rule) -> Rule:
    """Returns a rule for a value or null."""
    return lambda value: None if value is None else rule(value)


def left_out(empty: Any) -> Rule:
    """Returns a rule for what nothing here needs: an empty value takes its place."""
    return lambda value: empty


def refused(what: str) -> Rule:
    """Returns a rule that refuses."""

    def check(value: Any) -> Any:
        raise RefusedError(f"{what} ({_shown(value)})")

    return check


def integer(value: Any) -> int:
    """Takes an integer of 64 bits."""
    if type(value) is not int or not -_LARGEST <= value < _LARGEST:
        raise RefusedError(f"{_shown(value)} where an integer belongs")
    return value


def boolean(value: Any) -> bool:
    """Takes true or false."""
    if type(value) is not bool:
        raise RefusedError(f"{_shown(value)} where true or false belongs")
    return value


def number(value: Any) -> float | int | str:
    """Takes a number, or one of the texts that torch writes for what JSON has no number for."""
    if value in ("Infinity", "-Infinity", "NaN") or type(value) is float:
        return value  # type: ignore[no-any-return]
    return integer(value)


def _at(place: str, rule: Rule, value: Any) -> Any:
    try:
        return rule(value)
    except RefusedError as error:
        error.place.insert(0, place if len(place) <= 80 else f"{place[:80]}…")
        raise


def _expect(value: Any, kind: type, name: str) -> Any:
    if type(value) is not kind:
        raise RefusedError(f"{_shown(value)} where {name} belongs")
    return value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
