"""The list of recordings, and how sessions are told of it, with processes that only do what the test says."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import freeze_engine as fe
from freeze_engine.worker import JobEnded, JobEvent, JobPreview, JobProgress, JobStep, RecordRequest
from freeze_engine.worker.phases import phase_of
from tests.builders import small_trace
from tests.in_process import InProcess
from tests.loops import run
from viewer.dashboard.jobs import MAX_ENDED, MAX_WAITING, Jobs
from viewer.dashboard.library import Library
from viewer.dashboard.record_request import form_values
from viewer.dashboard.server_info import Site
from viewer.dashboard.server_state import PUSH_EVERY_S, TOLD_PER_S, State

STEP = JobStep(0, "input", "input", "forward", None, True, 7)
PROGRESS = JobProgress("latency: round 3 of 9", 300, 1000, 4.5, "Measuring latency", ("Comparing numbers", "Saving"))
KEEPING = JobProgress("keeping what was recorded", 0, 0, None)


@dataclass
class FakeProcess:
    """A recording whose events come from the test."""

    request: RecordRequest
    tell: Callable[[JobEvent], None]
    started: bool = False
    interrupted: bool = False
    cancels: int = 0
    hangs: bool = False

    def start(self) -> None:
        self.started = True

    def interrupt(self) -> None:
        self.interrupted = True
        if not self.hangs:
            self.tell(JobEnded("cancelled", self.request.output, "cancelled"))

    def cancel(self) -> None:
        was_over = self.cancels > 0 or (self.interrupted and not self.hangs)
        self.cancels += 1
        if not was_over and not self.hangs:
            self.tell(JobEnded("cancelled", None, "cancelled"))


@dataclass
class FakeTimer:
    """Time that passes when the test says so."""

    interval_s: float
    call: Callable[[], None]
    daemon: bool = False
    is_cancelled: bool = False

    def start(self) -> None:
        assert self.daemon

    def cancel(self) -> None:
        self.is_cancelled = True


@dataclass
class Launcher:
    processes: list[FakeProcess] = field(default_factory=list)

    def __call__(self, request: RecordRequest, tell: Callable[[JobEvent], None]) -> FakeProcess:
        self.processes.append(FakeProcess(request, tell))
        return self.processes[-1]


@dataclass(eq=False)
class FakeSession:
    shown: list[tuple[str, Any]] = field(default_factory=list)

    def show(self, name: str, value: Any) -> None:
        self.shown.append((name, value))


@pytest.fixture
def launcher() -> Launcher:
    return Launcher()


@pytest.fixture
def jobs(launcher: Launcher) -> Jobs:
    """A list in which two recordings may run at the same time."""
    return Jobs(lambda call: call(), launch=launcher, at_once=2)


@dataclass
class FakeClock:
    now_s: float = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def line(launcher: Launcher, clock: FakeClock) -> Jobs:
    """A list in which one recording runs at a time, as by default."""
    return Jobs(lambda call: call(), launch=launcher, clock=clock)


def _states(jobs: Jobs) -> dict[str, str]:
    return {row["id"]: row["state"] for row in jobs.rows()}


def _finish(process: FakeProcess, outcome: Any = "finished") -> None:
    process.tell(JobEnded(outcome, None, outcome))


def _request(tmp_path: Path) -> RecordRequest:
    return RecordRequest("/models/net.pt", tmp_path / "net.fztrace")


def _row(**changes: Any) -> dict[str, Any]:
    row = {
        "model": "/models/net.pt",
        "name": "net",
        "backend": "torchscript",
        "state": "running",
        "message": "Starting",
        "place": None,
        "starts_s": None,
        "done": 0,
        "total": 0,
        "phase": "",
        "detail": "",
        "later": [],
        "cancelling": False,
        "stage": None,
        "left_s": None,
        "whole_s": None,
        "steps": [],
        "trace": None,
        "preview": None,
        "error": None,
        "unmeasured": None,
        "conversion": None,
        "died_in": None,
        "log": [],
        "request": form_values(RecordRequest("/models/net.pt", Path("net.fztrace"))),
    }
    return row | changes


def _seen(jobs: Jobs) -> list[dict[str, Any]]:
    """The rows without what is new each time."""
    new = ("id", "elapsed_s", "waited_s")
    return [{name: value for name, value in row.items() if name not in new} for row in jobs.rows()]


def test_compile_shows_its_stage(jobs: Jobs, launcher: Launcher, tmp_path: Path) -> None:
    jobs.record(replace(_request(tmp_path), backend="inductor", options=fe.InductorOptions()))
    [process] = launcher.processes
    stages = []
    for message in (
        "importing torch",
        "compiling",
        "compiling: layout",
        "latency: layout or so",
        "compiling: no stage",
    ):
        process.tell(JobProgress(message, 1, 5, None))
        stages.append(jobs.rows()[0]["stage"])
    assert stages == [None, None, "layout", None, None]


def test_running_recording_is_reported(jobs: Jobs, launcher: Launcher, tmp_path: Path) -> None:
    jobs.record(_request(tmp_path))
    [process] = launcher.processes
    assert process.started
    assert _seen(jobs) == [_row()]
    process.tell(STEP)
    process.tell(PROGRESS)
    process.tell(JobPreview(tmp_path / "net.fztrace"))
    step = {
        "index": 0,
        "stage": "input",
        "name": "input",
        "method": "forward",
        "round": None,
        "changed": True,
        "nodes": 7,
    }
    going = {"steps": [step], "preview": str(tmp_path / "net.fztrace"), "done": 300, "total": 1000}
    phase = {"phase": "Measuring latency", "detail": "round 3 of 9", "later": ["Comparing numbers", "Saving"]}
    assert _seen(jobs) == [_row(**going, **phase, message="latency: round 3 of 9", left_s=4.5)]
    process.tell(JobEnded("finished", tmp_path / "net.fztrace", "done"))
    assert _seen(jobs) == [_row(**going, message="done", state="finished", trace=str(tmp_path / "net.fztrace"))]
    assert not jobs.running


def test_a_crash_keeps_what_is_known(jobs: Jobs, launcher: Launcher, tmp_path: Path) -> None:
    jobs.record(_request(tmp_path))
    launcher.processes[0].tell(JobEnded("crashed", None, "segmentation fault", "FoldConvBatchnorm", ("last line",)))
    crashed = {"state": "crashed", "message": "segmentation fault", "error": "segmentation fault"}
    assert _seen(jobs) == [_row(**crashed, died_in="FoldConvBatchnorm", log=["last line"])]


def test_failure_contains_the_whole_message_of_torch(jobs: Jobs, launcher: Launcher, tmp_path: Path) -> None:
    jobs.record(_request(tmp_path))
    text = "RuntimeError: not here:\n  x = y\n  <--- HERE"
    launcher.processes[0].tell(JobEnded("failed", None, "RuntimeError: not here: x = y", "Inline", error=text))
    failed = {"state": "failed", "message": "RuntimeError: not here: x = y", "error": text}
    assert _seen(jobs) == [_row(**failed, died_in="Inline")]


def test_unscriptable_model_is_not_reported_as_failed_freeze(jobs: Jobs, launcher: Launcher, tmp_path: Path) -> None:
    jobs.record(_request(tmp_path))
    said = "The model cannot be scripted: no lambda, at line 3 of net.py."
    launcher.processes[0].tell(JobEnded("failed", None, said, "scripting", error="long", conversion="scripted"))
    failed = {"state": "failed", "message": said, "error": "long", "conversion": "scripted"}
    assert _seen(jobs) == [_row(**failed, died_in="scripting")]


def test_newest_request_comes_first_and_the_others_continue(jobs: Jobs, launcher: Launcher, tmp_path: Path) -> None:
    first, second = jobs.record(_request(tmp_path)), jobs.record(_request(tmp_path), "given")
    assert second == "given"
    assert [row["id"] for row in jobs.rows()] == [second, first]
    jobs.cancel(first)
    jobs.cancel(first)
    assert [row["state"] for row in jobs.rows()] == ["running", "cancelled"]
    assert jobs.running


def test_cancelling_asks_first_and_leaves_what_was_recorded(jobs: Jobs, tmp_path: Path) -> None:
    jobs.cancel(jobs.record(_request(tmp_path)))
    assert _seen(jobs) == [_row(state="cancelled", message="cancelled", trace=str(tmp_path / "net.fztrace"))]


def test_cancelling_again_waits_no_longer(jobs: Jobs, launcher: Launcher, tmp_path: Path) -> None:
    job = jobs.record(_request(tmp_path))
    process = launcher.processes[0]
    process.hangs = True
    process.tell(PROGRESS)
    jobs.cancel(job)
    assert (process.interrupted, process.cancels) == (True, 0)
    assert "Cancel again to end it now" in jobs.rows()[0]["message"]
    jobs.cancel(job)
    assert process.cancels == 1
    process.tell(KEEPING)
    assert jobs.rows()[0]["message"] == KEEPING.message
    jobs.cancel(job)
    assert process.cancels == 2
    process.tell(JobEnded("cancelled", None, "cancelled in Inline of forward"))
    jobs.cancel(job)
    assert (process.cancels, jobs.rows()[0]["message"]) == (2, "cancelled in Inline of forward")


def test_unresponsive_process_is_killed(
    jobs: Jobs, launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viewer.dashboard.jobs.PATIENCE_S", 0.0)
    job = jobs.record(_request(tmp_path))
    ended = threading.Event()
    launcher.processes[0].hangs = True
    monkeypatch.setattr(launcher.processes[0], "cancel", ended.set)
    jobs.cancel(job)
    assert ended.wait(300)


def test_patience_ends_with_what_it_is_for(
    jobs: Jobs, launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    timers: list[FakeTimer] = []

    def made(*args: Any) -> FakeTimer:
        timers.append(FakeTimer(*args))
        return timers[-1]

    monkeypatch.setattr("viewer.dashboard.jobs.threading.Timer", made)
    heeds, hangs = (jobs.record(_request(tmp_path)) for _ in range(2))
    launcher.processes[1].hangs = True
    jobs.cancel(heeds)
    jobs.cancel(hangs)
    jobs.cancel(hangs)
    assert [timer.is_cancelled for timer in timers] == [True, True]
    for timer in timers:
        timer.call()  # as one that was about to: it is no second cancel
    assert [process.cancels for process in launcher.processes] == [0, 1]


def test_only_what_has_ended_is_dismissed(jobs: Jobs, tmp_path: Path) -> None:
    job = jobs.record(_request(tmp_path))
    with pytest.raises(fe.FreezerError, match=r"still runs\. Cancel it first"):
        jobs.dismiss(job)
    jobs.cancel(job)
    jobs.dismiss(job)
    assert jobs.rows() == []
    with pytest.raises(fe.FreezerError, match="no recording"):
        jobs.cancel(job)


def test_a_recording_that_cannot_start_is_not_in_the_list(tmp_path: Path) -> None:
    def refuse(request: RecordRequest, tell: Callable[[JobEvent], None]) -> Any:
        raise OSError("no more processes")

    jobs = Jobs(lambda call: call(), launch=refuse)
    with pytest.raises(OSError, match="no more processes"):
        jobs.record(_request(tmp_path))
    assert jobs.rows() == []


def test_the_list_is_bounded_and_never_forgets_what_runs(jobs: Jobs, launcher: Launcher, tmp_path: Path) -> None:
    runs = jobs.record(_request(tmp_path))
    for _ in range(MAX_ENDED + 3):
        jobs.cancel(jobs.record(_request(tmp_path)))
    assert len(jobs.rows()) == MAX_ENDED + 1
    assert jobs.rows()[-1]["id"] == runs


def test_closing_cancels_and_does_not_wait_for_ever(jobs: Jobs, launcher: Launcher, tmp_path: Path) -> None:
    for _ in range(2):
        jobs.record(_request(tmp_path))
    launcher.processes[1].hangs = True
    run(jobs.close(timeout_s=0.05))
    assert [process.cancels for process in launcher.processes] == [1, 2]
    assert [row["state"] for row in jobs.rows()] == ["running", "cancelled"]


def test_sessions_are_notified_at_once_then_at_intervals(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "viewer.dashboard.server_state.TICK_S", 1e6
    )  # the elapsed time is told as well where this takes long

    async def scenario() -> tuple[list[int], list[int]]:
        state = State(Site(1), Library(tmp_path / "recent.json"), lambda call: call(), launcher, InProcess())
        stays, leaves = FakeSession(), FakeSession()
        state.join(stays)
        state.join(leaves)
        state.jobs.record(_request(tmp_path))
        await asyncio.sleep(0.05)
        state.leave(leaves)
        for _ in range(100):
            launcher.processes[0].tell(STEP)
        await asyncio.sleep(PUSH_EVERY_S * 1.5)
        await state.close()
        first, second = ([len(value[0]["steps"]) for _, value in session.shown] for session in (stays, leaves))
        return first, second

    stays, leaves = run(scenario())
    assert stays == [0, 100]
    assert leaves == [0]


def test_many_sessions_are_notified_less_often(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viewer.dashboard.server_state.TICK_S", 1e6)

    async def scenario() -> list[float]:
        state = State(Site(1), Library(tmp_path / "recent.json"), lambda call: call(), launcher, InProcess())
        state.jobs.record(_request(tmp_path))
        await asyncio.sleep(0)
        waits = []
        for count in (1, 1, 50):
            for _ in range(count):
                state.join(FakeSession())
            state._push_jobs()
            launcher.processes[0].tell(STEP)
            assert state._push is not None
            waits.append(state._push.when() - state._pushed_s)
        await state.close()
        return waits

    assert run(scenario()) == pytest.approx([PUSH_EVERY_S, PUSH_EVERY_S, 52 / TOLD_PER_S])


def test_a_finished_recording_becomes_a_recent_trace(launcher: Launcher, tmp_path: Path) -> None:
    request = _request(tmp_path)
    fe.save(small_trace(), request.output)

    async def scenario() -> FakeSession:
        state = State(Site(1), Library(tmp_path / "recent.json"), lambda call: call(), launcher, InProcess())
        session = FakeSession()
        state.join(session)
        state.jobs.record(request)
        launcher.processes[0].tell(JobEnded("finished", request.output, "done"))
        await state.close()
        return session

    [(_, library)] = [shown for shown in run(scenario()).shown if shown[0] == "library"]
    assert [entry["path"] for entry in library["recent"]] == [str(request.output)]


def test_a_recording_without_a_trace_leaves_no_file(launcher: Launcher, tmp_path: Path) -> None:
    request = _request(tmp_path)
    request.output.touch()

    async def scenario() -> None:
        state = State(Site(1), Library(tmp_path / "recent.json"), lambda call: call(), launcher, InProcess())
        state.jobs.record(request)
        launcher.processes[0].tell(JobEnded("crashed", None, "died of SIGSEGV"))
        await state.close()

    run(scenario())
    assert not request.output.exists()


# --- the line


def test_one_runs_at_a_time_and_the_others_follow_in_their_order(
    line: Jobs, launcher: Launcher, clock: FakeClock, tmp_path: Path
) -> None:
    for id_ in "abc":
        line.record(_request(tmp_path), id_)
    assert _states(line) == {"a": "running", "b": "waiting", "c": "waiting"}
    assert len(launcher.processes) == 1
    clock.now_s = 5.0
    _finish(launcher.processes[0])
    clock.now_s = 7.0
    line.record(_request(tmp_path), "d")  # comes later than c, which still waits
    assert _states(line) == {"a": "finished", "b": "running", "c": "waiting", "d": "waiting"}
    _finish(launcher.processes[1])
    assert _states(line) == {"a": "finished", "b": "finished", "c": "running", "d": "waiting"}
    clock.now_s = 9.0
    times = {row["id"]: (row["waited_s"], row["elapsed_s"]) for row in line.rows()}
    assert times == {"a": (0.0, 5.0), "b": (5.0, 2.0), "c": (7.0, 2.0), "d": (2.0, 0.0)}
    _finish(launcher.processes[2])
    _finish(launcher.processes[3])
    assert set(_states(line).values()) == {"finished"}
    assert not line.running


def test_a_waiting_row_has_its_place_and_the_least_time_until_it_starts(
    line: Jobs, launcher: Launcher, clock: FakeClock, tmp_path: Path
) -> None:
    for _ in range(3):
        line.record(_request(tmp_path))
    clock.now_s = 2.0
    waiting = {"state": "waiting", "message": "waiting"}
    assert _seen(line) == [_row(**waiting, place=2), _row(**waiting, place=1), _row()]
    launcher.processes[0].tell(PROGRESS)
    third, second, _ = line.rows()
    assert (second["place"], second["starts_s"], second["waited_s"], second["elapsed_s"]) == (1, 4.5, 2.0, 0.0)
    assert (third["place"], third["starts_s"]) == (2, 4.5)
    launcher.processes[0].tell(JobProgress("checking", 0, 0, None))
    assert [row["starts_s"] for row in line.rows()] == [None, None, None]
    _finish(launcher.processes[0])
    assert [row["place"] for row in line.rows()] == [1, None, None]


def test_wait_is_unknown_if_a_running_job_has_no_estimate(jobs: Jobs, launcher: Launcher, tmp_path: Path) -> None:
    for _ in range(3):
        jobs.record(_request(tmp_path))
    launcher.processes[0].tell(PROGRESS)
    assert jobs.rows()[0]["starts_s"] is None
    launcher.processes[1].tell(JobProgress("measuring latency", 8, 9, 1.5))
    assert jobs.rows()[0]["starts_s"] == 1.5


@pytest.mark.parametrize("outcome", ["failed", "crashed", "cancelled", "timed_out"])
def test_whatever_the_end_the_next_starts(line: Jobs, launcher: Launcher, tmp_path: Path, outcome: str) -> None:
    for id_ in "ab":
        line.record(_request(tmp_path), id_)
    _finish(launcher.processes[0], outcome)
    assert _states(line) == {"a": outcome, "b": "running"}
    assert launcher.processes[1].started


def test_as_many_run_as_may(jobs: Jobs, launcher: Launcher, tmp_path: Path) -> None:
    for id_ in "abcd":
        jobs.record(_request(tmp_path), id_)
    assert list(_states(jobs).values()) == ["waiting", "waiting", "running", "running"]
    _finish(launcher.processes[1])
    assert _states(jobs) == {"a": "running", "b": "finished", "c": "running", "d": "waiting"}


def test_one_that_waits_is_cancelled_at_once_and_dismissed(line: Jobs, launcher: Launcher, tmp_path: Path) -> None:
    for id_ in "abc":
        line.record(_request(tmp_path), id_)
    with pytest.raises(fe.FreezerError, match=r"b still waits\. Cancel it first"):
        line.dismiss("b")
    line.cancel("b")
    assert _states(line) == {"a": "running", "b": "cancelled", "c": "waiting"}
    assert [row["place"] for row in line.rows()] == [1, None, None]
    cancelled = line.rows()[1]
    assert (cancelled["message"], cancelled["trace"]) == ("cancelled before it started", None)
    line.cancel("b")  # has ended: nothing more happens
    line.dismiss("b")
    _finish(launcher.processes[0])
    assert _states(line) == {"a": "finished", "c": "running"}
    assert len(launcher.processes) == 2


def test_one_that_cannot_start_lets_the_next(tmp_path: Path) -> None:
    processes: list[FakeProcess] = []

    def launch(request: RecordRequest, tell: Callable[[JobEvent], None]) -> FakeProcess:
        if len(processes) == 1 and not processes[0].cancels:
            processes[0].cancels = 1
            raise OSError("no more processes")
        processes.append(FakeProcess(request, tell))
        return processes[-1]

    line = Jobs(lambda call: call(), launch=launch)
    for id_ in "abc":
        line.record(_request(tmp_path), id_)
    _finish(processes[0])
    assert _states(line) == {"a": "finished", "b": "failed", "c": "running"}
    assert line.rows()[1]["error"] == "the recording cannot start: no more processes"


def test_the_line_is_bounded(line: Jobs, tmp_path: Path) -> None:
    for _ in range(MAX_WAITING + 1):
        line.record(_request(tmp_path))
    with pytest.raises(fe.FreezerError, match=f"{MAX_WAITING} recordings wait already"):
        line.record(_request(tmp_path))
    assert len(line.rows()) == MAX_WAITING + 1


def test_closing_ends_those_that_wait_and_starts_none(line: Jobs, launcher: Launcher, tmp_path: Path) -> None:
    for _ in range(3):
        line.record(_request(tmp_path))
    run(line.close(timeout_s=30))
    assert [row["state"] for row in line.rows()] == ["cancelled"] * 3
    assert len(launcher.processes) == 1
    with pytest.raises(fe.FreezerError, match="The server is ending"):
        line.record(_request(tmp_path))


def test_one_that_is_cancelled_while_it_waits_leaves_no_file(launcher: Launcher, tmp_path: Path) -> None:
    requests = [RecordRequest("/models/net.pt", tmp_path / f"{name}.fztrace") for name in "abc"]
    for request in requests:
        request.output.touch()

    async def scenario() -> list[bool]:
        state = State(Site(1), Library(tmp_path / "recent.json"), lambda call: call(), launcher, InProcess())
        for request in requests:
            state.jobs.record(request, request.output.stem)
        state.jobs.cancel("b")
        there = [request.output.exists() for request in requests]
        await state.close()
        return there

    assert run(scenario()) == [True, False, True]
    assert not [request for request in requests if request.output.exists()]


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (None, "finish what it is doing. Cancel"),
        ("freezing: ConstantPropagation of forward", "finish the pass ConstantPropagation of forward. Cancel"),
        ("latency: round 3 of 9", "finish measuring latency (round 3 of 9). Cancel"),
    ],
)
def test_cancelled_recording_names_what_it_waits_for(
    message: str | None, text: str, jobs: Jobs, launcher: Launcher, tmp_path: Path
) -> None:
    id_ = jobs.record(_request(tmp_path))
    launcher.processes[0].hangs = True
    if message is not None:
        launcher.processes[0].tell(JobProgress(message, 1, 3, None, phase_of(message)[0] or ""))
    jobs.cancel(id_)
    [row] = jobs.rows()
    assert row["message"].startswith("Cancelling; waiting for torch to ")
    assert text in row["message"]
    jobs.cancel(id_)
