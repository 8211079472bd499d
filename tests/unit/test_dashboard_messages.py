"""What the page may ask, and what it is answered."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import freeze_engine as fe
from freeze_engine import worker
from freeze_engine.models import CallFailure, CallFix, CallTrial, ModelAttribute, ModelSummary
from freeze_engine.worker import JobEnded, JobEvent, RecordRequest, SandboxStatus
from tests.builders import small_trace
from tests.existing import FROZEN
from tests.in_process import InProcess
from tests.loops import run
from viewer.dashboard.form_options import backend_offer
from viewer.dashboard.library import Library
from viewer.dashboard.messages import Messages
from viewer.dashboard.record_request import form_values, page_model
from viewer.dashboard.server_info import Site
from viewer.dashboard.server_state import State

RECORD = {
    "type": "record",
    "model": "example:counter",
    "inputs": ["1x3"],
    "backend": "torchscript",
    "via": None,
    "options": {"optimize_numerics": False, "other_methods": ["extra"]},
    "device": None,
    "measure": {
        "latency": True,
        "numerics": False,
        "memory": True,
        "seconds": 5,
        "threads": 1,
        "input_sets": 2,
    },
    "limit_s": 90,
    "memory_bytes": 1 << 32,
    "preserve": ["a.b"],
}
INDUCTOR: dict[str, Any] = {"backend": "inductor", "options": {}, "preserve": []}
SUMMARY = ModelSummary("counter", (), ("forward",), ("1x3",), True, "script", (), False, ("cpu",))


@dataclass
class Server:
    """The messages of a server whose recordings do nothing, and end after each message."""

    state: State
    requests: list[RecordRequest] = field(default_factory=list)

    def ask(self, message: Any) -> dict[str, Any]:
        async def scenario() -> dict[str, Any]:
            reply = await Messages(self.state).answer(message)
            for row in self.state.jobs.rows():
                self.state.jobs.cancel(row["id"])
            return reply

        return run(scenario())

    def refused(self, **message: Any) -> str:
        reply = self.ask({"id": 1, **message})
        assert set(reply) == {"id", "error"}, reply
        return str(reply["error"])

    def reply(self, **message: Any) -> dict[str, Any]:
        reply = self.ask({"id": 1, **message})
        assert set(reply) == {"id", "reply"}, reply
        found: dict[str, Any] = reply["reply"]
        return found


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    requests: list[RecordRequest] = []

    def launch(request: RecordRequest, tell: Callable[[JobEvent], None]) -> Any:
        requests.append(request)
        return SimpleNamespace(start=lambda: None, interrupt=lambda: tell(JobEnded("cancelled", None, "cancelled")))

    return Server(State(Site(1), Library(tmp_path / "recent.json"), lambda call: call(), launch, InProcess()), requests)


def test_record_message_becomes_a_request(server: Server, tmp_path: Path) -> None:
    reply = server.reply(**RECORD, call="freezer-ui record example:counter")
    [request] = server.requests
    assert reply == {"job": server.state.jobs.rows()[0]["id"]}
    assert request == RecordRequest(
        model="example:counter",
        output=request.output,
        inputs=("1x3",),
        options=fe.TorchScriptOptions(("a.b",), optimize_numerics=False, other_methods=("extra",)),
        measure=fe.Measure(numerics=False, seconds=5.0, threads=1, input_sets=2),
        call="freezer-ui record example:counter",
        name="counter",
        trusted=False,
        limit_s=90.0,
        memory_bytes=1 << 32,
    )
    assert request.output.parent == tmp_path / "data" / "freezer-ui" / "recordings"


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"measure": None, "options": {"disabled_passes": ["FoldConvBn"]}, "via": "trace", "device": "cpu"},
        {"checks": ["stale_weights"], "ablation": True},
    ],
)
def test_a_form_can_be_filled_with_what_was_asked(changes: dict[str, Any], server: Server) -> None:
    server.reply(**(RECORD | changes))
    [first] = server.requests
    [row] = server.state.jobs.rows()
    assert row["request"] == form_values(first)
    server.reply(type="record", **row["request"])
    assert replace(server.requests[1], output=first.output) == first


def test_a_form_can_be_filled_for_a_recording_of_the_command_line(tmp_path: Path) -> None:
    measure = fe.Measure(devices=("cpu",))
    assert form_values(RecordRequest("package.module:factory", tmp_path / "a", ("1x3",), measure=measure)) == {
        "model": "package.module:factory",
        "inputs": ["1x3"],
        "imports": [],
        "backend": "torchscript",
        "via": None,
        "options": {
            "optimize_numerics": True,
            "optimize_for_inference": False,
            "other_methods": [],
            "disabled_passes": [],
        },
        "device": None,
        "measure": {
            "latency": True,
            "numerics": True,
            "memory": True,
            "seconds": 12.0,
            "threads": None,
            "input_sets": 3,
            "values": True,
            "runtime": True,
        },
        "checks": [],
        "ablation": False,
        "limit_s": None,
        "memory_bytes": None,
        "float_model": None,
        "preserve": [],
    }


def test_compile_message_becomes_a_request_and_fills_a_form(server: Server) -> None:
    options = {"mode": "max-autotune", "dynamic": False, "max_autotune": True, "force_disable_caches": True}
    server.reply(**(RECORD | INDUCTOR | {"options": options}))
    [request] = server.requests
    assert request.backend == "inductor"
    assert request.options == fe.InductorOptions(
        mode="max-autotune", dynamic=False, max_autotune=True, force_disable_caches=True
    )
    form = form_values(request)
    assert form["options"] == options | {"fullgraph": False, "discard_parameters": False, "disabled_passes": []}
    assert (form["backend"], form["preserve"], form["via"]) == ("inductor", [], None)
    server.reply(type="record", **form)
    assert replace(server.requests[1], output=request.output, call=request.call) == request


def test_the_form_offers_every_option_with_its_default() -> None:
    kinds: dict[str, Any] = {"torchscript": fe.TorchScriptOptions(), "inductor": fe.InductorOptions()}
    for backend, options in kinds.items():
        wanted = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(options).items()}
        wanted.pop("preserved_attrs", None)  # has a part of the form for itself
        assert {option["id"]: option["default"] for option in backend_offer(backend)["options"]} == wanted


def test_a_torchscript_file_is_not_compiled(server: Server, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "net.pt", "w") as archive:
        archive.writestr("net/constants.pkl", b"")
        archive.writestr("net/data.pkl", b"")
    refused = server.refused(**(RECORD | INDUCTOR | {"model": "net.pt"}))
    assert refused.startswith("A TorchScript file cannot be compiled")
    assert server.requests == []


def test_a_command_without_end_is_not_kept(server: Server) -> None:
    server.reply(**RECORD, call="freezer-ui record " + "x" * 100_000)
    assert server.requests[0].call is None


def test_missing_fields_get_defaults(server: Server) -> None:
    server.reply(type="record", model="example:counter", backend="torchscript")
    [request] = server.requests
    expected = RecordRequest(
        "example:counter", request.output, options=fe.TorchScriptOptions(), measure=None, name="counter", trusted=False
    )
    assert request == expected


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"model": "package.module:factory"}, "is Python code of this machine, which this page may not run"),
        ({"model": "/srv/net.py:make"}, "the command line: freezer-ui net:make, in the folder /srv"),
        ({"model": "os:getcwd"}, "is Python code of this machine, which this page may not run"),
        ({"model": " os:getcwd "}, "is Python code of this machine, which this page may not run"),
        ({"model": "example:no"}, "There is no example:no"),
        ({"model": "missing.pt"}, "There is no file 'missing.pt'"),
        ({"model": ""}, "There is no file"),
        ({"model": "."}, ". is a folder"),
        ({"model": None}, "model is None; it has to be a text"),
        ({"model": 3}, "model is 3; it has to be a text"),
        ({"backend": "nnc"}, "backend is 'nnc'; it has to be one of torchscript, inductor"),
        (INDUCTOR | {"preserve": ["a.b"]}, "Inductor takes no preserve; leave it out"),
        (INDUCTOR | {"via": "trace"}, "Inductor takes no via"),
        (
            INDUCTOR | {"options": {"optimize_numerics": True}},
            "Inductor has no option 'optimize_numerics'; it has mode,",
        ),
        (
            INDUCTOR | {"options": {"mode": "fast"}},
            "mode is 'fast'; it has to be one of None, default, reduce-overhead",
        ),
        (INDUCTOR | {"options": {"dynamic": 1}}, "dynamic is 1; it has to be one of None, True, False"),
        (INDUCTOR | {"options": {"fullgraph": None}}, "fullgraph is None; it has to be true or false"),
        ({"via": "magic"}, "via is 'magic'"),
        ({"inputs": "1x3"}, "inputs is '1x3'; it has to be a list of texts"),
        ({"inputs": ["three"]}, "'three' is not a shape"),
        ({"inputs": [1]}, "a list of texts"),
        ({"preserve": [None]}, "preserve is [None]"),
        ({"device": 0}, "device is 0"),
        ({"call": ["freezer-ui"]}, "call is ['freezer-ui']; it has to be a text"),
        ({"options": []}, "options is []; it has to be an object"),
        ({"options": {"preserved_attrs": ["a"]}}, "TorchScript has no option 'preserved_attrs'"),
        ({"options": {"optimize_numerics": "yes"}}, "optimize_numerics is 'yes'; it has to be true or false"),
        ({"measure": True}, "measure is True"),
        ({"measure": {"latency": 1}}, "latency is 1"),
        ({"measure": {"seconds": 0}}, "seconds is 0 s; give more than 0"),
        ({"measure": {"seconds": 1e9}}, "at most 3600"),
        ({"measure": {"threads": 0}}, "threads is 0; it has to be a whole number from 1 to"),
        ({"measure": {"input_sets": True}}, "input_sets is True; it has to be a whole number from 1 to"),
        ({"limit_s": float("nan")}, "limit_s is nan; it has to be a number of seconds"),
        ({"limit_s": True}, "limit_s is True"),
        ({"memory_bytes": 1.5}, "memory_bytes is 1.5; it has to be a whole number of bytes"),
        ({"memory_bytes": 0}, "memory_bytes is 0"),
        ({"memory_bytes": True}, "memory_bytes is True"),
        ({"checks": ["stale"]}, "checks is 'stale'; it has to be one of stale_weights"),
        ({"ablation": 1}, "ablation is 1; it has to be true or false"),
    ],
    ids=str,
)
def test_unrecordable_model_is_refused(change: dict[str, Any], text: str, server: Server, tmp_path: Path) -> None:
    assert text in server.refused(**(RECORD | change))
    assert server.requests == []
    assert not list((tmp_path / "data").rglob("*.fztrace"))


@pytest.mark.parametrize("kind", ["record", "inspect", "try"])
def test_factories_are_refused_wherever_a_model_is_named(
    kind: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "inspect_model", lambda *given, **options: pytest.fail("asked"), raising=False)
    monkeypatch.setattr(worker, "try_model", lambda *given, **options: pytest.fail("asked"), raising=False)
    assert "is Python code of this machine, which this page may not run" in server.refused(
        **(RECORD | {"type": kind, "model": "os:getcwd"})
    )


def test_a_file_is_named_by_its_absolute_path(server: Server, tmp_path: Path) -> None:
    odd = tmp_path / "os:getcwd"
    odd.touch()
    assert page_model("os:getcwd") == str(odd)


def test_process_that_cannot_start_is_reported_and_leaves_no_file(server: Server, tmp_path: Path) -> None:
    def launch(request: RecordRequest, tell: Callable[[JobEvent], None]) -> Any:
        raise OSError("no more processes")

    server.state = State(Site(1), Library(tmp_path / "recent.json"), lambda call: call(), launch, InProcess())
    assert server.refused(**RECORD) == "The server failed: OSError: no more processes"
    assert not list((tmp_path / "data").rglob("*.fztrace"))


def test_a_model_is_looked_at_without_trust(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, bool]] = []

    def inspect_model(spec: str, *, imports: tuple[str, ...], trusted: bool, sandbox: bool | None) -> ModelSummary:
        assert (imports, sandbox) == ((), None)
        asked.append((spec, trusted))
        return replace(SUMMARY, attributes=(ModelAttribute("w", "parameter", "Tensor", (2, 3), "float32", 24),))

    monkeypatch.setattr(worker, "inspect_model", inspect_model, raising=False)
    assert server.state.view()["site"]["devices"] is None
    reply = server.reply(type="inspect", model="example:counter")
    assert asked == [("example:counter", False)]
    assert reply["attributes"] == (
        {
            "path": "w",
            "kind": "parameter",
            "type": "Tensor",
            "shape": (2, 3),
            "dtype": "float32",
            "nbytes": 24,
            "same_as": "",
        },
    )
    assert reply["kind"] == "example"
    assert server.state.view()["site"]["devices"] == ["cpu"]


def test_one_call_is_tried_without_trust(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def try_model(spec: str, inputs: tuple[str, ...], **options: Any) -> CallTrial:
        asked.append((spec, inputs, options))
        return CallTrial(failure=CallFailure("no", 0, "x", (CallFix("Use 1x3", ("1x3",)),)), where="line 3 of a.py")

    monkeypatch.setattr(worker, "try_model", try_model, raising=False)
    reply = server.reply(type="try", model="example:counter", inputs=["1x4"], device="cpu", memory_bytes=1 << 30)
    options = {"imports": (), "trusted": False, "device": "cpu", "memory_bytes": 1 << 30, "sandbox": None}
    assert asked == [("example:counter", ("1x4",), options)]
    failure = {"message": "no", "at": 0, "parameter": "x", "fixes": ({"label": "Use 1x3", "inputs": ("1x3",)},)}
    assert reply == {"output": "", "duration_ns": 0, "failure": failure, "where": "line 3 of a.py", "error": ""}
    for change in ({"inputs": ["1xtwo"]}, {"inputs": "1x3"}, {"device": 3}, {"memory_bytes": "all"}, {"model": 7}):
        assert server.refused(**({"type": "try", "model": "example:counter", "inputs": []} | change))
    assert len(asked) == 1


def test_the_form_names_the_modules_to_import(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []

    def inspect_model(spec: str, *, imports: tuple[str, ...], trusted: bool, sandbox: bool | None) -> ModelSummary:
        asked.append(imports)
        return SUMMARY

    monkeypatch.setattr(worker, "inspect_model", inspect_model, raising=False)
    (tmp_path / "net.pt2").touch()
    names = ["torchao.quantization.pt2e", "other"]
    server.reply(type="inspect", model=str(tmp_path / "net.pt2"), imports=names)
    server.reply(type="inspect", model=str(tmp_path / "net.pt2"))
    assert asked == [tuple(names), ()]
    message = RECORD | {"model": str(tmp_path / "net.pt2"), "imports": names}
    server.reply(**message)
    (request,) = server.requests
    assert request.imports == tuple(names)
    assert form_values(request)["imports"] == names


@pytest.mark.parametrize("kind", ["record", "inspect", "try"])
@pytest.mark.parametrize(
    ("model", "imports", "says"),
    [
        ("example:counter", ["torchao"], "An example needs no imports"),
        ("net.pt2", ["../torchao"], "'../torchao' is not the name of a module"),
        ("net.pt2", [""], "'' is not the name of a module"),
        ("net.pt2", ["a" * 300], "is not the name of a module"),
        ("net.pt2", "torchao", "it has to be a list of texts"),
        ("net.pt2", [3], "it has to be a list of texts"),
    ],
)
def test_imports_that_the_page_may_not_ask_for(
    kind: str, model: str, imports: Any, says: str, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "inspect_model", lambda *given, **options: pytest.fail("asked"), raising=False)
    monkeypatch.setattr(worker, "try_model", lambda *given, **options: pytest.fail("asked"), raising=False)
    (tmp_path / "net.pt2").touch()
    spec = model if ":" in model else str(tmp_path / model)
    assert says in server.refused(**(RECORD | {"type": kind, "model": spec, "imports": imports}))


def test_error_of_a_model_is_reported(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def inspect_model(spec: str, *, imports: tuple[str, ...], trusted: bool, sandbox: bool | None) -> ModelSummary:
        raise fe.ModelSpecError("it is a pickle")

    monkeypatch.setattr(worker, "inspect_model", inspect_model, raising=False)
    assert server.refused(type="inspect", model="example:counter") == "it is a pickle"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1x3x224x224", "float32 1×3×224×224, standard normal"),
        ("2x16:int64:0..30000", "int64 2×16, 0 to 29999"),
        ("2x16:int64", "int64 2×16, 0 to 1"),
        ("1x16:bool", "bool 1×16, true or false"),
        ("mask=1x16:bfloat16", "mask = bfloat16 1×16, standard normal"),
        ("int:3", "int 3"),
        ("flag=bool:true", "flag = bool True"),
        ("@x.pt", "the tensor saved in x.pt"),
    ],
)
def test_inputs_are_read_back(text: str, says: str, server: Server) -> None:
    assert server.reply(type="parse_input", text=text) == {"ok": True, "says": says}


def test_wrong_input_is_reported(server: Server) -> None:
    assert "'three' is not a shape" in server.refused(type="parse_input", text="three")


def test_a_trace_is_opened_and_remembered_and_forgotten(server: Server, tmp_path: Path) -> None:
    fe.save(small_trace(), tmp_path / "a.fztrace")
    path = str(tmp_path / "a.fztrace")
    assert server.reply(type="open", path="a.fztrace") == {"trace": path, "name": small_trace().name}
    assert [entry["path"] for entry in server.state.view()["library"]["recent"]] == [path]
    assert server.reply(type="forget", path=path) == {}
    assert server.state.view()["library"]["recent"] == []
    assert (tmp_path / "a.fztrace").exists()


def test_frozen_file_is_read_and_others_go_to_the_form(server: Server, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    assert server.reply(type="read", path="text") == {"job": None}
    assert server.reply(type="read", path="missing") == {"job": None}
    assert server.requests == []
    assert server.reply(type="read", path=str(FROZEN))["job"]
    [request] = server.requests
    assert (request.model, request.name, request.trusted, request.measure) == (str(FROZEN), "frozen", False, None)


def test_unreadable_file_is_reported(server: Server, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    assert "text" in server.refused(type="open", path="text")
    assert "missing" in server.refused(type="open", path="missing")
    assert server.state.view()["library"]["recent"] == []


def test_folders_are_listed(server: Server, tmp_path: Path) -> None:
    (tmp_path / "net.pt").touch()
    assert [entry["name"] for entry in server.reply(type="list", path=str(tmp_path))["entries"]] == ["net.pt"]
    assert server.reply(type="list", path=None)["path"] == str(tmp_path)
    assert "cannot list" in server.refused(type="list", path="/no/such/folder")


def test_a_recording_that_finds_the_line_full_leaves_no_file(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viewer.dashboard.jobs.MAX_WAITING", 0)

    async def scenario() -> list[dict[str, Any]]:
        messages = Messages(server.state)
        return [await messages.answer({"id": 1, **RECORD}) for _ in range(2)]

    first, second = run(scenario())
    assert "reply" in first
    assert "recordings wait already. Cancel one of them" in second["error"]
    [request] = server.requests
    assert list(request.output.parent.iterdir()) == [request.output]


def test_jobs_are_cancelled_and_dismissed(server: Server) -> None:
    assert "no recording" in server.refused(type="cancel", job="x")
    job = server.reply(**RECORD)["job"]
    assert server.reply(type="cancel", job=job) == {}
    assert server.reply(type="dismiss", job=job) == {}
    assert server.state.jobs.rows() == []


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        (None, {"id": None, "error": "A message has to be an object."}),
        ({"id": 7}, {"id": 7, "error": "There is no message of type None."}),
        ({"id": 7, "type": "eval"}, {"id": 7, "error": "There is no message of type 'eval'."}),
        ({"id": 7, "type": ["record"]}, {"id": 7, "error": "There is no message of type ['record']."}),
        ({"id": 7, "type": "open"}, {"id": 7, "error": "The message lacks path."}),
        ({"id": 7, "type": "cancel", "job": 3}, {"id": 7, "error": "The message lacks job."}),
    ],
)
def test_nonsense_is_answered(message: Any, reply: dict[str, Any], server: Server) -> None:
    assert server.ask(message) == reply


def test_unexpected_error_is_reported_and_logged(
    server: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("viewer.dashboard.messages.folder_view", lambda path: 1 / 0)
    assert server.refused(type="list", path="/") == "The server failed: ZeroDivisionError: division by zero"
    assert "ZeroDivisionError" in caplog.text


NO_SANDBOX = SandboxStatus(problem="there is no sandbox: bubblewrap is not installed")


def test_without_a_sandbox_nothing_is_opened_before_the_user_agrees(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool | None] = []

    def inspect_model(spec: str, *, imports: tuple[str, ...], trusted: bool, sandbox: bool | None) -> ModelSummary:
        asked.append(sandbox)
        return SUMMARY

    monkeypatch.setattr(worker, "sandbox_status", lambda: NO_SANDBOX, raising=False)
    monkeypatch.setattr(worker, "inspect_model", inspect_model, raising=False)
    model = str(tmp_path / "net.pt")
    Path(model).touch()
    told = server.reply(type="sandbox", model=model)
    assert (told["model"], told["problem"]) == (model, NO_SANDBOX.problem)
    assert "can run code" in told["danger"]
    for consent in ({}, {"consent": True}, {"consent": str(tmp_path / "other.pt")}, {"consent": ""}):
        for message in (
            {"type": "inspect", "model": model},
            {"type": "try", "model": model},
            RECORD | {"model": model},
        ):
            error = server.refused(**message | {"model": model}, **consent)
            assert f"{model} was not opened: there is no sandbox" in error
            assert "Agree to that first" in error
    assert (asked, server.requests, list((tmp_path / "data").rglob("*.fztrace"))) == ([], [], [])
    server.reply(type="inspect", model=model, consent=model)
    server.reply(**RECORD | {"model": model}, consent=model)
    assert (asked, [request.sandbox for request in server.requests]) == ([False], [False])


def test_the_form_learns_that_a_path_can_only_be_read(server: Server, tmp_path: Path) -> None:
    folder = tmp_path / "torch_compile_debug" / "run_1" / "torchinductor" / "model__0_inference_0.0"
    folder.mkdir(parents=True)
    (folder / "fx_graph_readable.py").touch()
    found = server.reply(type="sandbox", model=str(tmp_path / "torch_compile_debug"))
    assert (found["existing"], found["problem"]) == ("a folder of TORCH_COMPILE_DEBUG", None)
    assert server.reply(type="sandbox", model=str(FROZEN))["existing"] == "a frozen TorchScript file"
    assert server.requests == []


def test_the_built_in_examples_need_no_consent(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "sandbox_status", lambda: NO_SANDBOX, raising=False)
    assert server.reply(type="sandbox", model="example:counter")["problem"] is None
    server.reply(**RECORD | {"model": "example:counter"})
    assert [(request.trusted, request.sandbox) for request in server.requests] == [(False, None)]


def test_consent_changes_nothing_with_a_sandbox(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "sandbox_status", lambda: SandboxStatus("bubblewrap 1", "/bwrap"), raising=False)
    model = str(tmp_path / "net.pt")
    Path(model).touch()
    server.reply(**RECORD | {"model": model}, consent=model)
    assert [(request.trusted, request.sandbox) for request in server.requests] == [(False, None)]


def test_the_float_model_is_a_file_or_example_like_the_model(server: Server, tmp_path: Path) -> None:
    model, other = tmp_path / "net.pt2", tmp_path / "float.pt2"
    for path in (model, other):
        path.touch()
    wanted = RECORD | {"model": str(model)}
    server.reply(**wanted, float_model=str(other))
    server.reply(**wanted, float_model="example:counter")
    server.reply(**wanted, float_model=" ")
    assert [request.float_model for request in server.requests] == [str(other), "example:counter", None]
    assert [form_values(request)["float_model"] for request in server.requests] == [str(other), "example:counter", None]
    for given, says in (
        ("package.module:factory", "is Python code of this machine, which this page may not run"),
        (str(tmp_path), "is a folder; choose a model file in it"),
        (str(FROZEN), "is a TorchScript file, whose layers do not show what they compute"),
        (3, "it has to be a text"),
    ):
        assert says in server.refused(**wanted, float_model=given)
    assert len(server.requests) == 3


def test_the_float_model_needs_a_consent_of_its_own(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "sandbox_status", lambda: NO_SANDBOX, raising=False)
    model, other = tmp_path / "net.pt2", tmp_path / "float.pt2"
    for path in (model, other):
        path.touch()
    for named in (str(model), "example:counter"):
        message = RECORD | {"model": named, "float_model": str(other), "consent": str(model)}
        assert f"{other} was not opened: there is no sandbox" in server.refused(**message)
        assert f"{other} was not opened" in server.refused(**message, float_consent=str(model))
        server.reply(**message, float_consent=str(other))
    assert [request.sandbox for request in server.requests] == [False, False]
