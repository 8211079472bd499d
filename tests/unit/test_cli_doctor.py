"""``freezer-ui doctor``: what it finds on this machine, and where something is missing."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from freeze_engine import worker
from freeze_engine.worker import SandboxStatus
from viewer.cli import doctor, main


def _told(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    lines = capsys.readouterr().out.splitlines()
    return {line[:14].strip(): line[14:] for line in lines}


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path


def test_each_thing_has_a_line(data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    status = SandboxStatus("bubblewrap 1.2", "/usr/bin/bwrap", missing="it forbids less")
    monkeypatch.setattr(worker, "sandbox_status", lambda: status, raising=False)
    assert main(["doctor"]) == 0
    told = _told(capsys)
    assert list(told) == ["freezer-ui", "Python", "torch", "sandbox", "C++ compiler", "Graphviz", "recordings"]
    assert told["sandbox"].startswith("bubblewrap 1.2 (/usr/bin/bwrap): model files")
    assert told["sandbox"].endswith("; it forbids less")
    assert told["recordings"] == str(data / "freezer-ui" / "recordings")


def test_missing_sandbox_is_reported_with_its_consequence(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status = SandboxStatus(problem="there is no sandbox: bubblewrap is not installed")
    monkeypatch.setattr(worker, "sandbox_status", lambda: status, raising=False)
    monkeypatch.setenv("PATH", str(data))
    monkeypatch.delenv("CXX", raising=False)
    assert main(["doctor"]) == 0
    told = _told(capsys)
    assert told["sandbox"].startswith(
        "none: there is no sandbox: bubblewrap is not installed. The dashboard asks before"
    )
    assert told["C++ compiler"].startswith("none (g++ or clang++ or c++)")


def test_missing_requirement_is_an_error(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def version(package: str) -> str:
        raise PackageNotFoundError(package)

    monkeypatch.setattr(doctor, "version", version)
    assert main(["doctor"]) == 1
    assert _told(capsys)["torch"].startswith("missing: nothing can be recorded")


def test_a_folder_that_cannot_be_is_an_error(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (data / "freezer-ui").touch()
    assert main(["doctor"]) == 1
    assert "nothing can be written to" in _told(capsys)["recordings"]


def test_torch_is_not_imported(data: Path) -> None:
    code = "import sys; from viewer.cli import main; main(['doctor']); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
