"""The dashboard's real server, over real HTTP: who is let in, what is served, how it ends."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

import freeze_engine as fe
from tests.builders import failed_trace, small_trace
from tests.dashboard import RunningServer, running_server
from tests.live_server import live_server
from tests.sweeps import make_sweep, sweep_row
from viewer.report import render_report

WEBSOCKET = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Protocol": "bokeh, x",
}
ROUTES = [
    ("GET", "/"),
    ("GET", "/ws"),
    ("GET", "/favicon.ico"),
    ("GET", "/session"),
    ("GET", "/assets/bokeh.min.js"),
    ("GET", "/assets/panel.min.js"),
    ("GET", "/assets/dashboard.js"),
    ("GET", "/trace/data?path=small.fztrace"),
    ("GET", "/trace/charts?path=small.fztrace"),
    ("GET", "/trace/file?path=small.fztrace"),
    ("GET", "/trace/report?path=small.fztrace"),
    ("GET", "/compare/data?a=small.fztrace&b=failed.fztrace"),
    ("GET", "/compare/charts?a=small.fztrace&b=failed.fztrace"),
    ("GET", "/sweep/data?path=small.sweep"),
    ("PUT", "/upload?name=x.fztrace"),
    ("GET", "/no/such/page"),
]
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("dashboard")
    fe.save(small_trace(), folder / "small.fztrace")
    fe.save(failed_trace(), folder / "failed.fztrace")
    make_sweep(folder / "small.sweep", sweep_row())
    with running_server(folder, "--upload-limit", "1M") as running:
        yield running


def _until(holds: Callable[[], bool], limit_s: float = 600) -> None:
    deadline_s = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < deadline_s, "it takes too long"
        time.sleep(0.05)


# --- who is let in


def _headers(server: RunningServer, method: str, path: str) -> dict[str, str]:
    """Those that a request of the server's own page would have."""
    needs_origin = method == "PUT" or path == "/ws"
    return {**server.cookie, **(server.origin if needs_origin else {}), **(WEBSOCKET if path == "/ws" else {})}


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize("wrong", ["no cookie", "wrong cookie", "foreign host", "foreign origin", "both foreign"])
def test_no_route_answers_strangers(server: RunningServer, method: str, path: str, wrong: str) -> None:
    headers = _headers(server, method, path)
    if wrong == "no cookie":
        del headers["Cookie"]
    elif wrong == "wrong cookie":
        headers["Cookie"] += "x"
    if wrong in ("foreign host", "both foreign"):
        headers["Host"] = f"evil.example:{server.port}"
    if wrong in ("foreign origin", "both foreign"):
        headers["Origin"] = f"http://evil.example:{server.port}"
    answer = server.ask(path, headers, method, b"x" if method == "PUT" else None)
    assert answer.status == 403
    assert set(json.loads(answer.body)) == {"error"}
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS


def test_every_route_of_a_server_is_among_those(tmp_path: Path) -> None:
    with live_server(tmp_path) as running:
        running.ask("/session", Cookie=running.cookie())  # Panel adds its routes once it is loaded
        patterns = running.server.patterns
    assert len(patterns) >= 12
    known = [path.partition("?")[0] for _, path in ROUTES]
    assert [pattern for pattern in patterns if not any(re.fullmatch(pattern, path) for path in known)] == []


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_route_answers_the_server_s_own_page(server: RunningServer, method: str, path: str) -> None:
    answer = server.ask(path, _headers(server, method, path), method, b"x" if method == "PUT" else None)
    assert answer.status == {"/ws": 400, "/no/such/page": 404, "/favicon.ico": 404, "/upload?name=x.fztrace": 409}.get(
        path, 200
    )


@pytest.mark.parametrize(
    "frame",
    [
        b"\x81\x05hello",
        b"\x82\xff" + (1 << 40).to_bytes(8, "big") + bytes(4),
        b"\xf1\x80abcd",
        b"\x81\x82\0\0\0\0\xff\xfe",
        b"\x01\x81abcd\0" * 1000,
    ],
    ids=["no mask", "a terabyte", "reserved bits", "no text", "a message in a thousand parts"],
)
def test_websocket_of_nonsense_is_closed_and_nothing_is_logged(frame: bytes, tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        words = json.loads(server.ask("/session", server.cookie).body)
        headers = {**WEBSOCKET, **server.cookie, **server.origin, "Host": f"127.0.0.1:{server.port}"}
        headers["Sec-WebSocket-Protocol"] = f"bokeh, {words['token']}"
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        with socket.create_connection(("127.0.0.1", server.port), 300) as connection:
            connection.sendall(f"GET /ws HTTP/1.1\r\n{lines}\r\n".encode())
            assert connection.recv(12) == b"HTTP/1.1 101"
            connection.sendall(frame)
            while connection.recv(1 << 16):
                pass
        assert server.ask("/session", server.cookie).status == 200
        code, told = server.ended()
    assert code == 0
    assert [line for line in told.splitlines() if "open this link" not in line and "is taken, so" not in line] == []


@pytest.mark.parametrize("path", ["/ws", "/ws?trace=small.fztrace"])
def test_a_websocket_without_an_origin_is_refused(server: RunningServer, path: str) -> None:
    assert server.ask(path, {**server.cookie, **WEBSOCKET}).status == 403


def test_a_page_of_another_port_is_refused(server: RunningServer) -> None:
    headers = {**server.cookie, "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}
    assert server.ask("/trace/data?path=small.fztrace", headers).status == 403


def test_the_link_sets_a_cookie_and_takes_the_token_out_of_the_address(server: RunningServer) -> None:
    answer = server.ask(f"/?trace=%2Fa%20b&token={server.token}&with=c")
    assert (answer.status, answer.headers["Location"]) == (303, "/?trace=%2Fa+b&with=c")
    cookie, _, attributes = answer.headers["Set-Cookie"].partition(";")
    assert (cookie.partition("=")[0], attributes) == (f"freezer-ui-{server.port}", " HttpOnly; Path=/; SameSite=Strict")
    assert server.token not in cookie
    assert server.ask("/?trace=%2Fa+b", {"Cookie": cookie}).status == 200


def test_a_link_on_another_page_lets_in_as_well(server: RunningServer) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    answer = server.ask(f"/?trace=%22%3E%3Cb%3E&token={server.token}", headers)
    assert answer.status == 200
    assert answer.headers["Set-Cookie"].startswith("freezer-ui-")
    assert 'http-equiv="refresh" content="0; url=/?trace=%22%3E%3Cb%3E"' in answer.body.decode()


def test_the_token_lets_nobody_in_under_a_foreign_name(server: RunningServer) -> None:
    answer = server.ask(f"/?token={server.token}", {"Host": f"evil.example:{server.port}"})
    assert (answer.status, answer.headers["Set-Cookie"]) == (403, None)


@pytest.mark.parametrize("path", ["/?trace=%3Cscript%3E", "/?trace=%3Cscript%3E&token=wrong"])
def test_people_get_a_page_that_asks_for_the_token(server: RunningServer, path: str) -> None:
    answer = server.ask(path, {"Accept": "text/html"})
    page = answer.body.decode()
    assert (answer.status, answer.headers["Set-Cookie"]) == (403, None)
    assert '<input id="token" name="token"' in page
    assert '<input type="hidden" name="trace" value="&lt;script&gt;">' in page
    assert ("That is not this server" in page) == ("wrong" in path)


def test_wrong_host_name_is_refused_with_any_token(server: RunningServer) -> None:
    answer = server.ask("/", {"Accept": "text/html", "Host": "evil.example"})
    assert "does not answer to the name" in answer.body.decode()
    assert "<input" not in answer.body.decode()


def test_the_page_keeps_the_token_from_scripts_and_names_no_other_machine(server: RunningServer) -> None:
    answer = server.ask("/", server.cookie)
    page = answer.body.decode()
    assert server.token not in page
    assert server.cookie["Cookie"].partition("=")[2] not in page
    assert "http" not in page.replace("http-equiv", "")
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'; script-src 'self' blob:; " in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["Cache-Control"] == "no-store"


def test_server_listens_on_this_machine_only(server: RunningServer) -> None:
    with pytest.raises(OSError, match="refused"), socket.create_connection(("127.0.0.2", server.port), timeout=300):
        pass


# --- what is served


def _json(body: bytes) -> dict[str, object]:
    found: dict[str, object] = json.loads(gzip.decompress(body))
    return found


def test_a_trace_is_served_packed(server: RunningServer) -> None:
    answer = server.ask("/trace/data?path=small.fztrace", server.cookie)
    assert answer.headers["Content-Encoding"] == "gzip"
    assert set(_json(answer.body)) == {"view", "graph", "charts"}
    recent = json.loads((server.folder / "freezer-ui" / "recent.json").read_text())
    assert str(server.folder / "small.fztrace") in [entry["path"] for entry in recent]


def test_two_traces_are_served_side_by_side(server: RunningServer) -> None:
    answer = server.ask("/compare/data?a=small.fztrace&b=failed.fztrace", server.cookie)
    assert set(_json(answer.body)) >= {"view", "graph", "charts", "comparison"}


def test_the_trace_file_can_be_kept(server: RunningServer) -> None:
    path = server.folder / 'odd é "name.fztrace'
    fe.save(small_trace(), path)
    answer = server.ask("/trace/file?path=odd%20%C3%A9%20%22name.fztrace", server.cookie)
    assert answer.body == path.read_bytes()
    disposition = "attachment; filename=\"odd _ _name.fztrace\"; filename*=UTF-8''odd%20%C3%A9%20%22name.fztrace"
    assert answer.headers["Content-Disposition"] == disposition


def test_the_report_can_be_kept(server: RunningServer) -> None:
    answer = server.ask("/trace/report?path=small.fztrace", server.cookie)
    assert answer.body.decode() == render_report(small_trace())
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="small.html"')


@pytest.mark.parametrize("route", ["trace/data", "trace/file", "trace/report"])
@pytest.mark.parametrize(
    ("path", "text"),
    [("gone", "There is no trace"), (".", "There is no trace"), ("%00", "has a NUL byte"), ("text", "text")],
)
def test_path_that_is_not_a_trace_is_refused_and_not_served(
    server: RunningServer, route: str, path: str, text: str
) -> None:
    (server.folder / "text").write_text("secret")
    answer = server.ask(f"/{route}?path={path}", server.cookie)
    assert answer.status == 400
    error = json.loads(answer.body)["error"]
    assert text in error
    assert "secret" not in error


def test_missing_argument_is_named(server: RunningServer) -> None:
    answer = server.ask("/trace/data", server.cookie)
    assert (answer.status, json.loads(answer.body)) == (400, {"error": "Missing argument path"})


def test_assets_are_kept_by_the_browser(server: RunningServer) -> None:
    answer = server.ask("/assets/dashboard.js?v=1", server.cookie)
    assert answer.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    assert b"FreezerDashboard" in answer.body
    assert server.ask("/assets/..%2f..%2fpyproject.toml", server.cookie).status == 404
    assert server.ask("/assets/secret.js", server.cookie).status == 404


# --- uploads


def _upload(server: RunningServer, name: str, body: bytes) -> tuple[int, dict[str, object]]:
    page = server.page_id()
    answer = server.ask(f"/upload?name={name}&page={page}", {**server.cookie, **server.origin}, "PUT", body)
    return answer.status, json.loads(answer.body)


def _scripted() -> bytes:
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2).eval()), buffer)
    return buffer.getvalue()


def _exported() -> bytes:
    buffer = io.BytesIO()
    torch.export.save(torch.export.export(torch.nn.Linear(2, 2).eval(), (torch.ones(1, 2),)), buffer)
    return buffer.getvalue()


def _saved_tensor() -> bytes:
    buffer = io.BytesIO()
    torch.save(torch.ones(2), buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: fe.dumps(small_trace()), "trace"),
        (_scripted, "torchscript"),
        (_exported, "exported"),
        (_saved_tensor, "tensor"),
    ],
)
def test_usable_upload_is_kept(server: RunningServer, make: Callable[[], bytes], kind: str) -> None:
    body = make()
    status, reply = _upload(server, "..%2F..%2Fmy%20file.pt", body)
    path = Path(str(reply.pop("path")))
    assert (status, reply) == (200, {"name": "my_file.pt", "kind": kind, "size_bytes": len(body)})
    assert (path.name, path.read_bytes()) == ("my_file.pt", body)
    assert path.stat().st_mode & 0o077 == 0 or path.parent.stat().st_mode & 0o077 == 0


def _uploaded(server: RunningServer) -> set[Path]:
    """Everything that is kept of uploads by now; those of earlier tests go some 30 s after their page."""
    path = Path(str(_upload(server, "x", fe.dumps(small_trace()))[1]["path"]))
    found = {Path(folder) / name for folder, _, names in os.walk(path.parents[1]) for name in names} - {path}
    path.unlink()
    return found


def test_pickle_upload_is_refused_and_removed(server: RunningServer) -> None:
    before = _uploaded(server)
    status, reply = _upload(server, "x.pt", b"\x80\x02cos\nsystem\n")
    assert status == 415
    assert "x.pt is a pickle" in str(reply["error"])
    assert _uploaded(server) - before == set()


def test_too_large_upload_is_refused_before_it_is_read(server: RunningServer) -> None:
    before = _uploaded(server)
    status, reply = _upload(server, "big.pt", bytes((1 << 20) + 1))
    assert status == 413
    assert "big.pt has 1 MiB; uploads may have 1 MiB" in str(reply["error"])
    assert "--upload-limit" in str(reply["error"])
    assert _uploaded(server) - before == set()


def test_an_upload_that_is_broken_off_leaves_nothing(server: RunningServer) -> None:
    before = _uploaded(server)
    head = {**server.cookie, **server.origin, "Host": f"127.0.0.1:{server.port}", "Content-Length": "1000"}
    lines = [
        f"PUT /upload?name=x.pt&page={server.page_id()} HTTP/1.1",
        *(f"{name}: {value}" for name, value in head.items()),
        "",
        "half",
    ]
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall("\r\n".join(lines).encode())
        _until(lambda: len(_uploaded(server) - before) == 1)
    _until(lambda: not _uploaded(server) - before)


def test_an_upload_has_to_say_how_long_it_is(server: RunningServer) -> None:
    headers = {**server.cookie, **server.origin, "Transfer-Encoding": "chunked"}
    assert server.ask("/upload?name=x", headers, "PUT", b"0\r\n\r\n").status == 411


def test_uploads_are_only_put(server: RunningServer) -> None:
    assert server.ask("/upload?name=x", server.cookie).status == 405
    assert server.ask("/upload?name=x", {**server.cookie, **server.origin}, "POST", b"x").status == 405


# --- a recording from the command line, and the end


def _whole(path: Path) -> bool:
    return path.stat().st_size > 0 and any(step.latency for step in fe.load(path).steps)


def test_a_model_is_recorded_and_its_trace_served(tmp_path: Path) -> None:
    with running_server(tmp_path, "example:counter", "--seconds", "0.2", "--no-numerics") as server:
        assert "job=" in server.link
        _until(lambda: server.ask("/", server.cookie).status == 200)
        _until(lambda: any(_whole(path) for path in server.recordings.glob("counter-*.fztrace")))
        [path] = server.recordings.iterdir()
        assert server.ask(f"/trace/data?path={path}", server.cookie).status == 200
        code, told = server.ended()
    assert code == 0
    assert told.endswith("freezer-ui: open this link in a browser; Ctrl-C ends the server\n")
    assert fe.load(path).name == "counter"


_SLOW = """
import os, pathlib, time

def build():
    pathlib.Path("pid").write_text(str(os.getpid()))
    time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_end_takes_what_runs_with_it(number: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(_SLOW)
    with running_server(tmp_path, "slow:build") as server:
        _until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != "")
        path = Path(str(_upload(server, "x", fe.dumps(small_trace()))[1]["path"]))
        code, told = server.ended(number)
        assert (code, "Traceback" in told) == (0, False), told
    pid = int((tmp_path / "pid").read_text())
    _until(lambda: not Path(f"/proc/{pid}").exists())
    assert list(server.recordings.iterdir()) == []
    assert not path.parents[1].exists()


def test_server_can_be_stopped_before_it_is_ready(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        code, told = server.ended()
    assert (code, "Traceback" in told) == (0, False), told


_ENDLESS_IMPORT = """
import importlib, itertools, time
print("importing", flush=True)
for number in itertools.count():
    try:
        importlib.import_module(f"nothing_{number}")
    except Exception:
        time.sleep(0.01)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_end_signal_ends_the_import_of_panel(number: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "panel.py").write_text(_ENDLESS_IMPORT)
    with running_server(tmp_path, "example:resnet18") as server:
        assert server.process.stdout is not None
        while server.process.stdout.readline() != "importing\n":
            assert server.process.poll() is None
        code, told = server.ended(number)
        assert code == 0
        assert told.splitlines()[-1] == "freezer-ui: open this link in a browser; Ctrl-C ends the server"
        assert list(server.recordings.iterdir()) == []


def test_a_server_that_cannot_start_leaves_no_empty_recording(tmp_path: Path) -> None:
    with running_server(tmp_path) as first:
        with pytest.raises(AssertionError, match=f"port {first.port} is taken"):
            running_server(tmp_path, "example:resnet18", "--port", str(first.port)).__enter__()
        assert list(first.recordings.iterdir()) == []
