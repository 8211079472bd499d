"""A real sweep: recordings in child processes, killed and continued."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import freeze_engine as fe
from freeze_engine import sweep

ROOT = Path(__file__).parents[2]
_LIMIT_S = 280
_NETS = """
import os
import time
from pathlib import Path

import torch

HERE = Path(__file__).parent


def _net(name):
    with (HERE / "loads.txt").open("a") as stream:
        stream.write(name + "\\n")
    return torch.nn.Sequential(torch.nn.Conv2d(1, 2, 1), torch.nn.BatchNorm2d(2)).eval()


def first():
    return _net("first")


def second():
    (HERE / "pid.txt").write_text(str(os.getpid()))
    (HERE / "is_second").touch()
    while not (HERE / "go_on").exists():
        time.sleep(0.05)
    return _net("second")
"""
_FILE = """
[defaults]
measure = false
check = ["attributes"]
[environments]
own = "{python}"
[[models]]
models = ["nets:first", "nets:second"]
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "nets.py").write_text(_NETS)
    # The second environment is this one, started as a foreign one is.
    (tmp_path / "models.toml").write_text(_FILE.format(python=sys.executable))
    return tmp_path


def _start(place: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "viewer.cli", "sweep", str(place / "models.toml"), "-o", str(place / "out")]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE)


def _until(path: Path) -> None:
    ends_s = time.monotonic() + _LIMIT_S
    while not path.exists():
        assert time.monotonic() < ends_s, f"{path} did not come"
        time.sleep(0.05)


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_killed_sweep_resumes_without_repetition(place: Path) -> None:
    killed = _start(place)
    _until(place / "is_second")
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate(timeout=_LIMIT_S)
    found = sweep.read_sweep(place / "out")
    assert ([row.model for row in found.rows], len(found.waiting), found.is_running) == (["first"], 1, False)
    worker = int((place / "pid.txt").read_text())
    ends_s = time.monotonic() + _LIMIT_S
    while _is_alive(worker) and time.monotonic() < ends_s:
        time.sleep(0.05)
    assert not _is_alive(worker)

    (place / "go_on").touch()
    again = _start(place)
    _, printed = again.communicate(timeout=_LIMIT_S)
    assert (again.returncode, printed.decode().splitlines()[0]) == (
        0,
        "freezer-ui: 2 recordings, 1 of them made already",
    )
    assert (place / "loads.txt").read_text().split() == ["first", "second"]
    found = sweep.read_sweep(place / "out")
    for row in found.rows:
        trace = fe.load(found.folder / row.trace)
        assert (row.status, row.environment, row.checks_passed) == ("recorded", "own", ("attributes",))
        assert (row.folds, row.steps) == (sum(len(step.rewrites) for step in trace.steps), len(trace.steps))
    assert not list((place / "out").glob("unfinished*"))
