"""Small modules with interfaces, and what torch refuses to freeze."""

# No postponed annotations here: torch.jit.script reads the annotations of attributes as types.
from typing import Any

import torch
from torch import nn


@torch.jit.interface
class AnyToAny(nn.Module):
    def forward(self, inp: Any) -> Any:
        pass


class Passes(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, inp: Any) -> Any:
        if isinstance(inp, torch.Tensor):
            return inp + self.weight
        return inp


class Chooses(nn.Module):
    """Picks a part by a name known only at run time, which torch refuses to freeze."""

    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleDict({"a": Passes(), "b": Passes()})

    def forward(self, x, name: str):
        part: AnyToAny = self.parts[name]
        return part.forward(x)


@torch.jit.interface
class OneToOne(nn.Module):
    def one(self, x: torch.Tensor) -> torch.Tensor:
        pass


class Adds(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    @torch.jit.export
    def one(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.weight

    def forward(self, x):
        return self.one(x)


class ReadsInterface(nn.Module):
    proxy: OneToOne

    def __init__(self):
        super().__init__()
        self.proxy = Adds()

    def forward(self, x):
        return self.proxy.one(x)


class SwapsInterface(nn.Module):
    left: OneToOne
    right: OneToOne

    def __init__(self):
        super().__init__()
        self.left = Adds()
        self.right = Adds()

    def forward(self, x):
        self.left = self.right
        return self.left.one(x)


class Overlapping(nn.Module):
    def __init__(self):
        super().__init__()
        shared = torch.ones(2)
        self.left = {"x": shared}
        self.right = {"y": shared}

    def forward(self, x):
        self.left["x"].add_(1)
        return x + self.right["y"]


class NoForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    @torch.jit.export
    def go(self, x):
        return x + self.weight


class Returns(nn.Module):
    def forward(self, x):
        return self
