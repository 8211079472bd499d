"""Validates a view's state: a misspelt key or value raises in Python, whereas a link ignores it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import freeze_engine as fe
from viewer.assets import read_asset
from viewer.views.overview import FATE_ORDER

_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "panes": ("split", "before", "after"),
    "scope": ("pass", "all"),
    "colour": ("change", "latency", "error", "memory", "dtype"),
}
_COLUMNS: Final = ("path", "kind", "shape", "bytes", "fate", "why", "home")
_TYPES: Final = {bool: "True or False", str: "a text", list: "a list of texts"}


@dataclass(frozen=True, slots=True)
class Choices:
    """The values to choose from in a view.

    Attributes:
        tabs: its tabs.
        attributes: paths of the attributes of the trace, or of both traces.
        kernels: the number of kernels of each program.
    """

    tabs: tuple[str, ...]
    attributes: frozenset[str]
    kernels: tuple[int, ...]


@cache
def state_defaults() -> Mapping[str, Any]:
    """Returns the keys of a state with their defaults, as ``frontend/viewer/state.js`` lists them."""
    defaults: dict[str, Any] = json.loads(read_asset("bundles/state_defaults.json"))
    return defaults


def check_values(state: Mapping[str, Any], choices: Choices) -> None:
    """Validates a view's state, except steps and nodes.

    Args:
        state: as set; missing keys have their defaults.
        choices: the values to choose from.

    Raises:
        FreezerError: a key is unknown, or a value is not one of its choices.
    """
    defaults = state_defaults()
    for key, value in state.items():
        if key not in defaults:
            raise fe.FreezerError(f"a view's state has no {key!r}: its keys are {', '.join(defaults)}")
        _check_type(key, value, defaults[key])
    _check_choices(state, choices)
    _check_kernel(state, choices)


def _check_type(key: str, value: object, default: object) -> None:
    kind = type(default)
    if kind not in _TYPES:
        return  # numbers and optional values: checked against the trace
    fits = isinstance(value, (list, tuple)) if kind is list else isinstance(value, kind)
    if not fits:
        raise _refused(key, value, f"it is {_TYPES[kind]}")


def _check_choices(state: Mapping[str, Any], choices: Choices) -> None:
    for key, known in {"tab": choices.tabs, **_CHOICES}.items():
        if key in state and state[key] not in known:
            raise _one_of(key, state[key], known)
    for fate in state.get("fate", ()):
        if fate not in FATE_ORDER:
            raise _one_of("fate", fate, FATE_ORDER)
    column = state.get("sort", "path").removeprefix("-")
    if column not in _COLUMNS:
        raise _one_of("sort", state["sort"], [f"{name}, -{name}" for name in _COLUMNS])
    path = state.get("attribute")
    if path is not None and (not isinstance(path, str) or path not in choices.attributes):
        raise _refused("attribute", path, "the trace has no attribute with that path")


def _check_kernel(state: Mapping[str, Any], choices: Choices) -> None:
    program, kernel = state.get("program", 0), state.get("kernel")
    if program != 0 and not _is_place(program, len(choices.kernels)):
        raise _refused("program", program, f"the trace has {len(choices.kernels)}, counted from 0")
    count = choices.kernels[program] if choices.kernels else 0
    if kernel is not None and not _is_place(kernel, count):
        raise _refused("kernel", kernel, f"the program has {count}, counted from 0")


def _is_place(value: object, count: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < count


def _one_of(key: str, value: object, known: Collection[str]) -> fe.FreezerError:
    return _refused(key, value, f"it is one of {', '.join(known)}")


def _refused(key: str, value: object, why: str) -> fe.FreezerError:
    return fe.FreezerError(f"a view's {key} cannot be {value!r}: {why}")
