"""The comparison of a quantised model's layers with those of its float model, on models that are quick to run."""

from __future__ import annotations

import gc
import threading
from typing import Any

import pytest
import torch
from torch import nn

import freeze_engine as fe
from freeze_engine.measure import layer_errors as compared
from freeze_engine.measure.candidate import CandidateError
from freeze_engine.measure.layer_errors import layer_errors
from freeze_engine.measure.layer_runs import LayerRun
from freeze_engine.requests.inputs import Inputs

X = torch.linspace(-1, 1, 8).reshape(2, 4)
DEEP = 30


def exported(model: nn.Module, *args: Any, **kwargs: Any) -> nn.Module:
    return torch.export.export(model, args, kwargs).module()


def outputs(errors: Any) -> dict[str, float]:
    return {error.layer: error.of("output").max_abs for error in errors}


class OfDictionaries(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, given: Any, *, more: Any) -> torch.Tensor:
        return self.first(given["p"]["u"]) + 2 * self.second(given["q"][0]) + x + more["m"] - more["n"]


def test_dictionaries_in_another_order_reach_the_graph_by_their_keys() -> None:
    model = OfDictionaries().eval()
    program = exported(model, X, {"p": {"u": X + 1}, "q": [X + 2]}, more={"m": X + 3, "n": X + 4})
    other = {"q": [X + 2], "p": {"u": X + 1}}
    for inputs in (
        Inputs((X, other), {"more": {"n": X + 4, "m": X + 3}}),
        Inputs((), {"more": {"n": X + 4, "m": X + 3}, "given": other, "x": X}),
    ):
        assert outputs(layer_errors(program, model, inputs)) == {"first": 0, "second": 0}
        assert outputs(layer_errors(model, program, inputs)) == {"first": 0, "second": 0}


@pytest.mark.parametrize("kinds", ["modules", "graph and module", "module and graph"])
def test_of_two_deep_models_only_few_layers_are_held(kinds: str, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []
    compare = compared._compared

    def counted(*given: Any) -> Any:
        held.append(sum(type(each) is LayerRun for each in gc.get_objects()))
        return compare(*given)

    monkeypatch.setattr(compared, "_compared", counted)
    model = nn.Sequential(*(nn.Linear(4, 4) for _ in range(DEEP))).eval()
    pairs = {"modules": (model, model), "graph and module": (exported(model, X), model)}
    ours, theirs = pairs.get(kinds) or (model, exported(model, X))
    threads = threading.active_count()
    assert len(layer_errors(ours, theirs, Inputs((X,)))) == DEEP
    assert len(held) == DEEP
    assert max(held) <= 6
    assert threading.active_count() == threads


class InOrder(nn.Module):
    def __init__(self, *order: str) -> None:
        super().__init__()
        self.order = order
        self.a, self.b, self.c = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return sum((getattr(self, name)(x) for name in self.order), torch.zeros(()))


def test_layers_that_are_called_in_another_order_or_not_at_all_are_matched_by_their_paths() -> None:
    ours, theirs = InOrder("c", "a", "b", "a").eval(), InOrder("b", "c", "c").eval()
    theirs.load_state_dict(ours.state_dict())
    assert outputs(layer_errors(ours, theirs, Inputs((X,)))) == {"c": 0, "b": 0}


class Noisy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.second(self.first(x + torch.rand(2, 4)) + torch.rand(2, 4))
        return found


def test_both_models_draw_the_same_random_numbers_and_leave_the_generator_alone() -> None:
    before = torch.get_rng_state()
    model = Noisy().eval()
    after_making = torch.get_rng_state()
    assert not torch.equal(before, after_making)
    assert outputs(layer_errors(model, model, Inputs((X,)))) == {"first": 0, "second": 0}
    assert torch.equal(torch.get_rng_state(), after_making)


class Raising(nn.Module):
    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.second(self.first(x))
        raise self.error


@pytest.mark.parametrize("error", [ValueError("no such luck"), SystemExit(3)])
def test_an_error_of_either_model_ends_both_runs(error: BaseException) -> None:
    threads = threading.active_count()
    for ours, theirs in ((Raising(error), Noisy()), (Noisy(), Raising(error)), (Raising(error), Raising(error))):
        with pytest.raises(CandidateError, match=f"{type(error).__name__}: {error}"):
            layer_errors(ours.eval(), theirs.eval(), Inputs((X,)))
    assert threading.active_count() == threads


def test_autocast_of_the_caller_holds_for_both_models() -> None:
    model = nn.Sequential(nn.Linear(4, 4)).eval()
    with torch.autocast("cpu", torch.bfloat16):
        (error,) = layer_errors(model, model, Inputs((X,)))
    assert outputs([error]) == {"0": 0}


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
def test_layers_of_torchscript_cannot_be_watched_and_the_notice_says_so() -> None:
    model = nn.Sequential(nn.Linear(4, 4)).eval()
    scripted = torch.jit.script(model)
    for ours, theirs, which in ((scripted, model, "the recorded model is"), (model, scripted, "it is")):
        trace = fe.record(ours, (X,), float_model=theirs, measure=None).trace
        (notice,) = [each for each in trace.notices if each.code == "not_measured"]
        assert f"{which} a TorchScript module, whose layers do not show what they compute" in notice.message


def in_training_mode() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))


def test_a_float_model_in_training_mode_is_refused_however_it_is_given() -> None:
    spec = f"{__name__}:in_training_mode"
    for given in (in_training_mode(), spec):
        with pytest.raises(fe.FreezerError, match="float_model is in training mode"):
            fe.record(in_training_mode().eval(), (X,), float_model=given, measure=None)
