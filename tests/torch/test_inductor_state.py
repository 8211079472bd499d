"""What running a module changes in it is put back, whole."""

from __future__ import annotations

import pytest
import torch

from freeze_engine.backends.inductor.replay.module_state import InputState, State
from freeze_engine.requests.inputs import Inputs


class Keeps(torch.nn.Module):
    """A detection head's habit: a grid, the shape it is for, and what it counted on the way."""

    def __init__(self) -> None:
        super().__init__()
        self.grid = torch.zeros(0)
        self.shape: tuple[int, ...] = (0, 0)
        self.seen = {"calls": [0], "last": torch.zeros(2)}
        self.same = (1, [2])
        self.lines: list[int] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.shape != tuple(x.shape):
            self.grid, self.shape = torch.ones_like(x), tuple(x.shape)
        self.seen["calls"][0] += 1
        self.seen["last"].add_(1)
        self.same = (1, [2])
        self.lines.append(3)
        return x + self.grid


def test_a_cache_and_the_shape_it_is_for_are_put_back_together() -> None:
    model = Keeps()
    seen, lines = model.seen, model.lines
    state = State(model)
    model(torch.ones(2, 2))
    assert state.changed() == {"grid", "shape", "seen", "lines"}
    state.restore()
    assert state.changed() == frozenset()
    assert (model.grid.shape, model.shape, model.lines) == ((0,), (0, 0), [])
    assert (model.seen["calls"], model.seen["last"].tolist()) == ([0], [0.0, 0.0])
    assert model.seen is seen
    assert model.lines is lines
    model(torch.ones(2, 2))


@pytest.mark.parametrize("name", ["shape", "seen", "lines"])
def test_only_what_is_named_is_put_back(name: str) -> None:
    model = Keeps()
    state = State(model, frozenset({name}))
    model(torch.ones(2, 2))
    assert state.changed() == {name}
    state.restore()
    assert model.grid.shape == (2, 2)
    assert state.changed() == frozenset()


def test_state_of_an_input_object_is_restored() -> None:
    class Layer:
        def __init__(self) -> None:
            self.keys, self.seen = torch.ones(2), 0

    layer = Layer()
    keys = layer.keys
    state = InputState(Inputs((), {"caches": [layer]}))
    layer.keys.add_(1)
    layer.keys, layer.seen = torch.cat([keys, keys]), 1
    state.restore()
    assert layer.keys is keys
    assert (keys.tolist(), layer.seen) == ([1.0, 1.0], 0)


def test_modules_and_hooks_are_no_state() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2))
    state = State(model)
    model.append(torch.nn.ReLU())
    model.register_forward_hook(lambda *given: None)
    assert state.changed() == frozenset()
    state.restore()
    assert len(model) == 2
