"""The parameters and buffers of a module, and changing them for a while."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch

from freeze_engine.backends.common.torch_private import cpp_module
from freeze_engine.backends.torchscript.graph.module_slots import module_attributes

_SEED = 0


@dataclass(frozen=True, slots=True)
class Holder:
    """An attribute that is a tensor.

    Attributes:
        tensor: its value.
        write: sets it.
    """

    tensor: torch.Tensor
    write: Callable[[torch.Tensor], None]

    def assign(self, value: torch.Tensor) -> None:
        """Sets the attribute to a tensor, which becomes a parameter where it is one now."""
        if isinstance(self.tensor, torch.nn.Parameter) and value is not self.tensor:
            value = torch.nn.Parameter(value, requires_grad=self.tensor.requires_grad)
        self.write(value)


@dataclass(frozen=True, slots=True)
class Weight:
    """A parameter or buffer.

    Attributes:
        paths: where it is in the module; several where it is tied.
        tensor: its value.
        holders: the attributes that are set to assign another one.
    """

    paths: tuple[str, ...]
    tensor: torch.Tensor
    holders: tuple[Holder, ...]

    def __str__(self) -> str:
        """Returns its path, ``a.weight = b.weight`` for a tied one."""
        return " = ".join(self.paths)

    @property
    def obstacle(self) -> str:
        """Returns why the weight cannot be changed here, empty if it can."""
        tensor = self.tensor
        if tensor.is_meta or tensor.numel() == 0:
            return "it holds no values"
        if not (tensor.is_floating_point() or tensor.is_complex()):
            return f"{str(tensor.dtype).removeprefix('torch.')}, and a changed index or mask could crash the module"
        return "" if tensor.layout is torch.strided else f"{tensor.layout} tensors are not changed"


def weights(source: torch.nn.Module, frozen: torch.jit.ScriptModule | None = None) -> tuple[Weight, ...]:
    """Returns the parameters and buffers of a module, tied ones once.

    Args:
        source: the module.
        frozen: a module made from it, which is assigned to as well where it still has the attribute.
    """
    sides = (_holders(source), _frozen_holders(frozen) if frozen is not None else {})
    found: dict[int, list[str]] = {}
    for path, holder in sides[0].items():
        found.setdefault(id(holder.tensor), []).append(path)
    every = []
    for paths in found.values():
        holders = tuple(side[path] for side in sides for path in paths if path in side)
        every.append(Weight(tuple(paths), holders[0].tensor, holders))
    return tuple(every)


def _holders(module: torch.nn.Module) -> dict[str, Holder]:
    every = (module.named_parameters(remove_duplicate=False), module.named_buffers(remove_duplicate=False))
    found = {}
    for path, tensor in itertools.chain(*every):
        *parts, name = path.split(".")
        found[path] = Holder(tensor, functools.partial(setattr, functools.reduce(getattr, parts, module), name))
    return found


def _frozen_holders(module: torch.jit.ScriptModule) -> dict[str, Holder]:
    """Its submodules are no longer Python modules: they are reached as torch's C++ does."""
    root = cpp_module(module)
    slots = module_attributes(root)
    found = {}
    for path, slot in slots.items():
        if isinstance(slot.value, torch.Tensor):
            owner, _, name = path.rpartition(".")
            found[path] = Holder(slot.value, functools.partial((slots[owner].value if owner else root).setattr, name))
    return found


def other_values(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a tensor like the given one with other values, larger by about the size of its elements.

    Positive elements stay positive, as a variance has to.
    """
    wide = tensor.detach()
    wide = wide if wide.is_complex() or wide.dtype is torch.float64 else wide.float()
    size = float(wide.abs().mean())
    noise = torch.rand(wide.shape, generator=torch.Generator().manual_seed(_SEED)).to(wide.device)
    step = size if 0.0 < size < float("inf") else 1.0
    return (wide + step * (0.5 + noise)).to(tensor.dtype)


@contextlib.contextmanager
def written(changed: Sequence[Weight]) -> Iterator[None]:
    """Gives weights other values in place, and puts the old ones back bit for bit."""
    saved = [(weight.tensor.data, weight.tensor.detach().clone()) for weight in changed]
    try:
        for data, content in saved:
            data.copy_(other_values(content))
        yield
    finally:
        for data, content in reversed(saved):
            data.copy_(content)


@contextlib.contextmanager
def assigned(changed: Sequence[Weight]) -> Iterator[None]:
    """Assigns other tensors in the place of weights, and then the old ones again."""
    try:
        for weight in changed:
            value = other_values(weight.tensor)
            for holder in weight.holders:
                holder.assign(value)
        yield
    finally:
        for weight in changed:
            for holder in weight.holders:
                holder.assign(holder.tensor)


@contextlib.contextmanager
def loaded(source: torch.nn.Module, changed: Sequence[Weight]) -> Iterator[None]:
    """Loads a state dict with other values for weights, and puts the old ones back bit for bit."""
    paths = {path for weight in changed for path in weight.paths}
    saved = [(weight.tensor.data, weight.tensor.detach().clone()) for weight in changed]
    state = source.state_dict()
    try:
        source.load_state_dict({path: other_values(held) if path in paths else held for path, held in state.items()})
        yield
    finally:
        for data, content in reversed(saved):
            data.copy_(content)


@contextlib.contextmanager
def retrained(source: torch.nn.Module, changed: Sequence[Weight]) -> Iterator[None]:
    """Gives weights other values between ``train()`` and ``eval()``, and puts values and modes back."""
    modes = [(module, module.training) for module in source.modules()]
    source.train()
    try:
        with written(changed):
            source.eval()
            yield
    finally:
        for module, mode in modes:
            module.training = mode
