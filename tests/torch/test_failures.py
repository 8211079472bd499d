"""What torch refuses: the user sees torch's own exception, and the trace says where it stopped."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from torch import nn

import freeze_engine as fe
from freeze_engine.requests.options import TorchScriptOptions
from freeze_engine.trace import Trace
from freeze_engine.trace.validation import check_trace
from tests.torch import kept_models, models, refused_models


def scripted(model: type, *, training: bool = False) -> torch.jit.ScriptModule:
    return torch.jit.script(models.filled(model()).train(training))


def broken_inference(model: type) -> None:
    frozen = torch.jit.freeze(scripted(model))
    torch.jit.optimize_for_inference(frozen, ["none_such"])


# Name: what is called; stage, step and method that the failure names; number of steps before it.
CASES: dict[str, tuple[Any, tuple[str, str, str | None], int]] = {
    "training mode": (
        lambda: torch.jit.freeze(scripted(models.ConvBn, training=True)),
        ("input", "torch.jit.freeze", None),
        1,
    ),
    "not scripted": (lambda: torch.jit.freeze(models.ConvBn().eval()), ("input", "torch.jit.freeze", None), 0),
    "not a module": (lambda: torch.jit.freeze(3), ("input", "torch.jit.freeze", None), 0),
    "no argument": (lambda: torch.jit.freeze(), ("input", "torch.jit.freeze", None), 0),  # type: ignore[call-arg]
    "not scripted, for inference": (
        lambda: torch.jit.optimize_for_inference(models.ConvBn().eval()),  # type: ignore[arg-type]
        ("input", "torch.jit.optimize_for_inference", None),
        0,
    ),
    "unknown name": (
        lambda: torch.jit.freeze(scripted(models.ConvBn), ["none_such"]),
        ("freeze_module", "CheckPreservedNames", None),
        1,
    ),
    "unknown name in a submodule": (
        lambda: torch.jit.freeze(scripted(models.ConvBn), ["conv.none_such"]),
        ("freeze_module", "CheckPreservedNames", None),
        1,
    ),
    "interface set": (
        lambda: torch.jit.freeze(scripted(refused_models.SwapsInterface)),
        ("inline", "Inline", "forward"),
        1,
    ),
    "overlapping containers": (
        lambda: torch.jit.freeze(scripted(refused_models.Overlapping)),
        ("freeze_module", "RecordMutableAttrs", "forward"),
        2,
    ),
    "module by name": (
        lambda: torch.jit.freeze(scripted(refused_models.Chooses)),
        ("freeze_module", "RecordMutableAttrs", "forward"),
        2,
    ),
    "unknown method for inference": (
        lambda: broken_inference(models.Equal),
        ("input", "torch.jit.optimize_for_inference", None),
        1,
    ),
}


def outcome(call: Any) -> tuple[type[BaseException], str]:
    try:
        call()
    except Exception as error:  # noqa: BLE001 - whatever torch raises is compared with what it raises in a capture
        return type(error), unnumbered(str(error))
    raise AssertionError("torch did not raise")


def unnumbered(text: str) -> str:
    return re.sub(r"___torch_mangle_\d+\.|0x[0-9a-f]+", "", text)


def failed(call: Any) -> tuple[tuple[type[BaseException], str], Trace]:
    with fe.capture() as captured:
        found = outcome(call)
    return found, captured.traces[-1]


@pytest.mark.parametrize("name", CASES)
def test_the_exception_is_torchs_own(name):
    call, *_ = CASES[name]
    assert failed(call)[0] == outcome(call)


@pytest.mark.parametrize("name", CASES)
def test_the_trace_says_where_it_stopped(name, tmp_path):
    call, (stage, step, method), steps = CASES[name]
    (kind, message), trace = failed(call)
    failure = trace.failure
    check_trace(trace)
    assert (failure.type, unnumbered(failure.message)) == (kind.__name__, message)
    assert (failure.stage, failure.name, failure.method) == (stage, step, method)
    assert len(trace.steps) == steps
    assert failure.step == (steps - 1 if steps else None)
    fe.save(trace, tmp_path / "failed.fztrace")
    assert fe.load(tmp_path / "failed.fztrace") == trace


def test_returning_self_is_refused_by_name():
    (kind, message), trace = failed(lambda: torch.jit.freeze(scripted(refused_models.Returns)))
    assert kind is RuntimeError
    assert "return itself" in message
    assert trace.failure.stage == "freeze_module"
    check_trace(trace)


@pytest.mark.parametrize("preserved", [[], ["go"]])
def test_a_module_without_forward(preserved):
    with fe.capture() as captured:
        frozen = torch.jit.freeze(scripted(refused_models.NoForward), preserved)
    plain = torch.jit.freeze(scripted(refused_models.NoForward), preserved)
    (trace,) = captured.traces
    check_trace(trace)
    assert trace.failure is None
    assert trace.methods == tuple(preserved)
    assert hasattr(frozen, "weight") == hasattr(plain, "weight") == (not preserved)
    assert trace.attribute("weight").fate == ("inlined" if preserved else "preserved")


def test_a_failure_is_followed_by_an_ordinary_freeze():
    with fe.capture() as captured:
        outcome(lambda: torch.jit.freeze(scripted(models.ConvBn), ["none_such"]))
        torch.jit.freeze(scripted(models.ConvBn))
    assert [trace.failure is None for trace in captured.traces] == [False, True]


def test_record_attaches_the_partial_trace():
    with pytest.raises(RuntimeError, match="overlap") as caught:
        fe.record(models.filled(refused_models.Overlapping()), measure=None, name="overlapping", call="mine()")
    trace = fe.partial_trace(caught.value)
    check_trace(trace)
    assert (trace.name, trace.call) == ("overlapping", "mine()")
    assert trace.failure.name == "RecordMutableAttrs"


def test_an_error_before_the_freeze_has_no_partial_trace():
    class Unscriptable(nn.Module):
        def forward(self, x):
            return [item for item in globals()]  # noqa: C416

    with pytest.raises(Exception) as caught:  # noqa: PT011
        fe.record(Unscriptable().eval(), measure=None)
    assert fe.partial_trace(caught.value) is None


def test_record_of_a_module_in_training_mode():
    with pytest.raises(RuntimeError, match="eval mode") as caught:
        fe.record(models.ConvBn(), measure=None)
    assert fe.partial_trace(caught.value).failure.type == "RuntimeError"


@pytest.mark.parametrize("options", [TorchScriptOptions(("nope",)), TorchScriptOptions(other_methods=("nope",))])
def test_record_of_an_unknown_name(options):
    with pytest.raises(RuntimeError, match="Unknown name: nope") as caught:
        fe.record(models.filled(kept_models.Counter()), measure=None, options=options)
    assert fe.partial_trace(caught.value).failure.message == "Unknown name: nope"
