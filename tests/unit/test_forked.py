"""Work done in a fork: its result, its errors, its death, its time limit."""

from __future__ import annotations

import copyreg
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from freeze_engine.errors import CrashError
from freeze_engine.process.fork import CAN_FORK, Lost, Tell, forked

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="forks are used on Linux only")


class UnpicklableError(Exception):
    """Cannot be made again from what it was raised with."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} {other}")


def raising(error: BaseException) -> object:
    raise error


def test_a_fork_returns_what_its_task_does_and_changes_nothing_here() -> None:
    here = [1]

    def task(tell: Callable[[Any], None]) -> list[int]:
        here.append(2)
        return here

    assert forked(task) == [1, 2]
    assert here == [1]


def test_large_results_and_messages_arrive_whole_and_in_order() -> None:
    told: list[object] = []

    def work(tell: Tell) -> bytes:
        tell("first")
        tell(b"x" * 300_000)
        return b"y" * 300_000

    assert forked(work, on_told=told.append) == b"y" * 300_000
    assert told == ["first", b"x" * 300_000]


@pytest.mark.parametrize(
    ("end", "lost"),
    [
        (
            lambda: os.kill(os.getpid(), signal.SIGKILL),
            Lost(
                "died",
                "SIGKILL",
                "the process was ended by SIGKILL (killed; the system does that where memory runs out)",
            ),
        ),
        (
            lambda: ctypes.string_at(0),
            Lost("died", "SIGSEGV", "the process was ended by SIGSEGV (segmentation fault)"),
        ),
        (lambda: os._exit(7), Lost("died", "exit code 7", "the process ended by itself, with exit code 7")),
    ],
)
def test_death_of_a_fork_is_reported_with_its_cause(end, lost) -> None:
    assert forked(lambda tell: end()) == lost


def test_a_fork_that_hangs_is_ended_at_its_limit() -> None:
    assert forked(lambda tell: time.sleep(600), limit_s=0.1) == Lost("hung", "time limit", "not done after 0.1 s")


def test_exception_of_a_task_is_raised_with_its_traceback_as_cause() -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        forked(lambda tell: 1 // 0)
    assert "in <lambda>" in str(raised.value.__cause__)


def test_an_exception_that_cannot_be_pickled_is_raised_as_a_crash_with_its_text(monkeypatch) -> None:
    # Dask's import makes every exception class of the process picklable (tblib.pickling_support.install).
    monkeypatch.delitem(copyreg.dispatch_table, UnpicklableError, raising=False)
    with pytest.raises(CrashError, match="UnpicklableError: one other"):
        forked(lambda tell: raising(UnpicklableError("one", "other")))


def test_a_fork_ends_where_nobody_waits_for_it_any_more() -> None:
    pids: list[int] = []

    def stop(pid: int) -> None:
        pids.append(pid)
        raise KeyboardInterrupt

    def waits(tell: Callable[[Any], None]) -> None:
        tell(os.getpid())
        time.sleep(600)

    with pytest.raises(KeyboardInterrupt):
        forked(waits, on_told=stop, leads=True)
    assert not Path(f"/proc/{pids[0]}").exists()


def test_a_fork_that_leads_takes_along_what_it_started(tmp_path: Path) -> None:
    started = tmp_path / "started"

    def start(tell: Tell) -> int:
        child = subprocess.Popen(["sleep", "600"])
        inner = forked(lambda tell: os._exit(3))
        started.write_text(str(inner))
        return child.pid

    pid = forked(start, leads=True)
    assert isinstance(pid, int)
    assert "exit code 3" in started.read_text()
    deadline = time.monotonic() + 300
    while runs(pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def runs(pid: int) -> bool:
    """Whether a process is there, and more than an entry that nobody has fetched yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # it went before it was opened, or while it was read
        return False
