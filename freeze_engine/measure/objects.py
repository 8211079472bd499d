"""Objects that hold tensors and are no containers or dataclasses, such as the key-value caches of transformers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch


def tensor_attributes(value: object) -> dict[str, Any]:
    """Returns those attributes of an object that hold tensors, at any depth.

    The others are left out: they are bookkeeping, and two objects without ``__eq__`` are never equal.

    Args:
        value: anything.

    Returns:
        By name; nothing for containers, and for what can be called: modules, functions, types. An attribute may lead
        back to the object.
    """
    if isinstance(value, (torch.Tensor, Mapping, tuple, list)):
        return {}
    return {name: item for name, item in _attributes(value).items() if _holds_tensors(item)}


def holders(value: object) -> Iterator[object]:
    """Yields the objects in a structure that hold tensors, those that such objects hold as well.

    Args:
        value: such an object, or a tuple, list or mapping of some.
    """
    yield from (each for each in _reachable(value) if tensor_attributes(each))


def _holds_tensors(value: object) -> bool:
    return any(isinstance(each, torch.Tensor) for each in _reachable(value))


def _reachable(value: object) -> Iterator[object]:
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
            waiting += (*_contained(each), *_attributes(each).values())


def _contained(value: object) -> Iterable[object]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, (tuple, list)) else ()


def _attributes(value: object) -> dict[str, Any]:
    return {} if callable(value) else getattr(value, "__dict__", {})
