"""Every route of the dashboard against every kind of request that no page sends: refused, and never a 500."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import freeze_engine as fe
from tests.builders import small_trace
from tests.live_server import LAUNCH, TOKEN, LiveServer, Reply, head, live_server

HEADERS = ("content-security-policy", "x-content-type-options", "referrer-policy", "cross-origin-resource-policy")
DOCUMENTED = {200, 206, 303, 304, 400, 403, 404, 405, 409, 411, 413, 415, 416, 426}
REFUSED = {400, 403}

# What is in the place of a part of a path, or of the value of an argument.
NAMES = {
    "plain": "x",
    "nothing": "",
    "nul": "%00",
    "nul inside": "a%00b.js",
    "control": "%01%1f%7f%0d%0aSet-Cookie:%20a=b",
    "no utf-8": "%ff%fe",
    "overlong utf-8": "%c0%ae%c0%ae%c0%af",
    "surrogate": "%ed%a0%80",
    "broken escape": "%zz%",
    "raw latin-1": "\xe9\xff",
    "up": "../../../../etc/passwd",
    "up escaped": "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "up twice": "%252e%252e%252f",
    "backslash": "..%5c..%5cx",
    "root": "/etc/passwd",
    "folder": ".",
    "home": "~",
    "nobody's home": "~nouser/x",
    "device": "/dev/zero",
    "pipe": "/proc/self/fd/0",
    "bidi": "%e2%80%ae%f0%9f%98%80",
    "long name": "n" * 300,
    "long path": "/".join(["d" * 100] * 45),
    "long": "v" * 10_000,
    "longer than all": "v" * 20_000,
}
ARGUMENTS = ("path", "a", "b", "name", "page", "token", "launch", "trace", "bokeh-session-id", "bokeh-token", "v")
WEBSOCKET = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    "Sec-WebSocket-Version": "13",
}
ODD_HEADERS: dict[str, dict[str, str]] = {
    "range": {"Range": "bytes=5-2"},
    "range without end": {"Range": "bytes=99999999999999999999-"},
    "range of nonsense": {"Range": "bytes=a-b,-\xff"},
    "etag": {"If-None-Match": '"' + "x" * 2000},
    "etag of nonsense": {"If-None-Match": "\xff,,W/"},
    "date": {"If-Modified-Since": "yesterday"},
    "date without end": {"If-Modified-Since": "Fri, 31 Feb 99999 25:61:61 GMT"},
    "date of another world": {"If-Modified-Since": "Mon, 01 Jan 0001 00:00:00 +9999"},
    "session": {"Bokeh-Session-Id": "x"},
    "type": {"Content-Type": "multipart/form-data"},
    "charset": {"Content-Type": "application/x-www-form-urlencoded; charset=none", "Accept": "text/html"},
    "encoding": {"Accept-Encoding": "\xff", "Content-Encoding": "gzip"},
    "huge": {"X-Huge": "h" * 20_000},
    "too huge": {"X-Huge": "h" * 100_000},
    "cookies": {"X-Cookie": "a=b"},
    "expect": {"Expect": "100-continue"},
    "forwarded": {"X-Forwarded-For": "\xff", "X-Real-Ip": "::", "X-Forwarded-Proto": "gopher"},
    "websocket": WEBSOCKET,
    "websocket without key": {name: WEBSOCKET[name] for name in WEBSOCKET if name != "Sec-WebSocket-Key"},
    "websocket of another version": {**WEBSOCKET, "Sec-WebSocket-Version": "99"},
    "websocket without upgrade": {**WEBSOCKET, "Connection": "close"},
    "websocket without session": {**WEBSOCKET, "Sec-WebSocket-Protocol": "bokeh"},
    "websocket of another protocol": {**WEBSOCKET, "Sec-WebSocket-Protocol": "mqtt, x"},
    "websocket with a wrong session": {**WEBSOCKET, "Sec-WebSocket-Protocol": "bokeh, eyJ9.x.\xff"},
    "websocket with many sessions": {**WEBSOCKET, "Sec-WebSocket-Protocol": ", ".join(["bokeh"] * 50)},
}
BODIES: dict[str, tuple[dict[str, str], bytes]] = {
    "body": ({"Content-Length": "3"}, b"abc"),
    "form": ({"Content-Length": "7", "Content-Type": "application/x-www-form-urlencoded"}, b"a=%ff&b"),
    "parts": ({"Content-Length": "5", "Content-Type": "multipart/form-data; boundary=x"}, b"--x--"),
    "chunks": ({"Transfer-Encoding": "chunked"}, b"3\r\nabc\r\n0\r\n\r\n"),
    "broken chunks": ({"Transfer-Encoding": "chunked"}, b"zz\r\nabc"),
    "chunks and length": ({"Transfer-Encoding": "chunked", "Content-Length": "3"}, b"3\r\nabc\r\n0\r\n\r\n"),
    "negative length": ({"Content-Length": "-1"}, b""),
    "huge length": ({"Content-Length": "9" * 30}, b"x"),
    "large length": ({"Content-Length": str(1 << 40)}, b"x"),
    "two lengths": ({"Content-Length": "3, 4"}, b"abc"),
    "length of nonsense": ({"Content-Length": "\xb2"}, b""),
}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "BREW", "get")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    folder = tmp_path_factory.mktemp("routes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        (folder / "uploads").mkdir()
        fe.save(small_trace(), folder / "small.fztrace")
        with live_server(folder / "uploads", launch=LAUNCH) as running:
            yield running


@pytest.fixture(scope="module")
def paths(server: LiveServer) -> list[str]:
    """One path for each route, with ``{}`` in the place of a group; taken from the server, so new routes join."""
    return sorted({re.sub(r"\([^)]*\)", "{}", re.sub(r"\(\?![^)]*\)", "", each)) for each in _cleaned(server)})


def _cleaned(server: LiveServer) -> list[str]:
    return [pattern.removesuffix("$").replace("/?", "/") for pattern in server.server.patterns]


def _targets(paths: list[str]) -> Iterator[tuple[str, str]]:
    """Yields what is asked for, and why."""
    for path, (kind, value) in itertools.product(paths, NAMES.items()):
        yield path.format(value), f"{path} {kind}"
    for path, argument, (kind, value) in itertools.product(paths, ARGUMENTS, NAMES.items()):
        if argument in path or kind in ("nul", "nobody's home", "no utf-8", "long path", "up"):
            yield f"{path.format('x')}?{argument}={value}", f"{path} {argument} {kind}"
    for path in (each.format("x") for each in paths):
        for query in ("path", "path=", "path=a&path=b", "%00=x", "&&&=", "a=x&b=y&a=z", "?" * 50, "x&" * 2000):
            yield f"{path}?{query}", f"{path} {query[:10]}"


def _requests(server: LiveServer, paths: list[str]) -> Iterator[tuple[str, str, str, dict[str, str], bytes]]:
    """Yields what each request is about, its first line, its headers and its body."""
    for target, about in _targets(paths):
        yield about, "GET", target, {}, b""
    for path in (each.format("x") for each in paths):
        own = {"Origin": f"http://{server.host}"}
        for about, headers in ODD_HEADERS.items():
            yield f"{path} {about}", "GET", path, {**own, **headers}, b""
        for method in METHODS:
            yield f"{path} {method}", method, path, own, b""
        for (about, (headers, body)), method in itertools.product(BODIES.items(), ("PUT", "POST", "GET")):
            yield f"{path} {about} {method}", method, path, {**own, **headers}, body
        for target in (
            f"http://{server.host}{path}",
            f"http://evil.example{path}",
            "*",
            path.lstrip("/") or "x",
            f"/{path}",
        ):
            yield f"{path} as {target}", "GET", target, {}, b""


LINES = {
    "nothing": b"\r\n\r\n",
    "no version": b"GET /\r\n\r\n",
    "wrong version": b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
    "spaces": b"GET  /  x HTTP/1.1\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two hosts": b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "no colon": b"GET / HTTP/1.1\r\nHost\r\n\r\n",
    "folded": b"GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
    "bytes": bytes(range(256)) + b"\r\n\r\n",
    "nul in a header": b"GET / HTTP/1.1\r\nHost: \0\r\n\r\n",
    "tls": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "http/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}


def _answers(
    server: LiveServer, cookie: str | None, request: tuple[str, str, str, dict[str, str], bytes]
) -> Reply | None:
    _, method, target, headers, body = request
    own = {"Host": server.host, "Connection": "close"} | ({} if cookie is None else {"Cookie": cookie})
    return server.exchange(head(f"{method} {target} HTTP/1.1", own | headers) + body)


def _wrong(reply: Reply | None, allowed: set[int]) -> str | None:
    """Returns what is wrong with an answer; one without headers is tornado's, of what is no HTTP."""
    if reply is None:
        return None
    if reply.status not in allowed:
        return f"status {reply.status}"
    if b"Traceback" in reply.body:
        return "traceback"
    if not reply.headers:
        return None if reply.status == 400 else "no headers"
    missing = [name for name in HEADERS if name not in reply.headers]
    return f"lacks {missing}" if missing else None


def test_every_route_is_known_by_the_server(paths: list[str]) -> None:
    assert {"/", "/session", "/ws", "/upload", "/trace/data", "/assets/{}"} <= set(paths)
    assert not {"/metadata", "/autoload.js", "/static/{}"} & set(paths)


@pytest.mark.parametrize("who", ["nobody", "a stranger", "the page"])
def test_whatever_is_asked_is_answered_and_nothing_fails(server: LiveServer, paths: list[str], who: str) -> None:
    right = server.cookie()
    cookie = {"nobody": None, "a stranger": right + "x", "the page": right}[who]
    allowed = DOCUMENTED if who == "the page" else REFUSED
    before, launched = set(server.folder.rglob("*")), len(server.records)
    wrong = []
    for request in _requests(server, paths):
        if text := _wrong(_answers(server, cookie, request), allowed):
            wrong.append(f"{request[0][:100]}: {text}")
    assert wrong == []
    assert server.faults()[launched:] == []
    assert set(server.folder.rglob("*")) == before
    assert server.ask("/", Cookie=right).status == 200


@pytest.mark.parametrize("about", LINES)
def test_request_that_is_not_http_is_refused(server: LiveServer, about: str) -> None:
    reply = server.exchange(LINES[about])
    assert reply is None or reply.status in REFUSED
    assert server.faults() == []


@pytest.mark.parametrize("version", ["HTTP/1.0", "HTTP/1.1"])
def test_requests_of_either_version_are_answered(server: LiveServer, version: str) -> None:
    reply = server.exchange(
        head(f"GET / {version}", {"Host": server.host, "Cookie": server.cookie(), "Connection": "close"})
    )
    assert reply is not None
    assert reply.status == 200


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "file://", "", "http://127.0.0.1:1"])
@pytest.mark.parametrize("host", [None, "evil.example", "127.0.0.1", "127.0.0.1:1", "[::1", "\xff", ""])
def test_foreign_names_and_pages_get_nothing_from_any_route(
    server: LiveServer, paths: list[str], origin: str | None, host: str | None
) -> None:
    if origin is None and host is None:
        return
    headers = {"Cookie": server.cookie(), "Connection": "close", "Host": server.host if host is None else host}
    headers |= {} if origin is None else {"Origin": origin}
    for path, method in itertools.product(paths, ("GET", "PUT")):
        for extra in ({}, WEBSOCKET) if path == "/ws" else ({},):
            reply = server.exchange(head(f"{method} {path.format('x')} HTTP/1.1", {**headers, **extra}))
            assert reply is not None, path
            assert reply.status in REFUSED, path


def test_a_token_or_cookie_is_in_no_log(server: LiveServer, caplog: pytest.LogCaptureFixture) -> None:
    for target in (f"/?token={TOKEN}%ff", f"/?launch={LAUNCH}%00", f"/?token={TOKEN}&token=x", f"/x?token={TOKEN}"):
        assert server.ask(target).status in REFUSED
    assert TOKEN not in caplog.text
    assert LAUNCH not in caplog.text


def test_a_folder_of_another_kind_is_not_a_trace(server: LiveServer, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    reply = server.ask(f"/trace/data?path={tmp_path}/loop", Cookie=server.cookie())
    assert reply.status == 400
    assert "There is no trace" in reply.error
