"""Restores a module's mutable state, so that every measured run starts from the same state."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterable
from typing import Any

import torch

from freeze_engine.backends.common.torch_private import cpp_module, submodules
from freeze_engine.measure.candidate import CandidateError, cloned, inference, reported
from freeze_engine.requests.inputs import Inputs


def restorer(module: Any, paths: Iterable[str]) -> Callable[[], None] | None:
    """Saves attributes of a module and returns a function that restores them.

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


def joined(*restores: Callable[[], None] | None) -> Callable[[], None] | None:
    """Returns one function that calls all that are given, ``None`` if none is."""
    given = [restore for restore in restores if restore is not None]

    def restore_all() -> None:
        for restore in given:
            restore()

    return restore_all if given else None


def written_buffers(module: torch.nn.Module, inputs: Inputs, method: str = "forward") -> tuple[str, ...]:
    """Runs a module once, finds the buffers that this wrote, and restores them.

    Args:
        module: the module.
        inputs: what to run it on, copied for the run.
        method: which method to run.

    Returns:
        The buffers' dotted paths; none where the module does not run on the inputs.
    """
    buffers = dict(module.named_buffers())
    before = {path: tensor.detach().clone() for path, tensor in buffers.items()}
    given = cloned(inputs)
    with inference(), contextlib.suppress(CandidateError), reported():
        (module if method == "forward" else getattr(module, method))(*given.args, **given.kwargs)
    written = tuple(path for path, tensor in buffers.items() if not _same(tensor, before[path]))
    with torch.no_grad():
        for path in written:
            buffers[path].copy_(before[path])
    return written


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.layout is not torch.strided or one.is_quantized or one.is_nested or one.is_meta:
        return True
    # Bit by bit: a NaN equals itself so, and not every operator knows every dtype (float8, torch 2.13).
    return torch.equal(*(_bits(each) for each in (one, other)))


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().resolve_conj().resolve_neg().reshape(-1).contiguous().view(torch.uint8)


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
