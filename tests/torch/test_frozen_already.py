"""Every road says of a module that is frozen already what it is."""

from __future__ import annotations

import contextlib

import pytest
import torch
from torch import nn

import freeze_engine as fe

X = torch.ones(1, 3)


def _scripted() -> torch.jit.ScriptModule:
    return torch.jit.script(nn.Sequential(nn.Linear(3, 3), nn.ReLU()).eval())


class Around(nn.Module):
    """Has a frozen part."""

    def __init__(self) -> None:
        super().__init__()
        self.head, self.frozen = nn.Linear(3, 3), torch.jit.freeze(_scripted())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.head(self.frozen(x))
        return out


@pytest.mark.parametrize("made", [torch.jit.freeze, torch.jit.optimize_for_inference])
def test_recording_a_frozen_module_says_so_and_what_to_do(made: object) -> None:
    module = made(_scripted())
    with pytest.raises(fe.FreezerError, match=r"^the module is frozen already, .*: give the module .*torch\.jit\.save"):
        fe.record(module, (X,))


def test_following_the_advice_shows_what_is_in_it(tmp_path: object) -> None:
    torch.jit.save(torch.jit.freeze(_scripted()), f"{tmp_path}/frozen.pt")
    assert "2 constant tensors" in fe.summarize(fe.record(f"{tmp_path}/frozen.pt").trace).sentence


@pytest.mark.parametrize("via", ["script", "trace"])
def test_a_frozen_submodule_is_named(via: str) -> None:
    with pytest.raises(fe.FreezerError, match=r"^the submodule 'frozen' is frozen already"):
        fe.record(Around().eval(), (X,), via=via)  # type: ignore[arg-type]


@pytest.mark.parametrize("backend", ["inductor", "aotinductor"])
def test_inductor_does_not_send_a_frozen_module_to_torchscript(backend: str) -> None:
    with pytest.raises(fe.FreezerError, match="takes no ScriptModule") as told:
        fe.record(torch.jit.freeze(_scripted()), (X,), backend=backend)  # type: ignore[arg-type]
    assert "backend='torchscript'" not in str(told.value)


FAILING = {
    "frozen": (lambda: torch.jit.freeze(torch.jit.freeze(_scripted())), "It is frozen already"),
    "training": (lambda: torch.jit.freeze(_scripted().train()), "Call model.eval()"),
    "not scripted": (lambda: torch.jit.freeze(nn.Linear(3, 3).eval()), "torch.jit.freeze takes ScriptModules"),
    "unknown name": (lambda: torch.jit.freeze(_scripted(), ["none_such"]), "names of the model's own attributes"),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_captured_freeze_that_torch_refuses_has_its_remedy_as_the_first_action(name: str) -> None:
    freeze, remedy = FAILING[name]
    with fe.capture() as captured, contextlib.suppress(Exception):
        freeze()
    trace = captured.traces[-1]
    assert trace.failure is not None
    first, *_ = fe.summarize(trace).actions
    assert first.aim == "finish"
    assert remedy in first.fix


def test_tensors_of_a_frozen_module_were_constants_from_the_start() -> None:
    before = torch.jit.freeze(_scripted())
    with fe.capture() as captured:
        torch.jit.optimize_for_inference(torch.jit.freeze(_scripted()))
        torch.jit.optimize_for_inference(before)
    said = fe.summarize(captured.traces[-1]).sentence
    assert said.startswith("The model has no weights or buffers; 2 tensors were constants from the start;")
    assert "All 2 weights and buffers are frozen;" in fe.summarize(captured.traces[0]).sentence
