"""Copies a module, even if ``copy.deepcopy`` refuses it."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

import torch

Module = TypeVar("Module", bound=torch.nn.Module)


def replica(module: Module) -> Module:
    """Copies a module, without the autograd history of its results.

    Many models keep a result of their last call, such as a cache or an attention map. Outside ``no_grad`` that has a
    gradient, and ``torch.Tensor.__deepcopy__`` (torch 2.13) raises for it.

    Args:
        module: stays as it is.

    Returns:
        The copy; such results are constants in it.
    """
    held = [vars(part) for part in module.modules() if not isinstance(part, torch.jit.ScriptModule)]
    computed = {id(tensor): tensor.detach().clone() for tensor in _tensors(held) if not tensor.is_leaf}
    with warnings.catch_warnings():
        # Copying the module of an exported program makes torch deprecate a class of its own (torch 2.13).
        warnings.filterwarnings("ignore", r".*LeafSpec.* is deprecated", FutureWarning)
        return copy.deepcopy(module, computed)


def _tensors(value: object) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    items: Iterable[object] = ()
    if isinstance(value, Mapping):
        items = value.values()
    elif isinstance(value, (tuple, list)):
        items = value
    for item in items:
        yield from _tensors(item)
