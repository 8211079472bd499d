"""``freezer-ui record --backend inductor``, and what it goes through: a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import freeze_engine as fe
from tests.clocks import limit_reached_once
from viewer.cli import main

_MODELS = """\
import ctypes
import torch

def trained():
    return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 1), torch.nn.BatchNorm2d(4)).eval()

def dying():
    import torch._inductor.config
    torch._inductor.config.post_grad_custom_post_pass = lambda graph: ctypes.string_at(0)
    return trained()

def failing():
    import torch._inductor.freezing
    def fail(graph):
        raise ValueError("no such fold")
    torch._inductor.freezing.constant_fold = fail
    return trained()

def hanging():  # as C++ code does that never lets go of the interpreter lock
    import pathlib
    import torch._inductor.freezing
    def hang(graph):
        pathlib.Path("hangs").touch()
        ctypes.PyDLL(None).pause()
    torch._inductor.freezing.constant_fold = hang
    return trained()
"""
_INPUT = ["--input", "1x3x8x8"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "inductor_cli_models.py").write_text(_MODELS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "caches"))
    monkeypatch.setenv("TORCHINDUCTOR_COMPILE_THREADS", "1")
    return tmp_path


def recorded(model: str, *words: str) -> int:
    return main(["record", f"inductor_cli_models:{model}", "--backend", "inductor", *words])


def test_a_model_is_recorded(folder: Path):
    assert recorded("trained", *_INPUT, "--no-dynamic", "--fresh-caches", "--no-latency") == 0
    trace = fe.load(folder / "trained.fztrace")
    fe.check_trace(trace)
    assert (trace.backend, trace.name, trace.methods, trace.failure) == ("inductor", "trained", ("forward",), None)
    assert trace.call.startswith("freezer-ui record inductor_cli_models:trained --backend inductor")
    asked = dict(trace.options)
    assert (asked["dynamic"], asked["force_disable_caches"]) == ("False", "True")
    assert all(step.numerics for step in trace.steps if step.executable)
    assert trace.baselines


def test_a_failing_pass_leaves_the_steps_until_then(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert recorded("failing", *_INPUT) == 3
    trace = fe.load(folder / "failing.fztrace")
    assert trace.failure is not None
    assert (trace.failure.stage, trace.failure.name) == ("freezing_passes", "constant_fold")
    assert "no such fold" in capsys.readouterr().err


def test_a_pass_that_crashes_leaves_the_steps_until_then(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert recorded("dying", *_INPUT) == 3
    trace = fe.load(folder / "dying.fztrace")
    fe.check_trace(trace)
    told = capsys.readouterr().err
    assert "(segmentation fault), in post_grad_custom_post_pass of forward\n" in told
    assert f"dying.fztrace holds what was recorded until then: {len(trace.steps)} steps" in told
    assert (trace.steps[-1].stage, trace.failure and trace.failure.step) == ("post_grad", len(trace.steps) - 1)
    assert {fate.fate for fate in trace.attributes} == {"dropped", "folded"}
    notices = {notice.code: notice.message for notice in trace.notices}
    assert "Unsupported post grad custom pass" in notices["cache_bypassed"]
    assert "Segmentation fault" in notices["last_words"]
    assert main(["report", "dying.fztrace", "-o", "dying.html"]) == 0
    assert main(["stats", "dying.fztrace"]) == 0
    assert "post_grad_custom_post_pass" in capsys.readouterr().out


def test_object_that_torch_compile_refuses_gets_a_remedy(folder: Path, capsys: pytest.CaptureFixture[str]):
    torch.jit.script(torch.nn.Linear(2, 2).eval()).save(folder / "linear.pt")
    assert main(["record", "linear.pt", "--backend", "inductor", "--input", "1x2"]) == 2
    told = capsys.readouterr().err
    assert "torch.compile takes no ScriptModule" in told
    assert "package.module:factory" in told
    assert recorded("trained") == 2
    assert "needs inputs" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        (
            ["--backend", "inductor", "--via", "trace", "--preserve", "a"],
            "--via, --preserve: for --backend torchscript",
        ),
        (["--backend", "inductor", "--no-optimize-numerics"], "--no-optimize-numerics: for --backend torchscript only"),
        (["--no-dynamic", "--mode", "default"], "--mode, --no-dynamic: for --backend inductor only"),
        (["--fresh-caches"], "--fresh-caches: for --backend inductor only, and this is --backend torchscript"),
    ],
)
def test_options_of_the_other_backend_are_refused(words: list[str], refused: str, capsys: pytest.CaptureFixture[str]):
    assert main(["record", "inductor_cli_models:trained", *_INPUT, *words]) == 2
    assert refused in capsys.readouterr().err


def test_compile_over_its_time_limit_keeps_its_steps(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    limit_reached_once((folder / "hangs").exists, monkeypatch)
    assert recorded("hanging", *_INPUT, "--limit", "900") == 3
    assert "not done after 900 s, the limit" in capsys.readouterr().err
    trace = fe.load(folder / "hanging.fztrace")
    fe.check_trace(trace)
    assert trace.failure is not None
    assert (trace.failure.type, trace.failure.name) == ("time limit", "constant_fold")
    assert trace.steps[-1].stage == "freezing_passes"
