"""Saves and restores the state that running a module changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from freeze_engine.requests.inputs import Inputs
from freeze_engine.tensors.object_state import containers
from freeze_engine.tensors.tree_map import map_inputs

_PLAIN = (torch.Tensor, bool, int, float, str, type(None))
_CONTAINERS = (tuple, list, dict)
_OWN = frozenset(vars(torch.nn.Module()))
"""Attributes of every module; the dicts among them hold submodules, hooks, parameters and buffers."""


class State:
    """The buffers of a module, and the tensors, plain values and containers that are its attributes, as they are now.

    A model that keeps a cache with the shape it is for must get both back or neither: they belong together.
    Parameters are held, but their contents only where they are named: hardly anything writes them in inference.

    Args:
        module: the module.
        only: paths of what to keep; everything without it.
    """

    def __init__(self, module: torch.nn.Module, only: frozenset[str] | None = None) -> None:
        held = [each for each in _held(module) if only is None or each[0] in only]
        self._held = held
        self._contents = [
            (path, tensor, tensor.detach().clone())
            for path, holder, name in held
            for tensor in _tensors(holder[name])
            if _has_content(tensor) and (only is not None or not isinstance(tensor, torch.nn.Parameter))
        ]
        self._values = {path: (holder[name], _copied(holder[name])) for path, holder, name in held}

    def changed(self) -> frozenset[str]:
        """Returns the paths of changed attributes."""
        rebound = {path for path, holder, name in self._held if not _is_same(holder.get(name), self._values[path][1])}
        written = {path for path, tensor, content in self._contents if not torch.equal(tensor, content)}
        return frozenset(rebound | written)

    def restore(self) -> None:
        """Restores everything; tensors, lists and dicts keep their identity and get their content back."""
        for path, holder, name in self._held:
            value, before = self._values[path]
            if not _is_same(holder.get(name), before):
                holder[name] = _put_back(value, before)
        with torch.no_grad():
            for _, tensor, content in self._contents:
                if not torch.equal(tensor, content):
                    tensor.copy_(content)


class InputState:
    """A copy of what tensors, lists, dicts and objects among inputs hold now (a key-value cache, an empty one too).

    Args:
        inputs: the inputs.
    """

    def __init__(self, inputs: Inputs) -> None:
        self._contents: list[tuple[torch.Tensor, torch.Tensor]] = []
        map_inputs(inputs, self._note)
        self._held = [(each, each.copy()) for each in containers((inputs.args, inputs.kwargs))]

    def _note(self, tensor: torch.Tensor) -> torch.Tensor:
        if _has_content(tensor):
            self._contents.append((tensor, tensor.detach().clone()))
        return tensor

    def restore(self) -> None:
        """Restores what was written."""
        for now, before in self._held:
            _refill(now, before)
        with torch.no_grad():
            for tensor, content in self._contents:
                if not torch.equal(tensor, content):
                    tensor.copy_(content)


def _held(module: torch.nn.Module) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yields the path, the dictionary and the name in it of everything that a module and its parts hold."""
    for prefix, part in module.named_modules():
        for holder in (vars(part), part._buffers, part._parameters):
            names = [name for name, value in holder.items() if _is_state(name, value)]
            yield from ((f"{prefix}.{name}" if prefix else name, holder, name) for name in names)


def _has_content(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.layout is torch.strided and not value.is_quantized


def _is_state(name: str, value: Any) -> bool:
    return isinstance(value, _PLAIN) or (type(value) in _CONTAINERS and name not in _OWN)


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif type(value) in _CONTAINERS:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _tensors(item)


def _copied(value: Any) -> Any:
    """Copies containers, but not their items."""
    if type(value) is dict:
        return {key: _copied(item) for key, item in value.items()}
    return type(value)(map(_copied, value)) if type(value) in (tuple, list) else value


def _put_back(value: Any, before: Any) -> Any:
    """Returns a container with its saved content."""
    if type(value) in (dict, list):
        _refill(value, _copied(before))
    return value


def _refill(container: Any, content: Any) -> None:
    container.clear()
    if isinstance(container, dict):
        container.update(content)
    else:
        container.extend(content)


def _is_same(value: Any, before: Any) -> bool:
    if type(value) is not type(before):
        return False
    if type(value) is dict:
        return value.keys() == before.keys() and all(_is_same(item, before[key]) for key, item in value.items())
    if type(value) in (tuple, list):
        return len(value) == len(before) and all(map(_is_same, value, before))
    if isinstance(value, torch.Tensor) or not isinstance(value, _PLAIN):
        return value is before
    return bool(value == before)
