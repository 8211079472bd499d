"""The stale-weight probe, held against changes that are made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import freeze_engine as fe
from freeze_engine.analysis import check_outcome
from freeze_engine.diagnose.checks import stale_weights as probing
from freeze_engine.diagnose.checks.context import CheckContext
from freeze_engine.diagnose.checks.weights import assigned, loaded, other_values, retrained, weights, written
from freeze_engine.requests.options import ModuleOptions
from freeze_engine.trace import Check
from freeze_engine.worker import RecordingProcess, RecordRequest
from tests.torch.inductor_models import Convolutional, filled
from tests.torch.inductor_recording import fresh, image, rows

INTEGERS = "int64, and a changed index or mask could crash the module"
REFREEZE = "After loading or changing weights, freeze the module again; do not train a frozen module."


class ReadThenWritten(nn.Module):
    """The first graph has the buffer as a constant, the second one, which writes it, as an input."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.ones(4))

    def forward(self, x: Tensor) -> Tensor:
        y = x * self.seen
        torch._dynamo.graph_break()
        self.seen.add_(1)
        return y + self.seen


class Noise(nn.Module):
    """Another result with every call, which no restoring of state can hold back."""

    calls = 0

    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(4, 4)

    @torch.compiler.disable
    def count(self) -> int:
        Noise.calls += 1
        return Noise.calls

    def forward(self, x: Tensor) -> Tensor:
        return self.lin(x) + torch.full((1,), float(self.count()))


def test_a_script_module_follows_what_it_shares_and_what_it_preserves() -> None:
    model = filled(Convolutional())
    options = fe.TorchScriptOptions(preserved_attrs=("bn", "head"))
    [check] = fe.record(model, image(), options=options, measure=None, checks=("stale_weights",)).trace.checks
    every = "bn.bias, bn.running_mean, bn.running_var, bn.weight, conv.bias, conv.weight, head.bias, head.weight"
    kept = "bn.bias, bn.running_mean, bn.running_var, bn.weight, head.bias, head.weight"
    assert check == Check(
        "stale_weights",
        "passed",
        f"Freezing made constants of weights, as it is meant to: it ignores 2 of 8 assigned anew. {REFREEZE}",
        (
            f"changed in place, noticed: {every}",  # an unfolded constant is the parameter's own memory
            f"assigned anew, noticed: {kept}",
            "assigned anew, ignored: conv.bias, conv.weight",
            "all by load_state_dict: noticed",
            "all between train() and eval(): noticed",
            f"not probed ({INTEGERS}): bn.num_batches_tracked",
        ),
    )


def test_a_script_module_that_keeps_every_weight_passes() -> None:
    options = fe.TorchScriptOptions(preserved_attrs=("conv", "bn", "head"))
    [check] = fe.record(
        filled(Convolutional()), image(), options=options, measure=None, checks=("stale_weights",)
    ).trace.checks
    assert (check.verdict, check.message) == ("passed", "Its outputs follow every weight that was changed.")


def test_stale_folded_weights_are_ignored_however_they_change() -> None:
    [check] = fe.record(filled(Convolutional()), image(), measure=None, checks=("stale_weights",)).trace.checks
    folded = "bn.bias, bn.running_mean, bn.running_var, bn.weight, conv.bias, conv.weight"
    assert check.message == (
        "Freezing made constants of weights, as it is meant to: it ignores 6 of 8 changed in place and 8 of 8 assigned "
        f"anew. {REFREEZE}"
    )
    assert check.details[:2] == (
        "changed in place, noticed: head.bias, head.weight",
        f"changed in place, ignored: {folded}",
    )


def test_a_weight_that_is_constant_in_some_of_its_uses_is_noticed_in_part() -> None:
    with fresh():
        recording = fe.record(
            ReadThenWritten().eval(), rows(2, 4), backend="inductor", measure=None, checks=("stale_weights",)
        )
    assert recording.trace.checks[0].details[0] == (
        "changed in place, noticed in part, some of its uses being constant: seen"
    )


def test_given_up_parameters_cannot_be_probed() -> None:
    with fresh():
        [check] = fe.record(
            filled(nn.Linear(4, 2)),
            rows(2, 4),
            backend="inductor",
            options=fe.InductorOptions(discard_parameters=True),
            measure=None,
            checks=("stale_weights",),
        ).trace.checks
    text = "The module gave up its parameters (discard_parameters): there are none left to change."
    assert check == Check("stale_weights", "unknown", text)


@pytest.mark.parametrize(
    ("model", "inputs", "message"),
    [
        (nn.Linear(4, 2), None, "There are no inputs to run the module on: record it with some."),
        (nn.ReLU(), rows(2, 4), "The module holds no weights that could be changed."),
    ],
    ids=["no inputs", "no weights"],
)
def test_unprobed_weight_is_unknown(model: nn.Module, inputs: Tensor | None, message: str) -> None:
    [check] = fe.record(model.eval(), inputs, measure=None, checks=("stale_weights",)).trace.checks
    assert check == Check("stale_weights", "unknown", message)


def test_outputs_that_vary_tell_nothing() -> None:
    model = Noise().eval()
    trace = fe.record(nn.Linear(4, 4).eval(), rows(2, 4), measure=None).trace
    given = fe.Inputs((rows(2, 4),))
    context = CheckContext(model, model, model, given, fe.InductorOptions(), ModuleOptions(), trace)
    assert probing.stale_weights(context).message == (
        "It gives other outputs for the same inputs, so a change in them would tell nothing."
    )


def test_a_module_that_cannot_be_run_gives_torchs_own_message() -> None:
    trace = fe.record(filled(Convolutional()), rows(2, 3), measure=None, checks=("stale_weights",)).trace
    [check] = trace.checks
    assert check.verdict == "unknown"
    text = "RuntimeError: Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [2, 3]"
    assert check.message == f"It could not be run: {text}"
    assert check.details[0] == "RuntimeError: The following operation failed in the TorchScript interpreter."


def test_with_little_time_weights_of_one_fate_are_changed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "_PROBING_S", 0.0)
    [check] = fe.record(filled(Convolutional()), image(), measure=None, checks=("stale_weights",)).trace.checks
    assert (check.verdict, check_outcome(check)) == ("passed", "as meant")
    assert check.details == (
        "changed in place, ignored: bn.bias, bn.running_mean, bn.running_var, bn.weight, conv.bias, conv.weight",
        "assigned anew, ignored: bn.bias, bn.running_mean, bn.running_var, bn.weight, conv.bias, conv.weight, "
        "head.bias, head.weight",
        "all by load_state_dict: noticed in part",
        "all between train() and eval(): noticed in part",
        "changed in place together, each alone would take long: all 6 that are folded",
        "not changed in place, each alone would take long: head.weight, head.bias",
        "assigned anew together, each alone would take long: all 6 that are folded",
        "assigned anew together, each alone would take long: all 2 that are inlined",
        f"not probed ({INTEGERS}): bn.num_batches_tracked",
    )


@pytest.mark.parametrize("change", [written, assigned, "loaded", "retrained"])
def test_a_change_is_undone_when_the_run_raises(change) -> None:
    model = filled(Convolutional())
    before = {path: tensor.clone() for path, tensor in model.state_dict().items()}
    parameters = list(model.parameters())
    held = [weight for weight in weights(model) if not weight.obstacle]
    changes = {"loaded": lambda held: loaded(model, held), "retrained": lambda held: retrained(model, held)}
    differing: list[Any] = []

    def changed() -> None:
        with changes.get(change, change)(held):
            state = model.state_dict()
            differing.extend(path for each in held for path in each.paths if not torch.equal(state[path], before[path]))
            raise KeyError

    with pytest.raises(KeyError):
        changed()
    assert differing == [path for each in held for path in each.paths]
    assert all(torch.equal(tensor, before[path]) for path, tensor in model.state_dict().items())
    assert all(one is other for one, other in zip(model.parameters(), parameters, strict=True))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64])
def test_other_values_differ_everywhere_and_keep_what_they_are(dtype: torch.dtype) -> None:
    given = torch.arange(5).to(dtype)
    other = other_values(given)
    assert other.dtype == dtype
    assert bool((other != given).all())
    assert torch.equal(other, other_values(given))
    assert bool((other_values(torch.zeros(3)) > 0).all())


def test_asking_for_what_does_not_exist_is_refused() -> None:
    model = nn.ReLU()
    with pytest.raises(fe.FreezerError, match="there is no check 'stale'; there are stale_weights"):
        fe.record(model, rows(1), checks=("stale",))  # type: ignore[arg-type]
    with pytest.raises(fe.FreezerError, match=r"pass a tuple, checks=\('stale_weights',\)"):
        fe.record(model, rows(1), checks="stale_weights")  # type: ignore[arg-type]


def test_an_interrupted_check_leaves_the_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(context: CheckContext) -> Check:
        raise KeyboardInterrupt

    monkeypatch.setattr("freeze_engine.diagnose.checks.run._CHECKS", {"stale_weights": interrupted})
    with pytest.raises(KeyboardInterrupt) as raised:
        fe.record(nn.Linear(4, 2).eval(), rows(1, 4), measure=None, checks=("stale_weights",))
    trace = fe.partial_trace(raised.value)
    assert trace is not None
    assert (len(trace.steps) > 1, trace.checks) == (True, ())


def test_a_recording_in_a_process_of_its_own_checks_as_well(tmp_path: Path) -> None:
    request = RecordRequest(
        "example:counter", tmp_path / "a.fztrace", measure=None, checks=("stale_weights",), call="mine"
    )
    process = RecordingProcess(request, lambda event: None)
    process.start()
    ended = process.wait(300)
    assert ended is not None
    assert ended.outcome == "finished"
    [check] = fe.load(request.output).checks
    assert (check.name, check_outcome(check)) == ("stale_weights", "as meant")
    assert check.message.startswith("Freezing made constants of weights, as it is meant to: it ignores ")
