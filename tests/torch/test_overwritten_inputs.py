"""Inputs that a frozen model overwrites and the eager one does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from freeze_engine.measure.candidate import Candidate
from freeze_engine.measure.numerics import NumericsOptions, measure_numerics, refusals

X = torch.tensor([1.0, float("nan"), 3.0])
OPTIONS = NumericsOptions(reference64=False, warmup_calls=0)


class Doubles(nn.Module):
    def __init__(self, writes: bool = False) -> None:
        super().__init__()
        self.writes = writes

    def forward(self, x: torch.Tensor, more: Any = None) -> torch.Tensor:
        return x.mul_(2) if self.writes else x * 2


def overwriting(x: torch.Tensor, more: Any = None) -> torch.Tensor:
    x.data[0] = 1.5  # this leaves the version as it is
    return x.data * 2


def overwriting_inside(x: torch.Tensor, more: Any = None) -> torch.Tensor:
    more["keys"][1].data[0, 0] += 4
    return x * 2


def squared(x: torch.Tensor, more: Any = None) -> torch.Tensor:
    return x * x


def refusing(x: torch.Tensor, more: Any = None) -> torch.Tensor:
    raise ValueError("no")


def notices(eager: nn.Module, *calls: tuple[int | str, Callable[..., object]], more: Any = None) -> list[Any]:
    candidates = [Candidate(key, call, made_by="Fold") for key, call in calls]
    report = measure_numerics(candidates, eager.eval(), (X,), {"more": more} if more else {}, OPTIONS)
    return list(refusals(report))


def test_the_first_step_that_overwrites_an_input_is_named() -> None:
    cases: list[tuple[list[Any], int | None, str]] = [
        ([("frozen", overwriting), (3, squared), (5, overwriting), (6, overwriting)], 5, "step 5 (Fold)"),
        ([(2, Doubles()), (4, refusing), ("frozen", overwriting)], None, "frozen (Fold)"),
    ]
    for calls, step, by in cases:
        (notice,) = notices(Doubles(), *calls)
        assert (notice.code, notice.step) == ("overwritten_input", step)
        assert notice.message.startswith(
            f"The frozen model overwrites its input 0: the graph of {by} is the first that"
        )
        assert "by up to 0.5, and the eager module leaves the input as it is" in notice.message


def test_an_input_inside_a_structure_is_named_by_its_place() -> None:
    (notice,) = notices(Doubles(), (1, overwriting_inside), more={"keys": [X, torch.zeros(2, 2)]})
    assert "overwrites its input more.keys.1: the graph of step 1 (Fold)" in notice.message
    assert "by up to 4," in notice.message


@pytest.mark.parametrize("writes", [False, True])
def test_inputs_that_stay_or_that_the_eager_module_writes_as_well_are_no_finding(writes: bool) -> None:
    assert notices(Doubles(writes), (1, Doubles(writes)), (2, squared)) == []
    if writes:
        assert notices(Doubles(writes), (1, overwriting)) == []
