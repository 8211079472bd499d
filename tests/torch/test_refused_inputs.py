"""A recording that was to measure and could not says so, and why, in each backend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import freeze_engine as fe
from freeze_engine.analysis import unmeasured
from freeze_engine.models import LoadedModel, make_inputs
from freeze_engine.models.binding import check_binding
from freeze_engine.requests import parse_input
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
def test_reason_names_its_cause(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], reason: str) -> None:
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


def test_recording_without_measurements_has_no_refusal() -> None:
    model = torch.jit.script(Masked().eval())
    assert unmeasured(fe.record(model, (X,), measure=None).trace) is None
    assert unmeasured(fe.record(model, measure=MEASURE).trace) is None


def test_record_says_so_last_and_exits_with_4(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["record", "tests.torch.worker_models:masked", "--input", "2x5", "--input", "4", "-o", "net.fztrace"]
    assert main(words) == 4
    assert "not measured: RuntimeError: The size of tensor a (5) must match" in capsys.readouterr().err.splitlines()[-1]
    assert main(["check", "net.fztrace", "--no-slower"]) == 1
    assert "The size of tensor a (5) must match" in capsys.readouterr().out


@pytest.mark.parametrize("backend", ["torchscript", "inductor"])
def test_record_refuses_inputs_that_do_not_bind_before_it_freezes(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["record", "tests.torch.worker_models:masked", "--input", "2x3", "--backend", backend, "-o", "net.fztrace"]
    assert main(words) == 2
    told = capsys.readouterr().err
    assert "forward() is missing attention_mask; add --input attention_mask=…" in told
    assert "forward() takes x, attention_mask" in told
    assert list(tmp_path.iterdir()) == []  # no trace: no freeze began


class Optionals(nn.Module):
    def forward(self, x: torch.Tensor, count: int, scale: float = 1.0) -> torch.Tensor:
        return self.double(x) * count * scale

    def double(self, x: torch.Tensor) -> torch.Tensor:
        return x + x


class Flexible(nn.Module):
    def forward(self, x, *others, flag=True, **named):
        return x


OPTIONALS, FLEXIBLE = Optionals().eval(), Flexible().eval()
BOUND: list[tuple[nn.Module, tuple[str, ...], str | None]] = [
    (OPTIONALS, ("2x3", "int:3"), None),
    (OPTIONALS, ("x=2x3", "count=int:3", "scale=float:0.5"), None),
    (OPTIONALS, ("2x3",), "forward() is missing count; add count: --input 2x3 --input count=int:1"),
    (OPTIONALS, (), "forward() is missing x and count"),
    (
        OPTIONALS,
        ("2x3", "int:3", "float:1.0", "5"),
        "forward() takes 3 inputs, and 4 were given; remove it: --input 2x3 --input int:3 --input float:1.0",
    ),
    (
        OPTIONALS,
        ("2x3", "int:3", "scales=float:0.5"),
        "forward() has no input scales; call it scale: --input 2x3 --input int:3 --input scale=float:0.5",
    ),
    (OPTIONALS, ("2x3", "x=2x3"), "forward() gets its input x twice; remove x=…: --input 2x3"),
    (torch.jit.script(OPTIONALS), ("2x3", "int:3"), None),
    (torch.jit.script(OPTIONALS), ("2x3", "int:3", "scale=int:2"), None),
    (
        torch.jit.script(OPTIONALS),
        ("2x3", "2x3"),
        "forward() takes a value of type int for count, and got one of type Tensor; use int:1: --input 2x3 "
        "--input int:1",
    ),
    (OPTIONALS, ("2x3", "2x3"), None),  # Python holds no value to its annotation
    (FLEXIBLE, ("1", "2", "3", "extra=1"), None),
    (FLEXIBLE, ("flag=bool:true",), "forward() is missing x"),
]


@pytest.mark.parametrize(("module", "texts", "message"), BOUND)
def test_inputs_are_bound_without_a_call(module: nn.Module, texts: tuple[str, ...], message: str | None) -> None:
    inputs = make_inputs([parse_input(text) for text in texts])
    loaded = LoadedModel(module, None, "net")
    if message is None:
        check_binding(loaded, inputs, texts)
        return
    with pytest.raises(fe.FreezerError) as refused:
        check_binding(loaded, inputs, texts)
    assert str(refused.value).splitlines()[0].startswith(f"net: {message}")
