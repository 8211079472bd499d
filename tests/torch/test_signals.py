"""SIGTERM and SIGHUP are as good as Ctrl-C, whenever they come: real commands, real signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import freeze_engine as fe

ROOT = Path(__file__).parents[2]
SAID = {signal.SIGINT: "interrupted", signal.SIGTERM: "ended by SIGTERM", signal.SIGHUP: "ended by SIGHUP"}
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
TOLD = """
from tests.torch.worker_models import *

def told():
    print("loaded", flush=True)
    return plain()

def slow_to_load():
    print("loading", flush=True)
    import time; time.sleep(600)
"""


class Command:
    """A command that runs, and what it leaves: its processes are known by a mark, its folders by a folder of its own.

    Attributes:
        folder: where it works.
        temporary: where its temporary folders are.
    """

    def __init__(self, folder: Path, *words: str) -> None:
        self.folder = folder
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.mark = f"FREEZER_TEST={folder}"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "viewer.cli", *words],
            cwd=folder,
            env=os.environ
            | {"PYTHONPATH": f"{ROOT}:{folder}", "TMPDIR": str(self.temporary), "FREEZER_TEST": str(folder)},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.002)

    def takes_signals(self) -> bool:
        """Whether a handler of SIGTERM is installed."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        caught = int(status.partition("SigCgt:")[2].split()[0], 16)
        return bool(caught >> (signal.SIGTERM - 1) & 1)

    def cpu_ticks(self) -> int:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    def ends(self, number: signal.Signals) -> tuple[int, str]:
        """Sends a signal, and returns exit code and standard error; nothing of the command may be left."""
        self.process.send_signal(number)
        _, told = self.process.communicate(timeout=300)
        assert [each.name for each in self.temporary.iterdir() if each.name.startswith("freezer-")] == []
        assert self.running() == []
        assert "Traceback" not in told, told
        return self.process.returncode, told

    def running(self) -> list[str]:
        """Returns the processes that it left."""
        found = []
        for process in Path("/proc").iterdir():
            try:
                if process.name.isdecimal() and self.mark.encode() in (process / "environ").read_bytes():
                    found.append((process / "cmdline").read_text().replace("\0", " "))
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
        return found


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Callable[..., Command]]:
    (tmp_path / "told_models.py").write_text(TOLD)
    started: list[Command] = []

    def start(*words: str) -> Command:
        started.append(Command(tmp_path, *words))
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        each.process.communicate()


@pytest.mark.parametrize("number", list(SAID))
def test_a_recording_that_is_ended_keeps_its_steps(number, command):
    words = ["--seconds", "900", "-o", "net.fztrace"]
    run = command("record", "told_models:told", "--input", "1x3x8x8", *words)
    run.until((run.folder / "net.fztrace").exists)
    code, told = run.ends(number)
    assert code == CODES[number]
    # Before it there may be a line that says what the end waits for.
    cancelled, ended = told.splitlines()[-2:]
    assert cancelled.startswith("freezer-ui: cancelled while ")
    assert cancelled.endswith(" steps")
    assert ended == f"freezer-ui: {SAID[number]}"
    assert fe.load(run.folder / "net.fztrace").failure is not None


def test_sigterm_ends_what_torch_does_not_heed_without_being_repeated(command):
    run = command("record", "told_models:deaf_hang", "-o", "net.fztrace")
    assert run.process.stdout.readline() == "hanging\n"
    code, told = run.ends(signal.SIGTERM)
    assert (code, told.splitlines()[-1]) == (143, "freezer-ui: ended by SIGTERM")
    assert "cancelled in FoldFrozenConvAddOrSub of forward; net.fztrace holds" in told
    assert fe.load(run.folder / "net.fztrace").failure.type == "cancelled"


@pytest.mark.parametrize("imported", ["viewer.cli.signals", "freeze_engine", "lazy_loader", "viewer.cli.command_line"])
def test_ctrl_c_during_the_first_imports_is_not_traced_back(imported: str) -> None:
    script = f"""
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {imported!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from viewer.cli import main
sys.exit(main())
"""
    words = [sys.executable, "-c", script, "--version"]
    done = subprocess.run(
        words, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    late = imported == "viewer.cli.command_line"
    assert (done.returncode, done.stderr) == ((130, "freezer-ui: interrupted\n") if late else (-signal.SIGINT, ""))


@pytest.mark.parametrize("ticks", [0, 4, 8, 16, 24])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_early_signal_is_neither_lost_nor_traced_back(number, ticks, command):
    run = command("record", "told_models:slow_to_load")
    run.until(run.takes_signals)
    start = run.cpu_ticks()
    beginning = time.monotonic()
    run.until(lambda: run.cpu_ticks() >= start + ticks or time.monotonic() > beginning + 2)
    code, told = run.ends(number)
    assert (code, told.splitlines()[-1]) == (CODES[number], f"freezer-ui: {SAID[number]}")


def test_a_bisection_ends_with_what_it_started(command):
    run = command("bisect", "told_models:plain", "--check", "sh -c 'touch checking; sleep 600'", "--no-script")
    run.until((run.folder / "checking").exists)
    assert run.ends(signal.SIGTERM) == (143, "freezer-ui: ended by SIGTERM\n")


def test_a_script_that_is_ended_leaves_its_traces(command, tmp_path):
    (tmp_path / "job.py").write_text(
        "import time, torch\nfrom tests.torch.worker_models import Net\n"
        "torch.jit.freeze(torch.jit.script(Net().eval()))\nprint('frozen', flush=True)\ntime.sleep(600)\n"
    )
    run = command("run", "--", "job.py")
    assert run.process.stdout.readline() == "frozen\n"
    code, told = run.ends(signal.SIGTERM)
    assert code == 143
    assert "freezer-ui: ended by SIGTERM\nfreezer-ui: job-1.fztrace: " in told
    assert fe.load(tmp_path / "job-1.fztrace").steps
