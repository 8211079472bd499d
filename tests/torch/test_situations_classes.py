"""Interfaces, states, hooks and properties of module classes, frozen in the fixture `recorded`."""

# No postponed annotations here: torch.jit.script reads the annotations of attributes as types.
from typing import Any

import pytest
import torch
from torch import nn

from tests.torch import refused_models
from tests.torch.models import filled
from tests.torch.situations import fates, frozen


@torch.jit.interface
class Activation(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pass


class Relu(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = 2.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x) * self.factor


class Tanh(nn.Module):
    def __init__(self):
        super().__init__()
        self.offset = torch.ones(1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x) + self.offset


class ChoosesActivation(nn.Module):
    left: Activation
    right: Activation

    def __init__(self):
        super().__init__()
        self.left = Relu()
        self.right = Tanh()

    def forward(self, x: torch.Tensor, flag: bool) -> torch.Tensor:
        return self.left.forward(x) if flag else self.right.forward(x)


def test_two_interfaces_in_a_branch(recorded):
    frozen(ChoosesActivation())
    assert fates(recorded, "left.factor", "right.offset") == {
        "left.factor": "inlined",
        "right.offset": "inlined",
    }


@pytest.mark.parametrize("preserved", [[], ["proxy"]])
def test_an_interface_that_torch_refuses(recorded, preserved):
    module = torch.jit.script(refused_models.ReadsInterface().eval())
    with pytest.raises(RuntimeError, match="interface"):
        torch._C._freeze_module(module._c, preserved, False)
    failure = recorded.traces[0].failure
    assert failure is not None
    assert "interface" in failure.message


class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.ones(2)
        self.training = False

    def forward(self, x):
        return x + self.weight

    @torch.jit.export
    def __getstate__(self):
        return (self.weight, self.training)

    @torch.jit.export
    def __setstate__(self, state: tuple[torch.Tensor, bool]):
        self.weight = state[0] * 1
        self.training = state[1]


class HoldsPacked(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Packed()
        self.b = Packed()

    def forward(self, x):
        return self.a(x) + self.b(x)


def test_a_submodule_with_a_state_of_its_own(recorded):
    frozen(HoldsPacked())
    assert fates(recorded, "a.weight", "b.weight") == dict.fromkeys(("a.weight", "b.weight"), "inlined")


class Hooked(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.factor = 3.0

    @property
    def doubled(self) -> float:
        return self.factor * 2

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) * self.doubled


def double(self: Any, inputs: tuple[torch.Tensor], result: torch.Tensor) -> torch.Tensor:
    return result * 2


def test_a_property_and_a_hook_of_a_submodule(recorded):
    module = filled(Hooked())
    module.linear.register_forward_hook(double)
    x = torch.ones(1, 2)
    assert torch.equal(torch.jit.freeze(torch.jit.script(module))(x), module(x))
