"""Puts a module's mutable state back, so that every measured run starts from the same place."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

import torch

from freeze_engine.backends._torch_private import cpp_module, submodules


def restorer(module: Any, paths: Iterable[str]) -> Callable[[], None] | None:
    """Remembers attributes of a module and returns what puts them back.

    Args:
        module: an `nn.Module`, a ScriptModule or a C++ script module.
        paths: dotted paths of the attributes that running the module may change.

    Returns:
        A function that restores them; a tensor keeps its identity and gets its content back. ``None`` if there is
        nothing to restore.
    """
    saved = [(*_owner(module, path), path.rpartition(".")[2]) for path in paths]
    states = [(read, write, read(name), _copied(read(name)), name) for read, write, name in saved]
    if not states:
        return None

    def restore() -> None:
        with torch.no_grad():
            for _, write, value, content, name in states:
                if isinstance(value, torch.Tensor):
                    value.copy_(content)
                    write(name, value)
                else:
                    write(name, _copied(content))

    return restore


def _copied(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, torch.Tensor) else copy.deepcopy(value)


def _owner(module: Any, path: str) -> tuple[Callable[[str], Any], Callable[[str, Any], None]]:
    parts = path.split(".")[:-1]
    if isinstance(module, torch.jit.ScriptModule):
        module = cpp_module(module)
    if isinstance(module, torch.nn.Module):
        owner = module.get_submodule(".".join(parts))
        return (lambda name: getattr(owner, name)), (lambda name, value: setattr(owner, name, value))
    for part in parts:
        module = dict(submodules(module))[part]
    return module.getattr, module.setattr
