"""Reads expectations of freezes from the options of pytest and from markers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final

from freeze_engine.analysis.expectations.expectations import Expectations
from freeze_engine.errors import FreezerError
from freeze_engine.requests.suggestions import did_you_mean

if TYPE_CHECKING:
    import pytest

_NUMBERS: Final[Mapping[str, type]] = {"max_error": float, "max_latency_ratio": float, "max_constant_bytes": int}
_NAMES: Final = tuple(field.name for field in fields(Expectations))
_SWITCHES: Final = tuple(field.name for field in fields(Expectations) if field.default is False)


def read_expectations(texts: Iterable[str]) -> Expectations:
    """Reads ``NAME[=VALUE]``, where a name is a field of `Expectations`, also with dashes.

    Args:
        texts: of the command line and of the configuration; several values of one name add up.

    Raises:
        FreezerError: a name is not known, or a value cannot be read.
    """
    given: dict[str, Any] = {}
    for text in texts:
        name, has_value, value = (part.strip() for part in text.partition("="))
        name = name.replace("-", "_")
        _check_name(name)
        if name in _SWITCHES and not has_value:
            given[name] = True
        elif name in _NUMBERS:
            given[name] = _number(name, value)
        elif name == "reference":
            given[name] = value
        elif name == "no_preserved" and not has_value:
            given.setdefault(name, ())
        elif name not in _SWITCHES and value:
            given[name] = (*given.get(name, ()), value)
        else:
            raise FreezerError(
                f"{text!r} is not an expectation: {name} takes {'no' if name in _SWITCHES else 'a'} value"
            )
    return Expectations(**given)


def with_marks(expected: Expectations, marks: Iterable[pytest.Mark]) -> Expectations:
    """Returns expectations with those of a test's markers in their place.

    Args:
        expected: of all tests.
        marks: the markers, the closest one last.

    Raises:
        FreezerError: a name is missing or not known, or a value cannot be read.
    """
    for mark in marks:
        if mark.args:
            raise FreezerError(
                f"pytest.mark.freezer({mark.args[0]!r}): give expectations by name, such as expect_folded='conv_bn'"
            )
        for name in mark.kwargs:
            _check_name(name)
        expected = replace(expected, **mark.kwargs)
    return expected


def _check_name(name: str) -> None:
    if name not in _NAMES:
        meant = did_you_mean(name, _NAMES)
        raise FreezerError(f"there is no expectation {name!r}.{meant} There are {', '.join(_NAMES)}.")


def _number(name: str, value: str) -> float | int:
    try:
        number: float | int = _NUMBERS[name](value)
    except ValueError as error:
        raise FreezerError(f"{name}={value}: that is not a number") from error
    return number
