"""The command line on torch itself: from a MODEL, or a script, to a trace."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import freeze_engine as fe
from tests.clocks import limit_reached_once
from viewer.cli import main

_MODELS = """\
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 1)
        self.norm = torch.nn.BatchNorm2d(4)

    def forward(self, x):
        return self.norm(self.conv(x)).relu()

def trained():
    return Net().eval()

def training():
    return Net().train()

def broken():
    raise ValueError("no weights here")

def hanging():  # as C++ code does that never lets go of the interpreter lock
    import ctypes, pathlib
    def hang(*_):
        pathlib.Path("hangs").touch()
        ctypes.PyDLL(None).pause()
    torch._C._jit_pass_fold_frozen_conv_add_or_sub = hang
    return trained()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes a folder with a module of models the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "cli_models.py").write_text(_MODELS)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_a_model_is_recorded_and_its_statistics_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record", "cli_models:trained", "--input", "2x3x8x8", "--no-latency", "-o", "net.fztrace"]) == 0
    trace = fe.load("net.fztrace")
    assert trace.call == "freezer-ui record cli_models:trained --input 2x3x8x8 --no-latency -o net.fztrace"
    assert [rewrite.kind for step in trace.steps for rewrite in step.rewrites] == ["conv_bn"]
    assert any(step.numerics for step in trace.steps)
    assert not any(step.latency for step in trace.steps)
    assert capsys.readouterr().out.startswith(f"net.fztrace: Recorded {len(trace.steps) - 1} passes, ")
    assert main(["stats", "net.fztrace"]) == 0
    told = capsys.readouterr().out
    assert "Passes" in told
    assert "norm.weight" in told


@pytest.mark.usefixtures("folder")
def test_a_freeze_that_torch_refuses_exits_with_3_in_torch_s_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record", "cli_models:training", "--no-measure", "-o", "net.fztrace"]) == 3
    told = capsys.readouterr().err
    assert "RuntimeError: Freezing is currently only implemented for modules in eval mode" in told
    assert "Traceback" not in told


@pytest.mark.usefixtures("folder")
def test_a_crash_exits_with_3_and_leaves_a_trace(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record", "tests.torch.worker_models:inside_segfault", "--no-measure", "-o", "net.fztrace"]) == 3
    trace = fe.load("net.fztrace")
    assert trace.failure is not None
    assert (trace.failure.type, trace.failure.name) == ("SIGSEGV", "ConstantPropagation")
    told = capsys.readouterr()
    assert "the recording crashed: the process was ended by SIGSEGV" in told.err
    assert f"net.fztrace holds what was recorded until then: {len(trace.steps)} steps" in told.err
    assert "Fatal Python error: Segmentation fault" in told.err


def test_a_hang_ends_at_the_limit(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    limit_reached_once((folder / "hangs").exists, monkeypatch)
    words = ["cli_models:hanging", "--input", "1x3x8x8", "--no-measure", "--limit", "900", "-o", "net.fztrace"]
    assert main(["record", *words]) == 3
    assert (
        "the recording was ended: not done after 900 s, the limit, in FoldFrozenConvAddOrSub" in capsys.readouterr().err
    )
    assert fe.load("net.fztrace").failure is not None


def test_ctrl_c_ends_a_recording_with_what_there_is(folder: Path) -> None:
    words = ["record", "cli_models:told", "--input", "1x3x8x8", "-o", "net.fztrace", "--seconds", "900"]
    (folder / "cli_models.py").write_text(_MODELS + "\ndef told():\n    print('loaded')\n    return trained()\n")
    with subprocess.Popen(
        [sys.executable, "-m", "viewer.cli", *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as recording:
        assert recording.stdout is not None
        assert recording.stderr is not None
        assert recording.stdout.readline() == "loaded\n"
        while not (folder / "net.fztrace").exists():
            assert recording.poll() is None
            time.sleep(0.05)
        recording.send_signal(signal.SIGINT)
        told = recording.stderr.read()
        assert recording.wait() == 130
    trace = fe.load(folder / "net.fztrace")
    assert trace.failure is not None
    assert trace.failure.type == "KeyboardInterrupt"
    # Before it there may be a line that says what the end waits for.
    cancelled, interrupted = told.splitlines()[-2:]
    assert cancelled.startswith("freezer-ui: cancelled while ")
    assert cancelled.endswith(f"; net.fztrace holds what was recorded until then: {len(trace.steps)} steps")
    assert interrupted == "freezer-ui: interrupted"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cli_models:broken"], "its own code raised ValueError: no weights here"),
        (["cli_models:missing"], "has no 'missing'"),
        (["cli_models:trained", "--input", "2by3"], "is not a shape"),
    ],
)
def test_wrong_use_prints_one_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record", *words]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


def test_every_freeze_of_a_script_is_captured(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "deploy.py").write_text(
        "import torch\nfrom cli_models import trained, training\n"
        "print(type(torch.jit.freeze(torch.jit.script(trained()))).__name__)\n"
        "torch.jit.optimize_for_inference(torch.jit.script(trained()))\n"
        "torch.jit.freeze(torch.jit.script(training()))\n"
    )
    assert main(["run", "-o", "traces", "--", "deploy.py"]) == 1
    told = capsys.readouterr()
    assert told.out == "RecursiveScriptModule\n"
    assert "Freezing is currently only implemented for modules in eval mode" in told.err
    traces = [fe.load(path) for path in sorted((folder / "traces").glob("deploy-*.fztrace"))]
    assert [trace.failure is None for trace in traces] == [True, True, False]
