"""`freezer-ui run` and `capture(threads=True)`: freezes of all threads and child processes, each saved when it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

import freeze_engine as fe

ROOT = Path(__file__).parents[2]
LIMIT_S = 600
OWN = ("main", "thread", "executor", "to_thread", "late_thread", "late_executor", "at_exit")
CHILDREN = ("fork", "spawn", "forkserver", "subprocess", "child_at_exit", "late_process")
EVERYWHERE = """
import asyncio, atexit, multiprocessing, os, subprocess, sys, threading, warnings
from concurrent.futures import ThreadPoolExecutor

warnings.simplefilter("ignore")


def frozen(name):
    import torch

    layers = {f"of_{name}": torch.nn.Linear(2, 2)}
    torch.jit.freeze(torch.jit.script(torch.nn.Sequential(torch.nn.ModuleDict(layers)[f"of_{name}"]).eval()))
    kind = type("of_" + name, (torch.nn.Linear,), {})
    torch.jit.freeze(torch.jit.trace(kind(2, 2).eval(), torch.ones(1, 2)))


def at_exit():
    import beside

    frozen("at_exit")


def main():
    atexit.register(at_exit)
    frozen("main")
    thread = threading.Thread(target=frozen, args=("thread",))
    thread.start()
    thread.join()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(frozen, "executor").result()
    asyncio.run(asyncio.to_thread(frozen, "to_thread"))
    for way in ("fork", "spawn", "forkserver"):
        child = multiprocessing.get_context(way).Process(target=frozen, args=(way,))
        child.start()
        child.join()
        assert child.exitcode == 0
    code = "import atexit, sys; sys.path.insert(0, '.'); import everywhere"
    code += "; atexit.register(everywhere.frozen, 'child_at_exit'); everywhere.frozen('subprocess')"
    subprocess.run([sys.executable, "-c", code], check=True)
    subprocess.run([sys.executable, "-S", "-c", "pass"], check=True)
    # Python waits for these at its end.
    multiprocessing.get_context("fork").Process(target=frozen, args=("late_process",)).start()
    threading.Thread(target=lambda: frozen("late_thread")).start()
    ThreadPoolExecutor(1).submit(frozen, "late_executor")


if __name__ == "__main__":
    main()
    sys.exit(7)
"""


def run(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "viewer.cli", "run", *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_run_records_threads_and_child_processes_and_keeps_the_exit_code(tmp_path: Path) -> None:
    (tmp_path / "everywhere.py").write_text(EVERYWHERE)
    (tmp_path / "beside.py").touch()
    process = run(tmp_path, "-o", "traces", "--", "everywhere.py")
    _, told = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 7, told
    names = Counter(
        (fe.load(path).name, path.name.startswith("everywhere-p")) for path in (tmp_path / "traces").iterdir()
    )
    own = {f"of_{name}": 1 for name in OWN}
    children = {f"of_{name}": 1 for name in CHILDREN}
    assert {name: count for (name, child), count in names.items() if not child} == {**own, "Sequential": len(OWN)}
    assert {name: count for (name, child), count in names.items() if child} == {**children, "Sequential": len(CHILDREN)}
    for path in (tmp_path / "traces").iterdir():
        assert f"traces/{path.name}: " in told
    assert "A Python process was started and not recorded: python -S does not run sitecustomize" in told


def test_a_script_that_becomes_another_program_keeps_its_traces(tmp_path: Path) -> None:
    frozen = "torch.jit.freeze(torch.jit.trace(torch.nn.{}(1).eval(), torch.ones(1, 2)))"
    begins = "import os, sys, torch, warnings; warnings.simplefilter('ignore'); "
    then = f"{begins}{frozen.format('Softmax')}; os._exit(9)"
    first = f"{begins}{frozen.format('Softmin')}\nos.execl(sys.executable, sys.executable, '-c', {then!r})\n"
    (tmp_path / "becoming.py").write_text(first)
    process = run(tmp_path, "--", "becoming.py")
    _, told = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 9, told
    assert fe.load(tmp_path / "becoming-1.fztrace").name == "Softmin"
    assert fe.load(tmp_path / f"becoming-p{process.pid}-1.fztrace").name == "Softmax"
    assert told.startswith("freezer-ui: the script called os.execv, so the recording of this process ends here\n")
    assert "freezer-ui: becoming-1.fztrace: Softmin, " in told
    assert "is saved as becoming-p*.fztrace, and not listed" in told


def test_a_script_that_froze_nothing_before_it_becomes_another_program_is_not_said_to_have_frozen_nothing(
    tmp_path: Path,
) -> None:
    (tmp_path / "becoming.py").write_text("import os\nos.execlp('sh', 'sh', '-c', 'exit 6')\n")
    process = run(tmp_path, "--", "becoming.py")
    _, told = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 6, told
    assert "is saved as becoming-p*.fztrace, and not listed" in told
    assert "froze nothing" not in told


def test_a_thread_that_ends_only_when_the_interpreter_asks_for_it_does_not_hold_the_run_up(tmp_path: Path) -> None:
    (tmp_path / "waiting.py").write_text(
        "import threading, torch\n"
        "ended = threading.Event()\n"
        "def work():\n"
        "    ended.wait()\n"
        "    torch.jit.freeze(torch.jit.script(torch.nn.Linear(2, 2).eval()))\n"
        "def failing():\n"
        "    raise ValueError('mine')\n"
        "threading.Thread(target=work).start()\n"
        "threading._register_atexit(ended.set)\n"  # as loky and concurrent.futures do
        "threading._register_atexit(failing)\n"
    )
    process = run(tmp_path, "--", "waiting.py")
    _, told = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, told
    assert "ValueError: mine" in told
    assert fe.load(tmp_path / "waiting-1.fztrace").name == "Linear"


def test_run_records_the_freezes_of_a_pytest_run(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "import torch\n"
        "def test_frozen():\n"
        "    assert torch.jit.freeze(torch.jit.script(torch.nn.Linear(2, 2).eval())) is not None\n"
        "def test_wrong():\n"
        "    assert False\n"
    )
    pytest_here = str(Path(sys.executable).with_name("pytest"))
    process = run(tmp_path, "--", pytest_here, "-q", "-p", "no:cacheprovider", "-W", "ignore", "test_mine.py")
    said, told = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 1, told
    assert "1 failed, 1 passed" in said
    assert fe.load(tmp_path / "pytest-1.fztrace").name == "Linear"


def test_a_killed_run_keeps_the_traces_of_the_freezes_that_had_ended(tmp_path: Path) -> None:
    (tmp_path / "killed.py").write_text(
        "import sys, torch\n"
        "torch.jit.freeze(torch.jit.script(torch.nn.Linear(2, 2).eval()))\n"
        "print('frozen', flush=True)\n"
        "sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "viewer.cli", "run", "--", "killed.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "frozen\n"
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=LIMIT_S)
    assert fe.load(tmp_path / "killed-1.fztrace").name == "Linear"
    assert [path.name for path in tmp_path.glob(".*")] == []


def freeze(name: str) -> None:
    kind = type(name, (torch.nn.Linear,), {})
    torch.jit.freeze(torch.jit.trace(kind(2, 2).eval(), torch.ones(1, 2)))


def test_a_capture_of_all_threads_sees_what_other_threads_freeze() -> None:
    with fe.capture(threads=True) as every, fe.capture() as own:
        freeze("Mine")
        with ThreadPoolExecutor(1) as pool:
            pool.submit(freeze, "Theirs").result()
    assert [trace.name for trace in every.traces] == ["Mine", "Theirs"]
    assert [trace.name for trace in own.traces] == ["Mine"]
    with fe.capture() as after:
        thread = threading.Thread(target=freeze, args=("Later",))
        thread.start()
        thread.join()
    assert after.traces == ()


def test_on_trace_receives_each_trace_at_its_end_and_after_its_continuation() -> None:
    seen: list[tuple[int, fe.Trace]] = []
    with fe.capture(on_trace=lambda number, trace: seen.append((number, trace))) as captured:
        freeze("First")
        frozen = torch.jit.freeze(torch.jit.script(torch.nn.Linear(2, 2).eval()))
        torch.jit.optimize_for_inference(frozen)
    assert [(number, trace.name) for number, trace in seen] == [(1, "First"), (2, "Linear"), (2, "Linear")]
    assert len(seen[1][1].steps) < len(seen[2][1].steps)
    assert captured.traces == (seen[0][1], seen[2][1])


def test_errors_of_on_trace_and_of_making_a_trace_leave_the_freeze_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no room")

    with fe.capture(on_trace=refuse) as captured:
        freeze("Kept")
        monkeypatch.setattr(captured, "_trace", refuse)
        freeze("Lost")
        monkeypatch.undo()
    assert [trace.name for trace in captured.traces] == ["Kept", "Lost"]
    received, made = captured.unrecorded[:2]  # more follow where earlier tests have compiled something
    assert received.startswith("on_trace raised for the trace of freeze 1, which Captured.traces has: OSError: no room")
    assert made.startswith("A freeze happened whose trace could not be put together, a fault of freezer-ui: OSError: ")


class Opaque(torch.Tensor):
    """A tensor of a class of the user's, which answers nothing but its shape."""

    @staticmethod
    def __new__(cls, size: int) -> Opaque:
        made: Opaque = torch.Tensor._make_wrapper_subclass(cls, (size, size), dtype=torch.float32)
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func is torch.ops.aten.detach.default:
            return args[0]
        raise NotImplementedError(f"no {func}")


class Holder(torch.nn.Module):
    """Has a tensor that cannot be read."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2, 2))
        self.opaque = torch.nn.Parameter(Opaque(4), requires_grad=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight


def test_a_tensor_that_cannot_be_read_costs_no_trace() -> None:
    with fe.capture() as captured:
        freeze("Before")
        torch.jit.freeze(torch.jit.trace(Holder().eval(), torch.ones(1, 2)))
        freeze("After")
    assert [(trace.name, bool(trace.steps)) for trace in captured.traces] == [
        ("Before", True),
        ("Holder", True),
        ("After", True),
    ]
    assert not any(fe.problems(trace) for trace in captured.traces)


@pytest.mark.parametrize("raised", [NotImplementedError("no such view"), AssertionError()])
def test_a_partial_trace_names_its_reason(raised: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    from freeze_engine.backends.torchscript import trace_builder

    def fails(*args: object) -> object:
        raise raised

    monkeypatch.setattr(trace_builder, "source_lines", fails)
    with fe.capture() as captured:
        freeze("Partly")
    (trace,) = captured.traces
    assert trace.steps
    (notice,) = [each for each in trace.notices if each.code == "unread"]
    assert type(raised).__name__ in notice.message
    assert str(raised) in notice.message
    assert "freeze_engine/backends/torchscript/trace_builder.py:" in notice.message
    assert not fe.problems(trace)
    fe.dumps(trace)


def test_missing_freezes_are_explained(tmp_path: Path) -> None:
    torch.jit.save(torch.jit.freeze(torch.jit.script(torch.nn.Linear(2, 2).eval())), tmp_path / "frozen.pt")
    torch.compiler.reset()
    compiled = torch.compile(torch.nn.Linear(2, 2).eval())
    with fe.capture() as captured, torch._inductor.config.patch(freezing=True):
        compiled(torch.ones(1, 2))
        torch.jit.load(tmp_path / "frozen.pt")
    assert captured.traces == ()
    gradients, loaded = captured.unrecorded
    assert gradients.startswith("Inductor compiled 1 graph with gradients on: freezing is configured")
    assert "torch.no_grad()" in gradients
    assert loaded.startswith(f"{tmp_path}/frozen.pt was frozen already")
    with fe.capture() as again:
        compiled(torch.ones(1, 2))
    (reused,) = again.unrecorded
    assert reused.startswith("torch had compiled 1 function before")


def test_a_model_compiled_in_place_that_dynamo_skips_is_explained() -> None:
    torch.compiler.reset()
    model = torch.nn.Sequential(torch.nn.Linear(2, 2)).eval()
    with fe.capture() as captured, torch._inductor.config.patch(freezing=True), torch.no_grad():
        model.compile()
        model(torch.ones(1, 2))
    assert captured.traces == ()
    (skipped,) = captured.unrecorded
    assert skipped.startswith("torch.compile made 1 function, and no graph got to Inductor")


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning", "ignore:The .grad attribute:UserWarning")
def test_a_freeze_inside_a_pass_of_torch_is_named_and_the_way_out_shows_its_result(tmp_path: Path) -> None:
    scripted = torch.jit.script(torch.nn.Sequential(torch.nn.Linear(4, 3)).eval())
    qconfig = {"": torch.ao.quantization.per_channel_dynamic_qconfig}
    with fe.capture() as captured:
        quantised = torch.ao.quantization.quantize_dynamic_jit(scripted, qconfig)
    assert not hasattr(quantised, "0")  # so it was frozen
    assert captured.traces == ()
    told = [line for line in captured.unrecorded if "inside a single pass of torch" in line]
    assert len(told) == 1, captured.unrecorded
    assert "quantize_dynamic_jit) froze 1 module" in told[0]
    path = tmp_path / "quantised.pt"
    torch.jit.save(quantised, path)
    assert "frozen TorchScript file" in fe.summarize(fe.record(str(path)).trace).sentence
