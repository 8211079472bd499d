"""Workers that the tests fork differ in nothing from those that users have."""

from __future__ import annotations

import json
import os
import select
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import freeze_engine as fe
from freeze_engine.worker import RecordingProcess, RecordRequest
from tests.warm_workers import WarmWorkers

#: What a process can see of itself, without what differs between two processes of one kind.
_MODEL = """
import json, os, re, signal, sys
from collections import Counter
from pathlib import Path

import torch


def status(name):
    return re.search(rf"{name}:\\s*(\\S+)", Path("/proc/self/status").read_text())[1]


def telling():
    mark = os.environ["FREEZER_WORKER"]
    command = Path("/proc/self/cmdline").read_text().rstrip("\\0").split("\\0")
    descriptors = [os.readlink(each) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    seen = {
        "arguments": sys.argv,
        "command": [*command[:5], *command[8:]],
        "descriptors": Counter(re.sub(r"[\\d:].*|/freezer-recording-[^/]*", "", each) for each in descriptors),
        "folder": os.getcwd(),
        "leads": os.getsid(0) == os.getpgrp() == os.getpid(),
        "marked": mark.encode() in Path("/proc/self/environ").read_bytes(),
        "parent": os.getppid(),
        "path": sys.path,
        "settings": [os.umask(0o77), torch.get_num_threads(), sys.flags, sys.warnoptions],
        "signals": [status(name) for name in ("SigBlk", "SigIgn", "SigCgt")],
        "threads": status("Threads"),
        "variables": {**os.environ, "FREEZER_WORKER": len(mark.split())},
    }
    Path("seen.json").write_text(json.dumps(seen))
    return torch.nn.ReLU().eval()
"""


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Returns a function that starts a worker and gives what it saw of itself."""
    (tmp_path / "telling_models.py").write_text(_MODEL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    def worker_saw() -> Any:
        process = RecordingProcess(
            RecordRequest("telling_models:telling", tmp_path / "out.fztrace", measure=None), lambda event: None
        )
        process.start()
        ended = process.wait()
        assert ended is not None
        assert ended.outcome == "finished"
        assert fe.load(tmp_path / "out.fztrace").name == "telling"
        return json.loads((tmp_path / "seen.json").read_text())

    return worker_saw


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no worker is forked")
def test_forked_worker_sees_what_a_new_python_sees(
    warm_workers: WarmWorkers, seen: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: dict[bool, Any] = {}
    for is_cold in (True, False):
        monkeypatch.setattr(warm_workers, "is_cold", is_cold)
        found[is_cold] = seen()
    assert found[False] == found[True]
    assert found[True]["parent"] == os.getpid()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no worker is forked")
def test_fork_is_a_child_of_the_test_run_also_if_that_does_not_run_meanwhile(
    seen: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    send = socket.send_fds

    def send_and_wait(orders: socket.socket, *order: Any) -> int:
        sent = send(orders, *order)
        assert select.select([orders], [], [], 60)[0]  # the fork answers once it has its new parent
        return sent

    seen()  # from here on the process that workers are forked from is there
    monkeypatch.setattr(socket, "send_fds", send_and_wait)
    assert seen()["parent"] == os.getpid()


def test_only_variables_that_other_processes_read_make_workers_cold(
    warm_workers: WarmWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_PYVIZ_COMMS_INSTALLED", "_TORCHINDUCTOR_PYOBJECT_TENSOR_DATA_PTR"):
        monkeypatch.setenv(name, "1")
    assert warm_workers.changed_variables() == set()
    monkeypatch.setenv("OMP_NUM_THREADS", "77")
    monkeypatch.delenv("PATH")
    assert warm_workers.changed_variables() == {"OMP_NUM_THREADS", "PATH"}
