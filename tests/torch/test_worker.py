"""A recording in a process of its own: its events, and what is left where the process dies."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

import freeze_engine as fe
from freeze_engine.trace import Failure
from freeze_engine.worker import (
    JobEnded,
    JobEvent,
    JobPreview,
    JobProgress,
    JobStep,
    RecordingProcess,
    RecordRequest,
    record_task,
)
from freeze_engine.worker.child_process import WorkerProcess
from freeze_engine.worker.events import read_event
from freeze_engine.worker.phases import KEEPING, WHOLE, planned
from freeze_engine.worker.request import REQUEST, request_text
from tests.clocks import limit_reached_once

MODELS = "tests.torch.worker_models"
QUICK = fe.Measure(latency=False)
LIMIT_S = 900.0


class Job:
    """A recording, with all that it tells."""

    started: ClassVar[list[Job]] = []

    def __init__(self, output: Path, model: str, on_output=None, **fields: Any) -> None:
        self.events: list[JobEvent] = []
        self.changed = threading.Condition()
        chosen: dict[str, Any] = {"measure": QUICK, "limit_s": LIMIT_S} | fields
        spec = model if ":" in model or "/" in model else f"{MODELS}:{model}"
        self.process = RecordingProcess(RecordRequest(spec, output, **chosen), self._note, on_output)

    def _note(self, event: JobEvent) -> None:
        with self.changed:
            self.events.append(event)
            self.changed.notify_all()

    def wait_for(self, matches) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: any(map(matches, self.events)), LIMIT_S)

    def of(self, kind: type) -> list:
        return [event for event in self.events if isinstance(event, kind)]

    def phases(self) -> list[str]:
        """The progress told so far, without the method that a pass was working on."""
        return [event.message.partition(" of ")[0] for event in self.of(JobProgress)]

    def start(self) -> None:
        self.started.append(self)
        self.process.start()

    def run(self) -> JobEnded:
        self.start()
        ended = self.process.wait()
        assert self.events[-1] == ended
        assert self.of(JobEnded) == [ended]
        return ended


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out" / "net.fztrace"


@pytest.fixture(autouse=True)
def places(tmp_path: Path, output: Path, monkeypatch: pytest.MonkeyPatch):
    """Gives each test a folder for temporary files, which must be empty at its end."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    output.parent.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    Job.started.clear()
    yield
    for job in Job.started:
        job.process.cancel()
        job.process.wait()
        shares = [event.done for event in job.of(JobProgress)]
        assert shares == sorted(shares), "the bar of a recording never goes back"
    assert list(temporary.iterdir()) == []
    assert [path for path in output.parent.iterdir() if path != output] == []
    assert workers(os.getpid()) == {}


def commands(parents: set[int]) -> dict[int, str]:
    """The processes whose parent is one of these, with their commands."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        # Processes come and go while one looks.
        with contextlib.suppress(OSError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent in parents:
                found[int(folder.name)] = (folder / "cmdline").read_text().replace("\0", " ")
    return found


def workers(caller: int) -> dict[int, str]:
    return {pid: command for pid, command in commands({caller}).items() if "freeze_engine.worker.child_main" in command}


def gone(pids) -> bool:
    deadline = time.monotonic() + LIMIT_S
    while left := [pid for pid in pids if Path(f"/proc/{pid}").exists()]:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return not left


@pytest.mark.cold_workers
def test_a_finished_recording_is_the_one_that_record_makes(output):
    job = Job(output, "plain", call="mine()", name="net")
    ended = job.run()
    trace = fe.load(output)
    assert ended == JobEnded("finished", output, f"recorded {len(trace.steps)} steps")
    fe.check_trace(trace)
    assert (trace.name, trace.call, trace.failure) == ("net", "mine()", None)
    assert all(step.numerics for step in trace.steps)
    told = [
        JobStep(
            each.index, each.stage, each.name, each.method, each.round, each.changed, sum(1 for _ in each.graph.walk())
        )
        for each in trace.steps
    ]
    changed_later = {step.index for step in trace.steps if "CleanupFrozenModule" in step.name}
    assert [step for step in job.of(JobStep) if step.index not in changed_later] == [
        step for step in told if step.index not in changed_later
    ]
    assert job.of(JobPreview) == [JobPreview(output)]
    messages = [event.message for event in job.of(JobProgress)]
    first = ["importing torch", "loading the model", "making the inputs", "scripting", "freezing"]
    assert messages[:5] == first
    assert "freezing: FoldFrozenConvBatchnorm of forward, round 1" in messages
    assert messages[-1] == "writing the trace"
    here = fe.record(f"{MODELS}:plain", measure=None).trace
    assert [(step.name, step.changed) for step in here.steps] == [(step.name, step.changed) for step in trace.steps]
    assert (here.options, here.call) == (trace.options, f"fe.record('{MODELS}:plain', inputs)")


def test_one_bar_for_the_whole_recording_names_each_phase(output):
    measure = fe.Measure(seconds=0.3, input_sets=2)
    job = Job(output, "plain", measure=measure, checks=("determinism",))
    assert job.run().outcome == "finished"
    told = job.of(JobProgress)
    request = job.process._request
    phases = list(dict.fromkeys(event.phase for event in told))
    assert tuple(phases) == planned(request)
    assert phases[:3] == ["Starting", "Scripting", "Freezing"]
    assert phases[-5:] == [
        "Measuring latency",
        "Comparing numbers",
        "Looking at the executor's graph",
        "Checking the frozen module",
        "Saving",
    ]
    assert {event.total for event in told} == {WHOLE}
    assert all(event.later == tuple(phases[phases.index(event.phase) + 1 :]) for event in told)
    assert len({event.done for event in told if event.phase == "Measuring latency"}) > 2  # it moves within a phase
    # The time left is given only within a phase whose work is counted, and never for the warm-up.
    assert all(event.left_s is None for event in told if not event.message.startswith(("latency: round", "numerics:")))


def test_a_request_to_read_never_loads_a_model(output):
    job = Job(output, "plain", reads_only=True)
    ended = job.run()
    assert ended.outcome == "failed"
    assert "has changed: it is no frozen file" in str(ended)


def test_preview_opens_while_measuring_continues(output):
    previews = []

    def look(event):
        if isinstance(event, JobPreview):
            previews.append(fe.load(event.path))

    process = RecordingProcess(RecordRequest(f"{MODELS}:plain", output, measure=QUICK), look)
    process.start()
    assert process.wait().outcome == "finished"
    trace = fe.load(output)
    bare = tuple(replace(step, numerics=()) for step in trace.steps)
    assert trace.memory is not None
    assert trace.runtime
    (preview,) = previews
    early = tuple(notice for notice in preview.notices if notice.code == "still_measured")
    assert len(early) == 1
    assert "still_measured" not in {notice.code for notice in trace.notices}
    notices = (*trace.notices, *early)
    assert preview == replace(trace, steps=bare, baselines=(), memory=None, runtime=(), notices=notices)


def test_inputs_options_and_measuring_are_as_asked(output):
    options = fe.TorchScriptOptions(preserved_attrs=("conv",), optimize_for_inference=True)
    fields = {"inputs": ("2x3x4x4",), "options": options, "measure": None, "via": "trace"}
    ended = Job(output, "plain", **fields).run()
    trace = fe.load(ended.trace)
    assert [(each.shape, each.dtype) for each in trace.inputs] == [((2, 3, 4, 4), "float32")]
    assert dict(trace.options) == {
        "optimize_for_inference": "True",
        "optimize_numerics": "True",
        "preserved_attrs": "['conv']",
    }
    assert trace.attribute("conv").reason == "requested"
    assert not any(step.numerics for step in trace.steps)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"model": "example:nope"}, "There is no example 'nope'"),
        ({"model": "missing"}, "has no 'missing'"),
        ({"model": "plain", "inputs": ("2by3",)}, "'2by3' is not a shape"),
        ({"model": "plain", "device": "cuda:99"}, "There is no device 'cuda:99'"),
        ({"model": "plain", "trusted": False}, "names code to import, which is not done from here"),
    ],
)
def test_a_wrong_request_fails_with_our_words_and_no_trace(fields, message, output):
    fields = dict(fields)
    ended = Job(output, fields.pop("model"), **fields).run()
    assert (ended.outcome, ended.trace, ended.log, ended.is_refusal) == ("failed", None, (), True)
    assert message in ended.message
    assert not output.exists()


def test_missing_folder_is_refused_before_recording(tmp_path):
    job = Job(tmp_path / "nowhere" / "net.fztrace", "plain")
    assert "there is no folder" in job.run().message
    assert job.of(JobProgress) == []


def test_a_model_that_changes_the_folder_does_not_take_the_trace_along(output, monkeypatch):
    monkeypatch.chdir(output.parent)
    ended = Job(Path(output.name), "elsewhere", measure=None).run()
    assert (ended.outcome, ended.trace) == ("finished", Path(output.name))
    assert fe.load(output).name == "elsewhere"


def test_an_exception_of_the_model_s_own_code(output):
    ended = Job(output, "raising").run()
    assert (ended.outcome, ended.trace) == ("failed", None)
    text = f"MODEL '{MODELS}:raising': its own code raised LookupError: no weights here"
    assert (ended.message, ended.error, ended.is_refusal) == (text, f"{text}\nsee the manual", True)
    assert ended.died_in == "loading the model"
    assert ended.log[0] == "Traceback (most recent call last):"
    assert ["in raising" in line for line in ended.log if line.startswith("  File")] == [True]
    assert ended.log[-2:] == ("LookupError: no weights here", "see the manual")
    assert "record_task.py" in ended.traceback


def test_exception_of_torch_is_shown_whole_without_own_frames(output):
    ended = Job(output, "unscriptable").run()
    assert (ended.outcome, ended.trace, ended.is_refusal) == ("failed", None, False)
    said = "'Tensor' object has no attribute or method 'forward'"
    assert re.fullmatch(rf"The model cannot be scripted: {said}, at line \d+ of worker_models\.py\.", ended.message)
    assert "<--- HERE" in ended.error
    files = [line for line in ended.log if line.startswith("  File")]
    assert files
    assert [line for line in files if "freeze_engine" in line] == []
    assert "freeze_engine" in ended.traceback


@pytest.mark.parametrize(
    ("model", "fields", "message", "failure"),
    [
        ("training", {}, "RuntimeError: Freezing", ("RuntimeError", "input", "torch.jit.freeze")),
        (
            "pass_error",
            {},
            "RuntimeError: the fold is broken",
            ("RuntimeError", "optimize_frozen_graph", "FoldFrozenConvAddOrSub"),
        ),
        (
            "measure_error",
            {"measure": fe.Measure()},
            "RuntimeError: the device is lost",
            ("RuntimeError", "measure", "preparing to run the steps"),
        ),
    ],
)
def test_an_exception_leaves_the_partial_trace(model, fields, message, failure, output):
    job = Job(output, model, **fields)
    ended = job.run()
    assert (ended.outcome, ended.trace) == ("failed", output)
    assert ended.message.startswith(message)
    trace = fe.load(output)
    assert [step.index for step in job.of(JobStep)] == [step.index for step in trace.steps]
    fe.check_trace(trace)
    assert (trace.failure.type, trace.failure.stage, trace.failure.name) == failure
    assert ended.died_in == failure[2]


SEGFAULT = "the process was ended by SIGSEGV (segmentation fault)"
FOLD = ("optimize_frozen_graph", "FoldFrozenConvAddOrSub", "forward")
PROPAGATION = ("freeze_module", "ConstantPropagation", "forward")
DEATHS = {
    "inside_segfault": ("crashed", "SIGSEGV", SEGFAULT, PROPAGATION, "PeepholeOptimize"),
    "inside_abort": (
        "crashed",
        "SIGABRT",
        "the process was ended by SIGABRT (aborted)",
        PROPAGATION,
        "PeepholeOptimize",
    ),
    "inside_kill": (
        "crashed",
        "SIGKILL",
        "the process was ended by SIGKILL (killed; the system does that where memory runs out)",
        PROPAGATION,
        "PeepholeOptimize",
    ),
    "inside_exit": (
        "crashed",
        "exit code 7",
        "the process ended by itself, with exit code 7",
        PROPAGATION,
        "PeepholeOptimize",
    ),
    "pass_segfault": ("crashed", "SIGSEGV", SEGFAULT, FOLD, "FoldFrozenConvBatchnorm"),
    "build_segfault": (
        "crashed",
        "SIGSEGV",
        SEGFAULT,
        ("build", "reading what was recorded", None),
        "FoldFrozenLinearBatchnorm",
    ),
}


@pytest.mark.parametrize("model", DEATHS)
def test_a_death_leaves_the_steps_until_then(model, output):
    outcome, kind, message, place, last = DEATHS[model]
    job = Job(output, model)
    ended = job.run()
    where = f"in {place[1]} of {place[2]}" if place[2] else f"while {place[1]}"
    assert (ended.outcome, ended.trace, ended.message, ended.died_in) == (
        outcome,
        output,
        f"{message}, {where}",
        place[1],
    )
    trace = fe.load(output)
    fe.check_trace(trace)
    assert trace.failure == Failure(kind, message, *place, len(trace.steps) - 1)
    assert trace.steps[-1].name == last
    assert [step.index for step in job.of(JobStep)] == list(range(len(trace.steps)))
    assert any("graph_executor: After PeepholeOptimize, before ConstantPropagation" in line for line in ended.log)
    (notice,) = (notice for notice in trace.notices if notice.code == "last_words")
    assert "before ConstantPropagation" in notice.message
    if kind == "SIGSEGV":
        assert any("Segmentation fault" in line for line in ended.log)


def test_a_dead_recording_that_cannot_be_read_says_why(output, monkeypatch):
    monkeypatch.setattr("freeze_engine.worker.recording_process._POST_MORTEM_S", 0.0)
    ended = Job(output, "inside_segfault").run()
    why = "in reading it, the process was not done after 0 s"
    assert (ended.outcome, ended.message) == ("crashed", f"{SEGFAULT}; what it left cannot be read ({why})")
    assert any("Segmentation fault" in line for line in ended.log)


@pytest.mark.parametrize("model", ["inside_segfault", "pass_segfault"])
def test_the_steps_of_a_dead_recording_are_those_of_a_whole_one(model, output, tmp_path):
    Job(output, model).run()
    partial = fe.load(output)
    sound = f"{MODELS}:plain" if model == "pass_segfault" else f"{MODELS}:inside_nothing"
    whole = fe.record(sound, measure=None).trace
    count = len(partial.steps)
    assert count > 5
    for mine, theirs in zip(partial.steps, whole.steps[:count], strict=True):
        assert (mine.stage, mine.name, mine.method, mine.round) == (
            theirs.stage,
            theirs.name,
            theirs.method,
            theirs.round,
        )
        assert mine.log == theirs.log
        assert [rewrite.kind for rewrite in mine.rewrites] == [rewrite.kind for rewrite in theirs.rewrites]
        assert shape_of(mine.graph) == shape_of(theirs.graph)
    assert (partial.options, partial.environment, partial.inputs) == (whole.options, whole.environment, whole.inputs)


def shape_of(graph: fe.GraphSnapshot) -> str:
    """A graph without its constants' contents, and without the numbers that torch gives to classes of one name."""
    found = [(node.id, node.op, node.inputs, node.outputs, node.module, node.source) for node in graph.walk()]
    return re.sub(r"___torch_mangle_\d+\.", "", repr(found))


def test_a_death_while_measuring_leaves_the_trace_before_it(output):
    ended = Job(output, "counting", via="trace").run()
    assert (ended.outcome, ended.trace) == ("crashed", output)
    trace = fe.load(output)
    fe.check_trace(trace)
    assert (trace.failure.type, trace.failure.stage, trace.failure.method) == ("SIGSEGV", "measure", None)
    assert ended.died_in == trace.failure.name
    assert trace.attribute("norm.weight").fate != "preserved"


@pytest.mark.parametrize(
    ("model", "told", "fields"),
    [
        ("dying_in_first_run", "running the model once", {}),
        ("dying_in_saving", "saving and loading", {}),
        ("dying_in_later_run", "measuring numerics: ", {"measure": fe.Measure(latency=False, memory=False)}),
        ("dying_in_later_run", "measuring latency: ", {"measure": fe.Measure(numerics=False, memory=False)}),
        ("dying_in_check", "measuring check: stale_weights", {"measure": None, "checks": ("stale_weights",)}),
    ],
)
def test_a_death_after_the_freeze_names_what_ran(model, told, fields, output):
    ended = Job(output, model, **fields).run()
    assert (ended.outcome, ended.trace) == ("crashed", output)
    assert ended.message.startswith(f"{SEGFAULT}, while {told}")
    assert ended.message == f"{SEGFAULT}, while {told.partition(ended.died_in[:4])[0]}{ended.died_in}"
    trace = fe.load(output)
    assert (trace.failure.type, trace.failure.stage, trace.failure.name) == ("SIGSEGV", "measure", ended.died_in)
    assert trace.steps


def test_a_death_before_the_freeze_leaves_no_trace(output):
    ended = Job(output, "dying_at_once").run()
    assert (ended.outcome, ended.trace, ended.died_in) == ("crashed", None, "loading the model")
    assert ended.message == f"{SEGFAULT}, while loading the model"


def test_death_while_tracing_keeps_the_request(output):
    job = Job(output, "fatal", via="trace", call="mine()")
    ended = job.run()
    assert (ended.outcome, ended.trace, ended.died_in) == ("crashed", output, "tracing")
    assert ended.message == f"{SEGFAULT}, while tracing"
    trace = fe.load(output)
    fe.check_trace(trace)
    assert (trace.name, trace.call, trace.steps, len(trace.inputs)) == ("fatal", "mine()", (), 1)
    assert trace.failure == Failure("SIGSEGV", SEGFAULT, "build", "tracing", None, None)
    assert job.of(JobStep) == []


@pytest.mark.parametrize(("model", "place"), [("inside_hang", PROPAGATION), ("pass_hang", FOLD)])
def test_a_hang_ends_at_the_limit(model, place, output, monkeypatch):
    hangs = threading.Event()
    job = Job(output, model, on_output=lambda stream, data: hangs.set())
    limit_reached_once(lambda: hangs.is_set() and f"freezing: {place[1]}" in job.phases(), monkeypatch)
    ended = job.run()
    assert (ended.outcome, ended.trace, ended.died_in) == ("timed_out", output, place[1])
    assert ended.message == f"not done after 900 s, the limit, in {place[1]} of forward"
    assert fe.load(output).failure == Failure(  # type: ignore[call-arg]
        "time limit", "not done after 900 s, the limit", *place, len(job.of(JobStep)) - 1
    )
    assert f"freezing: {place[1]}" in job.phases()
    assert any("worker_models.py" in line for line in ended.log)


MEMORY = 1 << 30


@pytest.mark.parametrize(
    ("model", "place"), [("inside_growth", PROPAGATION), ("outside_growth", ("build", "loading the model", None))]
)
def test_recording_over_its_memory_limit_ends_with_its_steps(model, place, output):
    job = Job(output, model, memory_bytes=MEMORY)
    ended = job.run()
    kept = None if place[2] is None else output
    assert (ended.outcome, ended.trace, ended.died_in) == ("over_limit", kept, place[1])
    where = f"in {place[1]} of {place[2]}" if place[2] else f"while {place[1]}"
    taken = re.fullmatch(rf"(it took [\d.]+ GiB of memory, more than its limit of 1 GiB), {where}", ended.message)
    assert taken, ended.message
    assert any("worker_models.py" in line for line in ended.log)
    if kept:
        assert fe.load(output).failure == Failure("memory limit", taken[1], *place, len(job.of(JobStep)) - 1)  # type: ignore[call-arg]


@pytest.mark.parametrize("backend", ["torchscript", "inductor"])
def test_an_allocation_far_past_the_limit_is_refused_before_the_machine_swaps(backend, output):
    ended = Job(output, "too_large", memory_bytes=MEMORY, backend=backend).run()
    assert (ended.outcome, ended.trace, ended.died_in) == ("over_limit", None, "loading the model")
    said = "it needed more memory than its limit of 1 GiB leaves, and torch or the model raised MODEL"
    assert ended.message.startswith(said)
    assert "can't allocate memory" in (ended.error or "")


CANCELLED = "it was cancelled, and its process ended"


def keeps(event: JobEvent) -> bool:
    return isinstance(event, JobProgress) and event.phase == KEEPING


def in_the_fold(event: JobEvent) -> bool:
    return isinstance(event, JobProgress) and "FoldFrozenConvAddOrSub" in event.message


@pytest.mark.cold_workers
def test_cancelling_ends_everything_at_once_and_keeps_the_steps(output):
    job = Job(output, "pass_hang")
    job.start()
    job.wait_for(in_the_fold)
    pids = workers(os.getpid())
    clocks = commands(set(pids))
    assert len(pids) == 1
    # The clock of torch's log, and the guard, a fork of the worker.
    assert sorted("worker.child" in command for command in clocks.values()) == [False, True]
    job.process.cancel()
    ended = job.process.wait(LIMIT_S)
    assert gone([*pids, *clocks])
    assert (ended.outcome, ended.trace, ended.died_in) == ("cancelled", output, FOLD[1])
    assert (ended.message, ended.error) == (f"cancelled in {FOLD[1]} of forward", None)
    trace = fe.load(output)
    fe.check_trace(trace)
    assert trace.failure == Failure("cancelled", CANCELLED, *FOLD, len(trace.steps) - 1)
    assert trace.steps[-1].name == "FoldFrozenConvBatchnorm"
    assert [step.index for step in job.of(JobStep)] == list(range(len(trace.steps)))
    job.process.cancel()
    assert job.process.wait() == ended


def test_cancelling_again_ends_the_keeping_too(output):
    job = Job(output, "pass_hang")
    note = job.process._on_event

    def cancel_again(event):
        if keeps(event):
            job.process.cancel()
        note(event)

    job.process._on_event = cancel_again
    job.start()
    job.wait_for(in_the_fold)
    job.process.cancel()
    ended = job.process.wait(LIMIT_S)
    assert (ended.outcome, ended.trace) == ("cancelled", None)
    assert ended.message == f"cancelled in {FOLD[1]} of forward"
    assert not output.exists()
    assert any(map(keeps, job.events))


def test_an_interrupt_after_a_crash_leaves_its_steps(output):
    job = Job(output, "pass_segfault")
    note = job.process._on_event

    def interrupt(event):
        if keeps(event) or isinstance(event, JobStep):
            job.process.interrupt()
        note(event)

    job.process._on_event = interrupt
    assert job.run().outcome == "crashed"
    assert fe.load(output).failure.type == "SIGSEGV"


def test_cancelling_while_measuring_keeps_the_preview(output):
    job = Job(output, "plain", measure=fe.Measure(seconds=1000))
    job.start()
    job.wait_for(lambda event: isinstance(event, JobPreview))
    job.wait_for(lambda event: isinstance(event, JobProgress) and "latency" in event.message)
    job.process.cancel()
    ended = job.process.wait(LIMIT_S)
    assert (ended.outcome, ended.trace) == ("cancelled", output)
    assert ended.message == f"cancelled while {'measuring ' if ': ' in ended.died_in else ''}{ended.died_in}"
    trace = fe.load(output)
    fe.check_trace(trace)
    assert trace.failure == Failure("cancelled", CANCELLED, "measure", ended.died_in, None, len(trace.steps) - 1)
    assert trace.attribute("norm.weight").fate != "preserved"


def test_an_interrupt_keeps_what_was_recorded(output):
    job = Job(output, "plain", measure=fe.Measure(seconds=1000))
    job.start()
    job.wait_for(lambda event: isinstance(event, JobProgress) and "latency" in event.message)
    job.process.interrupt()
    ended = job.process.wait(LIMIT_S)
    assert (ended.outcome, ended.trace, ended.error) == ("cancelled", output, None)
    assert ended.message == f"cancelled while measuring {ended.died_in}"
    trace = fe.load(output)
    last = trace.steps[-1].index
    assert trace.failure == Failure("KeyboardInterrupt", "", "measure", ended.died_in, None, last)


@pytest.mark.cold_workers
def test_an_interrupt_before_there_is_anything(output):
    asleep = threading.Event()
    job = Job(output, "slow", on_output=lambda stream, data: asleep.set())
    job.start()
    # While it imports, Python may drop an interrupt: one that comes in a callback of importlib's locks is only printed.
    assert asleep.wait(LIMIT_S)
    job.process.interrupt()
    ended = job.process.wait(LIMIT_S)
    assert (ended.outcome, ended.trace, ended.message) == ("cancelled", None, "cancelled while loading the model")
    assert not output.exists()


@pytest.mark.parametrize("model", ["swallows_interrupts", "renames_interrupts"])
def test_an_interrupt_that_the_model_catches_ends_it_too(model, output):
    asleep = threading.Event()
    job = Job(output, model, on_output=lambda stream, data: asleep.set())
    job.start()
    assert asleep.wait(LIMIT_S)
    job.process.interrupt()
    ended = job.process.wait(LIMIT_S)
    assert (ended.outcome, ended.trace, ended.error) == ("cancelled", None, None)
    assert ended.message.startswith("cancelled while ")


def test_cancelling_kills_a_recording_that_torch_does_not_interrupt(output):
    job = Job(output, "deaf_hang")
    job.start()
    job.wait_for(lambda event: isinstance(event, JobProgress) and "FoldFrozenConvAddOrSub" in event.message)
    job.process.interrupt()
    assert job.process.wait(1) is None
    job.process.cancel()
    ended = job.process.wait(LIMIT_S)
    assert (ended.outcome, ended.message) == ("cancelled", f"cancelled in {FOLD[1]} of forward")
    assert fe.load(ended.trace).failure.type == "cancelled"


def test_output_of_the_model_is_passed_on(output):
    told = {"stdout": b"", "stderr": b""}

    def note(stream, data):
        told[stream] += data

    request = RecordRequest(f"{MODELS}:chatty", output, measure=None)
    process = RecordingProcess(request, lambda event: None, note)
    process.start()
    assert process.wait().outcome == "finished"
    assert told == {"stdout": b"to standard output\n", "stderr": b"to standard error\n" * 10_000}


def test_output_right_before_a_crash_is_kept(output):
    ended = Job(output, "printing_and_dying").run()
    assert ended.log[0] == "the last thing I see"


def test_last_output_is_read_however_late_the_end_is_noticed(output, monkeypatch):
    """On a busy machine the process may have ended long before its pipes are read."""
    drain, clock = WorkerProcess._drain, itertools.count(0, 10)
    monkeypatch.setattr(
        WorkerProcess, "_drain", lambda self, *pipe: b"" if self.exit_code is None else drain(self, *pipe)
    )
    late = SimpleNamespace(monotonic=lambda: float(next(clock)), sleep=time.sleep)
    monkeypatch.setattr("freeze_engine.worker.child_process.time", late)
    job = Job(output, "printing_and_dying", limit_s=None)
    assert job.run().log[0] == "the last thing I see"
    assert job.phases()[:2] == ["importing torch", "loading the model"]


@pytest.mark.cold_workers
def test_cancelling_at_once(output):
    job = Job(output, "slow")
    job.start()
    job.process.cancel()
    ended = job.process.wait(LIMIT_S)
    assert (ended.outcome, ended.trace) == ("cancelled", None)
    assert not any(map(keeps, job.events))
    assert not output.exists()


def test_exception_of_the_listener_ends_the_recording(output, monkeypatch):
    raised: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", raised.append)

    def fail(event):
        raise KeyError("not mine")

    process = RecordingProcess(RecordRequest(f"{MODELS}:slow", output), fail)
    process.start()
    assert process.wait(LIMIT_S).outcome == "failed"
    assert [each.exc_type for each in raised] == [KeyError]


def test_recording_on_a_full_disk_continues_without_a_journal(output, tmp_path):
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / REQUEST).write_text(request_text(RecordRequest(f"{MODELS}:plain", output, measure=None)))
    (folder / "journal.jsonl").symlink_to("/dev/full")
    events: list[Any] = []
    record_task.run(folder, events.append)
    assert read_event(events[-1]).outcome == "finished"
    trace = fe.load(output)
    (told,) = (notice.message for notice in trace.notices if notice.code == "no_journal")
    assert "No space left on device" in told
    whole = fe.record(f"{MODELS}:plain", measure=None).trace
    assert [step.name for step in trace.steps] == [step.name for step in whole.steps]


@pytest.mark.parametrize("kind", [JobPreview, JobProgress])
def test_an_interrupt_between_the_freeze_and_the_rest_is_in_the_trace(kind, output, tmp_path):
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / REQUEST).write_text(request_text(RecordRequest(f"{MODELS}:plain", output, measure=QUICK)))
    events = []

    def send(line):
        events.append(read_event(line))
        is_last = kind is JobPreview or getattr(events[-1], "message", "") == "writing the trace"
        if isinstance(events[-1], kind) and is_last:
            raise KeyboardInterrupt

    record_task.run(folder, send)
    assert (events[-1].outcome, events[-1].trace) == ("cancelled", output)
    trace = fe.load(output)
    fe.check_trace(trace)
    assert (trace.failure.type, trace.failure.stage) == ("KeyboardInterrupt", "measure")


def test_the_caller_s_streams_are_left_alone(output, capfd):
    ended = Job(output, "chatty").run()
    assert ended.outcome == "finished"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("model", ["slow", "pass_hang"])
def test_the_process_ends_with_its_caller(model, output, tmp_path):
    code = (
        "import sys, time\n"
        "from freeze_engine.worker import RecordRequest, RecordingProcess\n"
        "from pathlib import Path\n"
        f"request = RecordRequest('{MODELS}:{model}', Path({str(output)!r}))\n"
        "RecordingProcess(request, lambda event: print(event, flush=True)).start(); time.sleep(1000)"
    )
    environment = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": str(Path.cwd())}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment) as caller:
        try:
            last = "loading the model" if model == "slow" else "FoldFrozenConvAddOrSub"
            assert any(last in line for line in caller.stdout)
            pids = workers(caller.pid)
            pids |= commands(set(pids))
        finally:
            caller.kill()
    assert len(pids) == (2 if model == "slow" else 3)
    assert gone(pids)


@pytest.mark.cold_workers
def test_many_recordings_leave_nothing_behind(output):
    def held() -> tuple[int, int]:
        return len(list(Path("/proc/self/fd").iterdir())), threading.active_count()

    before = held()
    for number in range(6):
        job = Job(output, "example:nope" if number % 2 else "slow")
        job.start()
        if not number % 2:
            job.process.cancel()
        job.process.wait()
    assert held() == before


def test_the_death_of_one_is_nothing_to_another(output, tmp_path):
    jobs = [Job(output, "plain"), Job(tmp_path / "other.fztrace", "pass_segfault")]
    for job in jobs:
        job.start()
    assert [job.process.wait().outcome for job in jobs] == ["finished", "crashed"]
    assert [fe.load(job.events[-1].trace).failure is None for job in jobs] == [True, False]


def test_waiting_needs_a_start(output):
    with pytest.raises(fe.FreezerError, match="call start"):
        Job(output, "plain").process.wait()


@pytest.mark.usefixtures("output")
def test_nothing_of_torch_is_imported_by_the_caller(tmp_path):
    code = (
        "import sys\n"
        "from freeze_engine.worker import RecordRequest, RecordingProcess\n"
        "from pathlib import Path\n"
        f"request = RecordRequest('{MODELS}:inside_segfault', Path({str(tmp_path)!r}) / 'a')\n"
        "job = RecordingProcess(request, print)\n"
        "job.start(); print(job.wait().outcome); print('torch' in sys.modules)"
    )
    environment = os.environ | {"PYTHONPATH": str(Path.cwd())}
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert told.stdout.splitlines()[-2:] == ["crashed", "False"]
    assert told.stderr == ""
