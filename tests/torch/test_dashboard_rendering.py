"""What pages load is made in other processes: the real server answers meanwhile, and outlives whatever a file does."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import freeze_engine as fe
from tests.builders import small_trace
from tests.dashboard import Answer, RunningServer, running_server
from viewer.report import render_report


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    fe.save(small_trace(), tmp_path / "small.fztrace")
    with running_server(tmp_path) as running:
        yield running


def _until(holds: Callable[[], bool], limit_s: float = 600) -> None:
    deadline_s = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < deadline_s, "it takes too long"
        time.sleep(0.05)


def _children(server: RunningServer) -> list[int]:
    tasks = Path(f"/proc/{server.process.pid}/task").glob("*/children")
    return [int(word) for each in tasks for word in each.read_text().split()]


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def renderer(server: RunningServer) -> int:
    """The process that the server keeps ready."""
    _until(lambda: server.ask("/assets/start.js", server.cookie).status == 200)
    _until(lambda: len(_children(server)) == 1)
    return _children(server)[0]


class Asking:
    """A request whose answer comes when it comes."""

    def __init__(self, server: RunningServer, path: str) -> None:
        self.answer: Answer | None = None
        self._thread = threading.Thread(target=lambda: setattr(self, "answer", server.ask(path, server.cookie)))
        self._thread.start()

    def ended(self) -> Answer:
        self._thread.join()
        assert self.answer is not None
        return self.answer


def test_small_answers_do_not_wait_for_a_report(server: RunningServer, renderer: int) -> None:
    os.kill(renderer, signal.SIGSTOP)  # the report is not done before the test says so
    try:
        report = Asking(server, "/trace/report?path=small.fztrace")
        _until(lambda: _waits(renderer))
        for path in ("/assets/dashboard.js", "/assets/start.js", "/"):
            assert server.ask(path, server.cookie).status == 200
        # There is a second process for what somebody else opens.
        assert server.ask("/trace/data?path=small.fztrace", server.cookie).status == 200
        assert report.answer is None
    finally:
        os.kill(renderer, signal.SIGCONT)
    answer = report.ended()
    assert (answer.status, answer.body.decode()) == (200, render_report(small_trace()))


def test_death_of_a_renderer_is_reported_to_one_page_only(server: RunningServer, renderer: int) -> None:
    os.kill(renderer, signal.SIGSTOP)
    asked = Asking(server, "/trace/data?path=small.fztrace")
    _until(lambda: _waits(renderer))
    assert server.ask("/trace/report?path=small.fztrace", server.cookie).status == 200
    os.kill(renderer, signal.SIGKILL)
    answer = asked.ended()
    assert answer.status == 400
    assert "small.fztrace: the process that read it ended (signal 9). Try again" in json.loads(answer.body)["error"]
    assert server.ask("/trace/data?path=small.fztrace", server.cookie).status == 200


def _waits(renderer: int) -> bool:
    """Whether there is a job that the stopped process has not read: bytes in the pipe of its standard input."""
    import array
    import fcntl
    import termios

    waiting = array.array("i", [0])
    descriptor = os.open(f"/proc/{renderer}/fd/0", os.O_RDONLY | os.O_NONBLOCK)
    try:
        fcntl.ioctl(descriptor, termios.FIONREAD, waiting)
    finally:
        os.close(descriptor)
    return waiting[0] > 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_renderer_outlives_its_server(server: RunningServer, renderer: int, number: signal.Signals) -> None:
    os.kill(renderer, signal.SIGSTOP)
    if number == signal.SIGKILL:
        server.process.kill()
        server.process.wait()
        os.kill(renderer, signal.SIGCONT)
    else:
        assert "Traceback" not in server.ended(number)[1]
    _until(lambda: not _lives(renderer))
