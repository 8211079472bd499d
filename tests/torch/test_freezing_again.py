"""The checks that freeze once more: idempotence, determinism, round trip."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import freeze_engine as fe
from freeze_engine.backends.torchscript.graph import module_slots
from freeze_engine.diagnose.checks import determinism as determinism_module, round_trip as round_trip_module
from freeze_engine.requests import CheckName
from freeze_engine.trace import Check
from freeze_engine.worker import RecordRequest

AGAIN = ("idempotence", "determinism", "round_trip")


class ConvBn(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(2, 3, 3)
        self.bn = torch.nn.BatchNorm2d(3)
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen.add_(1)
        return self.bn(self.conv(x)) + self.seen

    @torch.jit.export
    def shape(self, x: torch.Tensor) -> list[int]:
        return list(x.shape)


INPUT = torch.ones(1, 2, 6, 6)


def asked(model: torch.nn.Module, inputs: object, *names: CheckName, **how: object) -> fe.Recording:
    return fe.record(model.eval(), inputs, measure=None, checks=names or AGAIN, **how)  # type: ignore[arg-type]


def answers(recording: fe.Recording) -> dict[str, str]:
    return {check.name: check.verdict for check in recording.trace.checks}


def test_an_ordinary_module_passes_all_three() -> None:
    model = ConvBn()
    recording = asked(model, (INPUT,), options=fe.TorchScriptOptions(preserved_attrs=("shape",)))
    assert recording.trace.checks == (
        Check(
            "idempotence",
            "passed",
            "Freezing the frozen module again changes nothing.",
            ("frozen again: the same graphs", "saved, loaded and frozen again: the same graphs"),
        ),
        Check("determinism", "passed", "3 freezes of the same module did the same."),
        Check("round_trip", "passed", "Loaded, its graphs are the same, and it gives the same outputs."),
    )
    assert recording.others == {}
    assert [model.seen.item(), recording.module.seen.item()] == [0.0, 0.0]  # left as found


@pytest.fixture(scope="module")
def attention() -> fe.Recording:
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(8, 2, 8, batch_first=True)
    return asked(layer, (torch.ones(1, 3, 8),), "idempotence", "round_trip")


def test_module_changed_by_a_second_freeze_is_reported_with_its_operators(attention: fe.Recording) -> None:
    check = attention.trace.checks[0]
    assert (check.name, check.verdict) == ("idempotence", "failed")
    assert check.message == "The frozen module, frozen again and saved, loaded and frozen again, is another one."
    assert check.details[0].startswith("frozen again: forward: ")
    assert "prim::GetAttr -" in check.details[0]


def test_the_other_freeze_can_be_held_against_the_first(attention: fe.Recording) -> None:
    diff = fe.diff_traces(attention.trace, attention.others["idempotence"])
    assert not diff.finals[0].graph.empty
    assert fe.loads(fe.dumps(attention.others["idempotence"])) == attention.others["idempotence"]


def test_graphs_changed_by_loading_are_reported_where_outputs_are_equal(attention: fe.Recording) -> None:
    check = attention.trace.checks[1]
    assert (check.verdict, check.message) == ("passed", "Loaded, it has other graphs, and it gives the same outputs.")
    assert check.details
    ends = attention.others["round_trip"].steps
    assert {step.stage for step in ends} == {"input", "inline"}


def test_differing_freezes_are_reported_with_the_first_differing_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plain(ConvBn):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.conv(x)

    other = fe.record(Plain().eval(), measure=None).trace
    monkeypatch.setattr(determinism_module, "frozen_anew", lambda context: other)
    recording = asked(ConvBn(), (INPUT,), "determinism")
    (check,) = recording.trace.checks
    assert (check.verdict, check.message) == (
        "failed",
        "3 freezes of the same module gave other graphs: a recording is of one run.",
    )
    assert check.details[0].startswith("freeze 2 against the first: they part at step 0, input of forward: nodes: ")
    assert recording.others == {"determinism": other}


def test_freezes_that_differ_only_on_the_way_pass_with_a_remark(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ConvBn().eval()
    trace = fe.record(model, measure=None).trace
    further = replace(trace.steps[-1], index=len(trace.steps), name="Another", changed=True)
    longer = replace(trace, steps=(*trace.steps, further))
    monkeypatch.setattr(determinism_module, "frozen_anew", lambda context: longer)
    (check,) = asked(model, None, "determinism").trace.checks
    assert (check.verdict, check.message) == (
        "passed",
        "3 freezes of the same module differ on the way, and compute the same.",
    )
    assert check.details[0] == "freeze 2 against the first: only one of them ran Another of forward with an effect"


def test_a_file_that_gives_other_outputs_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    other = torch.jit.freeze(torch.jit.script(ConvBn().eval()))
    monkeypatch.setattr(round_trip_module, "saved_and_loaded", lambda module: other)
    (check,) = asked(ConvBn(), (INPUT,), "round_trip").trace.checks
    assert (check.verdict, check.message) == ("failed", "Saved and loaded, it gives other outputs.")
    assert check.details[0].startswith("its outputs differ by up to ")


class Quantized(torch.nn.Module):
    """Its weights are packed in an object that torch's log names by its address."""

    def __init__(self) -> None:
        super().__init__()
        layer = torch.nn.Sequential(torch.nn.Linear(4, 4))
        self.layer = torch.ao.quantization.quantize_dynamic(layer, {torch.nn.Linear})

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)


class Lists(torch.nn.Module):
    """torch names the type of its list in two ways."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = [torch.ones(20), torch.zeros(20)]

    def forward(self, x: torch.Tensor, which: int) -> torch.Tensor:
        return x + self.weights[which]


@pytest.mark.filterwarnings("ignore:.*quantiz.*")
@pytest.mark.parametrize(("build", "inputs"), [(Quantized, (torch.ones(1, 4),)), (Lists, (torch.ones(20), 1))])
def test_weights_that_are_no_tensors_are_compared_by_value(
    build: Callable[[], torch.nn.Module], inputs: tuple[object, ...]
) -> None:
    recording = asked(build(), inputs)
    assert answers(recording) == dict.fromkeys(AGAIN, "passed")
    assert "unknown" not in str(recording.trace.checks)


@pytest.mark.filterwarnings("ignore:.*quantiz.*")
def test_opaque_object_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_slots, "object_state", lambda held: None)
    line = (
        "forward: 1 constant not compared, values unknown: %self.layer.0._packed_params._packed_params "
        "(__torch__.torch.classes.quantized.LinearPackedParamsBase)"
    )
    idempotence, round_trip = asked(Quantized(), (torch.ones(1, 4),), "idempotence", "round_trip").trace.checks
    assert (idempotence.verdict, idempotence.details[-1]) == ("unknown", line)
    assert (round_trip.verdict, round_trip.details) == ("passed", (line,))
    (without_inputs,) = asked(Quantized(), None, "round_trip").trace.checks
    assert without_inputs == Check(
        "round_trip",
        "unknown",
        "Loaded, its graphs are the same, constants that cannot be compared left out; without inputs it was not run.",
        (line,),
    )


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this torch has no MKLDNN")
def test_a_module_that_does_not_save_fails_in_torchs_words() -> None:
    model = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 3), torch.nn.ReLU())
    recording = asked(model, (INPUT,), options=fe.TorchScriptOptions(optimize_for_inference=True))
    assert answers(recording) == {"idempotence": "unknown", "determinism": "passed", "round_trip": "failed"}
    idempotence, _, round_trip = recording.trace.checks
    assert idempotence.details[0] == "frozen again: the same graphs"
    assert idempotence.details[1].startswith("saved, loaded and frozen again: it could not be done: RuntimeError: ")
    assert round_trip.message == "It cannot be saved and loaded."


def test_without_inputs_graphs_are_compared_all_the_same() -> None:
    recording = asked(ConvBn(), None)
    assert answers(recording) == {"idempotence": "passed", "determinism": "passed", "round_trip": "passed"}
    assert recording.trace.checks[2].message == "Loaded, its graphs are the same; without inputs it was not run."


def test_a_users_capture_does_not_see_the_further_freezes() -> None:
    with fe.capture() as captured:
        asked(ConvBn(), (INPUT,))
    assert len(captured.traces) == 1


def test_inductor_module_is_compiled_once_more() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    with torch.no_grad():
        recording = asked(model, (torch.ones(2, 4),), backend="inductor")
    assert answers(recording) == {"idempotence": "unknown", "determinism": "passed", "round_trip": "unknown"}
    assert recording.trace.checks[1].message == "2 freezes of the same module did the same."


def test_the_other_freeze_is_written_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from freeze_engine import session
    from freeze_engine.worker import record_task
    from freeze_engine.worker.request import REQUEST, request_text

    other = fe.record(ConvBn().eval(), measure=None).trace
    found = fe.Recording(None, replace(other, name="first"), {}, {"idempotence": other})
    monkeypatch.setattr(session, "record_loaded", lambda *_: found)
    request = RecordRequest("example:counter", tmp_path / "net.fztrace", checks=("idempotence",), measure=None)
    (tmp_path / REQUEST).write_text(request_text(request))
    record_task.run(tmp_path, lambda line: None)
    assert fe.load(tmp_path / "net.fztrace").name == "first"
    assert fe.load(tmp_path / "net.idempotence.fztrace") == other
