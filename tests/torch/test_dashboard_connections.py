"""Connections that ask for nothing, or stop in the middle, and a server that has no descriptors left."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.dashboard import ROOT
from tests.live_server import PATIENCE_S, TOKEN, LiveServer, head, live_server, read_reply
from viewer.dashboard.connections import Patience, raise_descriptor_limit

NEVER_S = 3600.0


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def _until(holds: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline_s, "it takes too long"
        time.sleep(0.01)


def _is_closed(connection: socket.socket) -> bool:
    """Waits until the server has closed a connection; fails at the connection's time limit."""
    try:
        while connection.recv(1 << 16):
            pass
    except ConnectionResetError:
        pass
    return True


def _upload_head(server: LiveServer, page: str, size_bytes: int) -> bytes:
    headers = {"Host": server.host, "Cookie": server.cookie(), "Origin": f"http://{server.host}"}
    return head(f"PUT /upload?name=x.pt&page={page} HTTP/1.1", headers | {"Content-Length": str(size_bytes)})


def test_half_sent_heads_and_idle_connections_end(tmp_path: Path) -> None:
    with live_server(tmp_path, patience=Patience(head_s=5)) as server:
        cookie = server.cookie()
        idle = server.connect()
        idle.sendall(head("GET /assets/start.js HTTP/1.1", {"Host": server.host, "Cookie": cookie}))
        reply = read_reply(idle)
        assert reply is not None
        assert reply.status == 200
        half = [server.connect() for _ in range(60)]
        for number, connection in enumerate(half):
            connection.sendall(b"" if number % 2 else b"GET / HTTP/1.1\r\nHost: ")
        assert all(_is_closed(connection) for connection in [*half, idle])
        for connection in [*half, idle]:
            connection.close()
        assert server.faults() == []


def test_a_body_that_stands_still_ends_and_one_that_moves_does_not(tmp_path: Path) -> None:
    with live_server(tmp_path, patience=Patience(head_s=NEVER_S, stall_s=10)) as server:
        server.inside(lambda: server.server.uploads.join("page"))
        with server.connect() as still, server.connect() as moving:
            still.sendall(_upload_head(server, "page", 1 << 20) + b"x")
            moving.sendall(_upload_head(server, "page", 1 << 20))
            sent = 0
            while not select.select([still], [], [], 0.05)[0]:  # it is closed
                sent += moving.send(b"x" * (1 << 11))
            assert sent > 1 << 12
            moving.sendall(b"x" * ((1 << 20) - sent))
            reply = read_reply(moving)
            assert reply is not None
            assert reply.status == 415
        _until(lambda: not list(tmp_path.glob("*/*.pt")))


def test_whoever_waits_longest_makes_room(tmp_path: Path) -> None:
    with live_server(tmp_path, patience=Patience(head_s=NEVER_S, waiting=5)) as server:
        waiting = [server.connect() for _ in range(12)]
        assert all(_is_closed(connection) for connection in waiting[:7])
        assert server.ask("/", Cookie=server.cookie()).status == 200  # three connections more
        for connection in waiting:
            connection.close()


def test_a_refused_request_s_body_is_not_read(tmp_path: Path) -> None:
    with live_server(tmp_path) as server, server.connect() as connection:
        connection.sendall(head("PUT /upload HTTP/1.1", {"Host": server.host, "Content-Length": str(1 << 16)}))
        reply = read_reply(connection)
        assert reply is not None
        assert reply.status == 403
        assert _is_closed(connection)


_LIMIT = 80
# Lowers its own limit, and raises it as the command does: as far as the hard limit lets it.
_STARVED = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, ({_LIMIT}, {_LIMIT}))
import viewer.dashboard.sessions  # without descriptors, Panel could not be loaded, which ends the server
from viewer.cli import main
sys.exit(main(["--no-browser"]))
"""


def _cpu_s(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_server_without_descriptors_waits_and_continues(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _STARVED],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "FREEZER_UI_TOKEN": TOKEN},
    )
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline().split(":")[2].partition("/")[0])
        with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as first:
            first.sendall(head(f"GET /?token={TOKEN} HTTP/1.1", {"Host": f"127.0.0.1:{port}"}))
            entered = read_reply(first)
            assert entered is not None
        cookie = entered.headers["set-cookie"].partition(";")[0]
        # What uses up descriptors is held by an open page, so none of it can be closed to make room.
        held = []
        for _ in range(2 * _LIMIT):
            connection = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
            connection.sendall(
                head(
                    "PUT /upload?name=x HTTP/1.1",
                    {"Host": f"127.0.0.1:{port}", "Cookie": cookie}
                    | {"Origin": f"http://127.0.0.1:{port}", "Content-Length": "99"},
                )
            )
            held.append(connection)
        descriptors = Path(f"/proc/{process.pid}/fd")
        _until(lambda: len(list(descriptors.iterdir())) >= _LIMIT - 2)
        before_s, started_s = _cpu_s(process.pid), time.monotonic()
        _until(lambda: time.monotonic() - started_s > 2)
        share = (_cpu_s(process.pid) - before_s) / (time.monotonic() - started_s)
        for connection in held:
            connection.close()
        with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as last:
            last.sendall(head("GET / HTTP/1.1", {"Host": f"127.0.0.1:{port}", "Cookie": cookie}))
            reply = read_reply(last)
        assert reply is not None
        assert reply.status == 200
        assert share < 0.3
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
    assert (process.returncode, told.count("a connection could not be taken")) == (0, 1)
    assert "Traceback" not in told


def test_the_descriptor_limit_is_raised_as_far_as_it_goes() -> None:
    limits = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 256)); "
    call = "from viewer.dashboard.connections import raise_descriptor_limit as r; r(); "
    shown = "import json; print(json.dumps(resource.getrlimit(resource.RLIMIT_NOFILE)))"
    found = subprocess.run(
        [sys.executable, "-c", limits + call + shown], capture_output=True, check=True, env=os.environ, cwd=ROOT
    )
    assert json.loads(found.stdout) == [256, 256]
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    raise_descriptor_limit()
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= before[0]
    resource.setrlimit(resource.RLIMIT_NOFILE, before)
