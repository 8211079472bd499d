"""The tensors that a module holds: registered, in plain attributes and containers, and inside tensor subclasses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.graph.type_text import type_text
from freeze_engine.tensors.constants import tensor_bytes
from freeze_engine.trace import AttributeKind

_OWN = frozenset(vars(torch.nn.Module()))
"""Attributes that every module has."""
_DEEPEST = 4
"""How many containers inside each other are looked into."""


@dataclass(frozen=True, slots=True)
class ModelAttribute:
    """A tensor that a module holds.

    Attributes:
        path: dotted, from the outermost module that is known; keys and positions in containers, and the names of the
            tensors inside a tensor subclass, are parts of it (``cache.0``, ``lin.weight.qdata``).
        kind: parameter, buffer, or an attribute that was never registered.
        type: torch's type text.
        shape, dtype, nbytes: of the tensor; the bytes of a tensor subclass are those of the tensors inside it.
        touched: whether Dynamo looked at it while it traced this graph.
        inner: paths of the tensors that a tensor subclass consists of; empty for any other tensor.
        same_as: path of the attribute found first that is this tensor, empty for that one.
    """

    path: str
    kind: AttributeKind
    type: str
    shape: tuple[int, ...]
    dtype: str
    nbytes: int
    touched: bool
    inner: tuple[str, ...] = ()
    same_as: str = ""


def held_tensors(root: torch.nn.Module) -> Iterator[tuple[str, AttributeKind, torch.Tensor]]:
    """Yields the path, the kind and the tensor of everything that a module and its parts hold."""
    for path, parameter in root.named_parameters(remove_duplicate=False):
        yield path, "parameter", parameter
    for path, buffer in root.named_buffers(remove_duplicate=False):
        yield path, "buffer", buffer
    for prefix, module in root.named_modules():
        for name, value in vars(module).items():
            if name not in _OWN:
                path = f"{prefix}.{name}" if prefix else name
                yield from ((found, "attribute", tensor) for found, tensor in _contained(path, value, _DEEPEST))


def inner_tensors(path: str, tensor: torch.Tensor) -> Iterator[tuple[str, torch.Tensor]]:
    """Yields the path and the tensor of everything that a tensor subclass consists of, at any depth."""
    for name, inner in torch_private.inner_tensors(tensor):
        deeper = tuple(inner_tensors(f"{path}.{name}", inner))
        yield from deeper or ((f"{path}.{name}", inner),)


def described(
    path: str, kind: AttributeKind, tensor: torch.Tensor, touched: bool, inner: tuple[tuple[str, torch.Tensor], ...]
) -> ModelAttribute:
    """Describes a tensor.

    Args:
        path, kind: where it is held, and as what.
        tensor: the tensor.
        touched: whether Dynamo looked at it.
        inner: what it consists of.
    """
    dtype = str(tensor.dtype).removeprefix("torch.")
    nbytes = sum(tensor_bytes(each) for _, each in inner) if inner else tensor_bytes(tensor)
    text = f"{type(tensor).__name__}, {type_text(tensor)}" if inner else type_text(tensor)
    return ModelAttribute(
        path, kind, text, tuple(tensor.shape), dtype, nbytes, touched, tuple(each for each, _ in inner)
    )


def _contained(path: str, value: Any, depth: int) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield path, value
    elif depth and type(value) in (list, tuple, dict):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            if isinstance(key, (str, int)):
                yield from _contained(f"{path}.{key}", item, depth - 1)
