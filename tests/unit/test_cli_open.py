"""``freezer-ui`` without a subcommand: what it opens, with a server that only keeps what it was asked."""

from __future__ import annotations

import os
import pickle
import socket
import sys
import webbrowser
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

import freeze_engine as fe
from freeze_engine.worker import RecordRequest
from tests.builders import small_trace
from tests.existing import FROZEN
from viewer.cli import main
from viewer.dashboard.listening_socket import DEFAULT_PORT, listen, port_of
from viewer.dashboard.upload_store import UploadLimits

TOKEN = "a-token-of-enough-letters"


@dataclass
class FakeServer:
    """Stands for the server; keeps what it was started with."""

    options: Any = None
    port: int = 0
    recorded: list[tuple[RecordRequest, str]] = field(default_factory=list)
    prepared: tuple[Path, ...] = ()

    def run(self, options: Any, listening: socket.socket, signals: Any, begin: Callable[[Any], object]) -> None:
        self.options, self.port = options, port_of(listening)
        listening.close()
        jobs = SimpleNamespace(record=lambda request, job: self.recorded.append((request, job)))
        begin(SimpleNamespace(jobs=jobs, prepare=self.prepare))

    def prepare(self, paths: tuple[Path, ...], make: Callable[[], object]) -> None:
        self.prepared = paths


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeServer:
    fake = FakeServer()
    module = SimpleNamespace(run=fake.run, ServerOptions=lambda *values: values)
    monkeypatch.setitem(sys.modules, "viewer.dashboard.server", module)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("FREEZER_UI_TOKEN", raising=False)
    monkeypatch.chdir(tmp_path)
    return fake


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "small.fztrace"
    fe.save(small_trace(), path)
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "net.pt"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("constants.pkl", "data.pkl"):
            archive.writestr(f"net/{name}", b"")
    return path


def _opened(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, list[str]]:
    """Runs the command line, and returns the arguments of the link that it prints."""
    assert main(["--no-browser", *words]) == 0
    return parse_qs(urlsplit(capsys.readouterr().out.strip()).query)


def test_without_arguments_it_opens_the_first_page(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--no-browser", "--token", TOKEN]) == 0
    told = capsys.readouterr()
    assert told.out == f"http://127.0.0.1:{server.port}/?token={TOKEN}\n"
    assert "Ctrl-C ends the server" in told.err
    assert server.options[:5] == ("127.0.0.1", TOKEN, UploadLimits(4 << 30, 16 << 30), 1, None)


def test_each_start_makes_a_new_token(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = _opened(capsys)["token"], _opened(capsys)["token"]
    assert first != second
    assert len(first[0]) >= 40


def test_the_token_can_come_from_the_environment(
    server: FakeServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FREEZER_UI_TOKEN", TOKEN)
    assert _opened(capsys) == {"token": [TOKEN]}
    assert "FREEZER_UI_TOKEN" not in os.environ
    monkeypatch.setenv("FREEZER_UI_TOKEN", "short")
    assert main(["--no-browser"]) == 2
    assert "FREEZER_UI_TOKEN: a token has 16 to 200" in capsys.readouterr().err


def test_the_link_is_opened_in_the_browser(
    server: FakeServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(
        "threading.Thread", lambda target, args, daemon: SimpleNamespace(start=lambda: target(*args)), raising=True
    )
    assert main(["--token", TOKEN]) == 0
    [link], printed = opened, capsys.readouterr().out.strip()
    launch = server.options[4]
    assert link == printed.replace(f"token={TOKEN}", f"launch={launch}")
    assert len(launch) >= 40


def test_a_trace_is_opened_and_made_ready(server: FakeServer, trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _opened(capsys, "small.fztrace", "--token", TOKEN) == {"trace": [str(trace)], "token": [TOKEN]}
    assert (server.prepared, server.recorded) == ((trace,), [])


def test_a_frozen_file_is_read_and_its_trace_opened(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    query = _opened(capsys, str(FROZEN), "--token", TOKEN)
    (read,) = server.prepared
    assert query == {"trace": [str(read)], "token": [TOKEN]}
    assert (fe.load(read).origin, server.recorded) == ("frozen_file", [])


def test_two_traces_stand_side_by_side(server: FakeServer, trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = trace.with_name("other name.fztrace")
    other.write_bytes(trace.read_bytes())
    query = _opened(capsys, str(trace), "--token", TOKEN, str(other))
    assert query == {"compare": [str(trace)], "with": [str(other)], "token": [TOKEN]}
    assert server.prepared == (trace, other)


def test_a_folder_is_opened(server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "record").mkdir()
    assert _opened(capsys, "./record/", "--token", TOKEN) == {"folder": [str(tmp_path / "record")], "token": [TOKEN]}


def test_a_model_is_recorded_at_once(server: FakeServer, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = [
        "--input",
        "1x3",
        "--preserve",
        "a.b",
        "--no-memory",
        "--via",
        "trace",
        "--limit",
        "60",
        "--seconds",
        "3",
        "--threads",
        "2",
        "--input-sets",
        "5",
    ]
    query = _opened(capsys, "net.pt", *options, "--token", TOKEN)
    [(request, job)] = server.recorded
    assert query == {"job": [job], "token": [TOKEN]}
    assert request == RecordRequest(
        model=str(model),
        output=request.output,
        inputs=("1x3",),
        options=fe.TorchScriptOptions(preserved_attrs=("a.b",)),
        measure=fe.Measure(memory=False, seconds=3.0, threads=2, input_sets=5),
        via="trace",
        call=f"freezer-ui --no-browser net.pt {' '.join(options)}",
        name="net",
        trusted=True,
        limit_s=60.0,
    )
    assert request.output.parent == model.parent / "data" / "freezer-ui" / "recordings"
    assert request.output.name.startswith("net-")


def test_a_model_is_compiled_as_asked(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "--backend",
        "inductor",
        "--mode",
        "reduce-overhead",
        "--no-dynamic",
        "--no-max-autotune",
        "--fresh-caches",
    ]
    _opened(capsys, "example:counter", *words)
    [(request, _)] = server.recorded
    expected = fe.InductorOptions(mode="reduce-overhead", dynamic=False, max_autotune=False, force_disable_caches=True)
    assert (request.backend, request.options) == ("inductor", expected)


@pytest.mark.parametrize("words", [["--token", TOKEN], [f"--token={TOKEN}"], ["--tok", TOKEN], [f"--to={TOKEN}"]])
def test_the_token_is_in_no_trace(words: list[str], server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert _opened(capsys, *words, "example:resnet18")["token"] == [TOKEN]
    [(request, _)] = server.recorded
    assert request.call == "freezer-ui --no-browser example:resnet18"


@pytest.mark.parametrize(("spec", "name"), [("example:resnet18", "resnet18"), ("package.module:Nets.build", "build")])
def test_examples_and_factories_are_recorded(
    spec: str, name: str, server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    _opened(capsys, spec)
    [(request, _)] = server.recorded
    assert (request.model, request.name, request.trusted) == (spec, name, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([""], "'' names nothing to open; is a variable empty? For this folder, give ."),
        (["thaw"], "'thaw' is not a file, folder, example:NAME, package.module:factory or command"),
        (["rekord"], "did you mean freezer-ui record?"),
        (["bisekt", "example:counter"], "did you mean freezer-ui bisect?"),
        (["resnet18"], "did you mean example:resnet18?"),
        (["missing.fztrace"], "missing.fztrace; check the name"),
        (["smal.fztrace"], "smal.fztrace; did you mean small.fztrace?"),
        (["no/such/net.pt"], "no/such/net.pt; there is not even a folder no/such"),
        (
            ["state.pt"],
            "state.pt is a pickle (torch.save of a module, a state dict or a tensor)",
        ),
        (
            ["legacy.pt"],
            "legacy.pt is a pickle (torch.save of a module, a state dict or a tensor)",
        ),
        (["example:resnet8"], "there is no example 'resnet8'. Did you mean resnet18 or resnet50? The examples are"),
        (["example:no"], "there is no example 'no'. The examples are resnet18, "),
        (["text.pt"], "text.pt is a text file, not a saved model. Give the model saved as TorchScript"),
        (["small.fztrace", "net.pt"], "give one TRACE, MODEL or FOLDER, or two TRACEs"),
        (["small.fztrace"] * 3, "give one TRACE, MODEL or FOLDER, or two TRACEs"),
        (["small.fztrace", "--input", "1x3"], "--input is for recording, and there is no MODEL to record"),
        (["net.pt", "--input", "three by four"], "'three by four' is not a shape"),
        (["net.pt", "--backend", "inductor"], "A TorchScript file cannot be compiled"),
        (["net.pt", "--fullgraph"], "--fullgraph: for --backend inductor only, and this is --backend torchscript"),
        (["small.fztrace", "--mode", "default"], "--mode is for recording, and there is no MODEL to record"),
        (["--host", "192.0.2.1", "--port", "7007"], "cannot listen on 192.0.2.1, port 7007"),
    ],
)
def test_file_that_cannot_be_opened_prints_one_line_and_exits_with_2(
    words: list[str], message: str, server: FakeServer, trace: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (trace.parent / "text.pt").write_text("hello")
    (trace.parent / "legacy.pt").write_bytes(pickle.dumps(0x1950A86A20F9469CFC6C, protocol=2) + b"\x80\x02")
    with zipfile.ZipFile(trace.parent / "state.pt", "w") as archive:
        archive.writestr("state/data.pkl", b"")
    assert main(["--no-browser", *words]) == 2
    told = capsys.readouterr()
    assert message in told.err
    assert (told.out, told.err.count("\n"), server.options) == ("", 1, None)
    assert not list((trace.parent / "data").rglob("*.fztrace"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--port", "0"], "0 is not a port"),
        (["--port", "65536"], "65536 is not a port"),
        (["--token", "short"], "a token has 16 to 200"),
        (["--token", "with spaces and more"], "a token has 16 to 200"),
        (["--upload-limit", "much"], "much is not a size"),
        (["--upload-limit", "0M"], "0M is not a size"),
        (["--jobs", "0"], "0 is not a number of recordings; give one from 1 to 64"),
        (["--jobs", "many"], "many is not a number of recordings"),
        (["--jobs", "²"], "² is not a number of recordings"),
        (["--upload-total", "all"], "all is not a size"),
        (["--limit", "-1", "x"], "-1 is not a time"),
        (["--seconds=inf"], "inf is not a time"),
        (["--threads", "0"], "0 is not a count"),
        (["--input-sets", "few"], "few is not a count"),
    ],
)
def test_wrong_options_exit_with_2(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(words)
    assert message in capsys.readouterr().err


def test_the_limit_of_uploads_is_read(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    _opened(capsys, "--upload-limit", "500M", "--upload-total", "2G")
    assert server.options[2] == UploadLimits(500 << 20, 2 << 30)


def test_the_number_of_recordings_at_once_is_read(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    _opened(capsys, "--jobs", "3")
    assert server.options[3] == 3


def test_explicit_port_in_use_is_an_error(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["--no-browser", "--port", str(port)]) == 2
    assert f"port {port} is taken" in capsys.readouterr().err


def test_next_free_port_is_used_and_printed(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    with listen("127.0.0.1", None) as first:
        assert main(["--no-browser"]) == 0
        assert server.port != port_of(first)
    told = capsys.readouterr()
    assert f"port {DEFAULT_PORT} is taken, so this is port {server.port}" in told.err
    assert f":{server.port}/" in told.out


def test_serving_other_machines_prints_a_warning(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--no-browser", "--host", "0.0.0.0"]) == 0
    told = capsys.readouterr()
    assert "whoever has this link can list your folders, open traces, upload files and start recordings" in told.err
    assert "nothing of it is encrypted" in told.err
    assert told.out.startswith(f"http://{socket.gethostname()}:")


def test_missing_torch_is_reported_before_the_server_starts(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["--no-browser", "example:resnet18"]) == 2
    assert "torch is not installed here" in capsys.readouterr().err
    assert server.options is None


def test_options_that_a_file_to_read_cannot_have_are_refused_or_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (["--float-model", "net.pt2"], ["--check", "idempotence"], ["--ablation", "--float-model", "net.pt2"]):
        assert main(["record", str(FROZEN), *words]) == 2
        flags = ", ".join(sorted(word for word in words if word.startswith("--")))
        wrong = f"{flags}: {FROZEN} is a frozen TorchScript file, which is only read and not run"
        assert wrong in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    unused = ["--input", "1x3", "--backend", "inductor", "--mode", "default", "--limit", "5", "--no-measure"]
    assert main(["record", str(FROZEN), *unused]) == 0
    told = "--input, --backend, --limit, --mode: without effect, because a frozen TorchScript file is only read"
    assert told in capsys.readouterr().err
    assert main(["record", str(FROZEN), "--no-measure", "--no-latency"]) == 0
    assert "without effect" not in capsys.readouterr().err
    assert main([str(FROZEN), "--float-model", "net.pt2"]) == 2
    assert "--float-model is for recording, and there is no MODEL to record" in capsys.readouterr().err


@pytest.mark.parametrize("given", [{"checks": ("idempotence",)}, {"ablation": True}, {"float_model": "net.pt2"}])
def test_record_of_a_file_to_read_refuses_what_needs_a_model_that_runs(given: dict[str, Any]) -> None:
    with pytest.raises(fe.FreezerError, match=f"{next(iter(given))}: .*frozen.pt is only read and not run"):
        fe.record(FROZEN, **given)
