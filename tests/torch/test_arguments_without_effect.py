"""An argument that has no effect together with the others is refused or named, and never ignored."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import freeze_engine as fe
from tests.existing import FROZEN

X = torch.ones(1, 3)
SCRIPTED: Callable[[], torch.jit.ScriptModule] = lambda: torch.jit.script(plain())  # noqa: E731


def plain() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 3), nn.ReLU()).eval()


def record(model: Any, inputs: Any = (X,), **given: Any) -> object:
    return fe.record(model, inputs, **given)


def bisect(model: Any, **given: Any) -> object:
    return fe.bisect(model, (X,), **given)


REFUSED: dict[str, tuple[str, Callable[[], object], str]] = {
    "map_location of a module": ("map_location", lambda: record(plain(), map_location="cpu"), r"\.to\('cpu'\)"),
    "imports of a module": ("imports", lambda: record(plain(), imports=["json"]), "module in memory"),
    "map_location of a bisected module": ("map_location", lambda: bisect(plain(), map_location="cpu"), "in memory"),
    "via of a bisection with Inductor": (
        "via",
        lambda: bisect(plain(), backend="inductor", via="trace"),
        "leave via out",
    ),
    "check_inputs of a scripted module": (
        "check_inputs",
        lambda: record(plain(), check_inputs=[(X,)]),
        "pass via='trace'",
    ),
    "check_inputs of a ScriptModule": (
        "check_inputs",
        lambda: record(SCRIPTED(), check_inputs=[(X,)]),
        "leave them out$",
    ),
    "check_inputs for Inductor": (
        "check_inputs",
        lambda: record(plain(), backend="inductor", via="trace", check_inputs=[(X,)]),
        "Inductor does not call",
    ),
    "via of a ScriptModule": ("via", lambda: record(SCRIPTED(), via="trace"), "is TorchScript already"),
    "via for a package": ("via", lambda: record(plain(), backend="aotinductor", via="trace"), "AOTInductor exports"),
    "via for Inductor without latencies": (
        "via",
        lambda: record(plain(), backend="inductor", via="trace", measure=None),
        "none is measured",
    ),
    "seconds without latencies": (
        "measure",
        lambda: record(plain(), measure=fe.Measure(latency=False, seconds=1.0)),
        "seconds has no effect with latency=False",
    ),
    "devices without latencies": (
        "measure",
        lambda: record(plain(), measure=fe.Measure(latency=False, devices=("cpu",))),
        "devices has no effect with latency=False",
    ),
    "input_sets without numerics": (
        "measure",
        lambda: record(plain(), measure=fe.Measure(numerics=False, input_sets=2)),
        "input_sets has no effect with numerics=False",
    ),
    "checks of a package": (
        "checks",
        lambda: record(plain(), backend="aotinductor", checks=["attributes"]),
        "checks look into",
    ),
    "ablation without measurements": ("ablation", lambda: record(plain(), ablation=True, measure=None), "measure at"),
    "float_model without inputs": ("float_model", lambda: record(plain(), None, float_model=plain()), "needs inputs"),
    "options of another backend": ("options", lambda: record(plain(), options=fe.InductorOptions()), "does not go"),
}
WITH_ANY_OTHER = {"model", "inputs", "backend", "progress", "name", "call"}
"""Arguments that have an effect whatever the others are; without inputs the headline says that nothing was measured."""


@pytest.mark.parametrize("name", REFUSED)
def test_an_argument_without_effect_is_refused(name: str) -> None:
    _, call, told = REFUSED[name]
    with pytest.raises(fe.FreezerError, match=told):
        call()


def test_each_argument_of_record_is_refused_somewhere_or_has_always_an_effect() -> None:
    assert {argument for argument, _, _ in REFUSED.values()} | WITH_ANY_OTHER == {
        *inspect.signature(fe.record).parameters
    }


READ: dict[str, Any] = {
    "inputs": (X,),
    "backend": "inductor",
    "options": fe.TorchScriptOptions(),
    "measure": fe.Measure(latency=False),
    "via": "trace",
    "check_inputs": [(X,)],
    "map_location": "cpu",
    "imports": ["json"],
}


@pytest.mark.parametrize("name", READ)
def test_arguments_that_a_file_ignores_are_named(name: str) -> None:
    with pytest.warns(UserWarning, match=rf"^{name}: without effect, because .*{Path(FROZEN).name} is only read"):
        fe.record(FROZEN, **{name: READ[name]})


def test_arguments_with_an_effect_are_taken(tmp_path: Path) -> None:
    torch.jit.save(SCRIPTED(), tmp_path / "net.pt")
    assert fe.record(tmp_path / "net.pt", (X,), map_location="cpu", imports=["json"], measure=None).trace.steps
    assert fe.record(plain(), (X,), via="trace", check_inputs=[(X + 1,)], measure=None).trace.steps
    assert fe.record(SCRIPTED(), via="script", measure=None).trace.steps
