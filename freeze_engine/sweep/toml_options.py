"""Reads the options of a recording from a table of a sweep's file; the names are the flags of ``freezer-ui record``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from freeze_engine.errors import FreezerError
from freeze_engine.requests.option_arguments import seconds, size_bytes
from freeze_engine.requests.option_metadata import OptionField, option_fields
from freeze_engine.requests.options import BACKEND_OPTIONS, Measure
from freeze_engine.requests.suggestions import did_you_mean
from freeze_engine.worker.request import RecordRequest

#: Options of a recording that the file sets in another way: a list of backends.
_ELSEWHERE: Final = ("backend",)
Given = Mapping[str, Any]


def known_names() -> tuple[str, ...]:
    """Returns the names of all options that a table may have, besides those of the file itself."""
    kinds = (RecordRequest, Measure, *BACKEND_OPTIONS.values())
    flags = [option.flag for kind in kinds for option in option_fields(kind)]
    return tuple(flag for flag in dict.fromkeys(flags) if flag not in _ELSEWHERE)


def fits(given: Given, backend: str) -> bool:
    """Returns whether a backend has all options of a table.

    Args:
        given: value of each option, by its flag.
        backend: the backend.
    """
    found = (_place(_kinds(backend), flag, value) for flag, value in given.items() if flag in known_names())
    return all(place is not None and place[1].backend in (None, backend) for place in found)


def request_fields(given: Given, backend: str, where: str) -> dict[str, Any]:
    """Returns the arguments of a `RecordRequest` that options stand for; those of the other backend are left out.

    Args:
        given: value of each option, by its flag.
        backend: of the recording.
        where: place in the file, for errors.

    Raises:
        FreezerError: an option is not known, or its value cannot be read.
    """
    kinds = _kinds(backend)
    fields: dict[str, dict[str, Any]] = {name: {} for name in kinds}
    for flag, value in given.items():
        if flag not in known_names():
            raise FreezerError(f"{where}: there is no option {flag!r}.{did_you_mean(flag, known_names())}")
        found = _place(kinds, flag, value)
        if found is not None and found[1].backend in (None, backend):
            place, option = found
            fields[place][option.name] = _value(option, value, where)
    return {**fields["request"], "options": kinds["options"](**fields["options"]), "_measure": fields["measure"]}


def _kinds(backend: str) -> dict[str, type]:
    return {"request": RecordRequest, "measure": Measure, "options": BACKEND_OPTIONS[backend]}


def _place(kinds: Mapping[str, type], flag: str, value: Any) -> tuple[str, OptionField] | None:
    """Returns where an option belongs; of ``--memory SIZE`` and ``--no-memory`` the value decides."""
    options = ((name, _option(kind, flag)) for name, kind in kinds.items())
    found = [(name, option) for name, option in options if option is not None]
    fitting = [pair for pair in found if (pair[1].kind in ("switch", "yes_no")) == isinstance(value, bool)]
    return next(iter((*fitting, *found)), None)


def _option(kind: type, flag: str) -> OptionField | None:
    return next((option for option in option_fields(kind) if option.flag == flag), None)


def _value(option: OptionField, value: Any, where: str) -> Any:
    """Returns the value of an option, with the type that its dataclass field has."""
    match option.kind, value:
        case "switch" | "yes_no", bool():
            return value
        case "names", str():
            return (value,)
        case "names", list() if all(isinstance(each, str) for each in value):
            return tuple(value)
        case "choices", list() | str():
            names = (value,) if isinstance(value, str) else tuple(value)
            known = tuple(choice.value for choice in option.choices)
            if names == ("all",):
                return known
            if all(name in known for name in names):
                return names
        case "choice", str() if value in {choice.value for choice in option.choices}:
            return value
        case "count", int() if not isinstance(value, bool) and value > 0:
            return value
        case "seconds", int() | float() if not isinstance(value, bool) and value > 0:
            return float(value)
        case "size", int() if not isinstance(value, bool) and value > 0:
            return value
        case "size", str():
            return _read(size_bytes, value, option, where)
        case "seconds", str():
            return _read(seconds, value, option, where)
        case "text", str():
            return value
    choices = ", ".join(str(choice.value) for choice in option.choices if choice.value is not None)
    hint = f"; there are {choices}" if choices else ""
    raise FreezerError(f"{where}: {option.flag} = {value!r} cannot be read as {_KINDS[option.kind]}{hint}")


_KINDS: Final = {
    "switch": "true or false",
    "yes_no": "true or false",
    "names": "a text or a list of texts",
    "choices": "a list of names",
    "choice": "a choice",
    "count": "a whole number of at least 1",
    "seconds": "a number of seconds",
    "size": 'a size, such as "500M" or "4G"',
    "text": "a text",
}


def _read(parse: Any, text: str, option: OptionField, where: str) -> Any:
    import argparse

    try:
        return parse(text)
    except argparse.ArgumentTypeError as error:
        raise FreezerError(f"{where}: {option.flag}: {error}") from error
