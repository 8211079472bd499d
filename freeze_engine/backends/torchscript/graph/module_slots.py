"""Lists the slots of a ScriptModule: every parameter, buffer, attribute and submodule, by dotted path."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from freeze_engine.backends.common.torch_private import (
    buffer_names,
    class_name,
    concrete_type,
    object_state,
    submodules,
)
from freeze_engine.errors import FreezerError
from freeze_engine.tensors.constants import tensor_bytes
from freeze_engine.trace import AttributeKind

_ENDS_A_NAME = re.compile(r"[\r\n]|^\s| [:=#] |, %")


@dataclass(frozen=True, slots=True)
class _Layout:
    """The slots shared by all modules of one class: name, kind and type text, and the submodules' types by name."""

    slots: tuple[tuple[str, AttributeKind, str], ...]
    submodules: dict[str, Any]


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

    @property
    def nbytes(self) -> int:
        """Bytes of the tensors it holds, each once; those packed in objects of C++ classes included."""
        if self.kind == "submodule":
            return 0
        held = {id(tensor): tensor for tensor in tensors_in(unpacked(self.value))}
        return sum(map(tensor_bytes, held.values()))


def module_attributes(module: Any) -> dict[str, ModuleAttribute]:
    """Lists the slots of a C++ script module and of its submodules.

    Args:
        module: C++ script module; a submodule reached on two ways is listed under both paths.

    Returns:
        Slots by path, submodules before what they hold.
    """
    found: dict[str, ModuleAttribute] = {}
    owner = class_name(module)
    _collect(module, owner, "", found, {owner: _layout(module, concrete_type(module))})
    return found


def check_names(paths: Iterable[str]) -> None:
    """Checks that values are distinct in torch's text, which names many of them after attributes, unescaped.

    Args:
        paths: of the attributes.

    Raises:
        FreezerError: a name contains a character that ends names in that text.
    """
    for path in paths:
        for name in path.split("."):
            if found := _ENDS_A_NAME.search(name):
                raise FreezerError(
                    f"the attribute {path!r} cannot be followed: torch reports the freeze in lines of text, in which "
                    f"{found.group()!r} ends a name, and its name holds that; rename it"
                )


def _collect(
    module: Any, owner: str, prefix: str, found: dict[str, ModuleAttribute], layouts: dict[str, _Layout]
) -> None:
    layout = layouts[owner]
    for name, role, kind in layout.slots:
        path = prefix + name
        found[path] = ModuleAttribute(path, role, kind, module.getattr(name), owner)
    for name, child in submodules(module) if layout.submodules else ():
        path, class_of_child = prefix + name, class_name(child)
        found[path] = ModuleAttribute(path, "submodule", class_of_child, child, owner)
        if class_of_child not in layouts:
            layouts[class_of_child] = _layout(child, _concrete(child, layout.submodules[name]))
        _collect(child, class_of_child, f"{path}.", found, layouts)


def _concrete(module: Any, declared: Any) -> Any:
    """Returns the type of a submodule: the one its attribute was declared with, unless that is an interface.

    torch makes the types of all submodules with that of a module, so a request for each would make most of them again.
    """
    return concrete_type(module) if declared.jit_type.is_interface_type() else declared


def _layout(module: Any, concrete: Any) -> _Layout:
    buffers = buffer_names(module)
    slots: list[tuple[str, AttributeKind, str]] = [
        (name, "parameter" if is_parameter else "buffer" if name in buffers else "attribute", str(kind.annotation_str))
        for name, (kind, is_parameter) in concrete.get_attributes().items()
    ]
    return _Layout(tuple(slots), dict(concrete.get_modules()))


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


def unpacked(value: Any) -> Any:
    """Returns a TorchScript value with the saved state in place of each object of a C++ class, at any depth.

    The state of an object may hold others: that of a dynamically quantised LSTM has the packed weights of its linears.
    """
    if isinstance(value, torch.ScriptObject):
        return unpacked(object_state(value))
    if isinstance(value, (list, tuple)):
        return type(value)(map(unpacked, value)) if type(value) in (list, tuple) else value
    return {key: unpacked(each) for key, each in value.items()} if type(value) is dict else value
