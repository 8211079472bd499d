from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

import freeze_engine as fe
from tests.builders import failed_trace, small_trace
from viewer.cli import main


@dataclass(frozen=True)
class FakeCaptured:
    traces: list[fe.Trace]


@pytest.fixture
def freeze_in_script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[fe.Trace], None]:
    """Makes `capture` one that collects what a script hands to the returned function, known to it as ``freeze``."""
    captured = FakeCaptured([])

    @contextmanager
    def capture() -> Iterator[FakeCaptured]:
        yield captured

    monkeypatch.setattr(fe, "capture", capture, raising=False)
    monkeypatch.setattr("builtins.freeze", captured.traces.append, raising=False)
    monkeypatch.chdir(tmp_path)
    return captured.traces.append


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
def test_a_script_that_cannot_be_parsed_is_told_as_python_does(capsys: pytest.CaptureFixture[str]) -> None:
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
    [(["run"], "there is no script to run"), (["run", "--", "nowhere.py"], "nowhere.py is no file")],
)
def test_a_missing_script_or_folder_is_wrong_use(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert message in capsys.readouterr().err
