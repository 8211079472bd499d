"""The child process that tells when a file grew."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from freeze_engine.backends.torchscript.log.growth_clock import LogClock

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the clock needs /proc")


@contextlib.contextmanager
def watched(clock: LogClock, path: Path) -> Iterator[list[int]]:
    """Points file descriptor 2 at an empty file and watches that; yields the offsets seen, once it has ended."""
    real = os.dup(2)
    offsets: list[int] = []
    with path.open("wb") as file:
        os.dup2(file.fileno(), 2)
        try:
            clock.start()
            yield offsets
            offsets += [offset for offset, _ in clock.stop()]
        finally:
            os.dup2(real, 2)
            os.close(real)


@pytest.fixture
def clock() -> Iterator[LogClock]:
    made = LogClock()
    yield made
    child = made._child
    if child is not None and made._owner == os.getpid():
        made._end_child(child)


def write(size: int, clock: LogClock) -> None:
    """Writes, and waits until the child, if there is one, has seen it."""
    os.write(2, b"x" * size)
    if clock._child is None or clock._child.poll() is not None:
        return
    # It falls asleep after each look that finds nothing new: the second time at the latest, it has looked since.
    seen = naps(clock._child.pid) + 3
    while naps(clock._child.pid) < seen:
        time.sleep(0.001)


def naps(pid: int) -> int:
    """How often a process has waited for something."""
    (told,) = re.findall(r"^voluntary_ctxt_switches:\t(\d+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return int(told)


def test_a_growth_has_its_time(clock, tmp_path, monkeypatch):
    seen: list[tuple[int, int]] = []
    stop = clock.stop

    def kept() -> tuple[()]:
        seen.extend(stop())
        return ()

    monkeypatch.setattr(clock, "stop", kept)
    moments = []
    with watched(clock, tmp_path / "log"):
        for size in (3, 50, 7):
            moments.append(time.monotonic_ns())
            write(size, clock)
    moments.append(time.monotonic_ns())
    assert [offset for offset, _ in seen] == [3, 53, 60]
    assert all(
        before <= clock_ns <= after for before, (_, clock_ns), after in zip(moments, seen, moments[1:], strict=False)
    )


def test_watches_follow_one_another_in_one_child(clock, tmp_path):
    with watched(clock, tmp_path / "log") as first:
        pass
    child = clock._child
    with watched(clock, tmp_path / "log") as second:
        write(4, clock)
    assert (first, second) == ([], [4])
    assert clock._child is child


def test_growth_right_before_the_end_is_seen(clock, tmp_path):
    for _ in range(20):
        with watched(clock, tmp_path / "log") as offsets:
            os.write(2, b"x")
        assert offsets == [1]


def test_stop_without_start_is_empty(clock):
    assert clock.stop() == ()


def test_without_proc_it_is_empty(clock, tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "is_dir", lambda self: False)
    with watched(clock, tmp_path / "log") as offsets:
        write(1, clock)
    assert offsets == []
    assert clock._child is None


def test_without_the_right_to_start_a_process_it_is_empty(clock, tmp_path, monkeypatch):
    def refused(*args: object, **kwargs: object) -> None:
        raise PermissionError("no processes")

    monkeypatch.setattr(subprocess, "Popen", refused)
    with watched(clock, tmp_path / "log") as offsets:
        write(1, clock)
    assert offsets == []


def end(child: subprocess.Popen[bytes], by: signal.Signals) -> None:
    os.kill(child.pid, by)
    child.wait()


def test_the_childs_death_in_a_watch_is_survived(clock, tmp_path):
    with watched(clock, tmp_path / "log") as offsets:
        end(clock._child, signal.SIGKILL)
        write(1, clock)
    assert offsets == []


def test_a_dead_child_is_replaced(clock, tmp_path):
    with watched(clock, tmp_path / "log"):
        pass
    end(clock._child, signal.SIGKILL)
    with watched(clock, tmp_path / "log") as offsets:
        write(2, clock)
    assert offsets == [2]


def test_an_interrupt_at_the_terminal_is_not_for_the_child(clock, tmp_path):
    """The terminal sends it to the whole process group."""
    with watched(clock, tmp_path / "log") as offsets:
        assert os.getpgid(clock._child.pid) != os.getpgid(0)
        write(2, clock)
    assert offsets == [2]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_gets_a_child_of_its_own(clock, tmp_path):
    with watched(clock, tmp_path / "log"):
        pass
    child = clock._child
    pid = os.fork()
    if pid == 0:
        with watched(clock, tmp_path / "fork") as offsets:
            write(3, clock)
        mine = clock._child is not child
        clock._end_child(clock._child)
        os._exit(0 if offsets == [3] and mine else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    with watched(clock, tmp_path / "log") as offsets:
        write(1, clock)
    assert offsets == [1]
    assert clock._child is child


def test_the_child_ends_with_its_parent(tmp_path):
    script = (
        "import os\nfrom freeze_engine.backends.torchscript.log.growth_clock import LogClock\n"
        "c = LogClock(); c.start(); print(c._child.pid, flush=True)\nos._exit(0)"
    )
    with (tmp_path / "log").open("wb") as sink:
        done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=sink, check=True)
    pid = int(done.stdout)
    end_s = time.monotonic() + 300
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it is gone
        while "zombie" not in Path(f"/proc/{pid}/status").read_text():
            assert time.monotonic() < end_s, "the child outlived its parent"
            time.sleep(0.05)
