"""What is measured of a freezing compile; no absolute time is looked at."""

from __future__ import annotations

import copy
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
import torch

import freeze_engine as fe
from freeze_engine.trace import MemoryLedger
from freeze_engine.trace.validation import check_trace
from freeze_engine.worker import RecordRequest
from tests.progress import check_phases
from tests.torch.inductor_models import BreaksInside, Convolutional, Stateful, filled
from tests.torch.inductor_recording import fresh, image, plant_wrong_rewrite, record, rows

QUICK = fe.Measure(seconds=0.05)
NUMBERS = fe.Measure(latency=False)
UNSAVED = "What torch.compile makes lives in this process only: there is no file of it."
BASELINES = [
    "eager",
    "compiled",
    "compiled with freezing",
    "TorchScript frozen",
    "TorchScript optimized for inference",
]


class Summing(torch.nn.Module):
    """What it gives depends on what it was given before."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.register_buffer("total", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total += x.sum(0)
        return self.linear(x) + self.total


def test_whatever_is_compared_starts_from_the_state_that_was_recorded():
    model = filled(Summing())
    total = model.total.clone()
    with fresh():
        trace = record(model, rows(2, 4), measure=QUICK).trace
    assert torch.equal(model.total, total)  # type: ignore[arg-type]
    compared = [(step.name, numerics) for step in trace.steps for numerics in step.numerics]
    compared += [(line.name, numerics) for line in trace.baselines for numerics in line.numerics]
    assert {name for name, _ in compared} >= {"input", *BASELINES}
    assert [name for name, numerics in compared if not numerics.close] == []
    assert trace.baselines[0].numerics[0].max_abs == 0


def test_every_step_that_can_be_run_is_measured_in_turns_with_the_baselines():
    reports: list[tuple[str, int, int]] = []
    with fresh():
        recording = fe.record(
            filled(Convolutional()),
            image(),
            backend="inductor",
            measure=QUICK,
            progress=lambda *report: reports.append(report),
        )
    check_phases(reports, RecordRequest("net", Path("net.fztrace"), backend="inductor", measure=QUICK))
    told = [message for message, _, _ in reports]
    trace = recording.trace
    check_trace(trace)
    assert fe.loads(fe.dumps(trace)) == trace
    for step in trace.steps:
        compared = [(numerics.inputs, numerics.reference) for numerics in step.numerics]
        expected = product(("given", "similar", "wide"), ("eager", "float64")) if step.executable else ()
        assert compared == list(expected)
        assert len(step.latency) == step.executable
    assert [baseline.name for baseline in trace.baselines] == BASELINES
    assert all(numerics.close for baseline in trace.baselines for numerics in baseline.numerics)
    assert trace.baselines[0].numerics[0].max_abs == 0
    first = trace.steps[0].latency[0]
    assert (first.verdict, first.ratio) == ("baseline", None)
    assert all(line.latency[0].samples == first.samples for line in trace.baselines)
    assert trace.memory == MemoryLedger(trace.memory.peak_bytes, message=UNSAVED)
    steps = [step for step in trace.steps if step.latency]
    assert [step.latency[0].change is not None for step in steps] == [
        step.graph is not before.graph for before, step in pairwise((replace(steps[0]), *steps))
    ]
    compiling = [message for message in told if message.startswith("compiling: ")]
    assert compiling[0] == "compiling: joint_graph"
    assert compiling[-1] == "compiling: compile"
    assert recording.aliases(0) is None


def test_a_wrong_rewrite_is_named_by_the_numbers(monkeypatch: pytest.MonkeyPatch):
    plant_wrong_rewrite(monkeypatch)
    with fresh():
        trace = record(filled(Convolutional()), image(), measure=NUMBERS).trace
    judged = [step for step in trace.steps if step.numerics]
    first = next(step for step in judged if not step.numerics[0].close)
    assert first.name == "recover_original_precision_folded_computation_ops"
    assert all(step.numerics[0].close for step in judged if step.index < first.index)
    wrong_too = {line.name for line in trace.baselines if not line.numerics[0].close}
    assert wrong_too == {"compiled with freezing"}


def test_a_stateful_module_and_its_inputs_are_left_as_they_were():
    class Writes(Stateful):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            found = super().forward(x)
            x.add_(1)
            return found

    model, x = filled(Writes()), rows(2, 4)
    before = copy.deepcopy(model.state_dict())
    with fresh():
        trace = record(model, x, measure=QUICK).trace
    assert torch.equal(x, rows(2, 4))
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    steps = [step for step in trace.steps if step.numerics]
    assert all(numerics.close for each in (*steps, *trace.baselines) for numerics in each.numerics)
    assert len(steps[0].numerics[0].outputs) == 3


class Keys:
    """As a key-value cache before its first run."""

    def __init__(self) -> None:
        self.kept: list[torch.Tensor] = []


class Keeping(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, keys: Keys) -> torch.Tensor:
        keys.kept.append(self.linear(x))
        return torch.cat(keys.kept)


def test_an_empty_cache_among_the_inputs_is_empty_in_every_run():
    keys = Keys()
    with fresh():
        trace = record(filled(Keeping()), rows(2, 4), keys, measure=QUICK).trace
    assert keys.kept == []
    compared = [(step.name, numerics) for step in trace.steps for numerics in step.numerics]
    compared += [(line.name, numerics) for line in trace.baselines[:3] for numerics in line.numerics]
    assert {name for name, _ in compared} >= {"input", *BASELINES[:3]}
    assert [name for name, numerics in compared if not numerics.close] == []
    assert {program.name for program in trace.programs} == set(BASELINES[1:3])
    assert all(kernel.time_ns is not None for program in trace.programs for kernel in program.kernels)


def test_after_a_graph_break_the_first_graph_is_measured_inside_the_whole_function():
    with fresh():
        trace = record(filled(BreaksInside()), rows(2, 8), measure=NUMBERS).trace
    check_trace(trace)
    assert {step.method for step in trace.steps if step.numerics} == {"forward"}
    assert all(numerics.close for step in trace.steps for numerics in step.numerics)
    said = [notice.message for notice in trace.notices if notice.code == "not_measured"]
    assert said[0].startswith(f"Only the passes of the first of {len(trace.methods)} graphs have figures")


def test_graph_that_cannot_run_gives_the_reason():
    class Unscriptable(torch.nn.Linear):
        def forward(self, x: torch.Tensor, *rest: int, **more: int) -> torch.Tensor:
            return super().forward(x)

    with fresh():
        threads = torch.get_num_threads()
        measure = fe.Measure(latency=False, memory=False, threads=threads + 1)
        trace = record(Unscriptable(4, 2).eval(), rows(2, 4), measure=measure).trace
    assert torch.get_num_threads() == threads
    assert ("measure_threads", str(threads + 1)) in trace.environment.settings
    assert trace.memory is None
    assert all(numerics.close for step in trace.steps for numerics in step.numerics)
    assert [baseline.name for baseline in trace.baselines] == BASELINES[:3]
    said = [notice.message for notice in trace.notices if notice.code == "not_measured"]
    assert [message.partition(" could not")[0] for message in said] == [" and ".join(BASELINES[3:])]
    assert said[0].endswith("tracing may do (via='trace', --via trace)")


def test_a_module_that_gives_up_its_parameters_is_compared_with_a_copy():
    with fresh():
        trace = record(filled(Convolutional()), image(), measure=NUMBERS, discard_parameters=True).trace
    assert [baseline.name for baseline in trace.baselines] == BASELINES
    assert all(numerics.close for baseline in trace.baselines for numerics in baseline.numerics)
    assert "parameters_discarded" in {notice.code for notice in trace.notices}


def test_measuring_is_not_seen_by_a_capture_around_it():
    with fresh(), fe.capture() as captured:
        record(filled(Convolutional()), image(), measure=NUMBERS)
    assert [(trace.backend, trace.methods) for trace in captured.traces] == [("inductor", ("forward",))]


def test_the_settings_are_in_the_trace():
    with fresh():
        trace = record(filled(Convolutional()), image(), dynamic=False).trace
    assert dict(trace.options) == {
        "discard_parameters": "False",
        "dynamic": "False",
        "force_disable_caches": "False",
        "freezing": "True",
        "fullgraph": "False",
    }
    settings = dict(trace.environment.settings)
    assert settings["inductor.layout_optimization"] == "True"
    assert settings["inductor.cpp.weight_prepack"] == "True"
    assert "fusion_strategy" not in settings


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"backend": "tvm"},
            "backend='tvm' is not known; this version records 'torchscript', 'inductor' and 'aotinductor'",
        ),
        (
            {"backend": "inductor", "options": fe.TorchScriptOptions()},
            "backend='inductor' does not go with options of TorchScriptOptions: pass fe.InductorOptions",
        ),
        (
            {"options": fe.InductorOptions()},
            "backend='torchscript' does not go with options of InductorOptions: pass fe.TorchScriptOptions",
        ),
    ],
)
def test_a_backend_and_options_that_do_not_go_together(fields: dict[str, Any], message: str):
    with pytest.raises(fe.FreezerError) as caught:
        fe.record(torch.nn.Linear(4, 2).eval(), rows(2, 4), **fields)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("model", "inputs", "message"),
    [
        (torch.nn.Linear(4, 2), (torch.ones(1, 4),), "training mode"),
        (torch.jit.script(torch.nn.Linear(4, 2).eval()), (torch.ones(1, 4),), "takes no ScriptModule"),
        (torch.nn.Linear(4, 2).eval(), None, "needs inputs"),
    ],
)
def test_model_that_cannot_be_compiled_is_refused(model: torch.nn.Module, inputs: Any, message: str):
    with pytest.raises(fe.FreezerError, match=message):
        fe.record(model, inputs, backend="inductor")
