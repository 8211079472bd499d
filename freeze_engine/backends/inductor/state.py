"""What running a module changes in it, and putting that back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from freeze_engine.inputs import Inputs
from freeze_engine.measure.candidate import map_inputs

_PLAIN = (torch.Tensor, bool, int, float, str, type(None))


class State:
    """The buffers of a module, and the tensors and plain values that are its attributes, as they are now.

    Parameters are held, but their contents only where they are named: hardly anything writes them in inference.

    Args:
        module: the module.
        only: paths of what to keep; everything without it.
    """

    def __init__(self, module: torch.nn.Module, only: frozenset[str] | None = None) -> None:
        held = [each for each in _held(module) if only is None or each[0] in only]
        self._held = held
        self._contents = {
            path: (value, value.detach().clone())
            for path, holder, name in held
            if _has_content(value := holder[name]) and (only is not None or not isinstance(value, torch.nn.Parameter))
        }
        self._values = {path: holder[name] for path, holder, name in held}

    def changed(self) -> frozenset[str]:
        """Returns the paths of what is no longer as it was."""
        rebound = {path for path, holder, name in self._held if not _is_same(holder.get(name), self._values[path])}
        written = {path for path, (tensor, content) in self._contents.items() if not torch.equal(tensor, content)}
        return frozenset(rebound | written)

    def restore(self) -> None:
        """Puts everything back; a tensor keeps its identity and gets its content back."""
        for path, holder, name in self._held:
            if not _is_same(holder.get(name), self._values[path]):
                holder[name] = self._values[path]
        with torch.no_grad():
            for tensor, content in self._contents.values():
                if not torch.equal(tensor, content):
                    tensor.copy_(content)


class InputState:
    """The contents of the tensors in inputs, as they are now.

    Args:
        inputs: the inputs.
    """

    def __init__(self, inputs: Inputs) -> None:
        self._contents: list[tuple[torch.Tensor, torch.Tensor]] = []
        map_inputs(inputs, self._note)

    def _note(self, tensor: torch.Tensor) -> torch.Tensor:
        if _has_content(tensor):
            self._contents.append((tensor, tensor.detach().clone()))
        return tensor

    def restore(self) -> None:
        """Puts back what was written."""
        with torch.no_grad():
            for tensor, content in self._contents:
                if not torch.equal(tensor, content):
                    tensor.copy_(content)


def _held(module: torch.nn.Module) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yields the path, the dictionary and the name in it of everything that a module and its parts hold."""
    for prefix, part in module.named_modules():
        for holder in (vars(part), part._buffers, part._parameters):
            for name, value in holder.items():
                if isinstance(value, _PLAIN):
                    yield f"{prefix}.{name}" if prefix else name, holder, name


def _has_content(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.layout is torch.strided and not value.is_quantized


def _is_same(value: Any, before: Any) -> bool:
    if isinstance(before, torch.Tensor) or isinstance(value, torch.Tensor):
        return value is before
    return type(value) is type(before) and bool(value == before)
