from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

import freeze_engine as fe
from freeze_engine.captures import ProcessRecorder, recorded_process
from tests.builders import failed_trace, small_trace
from viewer.cli import main

ROOT = Path(__file__).parents[2]
LIMIT_S = 300


@dataclass
class FakeCaptured:
    traces: list[fe.Trace]
    unrecorded: tuple[str, ...] = ()
    on_trace: Callable[[int, fe.Trace], None] | None = None

    def freeze(self, trace: fe.Trace) -> None:
        self.traces.append(trace)
        if self.on_trace is not None:
            self.on_trace(len(self.traces), trace)


@pytest.fixture
def captured() -> FakeCaptured:
    return FakeCaptured([])


@pytest.fixture
def freeze_in_script(captured: FakeCaptured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Makes `capture` one that collects what a script hands to a function known to it as ``freeze``."""

    @contextmanager
    def capture(*, threads: bool, on_trace: Callable[[int, fe.Trace], None], values: bool) -> Iterator[FakeCaptured]:
        assert threads
        assert values
        captured.on_trace = on_trace
        yield captured

    monkeypatch.setattr("freeze_engine.captures.block.capture", capture)
    monkeypatch.setattr("builtins.freeze", captured.freeze, raising=False)
    monkeypatch.chdir(tmp_path)


_FREEZING = "from tests.builders import small_trace, failed_trace\nfreeze(small_trace())\n"


@pytest.mark.usefixtures("freeze_in_script")
def test_run_runs_a_script_as_python_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "beside.py").write_text("WORD = 'found'")
    (folder / "job.py").write_text(
        _FREEZING + "import sys, beside\n"
        "if __name__ == '__main__': print(sys.argv[1:], beside.WORD, sys.modules['__main__'].beside.WORD)\n"
        "freeze(failed_trace())\n"
    )
    before = (sys.argv, sys.path.copy())
    assert main(["run", "-o", "traces", "--", "code/job.py", "-o", "x", "--", "y"]) == 0
    assert (sys.argv, sys.path) == before
    told = capsys.readouterr()
    assert told.out == "['-o', 'x', '--', 'y'] found found\n"
    assert [fe.load(f"traces/job-{number}.fztrace") for number in (1, 2)] == [small_trace(), failed_trace()]
    assert "traces/job-1.fztrace" in told.err
    assert "4 steps, which failed" in told.err


@pytest.mark.usefixtures("freeze_in_script")
@pytest.mark.parametrize("words", [["job.py"], ["--", "job.py"], ["-o", ".", "job.py"]])
def test_the_dashes_before_the_script_may_be_left_out(words: list[str]) -> None:
    Path("job.py").write_text(_FREEZING)
    assert main(["run", *words]) == 0
    assert Path("job-1.fztrace").is_file()


@pytest.mark.usefixtures("freeze_in_script")
def test_an_exception_of_the_script_is_shown_as_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    Path("job.py").write_text(_FREEZING + "def work(): raise ValueError('not today')\nwork()\n")
    assert main(["run", "--", "job.py"]) == 1
    told = capsys.readouterr().err
    assert told.startswith('Traceback (most recent call last):\n  File "job.py", line 4, in <module>')
    assert "ValueError: not today" in told
    assert fe.load("job-1.fztrace") == small_trace()


@pytest.mark.usefixtures("freeze_in_script")
def test_unparsable_script_is_reported_as_by_python(capsys: pytest.CaptureFixture[str]) -> None:
    Path("job.py").write_text("def :\n")
    assert main(["run", "--", "job.py"]) == 1
    told = capsys.readouterr().err
    assert "SyntaxError: invalid syntax" in told
    assert "the script froze nothing" in told


@pytest.mark.usefixtures("freeze_in_script")
@pytest.mark.parametrize(("exit_with", "code"), [("7", 7), ("'bad luck'", "bad luck"), ("", None)])
def test_the_script_s_exit_code_is_kept(exit_with: str, code: int | str | None) -> None:
    Path("job.py").write_text(_FREEZING + f"raise SystemExit({exit_with})")
    with pytest.raises(SystemExit) as end:
        main(["run", "--", "job.py"])
    assert end.value.code == code
    assert fe.load("job-1.fztrace") == small_trace()


@pytest.mark.usefixtures("freeze_in_script")
def test_an_interrupted_script_leaves_its_traces() -> None:
    Path("job.py").write_text(_FREEZING + "raise KeyboardInterrupt")
    assert main(["run", "--", "job.py"]) == 130
    assert Path("job-1.fztrace").is_file()


_SIGTERM = "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n"


@pytest.mark.usefixtures("freeze_in_script")
def test_a_script_that_is_ended_by_sigterm_leaves_its_traces(capsys: pytest.CaptureFixture[str]) -> None:
    ending = f"try:\n  exec({_SIGTERM!r})\nexcept (Exception, KeyboardInterrupt):\n  pass\n"
    Path("job.py").write_text(_FREEZING + ending)
    with pytest.raises(SystemExit) as end:
        main(["run", "--", "job.py"])
    assert end.value.code == 143
    assert fe.load("job-1.fztrace") == small_trace()
    assert capsys.readouterr().err.startswith("freezer-ui: ended by SIGTERM\nfreezer-ui: job-1.fztrace: ")


@pytest.mark.usefixtures("freeze_in_script")
def test_a_script_s_own_handler_takes_the_signal(capsys: pytest.CaptureFixture[str]) -> None:
    own = "import signal\nsignal.signal(signal.SIGTERM, lambda *_: print('mine'))\n"
    Path("job.py").write_text(_FREEZING + own + _SIGTERM)
    assert main(["run", "--", "job.py"]) == 0
    assert capsys.readouterr().out == "mine\n"


@pytest.mark.usefixtures("freeze_in_script")
def test_ctrl_c_is_python_s_own_in_a_script() -> None:
    Path("job.py").write_text("import signal\nassert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n")
    assert main(["run", "--", "job.py"]) == 0


@pytest.mark.usefixtures("freeze_in_script")
@pytest.mark.parametrize(
    ("words", "message"),
    [(["run"], "there is no script to run"), (["run", "--", "nowhere.py"], "nowhere.py is not a file")],
)
def test_a_missing_script_or_folder_is_wrong_use(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert message in capsys.readouterr().err


@pytest.mark.usefixtures("freeze_in_script")
def test_each_trace_is_saved_when_its_freeze_has_ended(tmp_path: Path) -> None:
    Path("job.py").write_text(f"{_FREEZING}from pathlib import Path\nassert Path('job-1.fztrace').is_file()\n")
    assert main(["run", "--", "job.py"]) == 0


@pytest.mark.usefixtures("freeze_in_script")
def test_a_script_that_changes_its_folder_leaves_its_traces_where_it_was_started(tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()
    Path("job.py").write_text("import os\nos.chdir('away')\n" + _FREEZING)
    assert main(["run", "--", "job.py"]) == 0
    assert (tmp_path / "job-1.fztrace").is_file()


@pytest.mark.usefixtures("freeze_in_script")
def test_a_trace_that_cannot_be_saved_in_its_folder_is_saved_in_the_system_s(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    Path("job-1.fztrace").mkdir()
    Path("job.py").write_text(_FREEZING)
    assert main(["run", "--", "job.py"]) == 0
    (kept,) = tmp_path.glob("freezer-traces-*/job-1.fztrace")
    assert fe.load(kept) == small_trace()
    assert kept.parent.stat().st_mode & 0o777 == 0o700
    told = capsys.readouterr().err
    assert f"{kept}: " in told
    assert "It is here because of " in told
    assert "job-1.fztrace: cannot be written: it is not an ordinary file" in told


@pytest.mark.usefixtures("freeze_in_script")
def test_a_child_process_tells_once_that_its_trace_cannot_be_saved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with recorded_process(tmp_path / "nowhere", "job") as main_process:
        child = ProcessRecorder(tmp_path / "nowhere", Path("nowhere"), "job", 12, main_process.began_ns)
        monkeypatch.setattr("freeze_engine.captures.process_recorder.save", refuse_to_save)
        child.save(1, small_trace())
        child.save(1, small_trace())
    assert capsys.readouterr().err.count("freezer-ui: the disk is full; the disk is full\n") == 1
    assert main_process.unsaved
    assert list(tmp_path.glob("freezer-traces-*")) == []


def refuse_to_save(trace: fe.Trace, path: Path) -> None:
    raise fe.FreezerError("the disk is full")


@pytest.mark.usefixtures("freeze_in_script")
def test_traces_are_listed_before_the_script_ends_its_process_without_exit_handlers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    Path("job.py").write_text(_FREEZING + "import os, sys\nos._exit(6)\nsys.stderr.write('after')\n")
    assert main(["run", "--", "job.py"]) == 0
    assert ended == [6]
    told = capsys.readouterr().err.partition("after")[0]
    assert told.startswith("freezer-ui: the script called os._exit, so the recording of this process ends here\n")
    assert "job-1.fztrace: " in told


@pytest.mark.usefixtures("freeze_in_script")
def test_a_program_of_another_python_is_not_said_to_have_frozen_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "env" / "python"
    other.parent.mkdir()
    shutil.copy("/bin/echo", other)
    script = tmp_path / "env" / "pytest"
    script.write_text(f"#!{other}\n")
    script.chmod(0o755)
    for words in ([str(other), "-m", "pytest"], [str(script), "-q"]):
        assert main(["run", "--", *words]) == 0
        told = capsys.readouterr().err
        assert f"{other} is another Python than {sys.executable}. Install freezer-ui for that Python" in told
        assert "this Python froze nothing, so there is no trace; what the processes named above froze is not" in told


@pytest.mark.usefixtures("freeze_in_script")
def test_a_trace_that_cannot_be_saved_costs_neither_the_others_nor_the_exit_code(
    tmp_path: Path, captured: FakeCaptured, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    Path("job-1.fztrace").mkdir()
    Path("job.py").write_text(f"{_FREEZING}freeze(failed_trace())\nraise SystemExit(5)\n")
    with pytest.raises(SystemExit) as end:
        main(["run", "--", "job.py"])
    assert end.value.code == 5
    assert fe.load("job-2.fztrace") == failed_trace()
    assert "job-1.fztrace: cannot be written: it is not an ordinary file" in capsys.readouterr().err


@pytest.mark.usefixtures("freeze_in_script")
def test_reasons_for_missing_traces_are_named(captured: FakeCaptured, capsys: pytest.CaptureFixture[str]) -> None:
    captured.unrecorded = ("Gradients were on.",)
    Path("job.py").write_text("pass")
    assert main(["run", "--", "job.py"]) == 0
    told = capsys.readouterr().err
    assert "freezer-ui: Gradients were on.\n" in told
    assert "freezer-ui: no freeze was recorded, so there is no trace; the reason is above\n" in told
    assert "froze nothing" not in told  # a freeze that cannot be recorded is among the reasons


@pytest.mark.usefixtures("freeze_in_script")
@pytest.mark.parametrize(
    "words",
    [
        ["-m", "pack", "-v", "--x"],
        ["--", "-m", "pack", "-v", "--x"],
        ["--", "python", "-m", "pack", "-v", "--x"],
        ["--", sys.executable, "pack/__main__.py", "-v", "--x"],
        ["--", "./tool", "-v", "--x"],
        ["--", "pack", "-v", "--x"],
    ],
)
def test_modules_pythons_and_programs_of_this_python_run_in_this_process(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    Path("pack").mkdir()
    Path("pack/__init__.py").touch()
    source = _FREEZING + "import sys\nprint(__name__, sys.argv[1:])\n"
    Path("pack/__main__.py").write_text(source)
    Path("tool").write_text(f"#!{sys.executable}\n{source}")
    Path("tool").chmod(0o755)
    assert main(["run", *words]) == 0
    assert capsys.readouterr().out == "__main__ ['-v', '--x']\n"
    assert len(list(Path().glob("*-1.fztrace"))) == 1


@pytest.mark.usefixtures("freeze_in_script")
def test_another_program_runs_as_a_child_with_its_exit_code() -> None:
    Path("tool").write_text("#!/bin/sh\nexit 9\n")
    Path("tool").chmod(0o755)
    assert main(["run", "--", "./tool"]) == 9


@pytest.mark.usefixtures("freeze_in_script")
def test_a_program_on_standard_input_runs_as_a_child(capfd: pytest.CaptureFixture[str]) -> None:
    Path("program").write_text("import sys\nprint(sys.argv)\nsys.exit(7)\n")
    done = subprocess.run(
        [sys.executable, "-m", "viewer.cli", "run", "--", "-", "word"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        input=Path("program").read_text(),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert (done.returncode, done.stdout) == (7, "['-', 'word']\n"), done.stderr


class Broken:
    def write(self, text: str) -> int:
        raise KeyError(text)


@pytest.mark.usefixtures("freeze_in_script")
@pytest.mark.parametrize(
    "leaves", ["sys.stderr.close()", "sys.stderr = None", "sys.stderr = object()", "sys.stderr = Broken()"]
)
def test_a_script_that_takes_standard_error_away_keeps_its_exit_code_and_traces(
    leaves: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("job.py").write_text(f"from tests.unit.test_cli_run import Broken\n{_FREEZING}import sys\n{leaves}\n")
    with Path("errors").open("w") as errors, Path("real").open("w") as real:
        monkeypatch.setattr(sys, "stderr", errors)
        monkeypatch.setattr(sys, "__stderr__", real)
        assert main(["run", "job.py"]) == 0
    monkeypatch.undo()
    assert [path.name for path in tmp_path.glob("*.fztrace")] == ["job-1.fztrace"]
    assert ("job-1.fztrace" in (tmp_path / "real").read_text()) == (leaves.endswith("()") and "close" not in leaves)
