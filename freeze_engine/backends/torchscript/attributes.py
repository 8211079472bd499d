"""Lists what a ScriptModule holds: every parameter, buffer, attribute and submodule, by dotted path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from freeze_engine.backends._torch_private import buffer_names, class_name, concrete_type, submodules
from freeze_engine.trace import AttributeKind

_Layout = list[tuple[str, AttributeKind, str]]


@dataclass(frozen=True, slots=True)
class ModuleAttribute:
    """One slot of a module.

    Attributes:
        path: dotted, from the top module.
        kind: what it is.
        type: torch's type text.
        value: a tensor, a plain Python value, or the C++ submodule.
        owner: qualified name of the class whose slot it is.
    """

    path: str
    kind: AttributeKind
    type: str
    value: Any
    owner: str

    @property
    def tensors(self) -> tuple[torch.Tensor, ...]:
        """The tensors it holds, those inside lists, tuples and dictionaries included; none for a submodule."""
        return () if self.kind == "submodule" else tuple(tensors_in(self.value))


def module_attributes(module: Any) -> dict[str, ModuleAttribute]:
    """Lists the slots of a C++ script module and of its submodules.

    Args:
        module: C++ script module; a submodule reached on two ways is listed under both paths.

    Returns:
        Slots by path, submodules before what they hold.
    """
    found: dict[str, ModuleAttribute] = {}
    _collect(module, "", found, {})
    return found


def _collect(module: Any, prefix: str, found: dict[str, ModuleAttribute], layouts: dict[str, _Layout]) -> None:
    owner = class_name(module)
    if owner not in layouts:
        layouts[owner] = _layout(module)
    for name, role, kind in layouts[owner]:
        path = prefix + name
        found[path] = ModuleAttribute(path, role, kind, module.getattr(name), owner)
    for name, child in submodules(module):
        path = prefix + name
        found[path] = ModuleAttribute(path, "submodule", class_name(child), child, owner)
        _collect(child, f"{path}.", found, layouts)


def _layout(module: Any) -> _Layout:
    """Returns name, kind and type text of each slot of a module's class, submodules left out."""
    buffers = buffer_names(module)
    return [
        (name, "parameter" if is_parameter else "buffer" if name in buffers else "attribute", str(kind.annotation_str))
        for name, (kind, is_parameter) in concrete_type(module).get_attributes().items()
    ]


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Yields the tensors inside a TorchScript value: a tensor, or lists, tuples and dictionaries of such."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from tensors_in(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from tensors_in(each)
