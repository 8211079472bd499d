"""What one page may do: its uploads, its websocket, and what it gets for what no page sends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

import freeze_engine as fe
from freeze_engine import worker
from tests.builders import small_trace
from tests.live_server import LAUNCH, PATIENCE_S, LiveServer, live_server
from viewer.dashboard.upload_store import PageUploads, UploadLimits, UploadStore

TRACE = fe.dumps(small_trace())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    folder = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        patch.setattr("viewer.dashboard.entrances.LAUNCH_S", 3600.0)  # the test of it comes last
        (folder / "uploads").mkdir()
        with live_server(folder / "uploads", UploadLimits(1 << 20, 3 << 20), launch=LAUNCH) as running:
            yield running


# --- uploads


def _store(folder: Path, *requests: Any, total_bytes: int = 100) -> tuple[UploadStore, list[Path]]:
    removed: list[Path] = []
    store = UploadStore(folder, UploadLimits(60, total_bytes), lambda: requests, removed.append)
    for page in ("a", "b"):
        store.join(page)
    return store, removed


def test_an_upload_goes_with_the_last_page_that_uses_it(tmp_path: Path) -> None:
    store, removed = _store(tmp_path)
    upload = store.promise("a", "net.pt", 10)
    upload.path.write_bytes(b"x" * 10)
    PageUploads(store, "b").use(f"weights={upload.path}")
    store.leave("a")
    assert upload.path.exists()
    store.leave("b")
    assert (removed, list(tmp_path.iterdir())) == ([upload.path], [])
    with pytest.raises(fe.FreezerError, match=r"uploaded by a page that has been closed since.*Upload it again"):
        PageUploads(store, "b").use(str(upload.path))


def test_a_page_that_is_loaded_again_keeps_what_it_had_and_a_guess_gets_nothing(tmp_path: Path) -> None:
    store, removed = _store(tmp_path)
    upload = store.promise("a", "net.pt", 10)
    PageUploads(store, "b").take_over("another id")
    assert upload.pages == {"a"}
    PageUploads(store, "b").take_over("a")
    store.leave("a")
    assert (removed, upload.pages) == ([], {"b"})


def test_an_upload_stays_for_the_recordings_that_need_it(tmp_path: Path) -> None:
    store, removed = _store(tmp_path)
    names = ("net.pt", "x.pt", "float.pt2", "y.pt")
    model, tensor, of_float, other = (store.promise("a", name, 10) for name in names)
    request = worker.RecordRequest(
        str(model.path), tmp_path / "out", inputs=(f"x={tensor.path}",), float_model=str(of_float.path)
    )
    needed = [request]
    store._needed = lambda: needed
    store.leave("a")
    assert removed == [other.path]
    needed.clear()
    store.sweep()
    assert removed == [other.path, model.path, tensor.path, of_float.path]


def test_all_uploads_together_are_bounded_as_they_are_promised(tmp_path: Path) -> None:
    store, _ = _store(tmp_path)
    first = store.promise("a", "one", 60)
    with pytest.raises(fe.FreezerError, match="--upload-total"):
        store.promise("b", "two", 41)
    with pytest.raises(fe.FreezerError, match="--upload-limit"):
        store.promise("b", "three", 61)
    store.drop(first)
    store.promise("b", "two", 41)


def test_the_disk_is_not_filled(tmp_path: Path) -> None:
    store = UploadStore(tmp_path, UploadLimits(1 << 60, 1 << 60))
    with pytest.raises(fe.FreezerError, match=r"the disk of .* has room for .*Make room there"):
        store.promise("a", "all", 1 << 59)


def _uploaded(server: LiveServer, page: str, body: bytes = TRACE, name: str = "x.fztrace") -> Any:
    origin = {"Origin": f"http://{server.host}", "Cookie": server.cookie()}
    return server.ask(f"/upload?name={name}&page={page}", "PUT", body, **origin)


def test_only_an_open_page_uploads_and_the_total_holds(server: LiveServer) -> None:
    server.inside(lambda: server.server.uploads.join("page of a test"))
    assert _uploaded(server, "no-page").status == 409
    reply = _uploaded(server, "page%20of%20a%20test")
    path = Path(json.loads(reply.body)["path"])
    assert (reply.status, path.read_bytes()) == (200, TRACE)
    server.inside(lambda: server.server.uploads.promise("page of a test", "big", 1 << 20))
    server.inside(lambda: server.server.uploads.promise("page of a test", "big", 1 << 20))
    full = _uploaded(server, "page%20of%20a%20test", b"x" * (1 << 20))
    assert (full.status, "--upload-total" in full.error) == (413, True)
    server.inside(lambda: server.server.uploads.leave("page of a test"))
    assert list(server.folder.iterdir()) == []


# --- the websocket


async def _opened(server: LiveServer, cookie: str) -> tuple[WebSocketClientConnection, str]:
    started = await asyncio.to_thread(server.ask, "/session", Cookie=cookie)
    session = json.loads(started.body)
    request = HTTPRequest(f"ws://{server.host}/ws", headers={"Cookie": cookie, "Origin": f"http://{server.host}"})
    connection = await websocket_connect(request, subprotocols=["bokeh", session["token"]])
    for _ in range(3):
        await asyncio.wait_for(connection.read_message(), PATIENCE_S)  # ACK
    return connection, session["root"]


def _on_websocket(
    server: LiveServer, cookie: str, talk: Callable[[WebSocketClientConnection, str], Awaitable[None]]
) -> None:
    async def run() -> None:
        connection, root = await _opened(server, cookie)
        try:
            await talk(connection, root)
        finally:
            connection.close()

    # A browser of other tests may keep a loop in this thread, and a thread can run one only.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(run())).result()


def _message(kind: str, content: object) -> list[str]:
    return [json.dumps({"msgid": "1", "msgtype": kind}), "{}", json.dumps(content)]


def _event(values: object, name: str = "data_event") -> dict[str, object]:
    data = {"type": "event", "name": name, "values": values}
    return {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": data}


_CLOSING: tuple[tuple[str | bytes, ...], ...] = (
    (b"\x00\xff",),
    ("",),
    ("not json", "{}", "{}"),
    ("[]", "[]", "[]"),
    ("null", "null", "null"),
    ("{}", "{}", "{}"),
    ('{"msgid": 1}', "{}", "{}"),
    ('{"msgid": "1", "msgtype": "NONE"}', "{}", "{}"),
    ('{"msgid": "1", "msgtype": []}', "{}", "{}"),
    ("[" * 100_000, "{}", "{}"),
    tuple(_message("PATCH-DOC", {})),
    tuple(_message("PATCH-DOC", [])),
    tuple(_message("PATCH-DOC", {"events": 5})),
    tuple(_message("PATCH-DOC", {"events": [5]})),
    tuple(_message("PATCH-DOC", {"events": [{}]})),
    tuple(_message("PATCH-DOC", {"events": [_event(5)]})),
    tuple(_message("PATCH-DOC", {"events": [_event({"type": "map", "entries": [["model"]]})]})),
    ("x" * (2 << 20),),
)
_REFUSED = (
    _message("PUSH-DOC", {"doc": {}}),
    _message("ACK", {}),
    _message("PATCH-DOC", {"events": [{"kind": "RootRemoved", "model": {"id": "p1"}}]}),
    _message("PATCH-DOC", {"events": [{"kind": "TitleChanged", "title": "x"}]}),
    _message("PATCH-DOC", {"events": [_event({"type": "map"}, "button_click")]}),
    _message("PATCH-DOC", {"events": [_event({"type": "map", "entries": [["model", {"id": "none"}]]})]}),
)


@pytest.mark.parametrize("fragments", _CLOSING, ids=lambda each: repr(each)[:60])
def test_malformed_message_closes_the_websocket_without_a_log_entry(
    server: LiveServer, fragments: tuple[str | bytes, ...]
) -> None:
    async def talk(connection: WebSocketClientConnection, root: str) -> None:
        for fragment in fragments:
            await connection.write_message(fragment, binary=isinstance(fragment, bytes))
        if fragments == ("",):
            await connection.write_message("")
            await connection.write_message("")
        while await asyncio.wait_for(connection.read_message(), PATIENCE_S) is not None:
            pass
        assert connection.close_code in (1008, 1009)

    _on_websocket(server, server.cookie(), talk)
    assert server.faults() == []


def test_forbidden_message_of_a_page_is_refused_and_changes_no_property(server: LiveServer) -> None:
    async def told(connection: WebSocketClientConnection) -> tuple[str, Any]:
        texts = [await asyncio.wait_for(connection.read_message(), PATIENCE_S) for _ in range(3)]
        return json.loads(texts[0] or "")["msgtype"], json.loads(texts[2] or "")

    async def talk(connection: WebSocketClientConnection, root: str) -> None:
        for message in _REFUSED:
            for fragment in message:
                await connection.write_message(fragment)
            kind, content = await told(connection)
            assert (kind, "nothing was changed" in content["text"]) == ("ERROR", True), message
        for fragment in _message("PULL-DOC-REQ", {}):
            await connection.write_message(fragment)
        kind, before = await told(connection)
        assert kind == "PULL-DOC-REPLY"
        model = {"id": root}
        changes = [{"kind": "ModelChanged", "model": model, "attr": name, "new": 5} for name in ("data", "esm", "no")]
        for fragment in _message("PATCH-DOC", {"events": changes}):
            await connection.write_message(fragment)
        assert (await told(connection))[0] == "OK"
        objects = {"type": "object", "name": "Div", "id": "x"}
        for data in (objects, [objects], {"type": "bytes", "data": "eA=="}, {"id": "p1"}, {"type": "ndarray"}):
            event = _event({"type": "map", "entries": [["model", model], ["data", data]]})
            for fragment in _message("PATCH-DOC", {"events": [event]}):
                await connection.write_message(fragment)
            assert (await told(connection))[0] == "ERROR", data
        for fragment in _message("PULL-DOC-REQ", {}):
            await connection.write_message(fragment)
        assert (await told(connection))[1]["doc"]["roots"] == before["doc"]["roots"]

    _on_websocket(server, server.cookie(), talk)
    assert server.faults() == []


def test_a_second_use_of_the_launch_link_closes_the_websocket_that_came_of_it(server: LiveServer) -> None:
    cookie = server.ask(f"/?launch={LAUNCH}").headers["set-cookie"].partition(";")[0]

    async def talk(connection: WebSocketClientConnection, root: str) -> None:
        assert (await asyncio.to_thread(server.ask, f"/?launch={LAUNCH}")).status == 403
        assert await asyncio.wait_for(connection.read_message(), PATIENCE_S) is None
        assert connection.close_code == 1008

    _on_websocket(server, cookie, talk)
    [remark] = server.remarks
    assert "used a second time" in remark
