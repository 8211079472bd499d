"""Reads plain data of another process as frozen data classes; nothing of a wrong type or size gets through."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_args, get_origin

_TEXT: Final = 1 << 20
_MANY: Final = 200_000
_LARGEST: Final = 1 << 63
Kind = TypeVar("Kind")


def read_object(text: str | bytes) -> dict[str, Any]:
    """Returns the object that a JSON text holds.

    Raises:
        ValueError: it holds something else, or is too deep to be read.
    """
    try:
        found = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(found, dict):
        raise ValueError("it is not an object")
    return found


def read_fields(kind: type[Kind], given: object) -> Kind:
    """Returns a data class from an object whose values have the types that the class declares.

    Args:
        kind: a data class of texts, numbers, flags, literals, paths, tuples, optional values, and such data classes.
        given: decoded JSON.

    Raises:
        ValueError: a field is missing, unknown, of a wrong type or too large; the message names it.
    """
    if not isinstance(given, Mapping):
        raise ValueError(f"{kind.__name__} is not an object")
    known = {each.name: each for each in fields(kind)}  # type: ignore[arg-type]
    unknown = set(given) - set(known)
    if unknown:
        raise ValueError(f"{kind.__name__} has no field {min(unknown)!r:.80}")
    missing = [name for name, each in known.items() if name not in given and each.default is MISSING]
    if missing:
        raise ValueError(f"{kind.__name__} lacks {missing[0]}")
    hints = typing.get_type_hints(kind)
    return kind(**{name: _value(hints[name], value, f"{kind.__name__}.{name}") for name, value in given.items()})


def _value(hint: Any, value: object, where: str) -> Any:
    origin = get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return _any_of(get_args(hint), value, where)
    if origin is Literal:
        if not any(type(value) is type(each) and value == each for each in get_args(hint)):
            raise ValueError(f"{where} is none of {get_args(hint)}")
        return value
    if origin is tuple:
        return _items(get_args(hint)[0], value, where)
    if is_dataclass(hint):
        return read_fields(typing.cast(type, hint), value)
    return _plain(hint, value, where)


def _any_of(hints: tuple[Any, ...], value: object, where: str) -> Any:
    if value is None and type(None) in hints:
        return None
    (hint,) = (each for each in hints if each is not type(None))
    return _value(hint, value, where)


def _items(hint: Any, value: object, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list) or len(value) > _MANY:
        raise ValueError(f"{where} is not a list of at most {_MANY} items")
    return tuple(_value(hint, each, where) for each in value)


def _plain(hint: Any, value: object, where: str) -> Any:
    if hint is Path and isinstance(value, str) and len(value) <= _TEXT:
        return Path(value)
    if hint is str and isinstance(value, str) and len(value) <= _TEXT:
        return value.encode("utf-8", "replace").decode()  # a lone surrogate could not be sent on
    if hint is bool and isinstance(value, bool):
        return value
    if hint is int and type(value) is int and abs(value) <= _LARGEST:
        return value
    if hint is float and type(value) in (int, float) and abs(typing.cast(float, value)) <= _LARGEST:
        return float(typing.cast(float, value))
    raise ValueError(f"{where} is no {hint.__name__}, or too large")
