from __future__ import annotations

import io
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import freeze_engine as fe
from tests.builders import failed_trace, small_trace
from viewer.cli import main
from viewer.cli.reference import reference
from viewer.stats import stats_text

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class FakeOptions:
    fields: dict[str, Any]


@dataclass
class FakeEngine:
    """Stands for everything that needs torch; keeps what it was asked."""

    model: Any
    trace: fe.Trace = field(default_factory=small_trace)
    error: BaseException | None = None
    partial: fe.Trace | None = None
    asked: dict[str, Any] = field(default_factory=dict)

    def load_model(self, spec: str, *, map_location: str | None) -> Any:
        self.asked |= {"spec": spec, "map_location": map_location}
        if isinstance(self.model, Exception):
            raise self.model
        return self.model

    def make_inputs(self, requests: list[Any], *, device: str) -> str:
        return f"{len(requests)} inputs on {device}"

    def record(self, module: Any, inputs: Any, **options: Any) -> Any:
        self.asked |= {"module": module, "inputs": inputs, **options}
        if self.error is not None:
            raise self.error
        return FakeRecording(self.trace)


@dataclass(frozen=True)
class FakeModel:
    module: str = "module"
    inputs: str | None = "its own inputs"
    name: str = "net"
    via: str = "script"
    preserved_attrs: tuple[str, ...] = ()


@dataclass(frozen=True)
class FakeRecording:
    trace: fe.Trace


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeEngine:
    fake = FakeEngine(FakeModel())
    for name in ("load_model", "make_inputs", "record"):
        monkeypatch.setattr(fe, name, getattr(fake, name), raising=False)
    monkeypatch.setattr(fe, "partial_trace", lambda error: fake.partial, raising=False)
    for name in ("TorchScriptOptions", "Measure"):
        monkeypatch.setattr(fe, name, lambda **fields: FakeOptions(fields), raising=False)
    monkeypatch.chdir(tmp_path)
    return fake


@pytest.fixture
def small_file(tmp_path: Path) -> Path:
    fe.save(small_trace(), tmp_path / "small.fztrace")
    return tmp_path / "small.fztrace"


def _fake_reports(monkeypatch: pytest.MonkeyPatch) -> list[tuple[fe.Trace, Path]]:
    """Returns the list of the reports that are written from now on."""
    written: list[tuple[fe.Trace, Path]] = []
    fake = SimpleNamespace(write_report=lambda trace, path: written.append((trace, path)))
    monkeypatch.setitem(sys.modules, "viewer.report", fake)  # type: ignore[arg-type]
    return written


def _python(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=_ROOT, check=True)


@pytest.mark.parametrize("words", [[], ["record"], ["run"], ["report"], ["stats"]])
def test_help_is_printed_without_torch_or_panel(words: list[str]) -> None:
    code = (
        "import sys\nfrom viewer.cli import main\n"
        f"try: main({[*words, '--help']!r})\nexcept SystemExit as end: assert end.code == 0\n"
        "heavy = {'torch', 'panel', 'bokeh', 'tornado', 'numpy', 'freeze_engine.trace'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    assert _python("-c", code).stdout.startswith(f"usage: {' '.join(['freezer-ui', *words])} ")


def test_the_command_can_be_run_as_a_module() -> None:
    assert "record" in _python("-m", "viewer.cli", "--help").stdout


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out.startswith("freezer-ui ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["stats"], "required: TRACE"),
        (["record"], "required: MODEL"),
        (["record", "m.pt", "--via", "magic"], "invalid choice: 'magic'"),
        (["record", "m.pt", "-o", "no/such/folder/x.fztrace"], "there is no folder no/such/folder"),
        (["report", "x.fztrace", "-o", "."], ". is a folder; give the name of a file"),
        (["run", "-o", __file__, "--", "x.py"], "is no folder"),
    ],
)
def test_wrong_arguments_exit_with_2(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(words)
    assert message in capsys.readouterr().err


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="argparse lays out its help differently from 3.13 on")
def test_the_reference_is_up_to_date() -> None:
    assert (_ROOT / "docs" / "cli.md").read_text("utf-8") == reference(), "python -m viewer.cli.reference > docs/cli.md"


def test_stats_prints_the_trace(small_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", str(small_file)]) == 0
    assert capsys.readouterr().out == stats_text(small_trace())


def test_a_missing_trace_is_one_line_and_exit_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", str(tmp_path / "missing.fztrace")]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert told.err.startswith("freezer-ui: ")
    assert "missing.fztrace" in told.err


def test_the_traceback_is_shown_only_when_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", "-v", str(tmp_path / "missing.fztrace")]) == 2
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_report_is_written_beside_the_trace(
    small_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written = _fake_reports(monkeypatch)
    expected = small_file.with_suffix(".html")
    assert main(["report", str(small_file)]) == 0
    assert main(["report", str(small_file), "-o", str(small_file.parent / "other.html")]) == 0
    assert written == [(small_trace(), expected), (small_trace(), small_file.parent / "other.html")]
    assert capsys.readouterr().out.splitlines()[0] == str(expected)


def test_record_asks_for_what_the_options_say(engine: FakeEngine, capsys: pytest.CaptureFixture[str]) -> None:
    inputs = ["--input", "1x3", "--input", "flag=bool:true"]
    names = ["--preserve", "a.b", "c", "--preserve", "d", "--other-method", "extra"]
    switches = ["--no-optimize-numerics", "--optimize-for-inference", "--no-latency", "--no-memory", "--via", "trace"]
    places = ["--device", "cuda:0", "-o", "out.fztrace"]
    words = ["record", "pkg:make", *inputs, *names, *switches, *places]
    assert main(words) == 0
    assert engine.asked == {
        "spec": "pkg:make",
        "map_location": "cuda:0",
        "module": "module",
        "inputs": "2 inputs on cuda:0",
        "backend": "torchscript",
        "options": FakeOptions(
            {
                "preserved_attrs": ("a.b", "c", "d"),
                "optimize_numerics": False,
                "optimize_for_inference": True,
                "other_methods": ("extra",),
            }
        ),
        "measure": FakeOptions({"latency": False, "numerics": True, "memory": False}),
        "via": "trace",
        "progress": None,
        "name": "net",
        "call": "freezer-ui " + " ".join(words),
    }
    assert fe.load("out.fztrace") == small_trace()
    assert capsys.readouterr().out == "out.fztrace: 12 steps, of which 5 changed something\n"


def test_record_falls_back_on_what_the_model_brings(engine: FakeEngine) -> None:
    engine.model = FakeModel(via="trace", preserved_attrs=("version",))
    assert main(["record", "example:net"]) == 0
    assert (engine.asked["inputs"], engine.asked["via"]) == ("its own inputs", "trace")
    assert engine.asked["options"].fields["preserved_attrs"] == ("version",)
    assert Path("net.fztrace").is_file()


def test_without_inputs_nothing_is_measured_and_that_is_told(
    engine: FakeEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.model = FakeModel(inputs=None)
    assert main(["record", "net.pt"]) == 0
    assert engine.asked["measure"] is None
    assert "nothing is measured; give them with --input" in capsys.readouterr().err
    assert main(["record", "net.pt", "--no-measure"]) == 0
    assert "nothing is measured" not in capsys.readouterr().err


def test_record_can_write_the_report_too(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    written = _fake_reports(monkeypatch)
    assert main(["record", "net.pt", "--report", "net.html"]) == 0
    assert written == [(small_trace(), Path("net.html"))]


def test_a_wrong_input_is_told_before_the_model_is_loaded(
    engine: FakeEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["record", "net.pt", "--input", "three by four"]) == 2
    assert "'three by four' is not a shape" in capsys.readouterr().err
    assert engine.asked == {}


def test_recording_without_torch_is_told() -> None:
    code = "import sys\nsys.modules['torch'] = None\nfrom viewer.cli import main\nsys.exit(main(['record', 'net.pt']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=_ROOT, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("freezer-ui: torch is not installed here")


def test_an_error_of_the_model_s_own_code_is_wrong_use(engine: FakeEngine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.model = ValueError("no weights here")
    assert main(["record", "pkg:make"]) == 2
    assert "MODEL 'pkg:make': its own code raised ValueError: no weights here" in capsys.readouterr().err


def test_a_failed_freeze_exits_with_3_and_leaves_what_was_recorded(
    engine: FakeEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.error, engine.partial = RuntimeError("Unhandled node kind"), failed_trace()
    assert main(["record", "net.pt", "-o", "partial.fztrace"]) == 3
    assert fe.load("partial.fztrace") == failed_trace()
    told = capsys.readouterr().err
    assert "the freeze failed: RuntimeError: Unhandled node kind" in told
    assert "partial.fztrace holds what was recorded until then: 4 steps" in told
    assert "Traceback" not in told


def test_the_traceback_of_torch_s_own_error_can_be_seen(engine: FakeEngine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.error = RuntimeError("Unhandled node kind")
    assert main(["record", "net.pt", "--traceback"]) == 3
    told = capsys.readouterr().err
    assert "in record\n    raise self.error" in told
    assert "no trace could be kept" in told
    assert not Path("net.fztrace").exists()


def test_own_errors_while_recording_are_wrong_use(engine: FakeEngine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.error, engine.partial = fe.MeasureError("There is no device cuda."), small_trace()
    assert main(["record", "net.pt"]) == 2
    assert "freezer-ui: There is no device cuda." in capsys.readouterr().err
    assert fe.load("net.fztrace") == small_trace()


def test_an_interrupted_recording_is_kept(engine: FakeEngine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.error, engine.partial = KeyboardInterrupt(), small_trace()
    assert main(["record", "net.pt"]) == 130
    assert fe.load("net.fztrace") == small_trace()
    assert "interrupted" in capsys.readouterr().err


def test_a_reader_that_has_enough_is_no_error(small_file: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "viewer.cli", "stats", str(small_file)]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, cwd=_ROOT, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_text_that_the_terminal_cannot_encode_is_escaped(monkeypatch: pytest.MonkeyPatch, small_file: Path) -> None:
    buffer = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(buffer, encoding="ascii"))
    assert main(["stats", str(small_file)]) == 0
    assert b"0.88\\xd7" in buffer.getvalue()
