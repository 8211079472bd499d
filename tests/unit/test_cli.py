from __future__ import annotations

import contextlib
import io
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import freeze_engine as fe
from freeze_engine import worker
from freeze_engine.worker import JobEnded, JobEvent, JobPreview, RecordRequest
from tests.builders import empty_trace, failed_trace, small_trace
from viewer.cli import main
from viewer.cli.command import COMMAND_NAMES
from viewer.cli.command_line import COMMANDS
from viewer.cli.reference import reference
from viewer.text.stats import stats_text
from viewer.text.summary import summary_lines

_ROOT = Path(__file__).parents[2]


@dataclass
class FakeEngine:
    """Stands for the process that records; keeps what it was asked, and ends as it is told.

    Attributes:
        ended: how the recording ends; the trace of that name is written then, unless there is none.
        trace: what is written.
        events: what is told before the end.
        printed: what the recording prints.
        signals: what comes while it is waited for, one each time.
        calls: what was done with it meanwhile.
        hangs: how often it is waited for in vain after that.
    """

    ended: JobEnded = field(default_factory=lambda: JobEnded("finished", Path("net.fztrace"), "done"))
    trace: fe.Trace = field(default_factory=small_trace)
    events: tuple[JobEvent, ...] = (JobPreview(Path("net.fztrace")),)
    printed: tuple[tuple[str, bytes], ...] = ()
    signals: list[signal.Signals] = field(default_factory=list)
    asked: list[RecordRequest] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    hangs: int = 0

    def __call__(
        self,
        request: RecordRequest,
        on_event: Callable[[JobEvent], None],
        on_output: Callable[[Any, bytes], None],
    ) -> FakeEngine:
        self.asked.append(request)
        self._on_event, self._on_output = on_event, on_output
        return self

    def start(self) -> None:
        for each in self.printed:
            self._on_output(*each)
        for event in self.events:
            self._on_event(event)

    def wait(self, timeout_s: float | None = None) -> JobEnded | None:
        if self.signals:
            signal.raise_signal(self.signals.pop(0))
            return None
        if timeout_s is not None and self.hangs:
            self.hangs -= 1
            return None
        if self.ended.trace is not None:
            self.ended = replace(self.ended, trace=self.asked[-1].output)
            fe.save(self.trace, self.asked[-1].output)
        return self.ended

    def interrupt(self) -> None:
        self.calls.append("interrupt")

    def cancel(self) -> None:
        self.calls.append("cancel")


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeEngine:
    fake = FakeEngine()
    monkeypatch.setattr(worker, "RecordingProcess", fake, raising=False)
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
    monkeypatch.setitem(sys.modules, "viewer.report", fake)
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


def test_a_misspelt_command_is_looked_for_among_all() -> None:
    assert tuple(command.name for command in COMMANDS) == COMMAND_NAMES


def test_the_command_can_be_run_as_a_module() -> None:
    assert "record" in _python("-m", "viewer.cli", "--help").stdout


@pytest.mark.parametrize(
    ("to", "code", "said"),
    [
        ("> /dev/full", 2, "freezer-ui: the result cannot be written to standard output: No space left on device\n"),
        (">&-", 0, ""),
        ("2>&- > /dev/null", 0, ""),
    ],
)
def test_output_that_cannot_be_written(small_file: Path, to: str, code: int, said: str) -> None:
    command = f"{shlex.quote(sys.executable)} -m viewer.cli stats {shlex.quote(str(small_file))} {to}"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=_ROOT, check=False)
    assert (ended.returncode, ended.stderr) == (code, said)


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["check", "--help"]])
def test_help_that_cannot_be_written(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    errors = io.StringIO()
    monkeypatch.setattr("sys.stderr", errors)
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr("sys.stdout", full)
        monkeypatch.setattr("viewer.cli.terminal.leave_output", lambda: None)
        assert main(words) == 2
        monkeypatch.setattr("sys.stdout", sys.__stdout__)
        with contextlib.suppress(OSError):
            full.close()
    assert errors.getvalue() == (
        "freezer-ui: the result cannot be written to standard output: No space left on device\n"
    )


@pytest.mark.parametrize(
    "words", [["{}"], ["stats", "{}"], ["report", "x.fztrace", "-o", "{}"], ["record", "{}"], ["run", "--", "{}"]]
)
def test_a_path_that_no_system_takes_is_one_line_and_exit_2(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    long = "x" * 300
    assert main([word.format(long) for word in words]) == 2
    said = capsys.readouterr().err
    assert "File name too long" in said
    assert "Traceback" not in said


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
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
        (["record", "m.pt", "-o", "/dev/null"], "/dev/null is a device or a pipe; give the name of an ordinary file"),
        (["run", "-o", __file__, "--", "x.py"], "is not a folder"),
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


def test_traceback_is_shown_only_with_its_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
    places = ["--device", "cuda:0", "-o", "out.fztrace", "--limit", "90", "--memory", "4G", "--check", "stale_weights"]
    passes = ["--without", "RemoveDropout", "--without", "FrozenConcatLinear", "--ablation"]
    words = ["record", "pkg:make", *inputs, *names, *switches, *places, *passes]
    assert main(words) == 0
    assert engine.asked == [
        RecordRequest(
            model="pkg:make",
            output=Path("out.fztrace"),
            inputs=("1x3", "flag=bool:true"),
            options=fe.TorchScriptOptions(
                ("a.b", "c", "d"), False, True, ("extra",), ("RemoveDropout", "FrozenConcatLinear")
            ),
            measure=fe.Measure(latency=False, memory=False),
            via="trace",
            device="cuda:0",
            call="freezer-ui " + " ".join(words),
            name="make",
            limit_s=90.0,
            memory_bytes=4 << 30,
            checks=("stale_weights",),
            ablation=True,
            must_bind=True,
        )
    ]
    assert capsys.readouterr().out == (
        "out.fztrace: Recorded 10 passes, 5 changed the graph.\n"
        + "\n".join(summary_lines(fe.summarize(engine.trace)))
        + "\nLook at it: freezer-ui out.fztrace\n"
        "round_trip: failed. The loaded module gives other numbers.\n"
    )


@pytest.mark.parametrize(
    ("model", "name"), [("example:net", "net"), ("pkg.mod:Nets.make", "make"), ("some/net.v2.pt", "net.v2")]
)
def test_record_falls_back_on_what_the_model_brings(model: str, name: str, engine: FakeEngine) -> None:
    Path("some").mkdir()
    Path("some/net.v2.pt").touch()
    assert main(["record", model]) == 0
    [request] = engine.asked
    assert (request.model, request.name, request.output) == (model, name, Path(f"{name}.fztrace"))
    assert (request.inputs, request.via, request.options) == ((), None, fe.TorchScriptOptions())


def test_recording_without_inputs_measures_nothing_and_states_it(
    engine: FakeEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.events = ()
    assert main(["record", "net.pt"]) == 0
    assert "nothing was measured; give them with --input" in capsys.readouterr().err
    assert main(["record", "net.pt", "--no-measure"]) == 0
    assert engine.asked[-1].measure is None
    assert "nothing was measured" not in capsys.readouterr().err


def test_output_of_the_model_keeps_its_stream(engine: FakeEngine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.printed = (("stdout", "grüße\n".encode()[:3]), ("stderr", b"careful\n"), ("stdout", "grüße\n".encode()[3:]))
    assert main(["record", "net.pt", "-o", "net.fztrace"]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("grüße\nnet.fztrace: Recorded 10 passes, ")
    assert told.err == "careful\n"


def test_record_can_write_the_report_too(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    written = _fake_reports(monkeypatch)
    assert main(["record", "net.pt", "--report", "net.html"]) == 0
    assert written == [(small_trace(), Path("net.html"))]


def test_wrong_input_is_refused_before_the_model_is_loaded(
    engine: FakeEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["record", "net.pt", "--input", "three by four"]) == 2
    assert "'three by four' is not a shape" in capsys.readouterr().err
    assert engine.asked == []


def test_recording_without_torch_is_refused() -> None:
    code = "import sys\nsys.modules['torch'] = None\nfrom viewer.cli import main\nsys.exit(main(['record', 'net.pt']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=_ROOT, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("freezer-ui: torch is not installed here")


def test_a_refused_recording_is_wrong_use(engine: FakeEngine, capsys: pytest.CaptureFixture[str]) -> None:
    text = "MODEL 'pkg:make': its own code raised ValueError: no weights\nsee there"
    engine.ended = JobEnded("failed", None, "no weights", error=text, traceback="…", is_refusal=True)
    assert main(["record", "pkg:make"]) == 2
    assert capsys.readouterr().err == f"freezer-ui: {text}\n"


@pytest.mark.parametrize(
    ("error", "died_in", "words", "remedy"),
    [
        (
            "AttributeError: 'RecursiveScriptModule' object has no attribute 'training'",
            "freezing",
            [],
            "frozen already",
        ),
        ("RuntimeError: Unknown name: foo", "Inline", ["--preserve", "foo"], "names of the model's own attributes"),
        ("RuntimeError: … only implemented for modules in eval mode. …", "freezing", [], "Call model.eval()"),
    ],
)
def test_common_errors_name_their_remedy(
    error: str,
    died_in: str,
    words: list[str],
    remedy: str | None,
    engine: FakeEngine,
    capsys: pytest.CaptureFixture[str],
) -> None:
    engine.ended = JobEnded("failed", None, "short", died_in, error=error)
    assert main(["record", "net.pt", *words]) == 3
    first, *advised, last = capsys.readouterr().err.splitlines()
    assert (first, last) == (f"freezer-ui: the freeze failed: {error}", "no trace could be kept of it")
    assert [remedy in line for line in advised] == ([] if remedy is None else [True])


@pytest.mark.parametrize(
    ("conversion", "words", "remedy"),
    [
        ("scripted", [], "Try --via trace: tracing takes most of what scripting refuses, and needs inputs."),
        ("traced", ["--via", "trace"], "Try --via script: scripting reads the source, and runs nothing."),
    ],
)
def test_conversion_error_is_not_reported_as_failed_freeze(
    conversion: Any, words: list[str], remedy: str, engine: FakeEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    said = f"The model cannot be {conversion}: no lambda, at line 3 of net.py."
    engine.ended = JobEnded("failed", None, said, "scripting", error="no lambda:\n  here", conversion=conversion)
    assert main(["record", "net.pt", *words]) == 3
    assert capsys.readouterr().err.splitlines() == [
        f"freezer-ui: the{said[3:]}",
        "no lambda:",
        "  here",
        remedy,
        "no trace could be kept of it",
    ]


def test_model_that_refuses_its_inputs_is_reported(engine: FakeEngine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.ended = JobEnded("finished", Path("net.fztrace"), "…", unmeasured="not measured: forward() is missing mask")
    assert main(["record", "net.pt", "--input", "1x3"]) == 4
    assert capsys.readouterr().err.endswith("freezer-ui: recorded, not measured: forward() is missing mask\n")


def test_one_step_is_counted_as_one(engine: FakeEngine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.trace = replace(empty_trace(), steps=small_trace().steps[:3])
    assert main(["record", "net.pt", "-o", "net.fztrace"]) == 0
    assert capsys.readouterr().out.startswith("net.fztrace: Recorded 1 pass, 1 changed the graph.\n")


def test_a_refusal_after_the_freeze_keeps_the_trace(engine: FakeEngine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.ended = JobEnded("failed", Path("a"), "…", error="There is no device cuda.", is_refusal=True)
    assert main(["record", "net.pt", "-o", "net.fztrace"]) == 2
    told = capsys.readouterr().err
    assert "net.fztrace holds what was recorded until then: 12 steps" in told
    assert told.endswith("freezer-ui: There is no device cuda.\n")


@pytest.mark.parametrize(
    ("ended", "text"),
    [
        (
            JobEnded("failed", Path("a"), "short", "Inline", error="RuntimeError: Unhandled\nnode kind"),
            "the freeze failed: RuntimeError: Unhandled\nnode kind",
        ),
        (
            JobEnded("crashed", Path("a"), "ended by SIGSEGV, in Inline", "Inline"),
            "the recording crashed: ended by SIGSEGV, in Inline",
        ),
        (
            JobEnded("timed_out", Path("a"), "not done after 9 s, the limit, in Inline", "Inline"),
            "the recording was ended: not done after 9 s, the limit, in Inline",
        ),
        (
            JobEnded("over_limit", Path("a"), "it took 2 GiB of memory, in Inline", "Inline"),
            "the recording was ended: it took 2 GiB of memory, in Inline\n"
            "Give it more with --memory, or let it do less: smaller inputs, --no-measure, --no-memory, fewer checks.",
        ),
    ],
)
def test_a_failed_freeze_exits_with_3_and_leaves_what_was_recorded(
    ended: JobEnded, text: str, engine: FakeEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.ended, engine.trace = ended, failed_trace()
    assert main(["record", "net.pt", "-o", "partial.fztrace"]) == 3
    kept = "partial.fztrace holds what was recorded until then: 4 steps"
    assert capsys.readouterr().err == f"freezer-ui: {text}\n{kept}\n"


def test_a_partial_trace_is_reported_too(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    written = _fake_reports(monkeypatch)
    engine.ended, engine.trace = JobEnded("crashed", Path("a"), "ended by SIGSEGV"), failed_trace()
    assert main(["record", "net.pt", "--report", "net.html"]) == 3
    assert written == [(failed_trace(), Path("net.html"))]


def test_the_traceback_of_torch_s_own_error_can_be_seen(engine: FakeEngine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.ended = JobEnded(
        "failed", None, "…", error="RuntimeError: no", traceback="Traceback:\n  in freeze\nRuntimeError: no\n"
    )
    assert main(["record", "net.pt", "--traceback"]) == 3
    told = capsys.readouterr().err
    assert told.startswith("Traceback:\n  in freeze\nRuntimeError: no\nfreezer-ui: the freeze failed: RuntimeError: no")
    assert "no trace could be kept" in told
    assert main(["record", "net.pt"]) == 3
    assert "Traceback" not in capsys.readouterr().err


ENDS = [
    (signal.SIGINT, 130, "interrupted"),
    (signal.SIGTERM, 143, "ended by SIGTERM"),
    (signal.SIGHUP, 129, "ended by SIGHUP"),
]


@pytest.mark.parametrize(("number", "code", "words"), ENDS)
def test_an_interrupted_recording_is_kept(
    number: signal.Signals, code: int, words: str, engine: FakeEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.ended, engine.signals = JobEnded("cancelled", Path("a"), "cancelled"), [number]
    before = [signal.getsignal(each) for each, _, _ in ENDS]
    assert main(["record", "net.pt", "-o", "net.fztrace"]) == code
    assert [signal.getsignal(each) for each, _, _ in ENDS] == before
    assert engine.calls == ["interrupt"]
    told = capsys.readouterr().err
    kept = "freezer-ui: cancelled; net.fztrace holds what was recorded until then: 12 steps\n"
    assert told == f"{kept}freezer-ui: {words}\n"


WAITING = (
    "cancelling; waiting for torch to finish what it is doing; Ctrl-C again ends it now, with the steps until then"
)


@pytest.mark.parametrize(
    ("interrupts", "calls", "said"),
    [
        (
            1,
            ["interrupt"],
            WAITING,
        ),
        (2, ["interrupt", "cancel"], "it keeps the steps until then; Ctrl-C again ends it without them"),
        (3, ["interrupt", "cancel", "cancel"], None),
    ],
)
def test_an_interrupt_that_torch_does_not_see_can_be_repeated(
    interrupts: int,
    calls: list[str],
    said: str | None,
    engine: FakeEngine,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("viewer.cli.record._PATIENCE_S", 0.0)
    engine.ended, engine.hangs = JobEnded("cancelled", None, "cancelled"), 3
    engine.signals = [signal.SIGINT] * interrupts
    assert main(["record", "net.pt"]) == 130
    assert engine.calls == calls
    told = ["" if said is None else f"freezer-ui: {said}\n", "freezer-ui: cancelled; no trace could be kept of it\n"]
    assert capsys.readouterr().err == f"{''.join(told)}freezer-ui: interrupted\n"


def test_end_before_the_interrupt_is_reported_as_it_was(engine: FakeEngine) -> None:
    engine.signals = [signal.SIGINT]
    assert main(["record", "net.pt", "-o", "net.fztrace"]) == 0


def test_a_signal_that_nobody_repeats_ends_what_torch_does_not_heed(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("viewer.cli.record._PATIENCE_OF_SYSTEMS_S", 0.0)
    engine.ended, engine.hangs = JobEnded("cancelled", None, "cancelled in Inline"), 3
    engine.signals = [signal.SIGTERM]
    assert main(["record", "net.pt"]) == 143
    assert engine.calls == ["interrupt", "cancel"]
    assert capsys.readouterr().err.splitlines()[-1] == "freezer-ui: ended by SIGTERM"


def test_closed_pipe_raises_no_error(small_file: Path) -> None:
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
    assert b"1\\xd71\\xd78\\xd78" in buffer.getvalue()
