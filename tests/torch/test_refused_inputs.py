"""A recording that was to measure and could not says so, and why, in each backend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import freeze_engine as fe
from freeze_engine.analysis import unmeasured
from viewer.cli import main
from viewer.text.stats import stats_text
from viewer.views import view_data

MEASURE = fe.Measure(memory=False, seconds=0.2)


class Masked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        return self.linear(x) * attention_mask


class Raising(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        assert x.shape[0] == 7, "a batch of seven"
        return x


class Named(nn.Module):
    """Returns what has no numbers to compare."""

    def forward(self, x: torch.Tensor) -> str:
        return "even" if x.size(0) % 2 == 0 else "odd"


X, MASK = torch.ones(2, 3), torch.ones(4)
CASES: list[tuple[nn.Module, tuple[Any, ...], dict[str, Any], str]] = [
    (Masked(), (X,), {}, "forward() is missing attention_mask"),
    (Masked(), (X, MASK, MASK), {}, "forward() takes 2 inputs, and 3 were given"),
    (Masked(), (X, MASK), {"y": X}, "forward() has no input y"),
    (Masked(), (X, "mask"), {}, "forward() takes a value of type Tensor for attention_mask, and got one of type str"),
    (Masked(), (torch.ones(2, 5), MASK), {}, "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x5 and 3x4)"),
    (Masked(), (X.long(), MASK), {}, "RuntimeError: mat1 and mat2 must have the same dtype, but got Long and Float"),
    (Raising(), (X,), {}, "a batch of seven"),
]


def recorded(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> fe.Trace:
    return fe.record(torch.jit.script(model.eval()), fe.Inputs(args, kwargs), measure=MEASURE).trace


@pytest.mark.parametrize(("model", "args", "kwargs", "reason"), CASES)
def test_the_cause_is_told(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], reason: str) -> None:
    trace = recorded(model, args, kwargs)
    found = unmeasured(trace)
    assert found is not None
    assert (found.what, found.kinds) == ("not measured", ("latency", "numerics"))
    assert reason in found.reason
    assert "\n" not in found.reason
    facts = {fact["label"]: (fact["value"], fact["note"], fact["tone"]) for fact in view_data(trace)["overview"]}
    assert facts["latency"] == ("not measured", found.reason, "warn")
    assert facts["accuracy"][0] == "not compared"
    assert reason in facts["accuracy"][1]
    assert "--no-latency" not in stats_text(trace)


def test_inputs_that_fit_leave_nothing_unmeasured() -> None:
    assert unmeasured(recorded(Masked(), (X, MASK), {})) is None


def test_outputs_that_cannot_be_compared_leave_the_times() -> None:
    trace = recorded(Named(), (X,), {})
    found = unmeasured(trace)
    assert any(step.latency for step in trace.steps)
    assert found is None or (found.what, found.kinds) == ("not compared with eager", ("numerics",))


def test_a_wish_for_nothing_is_no_failure() -> None:
    model = torch.jit.script(Masked().eval())
    assert unmeasured(fe.record(model, (X,), measure=None).trace) is None
    assert unmeasured(fe.record(model, measure=MEASURE).trace) is None


@pytest.mark.parametrize("backend", ["torchscript", "inductor"])
def test_record_says_so_last_and_exits_with_4_or_fails(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["record", "tests.torch.worker_models:masked", "--input", "2x3", "--backend", backend, "-o", "net.fztrace"]
    assert main(words) == (4 if backend == "torchscript" else 3)
    told = capsys.readouterr().err
    reason = "not measured: forward() is missing attention_mask" if backend == "torchscript" else "attention_mask"
    assert reason in told.splitlines()[-1] if backend == "torchscript" else reason in told
    if backend == "torchscript":
        assert main(["check", "net.fztrace", "--no-slower"]) == 1
        assert "forward() is missing attention_mask" in capsys.readouterr().out
