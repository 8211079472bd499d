"""What processes of a worker take, all together, and how they are ended: with real processes."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from freeze_engine.errors import FreezerError
from freeze_engine.worker import limits, process_tree
from freeze_engine.worker.limits import MEMORY_LIMIT, PROCESS_LIMIT, Limits, LimitWatch, size_text, was_refused
from freeze_engine.worker.process_tree import HAS_PROC, ProcessTree

pytestmark = pytest.mark.skipif(not HAS_PROC, reason="needs /proc")

MIB = 1 << 20
#: In one piece, whoever else writes there.
READY = "__import__('os').write(1, b'ready' + bytes([10]))"
WAIT = f"import sys; {READY}; sys.stdin.read()"
#: Starts a process that leaves the session and whose parent ends at once.
LEAVING = f"""
import os, subprocess, sys
middle = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', sys.argv[1]], start_new_session=True)"
subprocess.run([sys.executable, "-c", middle, {READY + "; import time; time.sleep(600)"!r}])
{WAIT}
"""
FORKING = f"""
import os
data = b"x" * ({MIB} * 64)
for _ in range(3):
    if os.fork() == 0:
        import signal
        signal.pause()
{WAIT}
"""


@contextlib.contextmanager
def tree_of(code: str, environment: dict[str, str] | None = None) -> Iterator[ProcessTree]:
    """Starts Python with some code as the first process of a tree, and waits until each that prints is ready."""
    tree = ProcessTree()
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env=tree.marked(dict(os.environ) | (environment or {})),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    tree.begins_with(process.pid)
    try:
        for _ in range(code.count("b'ready'")):
            assert process.stdout.readline() == b"ready\n"
        yield tree
    finally:
        tree.kill()
        process.communicate()
        assert tree.pids() == []


def test_a_process_that_left_its_session_and_lost_its_parent_still_belongs():
    with tree_of(LEAVING) as tree:
        first, other = tree.pids()
        assert os.getsid(other) == other != first


def test_a_tree_in_a_tree_belongs_to_both():
    outer = ProcessTree()
    outer.begins_with(os.getpid())
    with tree_of(LEAVING, outer.marked({})) as inner:
        assert set(inner.pids()) < set(outer.pids())
    assert os.getpid() in outer.pids()


@pytest.mark.parametrize("looks", [1, 3])
def test_process_that_loads_its_program_meanwhile_is_ended_too(looks, monkeypatch):
    """The kernel shows no environment from the start of an exec until the new program is in place."""
    asked = []

    def environment(pid):
        asked.extend([pid] if pid == other else [])
        return None if pid == other and len(asked) <= looks else read(pid)

    read = process_tree._environment
    with tree_of(LEAVING) as tree:
        first, other = tree.pids()
        guard = ProcessTree()
        guard._mark = tree._mark
        guard.begins_with(first)
        monkeypatch.setattr(process_tree, "_environment", environment)
        guard.kill()
        assert len(asked) == looks + 1
        assert tree.pids() == []


def test_process_without_any_environment_is_not_waited_for():
    process = subprocess.Popen([sys.executable, "-c", WAIT], env={}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    assert process_tree._environment(process.pid) == b""
    process.communicate()


def test_memory_that_processes_share_since_a_fork_counts_once():
    with tree_of(FORKING) as tree:
        assert len(tree.pids()) == 4
        assert 64 * MIB < tree.memory_bytes() < 2 * 64 * MIB
        assert tree.takes_more_than(2 * 64 * MIB) is None
        assert (tree.takes_more_than(32 * MIB) or 0) > 64 * MIB


@pytest.mark.parametrize(
    ("allowed", "limit", "said"),
    [
        (Limits(memory_bytes=32 * MIB), MEMORY_LIMIT, " of memory, more than its limit of 32 MiB"),
        (Limits(processes=3), PROCESS_LIMIT, "it started more than 3 processes, its limit"),
    ],
)
def test_process_over_its_limit_is_killed(allowed, limit, said):
    with tree_of(FORKING) as tree:
        ended = threading.Event()
        watch = LimitWatch(tree, allowed, ended.set)
        watch.start()
        assert ended.wait(300)
        watch.stop()
    assert watch.excess is not None
    assert (watch.excess.limit, watch.excess.message[-len(said) :]) == (limit, said)


@pytest.mark.parametrize(("mebibytes", "is_far"), [(32, True), (1024, False)])
def test_process_far_over_its_limit_is_known(mebibytes, is_far):
    with tree_of(FORKING) as tree:
        watch = LimitWatch(tree, Limits(memory_bytes=mebibytes * MIB), tree.kill)
        assert watch.is_far_exceeded() is is_far


def test_process_within_its_limit_continues():
    with tree_of(WAIT) as tree:
        watch = LimitWatch(tree, Limits(memory_bytes=1 << 40, processes=1), tree.kill)
        watch.start()
        watch.stop()
        assert watch.excess is None
        assert len(tree.pids()) == 1


def test_an_allocation_that_no_limit_leaves_room_for_fails_in_the_process():
    code = """
from freeze_engine.worker.limits import limit_this_process
limit_this_process(64 << 20)
small = bytes(32 << 20)
try:
    bytes(1 << 40)
except MemoryError as error:
    print("refused")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "refused\n"


def test_a_limit_that_cannot_be_held_is_refused(monkeypatch):
    monkeypatch.setattr(limits, "HAS_PROC", False)
    limits.require_limits(Limits())
    with pytest.raises(FreezerError, match="needs /proc"):
        limits.require_limits(Limits(memory_bytes=1))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MemoryError", True),
        ("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes", True),
        ("terminate called after throwing an instance of 'std::bad_alloc'", True),
        ("OSError: [Errno 12] Cannot allocate memory", True),
        ("RuntimeError: mat1 and mat2 shapes cannot be multiplied", False),
    ],
)
def test_refused_memory_is_recognised_in_output(text, expected):
    assert was_refused(text) is expected


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 bytes"), (1536, "1.5 KiB"), (4 << 30, "4 GiB"), (5 << 50, "5120 TiB")]
)
def test_sizes_have_units(size, text):
    assert size_text(size) == text
