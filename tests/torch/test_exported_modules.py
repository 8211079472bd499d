"""Exported modules have their mode in their operators, and no ``eval()``: they are taken as they are."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import freeze_engine as fe
from freeze_engine.backends.common.exported_programs import (
    check_evaluates,
    evaluating,
    is_exported,
    training_parts,
)
from freeze_engine.models.loading import load_model

# torch's checks of the inputs, which an exported module begins with, are traced, too.
pytestmark = pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
X = torch.ones(3, 4)


class Branching(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.drop = nn.Dropout()

    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda x: self.drop(x) + 1, lambda x: x - 1, (x,))


def exported(module: nn.Module, *, training: bool = False) -> nn.Module:
    return torch.export.export(module.train(training), (X,)).module()


@pytest.fixture(scope="module")
def linear() -> nn.Module:
    return exported(nn.Linear(4, 4))


def model() -> nn.Module:
    """For a MODEL spec: a module that was exported."""
    return exported(nn.Linear(4, 4))


def program() -> tuple[torch.export.ExportedProgram, tuple[Tensor]]:
    """For a MODEL spec: an exported program, with inputs."""
    return torch.export.export(nn.Linear(4, 4).eval(), (X,)), (X,)


def test_an_exported_module_is_recorded_whatever_its_flag_says(linear: nn.Module) -> None:
    assert linear.training
    recording = fe.record(linear, (X,), measure=None)
    assert torch.equal(recording.module(X), linear(X))
    assert [each.training for each in linear.modules()] == [True] * len(list(linear.modules()))


def test_a_module_around_it_cannot_be_switched_and_is_recorded(linear: nn.Module) -> None:
    outer = nn.Sequential(linear, nn.Linear(4, 2).eval())
    with pytest.raises(NotImplementedError):
        outer.eval()
    assert list(training_parts(outer)) == []
    assert fe.record(outer, (X,), measure=None).trace.steps


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        (nn.Sequential(nn.Dropout()), "aten.dropout.default at %dropout"),
        (nn.Sequential(nn.BatchNorm1d(4)), "aten.batch_norm.default at %batch_norm"),
        (Branching(), "aten.dropout.default at %dropout"),
    ],
)
def test_operators_in_training_mode_are_refused(parts: nn.Module, says: str) -> None:
    module = exported(parts, training=True)
    with pytest.raises(fe.FreezerError) as caught:
        fe.record(module, (X,), measure=None)
    assert says in str(caught.value)
    assert "move_exported_model_to_eval" in str(caught.value)


def test_dropout_of_nothing_in_training_mode_is_accepted() -> None:
    check_evaluates(exported(nn.Sequential(nn.Dropout(0.0), nn.Linear(4, 4)), training=True))


def test_parts_that_were_not_exported_keep_their_own_flag(linear: nn.Module) -> None:
    assert list(training_parts(nn.Sequential(linear, nn.Dropout()))) == ["1 (Dropout)"]
    with pytest.raises(fe.FreezerError, match=r"1 \(Dropout\) is in training mode"):
        fe.record(nn.Sequential(linear, nn.Dropout()), (X,), measure=None)


def test_the_flag_of_other_graphs_counts() -> None:
    traced = torch.fx.symbolic_trace(nn.Sequential(nn.Dropout()))
    assert not is_exported(traced)
    assert list(training_parts(traced)) == [type(traced).__name__]
    assert list(training_parts(traced.eval())) == []


def test_flags_come_back_after_an_error(linear: nn.Module) -> None:
    def switched() -> None:
        with evaluating(linear):
            assert not linear.training
            raise KeyError

    with pytest.raises(KeyError):
        switched()
    assert linear.training


def test_a_factory_may_return_what_was_exported() -> None:
    loaded = load_model(f"{__name__}:model")
    assert (loaded.via, loaded.inputs) == ("trace", None)
    loaded = load_model(f"{__name__}:program")
    assert loaded.via == "trace"
    assert loaded.inputs is not None
    assert torch.equal(loaded.inputs.args[0], X)
