"""Makes arguments of a command line from declared options, and reads the values back from it."""

from __future__ import annotations

import argparse
import re
from typing import Any, Final

from freeze_engine.requests.option_metadata import OptionField, option_fields

ALL: Final = "all"
"""Stands for every choice of an option of the kind ``choices``."""

_SIZE: Final = re.compile(r"(\d{1,6})([MGT])(iB)?", re.ASCII)
_UNITS: Final = {"M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def add_option(parser: argparse._ActionsContainer, option: OptionField, prefix: str = "") -> argparse.Action:
    """Adds the argument of an option; its value is ``None`` if the command line does not have it.

    Args:
        parser: a parser or an argument group.
        option: a declared option.
        prefix: of the help.
    """
    flag, told = f"--{option.flag}", prefix + (option.no_help if _is_on(option) else option.help)
    told = told.replace("%", "%%")
    values = tuple(choice.value for choice in option.choices if choice.value is not None)
    match option.kind:
        case "switch":
            action = "store_false" if option.default else "store_true"
            flag = f"--no-{option.flag}" if option.default else flag
            return parser.add_argument(flag, dest=option.name, action=action, default=None, help=told)
        case "yes_no":
            return parser.add_argument(
                flag, dest=option.name, action=argparse.BooleanOptionalAction, default=None, help=told
            )
        case "choice":
            told += f" (default: {option.default})" if option.default is not None else ""
            return parser.add_argument(flag, dest=option.name, choices=values, default=option.default, help=told)
        case "choices":
            told += f": {', '.join(map(str, values))}, or {ALL}; may be given several times"
            more: dict[str, Any] = {"action": "append", "choices": (*values, ALL)}
        case "names":
            told += "" if option.takes_many or option.flag == "input" else "; may be given several times"
            more = {"action": "extend", "nargs": "+"} if option.takes_many else {"action": "append"}
        case "count" | "seconds" | "size":
            default = option.default if option.default is not None else option.empty
            told += f" (default: {default:g})" if isinstance(default, float) else f" (default: {default})"
            more = {"type": _PARSERS[option.kind]}
        case _:
            more = {}
    metavar = option.metavar or _METAVARS.get(option.kind)
    return parser.add_argument(flag, dest=option.name, metavar=metavar, help=told, **more)


def given_options(arguments: argparse.Namespace, kind: type) -> dict[str, Any]:
    """Returns the values that a command line gives for the options of a dataclass, by the names of the fields.

    Args:
        arguments: the parsed arguments.
        kind: the dataclass.
    """
    values = {option: getattr(arguments, option.name, None) for option in option_fields(kind)}
    return {option.name: _value(option, value) for option, value in values.items() if value is not None}


def count(text: str) -> int:
    """Parses a whole number of at least 1.

    Args:
        text: the argument.

    Raises:
        argparse.ArgumentTypeError: it is not one.
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a count; give 1 or more")
    return int(text)


def size_bytes(text: str) -> int:
    """Parses a size with a unit.

    Args:
        text: the argument.

    Returns:
        The size in bytes.

    Raises:
        argparse.ArgumentTypeError: if it is none.
    """
    match = _SIZE.fullmatch(text)
    if match is None or int(match[1]) == 0:
        raise argparse.ArgumentTypeError(f"{text} is not a size; give one such as 500M or 4G")
    return int(match[1]) * _UNITS[match[2]]


def seconds(text: str) -> float:
    """Parses a positive number of seconds.

    Args:
        text: the argument.

    Returns:
        The time in s.

    Raises:
        argparse.ArgumentTypeError: if it is none.
    """
    try:
        time_s = float(text)
    except ValueError:
        time_s = 0.0
    if not 0 < time_s < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a time; give seconds, such as 30 or 0.5")
    return time_s


_PARSERS: Final[dict[str, Any]] = {"count": count, "seconds": seconds, "size": size_bytes}
_METAVARS: Final[dict[str, str]] = {"count": "N", "seconds": "S", "size": "SIZE"}


def _is_on(option: OptionField) -> bool:
    return option.kind == "switch" and option.default is True


def _value(option: OptionField, value: Any) -> Any:
    if option.kind == "choices" and ALL in value:
        return tuple(choice.value for choice in option.choices)
    return tuple(value) if option.kind in ("names", "choices") else value
