"""Reasons behind interfaces, in returned and assigned submodules, and in other corners: none is unknown."""

# No postponed annotations here: torch.jit.script reads the annotations of attributes as types.
import inspect
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from tests.torch import advice_models as models
from tests.torch.situations import fates, frozen


class AddsIn(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("b", torch.zeros(2))

    def forward(self, x: Tensor) -> Tensor:
        self.b.add_(x)  # line: write
        return x + self.b


class Behind(nn.Module):
    impl: models.Layer

    def __init__(self):
        super().__init__()
        self.impl = AddsIn()

    def forward(self, x: Tensor) -> Tensor:
        return self.impl.forward(x)


class BehindTwo(nn.Module):
    impl: models.Layer

    def __init__(self):
        super().__init__()
        self.impl = Behind()

    def forward(self, x):
        for _ in range(3):
            x = self.impl.forward(x)
        return x


class BehindInList(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = nn.ModuleList([Behind(), Behind()])

    def forward(self, x):
        for item in self.items:
            x = item(x)
        return x


INTERFACES = [(Behind, ["impl"]), (BehindTwo, ["impl.impl"]), (BehindInList, ["items.0.impl", "items.1.impl"])]


@pytest.mark.parametrize(("model", "holders"), INTERFACES, ids=[model.__name__ for model, _ in INTERFACES])
def test_a_write_behind_an_interface_has_its_line(recorded, model, holders):
    frozen(model())
    (trace,) = recorded.traces
    lines = Path(inspect.getsourcefile(AddsIn)).read_text().splitlines()
    for holder in holders:
        for path in (holder, f"{holder}.b"):
            fate = trace.attribute(path)
            assert (fate.fate, fate.reason) == ("preserved", "mutated_in_place")
            (evidence,) = [each for each in fate.evidence if each.op == "aten::add_"]
            assert lines[evidence.source.line - 1].endswith("# line: write")
    inline = next(step for step in trace.steps if step.name == "Inline")
    assert inline.changed


def test_an_assigned_submodule_is_the_reason_for_all_that_is_read_from_it(recorded):
    frozen(models.Swaps())
    assert fates(recorded, "a", "a.weight", "c", "c.weight") == {
        "a": "preserved: set_in_method",
        "a.weight": "preserved: set_in_method",
        "c": "preserved: not_constant",
        "c.weight": "preserved: shared_class",
    }
    evidence = recorded.traces[0].attribute("a").evidence[0]
    lines = Path(evidence.source.file).read_text().splitlines()
    assert "self.a = self.c" in lines[evidence.source.line - 1]


def test_returned_module_is_distinguished_from_another_instance(recorded):
    frozen(models.ReturnsOther())
    found = {path: recorded.traces[0].attribute(path) for path in ("a", "a.weight", "b.weight")}
    assert {path: fate.reason for path, fate in found.items()} == {
        "a": "module_preserved",
        "a.weight": "module_preserved",
        "b.weight": "shared_class",
    }
    assert all("returns the submodule 'a'" in fate.evidence[0].fact for fate in found.values())


class Positions(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("positions", torch.arange(4).unsqueeze(0))

    def forward(self, x):
        return x + self.positions[:, :4]


def test_a_slice_of_all_of_it_is_the_attribute_itself(recorded):
    torch.jit.freeze(torch.jit.script(Positions().eval()))
    fate = recorded.traces[0].attribute("positions")
    assert (fate.fate, len(fate.locations)) == ("inlined", 1)


class WithoutForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])

    @torch.jit.export
    def run(self, x: Tensor) -> Tensor:
        return self.layers[0](x) + self.layers[1](x)


def test_nothing_of_a_module_without_forward_is_in_a_graph(recorded):
    torch.jit.freeze(torch.jit.script(WithoutForward().eval()))
    kept = [fate for fate in recorded.traces[-1].attributes if fate.fate == "preserved"]
    assert {"layers.0", "layers.0.weight", "layers.1.bias"} <= {fate.path for fate in kept}
    assert {fate.reason for fate in kept} == {"outside_graphs"}
    for fate in kept:
        assert fate.evidence[-1].fact.startswith("no method was frozen: the module has no forward")
        assert "name a method of it in preserved_attrs" in fate.advice
    torch.jit.freeze(torch.jit.script(WithoutForward().eval()), preserved_attrs=["run"])
    asked = {fate.path: fate.fate for fate in recorded.traces[-1].attributes}
    assert asked["layers.0.weight"] == asked["layers.1.bias"] == "inlined"
