"""State of objects that are no containers or dataclasses, such as the key-value caches of transformers."""

from __future__ import annotations

import enum
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch


def attributes(value: object) -> dict[str, Any]:
    """Returns the attributes of an object, itself and not a copy.

    Args:
        value: anything.

    Returns:
        By name; nothing for what has no ``__dict__``, for members of enumerations, for modules of Python, and for what
        can be called: modules of torch, functions, types. They are what a program consists of, and not its data.
    """
    if callable(value) or isinstance(value, (torch.Tensor, types.ModuleType, enum.Enum)):
        return {}
    held = getattr(value, "__dict__", {})
    return held if isinstance(held, dict) else {}


def tensor_attributes(value: object) -> dict[str, Any]:
    """Returns those attributes of an object that hold tensors, at any depth.

    The others are left out: they are bookkeeping, and two objects without ``__eq__`` are never equal.

    Args:
        value: anything.

    Returns:
        By name, as in `attributes`; nothing for containers. An attribute may lead back to the object.
    """
    if isinstance(value, (Mapping, tuple, list)):
        return {}
    return {name: item for name, item in attributes(value).items() if _holds_tensors(item)}


def containers(value: object) -> Iterator[list[Any] | dict[str, Any]]:
    """Yields the parts of a structure besides tensors that a run could change.

    Args:
        value: anything.

    Yields:
        The lists and dictionaries in it, and the attributes of its objects, at any depth, each once. Those of classes
        of their own are left out: only the class knows how to fill one.
    """
    for each in _reachable(value):
        if type(each) in (list, dict):
            yield each
        held = attributes(each)
        if held:
            yield held


def _holds_tensors(value: object) -> bool:
    return any(isinstance(each, torch.Tensor) for each in _reachable(value))


def _reachable(value: object) -> Iterator[Any]:
    """Yields a value and all that it holds, each once."""
    seen: dict[int, object] = {}
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen[id(each)] = each
        yield each
        if not isinstance(each, torch.Tensor):
            waiting += (*_contained(each), *attributes(each).values())


def _contained(value: object) -> Iterable[object]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, (tuple, list)) else ()
