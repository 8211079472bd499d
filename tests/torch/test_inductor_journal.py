"""What is left of a compile whose process dies, and what an observer receives while it goes on."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch

import freeze_engine as fe
from freeze_engine.backends.common.observer import RecordingObserver
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import ModuleOptions
from freeze_engine.session import record_loaded
from freeze_engine.trace import Failure, GraphInput
from freeze_engine.worker import JobEvent, JobStep, RecordingProcess, RecordRequest
from tests.torch.inductor_recording import fresh

MODELS = "tests.torch.inductor_worker_models"
SEGFAULT = "the process was ended by SIGSEGV (segmentation fault)"
Place = tuple[str, str, "str | None"]


@pytest.fixture
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "caches"))
    monkeypatch.setenv("TORCHINDUCTOR_COMPILE_THREADS", "1")


def recorded(model: str, output: Path, look: Callable[[RecordingProcess, JobStep], None] | None = None):
    """Records in a process of its own; returns how it ended, and the steps it told of."""
    steps: list[JobStep] = []

    def note(event: JobEvent) -> None:
        if isinstance(event, JobStep):
            steps.append(event)
            if look is not None:
                look(process, event)

    request = RecordRequest(f"{MODELS}:{model}", output, backend="inductor", measure=None, limit_s=900.0)
    process = RecordingProcess(request, note)
    process.start()
    return process.wait(), steps


@pytest.mark.usefixtures("caches")
@pytest.mark.parametrize(
    ("model", "place", "last"),
    [
        ("fake_segfault", ("freezing_passes", "fake_tensor_prop", "forward"), "fx_graph_cse"),
        ("cpp_segfault", ("compile", "GraphLowering.compile_to_module", "forward"), "GraphLowering.codegen"),
    ],
)
def test_a_crash_leaves_the_steps_until_then(model: str, place: Place, last: str, tmp_path: Path):
    output = tmp_path / "net.fztrace"
    ended, steps = recorded(model, output)
    assert (ended.outcome, ended.trace, ended.died_in) == ("crashed", output, place[1])
    assert ended.message == f"{SEGFAULT}, in {place[1]} of forward"
    trace = fe.load(output)
    fe.check_trace(trace)
    assert trace.failure == Failure("SIGSEGV", SEGFAULT, *place, len(trace.steps) - 1)
    assert [(step.index, step.name) for step in steps] == [(step.index, step.name) for step in trace.steps]
    assert trace.steps[-1].name == last
    assert (trace.duration_ns, any(step.executable for step in trace.steps)) == (None, False)
    assert {fate.fate for fate in trace.attributes} >= {"inlined"}  # known since the parameters were
    (said,) = (notice.message for notice in trace.notices if notice.code == "last_words")
    assert "Fatal Python error: Segmentation fault" in said
    assert "inductor_worker_models.py" in said


@pytest.mark.usefixtures("caches")
def test_crash_before_the_first_graph_keeps_the_request(tmp_path: Path):
    output = tmp_path / "net.fztrace"
    ended, steps = recorded("dynamo_segfault", output)
    assert (ended.outcome, ended.trace, ended.died_in, steps) == ("crashed", output, "compiling", [])
    assert ended.message == f"{SEGFAULT}, while compiling"
    trace = fe.load(output)
    fe.check_trace(trace)
    assert (trace.name, trace.backend, trace.steps, len(trace.inputs)) == ("dynamo_segfault", "inductor", (), 1)
    assert trace.failure == Failure("SIGSEGV", SEGFAULT, "build", "compiling", None, None)
    assert "in dynamo_segfault" in trace.notices[-1].message or "inductor_worker_models.py" in trace.notices[-1].message


@pytest.mark.usefixtures("caches")
def test_killed_recording_keeps_at_least_its_reported_steps(tmp_path: Path):
    killed: list[int] = []

    def kill(process: RecordingProcess, step: JobStep) -> None:
        # Once only: what tells of further steps then is the process that reads what was left.
        if step.name == "binary_folding" and not killed:
            killed.append(process._process.pid)
            os.kill(killed[0], signal.SIGKILL)

    ended, steps = recorded("sound", tmp_path / "net.fztrace", kill)
    trace = fe.load(ended.trace)
    fe.check_trace(trace)
    assert (ended.outcome, trace.failure.type, trace.failure.method) == ("crashed", "SIGKILL", "forward")
    assert [step.name for step in trace.steps][: len(steps)] == [step.name for step in steps]
    assert trace.attribute("conv.weight").fate in ("inlined", "folded")


class _Keeping(RecordingObserver):
    """Keeps what it is told."""

    watches = True

    def __init__(self) -> None:
        super().__init__()
        self.traces: list[fe.Trace] = []
        self.steps: list[fe.Step] = []
        self.places: list[Place | None] = []

    def trace_grew(self, trace: fe.Trace) -> None:
        self.traces.append(trace)

    def step_added(self, step: fe.Step) -> None:
        self.steps.append(step)

    def under_way(self, place: Place | None) -> None:
        self.places.append(place)


class _Scaled(torch.nn.Module):
    """Folds a batch norm, and cannot fold a scale that it writes."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 1)
        self.norm = torch.nn.BatchNorm2d(4)
        self.register_buffer("scale", torch.ones(4, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.scale.add_(1.0)
        return self.norm(self.conv(x)) * self.scale


@pytest.fixture(scope="module")
def watched() -> tuple[_Keeping, fe.Trace, fe.Trace]:
    """A compile that was watched until lowering raised: the observer, the trace of the error, and that of a capture."""
    observer, module_options = _Keeping(), ModuleOptions("script", name="Scaled", call="mine()")
    lowering = mock.patch.object(torch._inductor.graph.GraphLowering, "run", side_effect=ValueError("enough"))
    with fresh(), lowering, fe.capture() as captured:
        with pytest.raises(Exception, match="enough") as raised:
            record_loaded(
                _Scaled().eval(),
                Inputs((torch.ones(1, 3, 8, 8),)),
                fe.InductorOptions(),
                module_options,
                None,
                observer,
            )
        (trace,) = captured.traces
    partial = fe.partial_trace(raised.value)
    assert partial is not None
    return observer, partial, trace


def test_a_watched_trace_grows_step_by_step(watched: tuple[_Keeping, fe.Trace, fe.Trace]):
    observer, partial, _ = watched
    for trace in observer.traces:
        fe.check_trace(trace)
    counts = [len(trace.steps) for trace in observer.traces]
    assert counts == [*range(len(partial.steps) + 1), len(partial.steps), len(partial.steps)]
    assert [step.index for step in observer.steps] == list(range(len(partial.steps)))
    assert observer.traces[-1] == partial


def test_a_watched_trace_is_that_of_a_capture(watched: tuple[_Keeping, fe.Trace, fe.Trace]):
    _, partial, captured = watched
    told = replace(partial, name=captured.name, call=captured.call, options=captured.options, inputs=captured.inputs)
    assert told == captured


def test_request_is_reported_before_dynamo_begins(watched: tuple[_Keeping, fe.Trace, fe.Trace]):
    observer, partial, _ = watched
    begun = observer.traces[0]
    bare: dict[str, Any] = {
        "steps": (),
        "attributes": (),
        "near_misses": (),
        "notices": (),
        "sources": (),
        "failure": None,
    }
    later: Any = {"created": begun.created, "environment": begun.environment, "duration_ns": None}
    assert begun == replace(partial, **bare, **later)
    assert set(begun.environment.settings) < set(partial.environment.settings)


def test_the_first_step_says_what_the_inputs_are(watched: tuple[_Keeping, fe.Trace, fe.Trace]):
    _, partial, _ = watched
    names = [value.name for value in partial.steps[0].graph.inputs]
    paths = ["conv.weight", "conv.bias", "norm.weight", "norm.bias", "scale", "norm.running_mean", "norm.running_var"]
    attributes = (GraphInput(name, attribute=path) for name, path in zip(names, paths, strict=False))
    assert partial.steps[0].inputs == (*attributes, GraphInput(names[-1], argument="x"))


def test_every_pass_is_reported_before_its_step(watched: tuple[_Keeping, fe.Trace, fe.Trace]):
    observer, partial, _ = watched
    assert observer.places[0] == ("joint_graph", "joint_graph_passes", "forward")
    assert observer.places[-3:] == [
        ("compile", "GraphLowering.run", "forward"),
        ("compile", "the first call", None),
        None,
    ]
    told = {place[:2] for place in observer.places if place is not None}
    passes = {(step.stage, step.name) for step in partial.steps if step.duration_ns is not None}
    assert passes <= told
    assert (partial.failure.stage, partial.failure.name) == ("compile", "GraphLowering.run")


def test_fates_and_near_misses_are_reported_as_soon_as_they_are_known(watched: tuple[_Keeping, fe.Trace, fe.Trace]):
    observer, partial, _ = watched
    inlining = next(step.index for step in partial.steps if step.name == "replace_params_with_constants")
    known = [bool(trace.attributes) for trace in observer.traces]
    assert known == [False] * (inlining + 1) + [True] * (len(known) - inlining - 1)
    assert observer.traces[-1].attributes == partial.attributes
    folding = ("constant_fold", "fake_tensor_prop", "binary_folding")
    last = max(step.index for step in partial.steps if step.name == "binary_folding")
    judged = next(trace for trace in observer.traces[last + 1 :] if trace.steps[-1].name not in folding)
    assert {trace.near_misses for trace in observer.traces[: len(judged.steps)]} == {()}
    assert judged.near_misses == partial.near_misses != ()
