"""Clients of the dashboard without a browser: HTTP and an open Bokeh websocket each, many of them on one event loop.

A client loads the same things as a page, in the same order: the page itself, its scripts and styles, the websocket, the
document, the trace. Then `PageClient.ask` sends messages as ``frontend/dashboard/panel.js`` does, and waits for their
replies.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

PATIENCE_S = 120.0
Took = Callable[[str, float], None]
"""Receives the kind of a request, and its duration in s."""


class PageError(Exception):
    """The server answered a request wrongly or not at all; the message names the request."""


class PageClient:
    """One open page.

    Args:
        address: of the server, as ``http://127.0.0.1:5006``.
        cookie: header with a valid cookie.
        took: called with the kind and the duration of each request.
    """

    def __init__(self, address: str, cookie: dict[str, str], took: Took) -> None:
        self._address = address
        self._headers = cookie
        self._took = took
        self._http = AsyncHTTPClient()
        self._socket: WebSocketClientConnection | None = None
        self._reading: asyncio.Task[None] | None = None
        self._root = ""
        self._waiting: dict[object, asyncio.Future[Any]] = {}
        self.jobs: list[dict[str, Any]] = []

    async def open(self) -> None:
        """Loads the page and its assets, and opens its websocket."""
        text = (await self.get("page", "/")).decode()
        for asset in re.findall(r'assets/[^"\\]+', text):
            await self.get("asset", f"/{asset}")
        session = json.loads(await self.get("session", "/session"))
        self._root = session["root"]
        origin = {"Origin": self._address}
        request = HTTPRequest(self._address.replace("http", "ws", 1) + "/ws", headers=self._headers | origin)
        self._socket = await websocket_connect(request, subprotocols=["bokeh", session["token"]])
        self._reading = asyncio.create_task(self._read(self._socket))
        await self._exchange("ws", "ACK", None)
        await self._exchange("document", "document", {"msgtype": "PULL-DOC-REQ"}, {})
        # Panel changes nothing in a document before its page reports that it is ready.
        await self._write(
            {"msgtype": "PATCH-DOC", "msgid": "ready"},
            _patch({"type": "event", "name": "document_ready", "values": _map({})}),
        )

    async def get(self, kind: str, path: str, /, **query: str) -> bytes:
        """Sends a GET request; raises `PageError` for any status but 200."""
        address = f"{self._address}{path}" + (f"?{urlencode(query)}" if query else "")
        began = time.perf_counter()
        request = HTTPRequest(
            address, headers=self._headers, decompress_response=False, request_timeout=PATIENCE_S, connect_timeout=20
        )
        answer = await self._http.fetch(request, raise_error=False)
        if answer.code != 200:
            raise PageError(f"GET {path} was answered with {answer.code}: {answer.error or answer.body[:200]!r}")
        self._took(kind, time.perf_counter() - began)
        return answer.body

    async def ask(self, kind: str, /, **message: Any) -> Any:
        """Sends a message of the page and returns its reply."""
        number = f"{kind}-{time.perf_counter_ns()}"
        data = [["model", {"id": self._root}], ["data", _map({"id": number, "type": kind, **message})]]
        event = {"type": "event", "name": "data_event", "values": {"type": "map", "entries": data}}
        answer = await self._exchange("ws", number, {"msgtype": "PATCH-DOC"}, _patch(event))
        if "error" in answer:
            raise PageError(f"{kind} was answered with {answer['error']}")
        return answer["reply"]

    async def close(self) -> None:
        """Closes the websocket, as a closed tab does."""
        if self._socket is not None:
            self._socket.close()
        if self._reading is not None:
            await self._reading

    async def _exchange(self, kind: str, awaited: object, *frames: Any) -> Any:
        """Sends a message in Bokeh's frames, if any, and returns the awaited answer."""
        assert self._socket is not None
        future = self._waiting[awaited] = asyncio.get_running_loop().create_future()
        began = time.perf_counter()
        if frames[0] is not None:
            await self._write({"msgid": str(awaited), **frames[0]}, frames[1])
        try:
            answer = await asyncio.wait_for(future, PATIENCE_S)
        except asyncio.TimeoutError as error:
            raise PageError(f"the websocket left {awaited} without an answer") from error
        self._took(kind, time.perf_counter() - began)
        return answer

    async def _write(self, header: dict[str, str], content: Any) -> None:
        assert self._socket is not None
        for frame in (header, {}, content):
            await self._socket.write_message(json.dumps(frame))

    async def _read(self, socket: WebSocketClientConnection) -> None:
        problem = PageError("the server closed the websocket")
        try:
            while (text := await socket.read_message()) is not None:
                header = json.loads(text)
                await socket.read_message()
                content = json.loads(await socket.read_message() or "{}")
                for _ in range(2 * header.get("num_buffers", 0)):
                    await socket.read_message()
                self._take(header["msgtype"], content)
        except PageError as error:
            problem = error
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(problem)

    def _take(self, kind: str, content: Any) -> None:
        if kind == "ERROR":
            raise PageError(f"the server says on the websocket: {content}")
        if kind in ("ACK", "PULL-DOC-REPLY"):
            self._settle("ACK" if kind == "ACK" else "document", content)
        if kind != "PATCH-DOC":
            return
        for event in content["events"]:
            if event["kind"] == "ModelChanged" and event["attr"] == "jobs":
                self.jobs = _plain(event["new"])
            elif event["kind"] == "MessageSent":
                data = dict(_plain(event["msg_data"])["values"])["data"]
                self._settle(data["id"], data)

    def _settle(self, awaited: object, content: Any) -> None:
        future = self._waiting.pop(awaited, None)
        if future is not None and not future.done():
            future.set_result(content)


def _patch(event: dict[str, Any]) -> dict[str, Any]:
    return {"events": [{"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": event}]}


def _map(value: Any) -> Any:
    """Converts plain data to Bokeh's notation: a dictionary becomes a list of its entries."""
    if isinstance(value, dict):
        return {"type": "map", "entries": [[key, _map(item)] for key, item in value.items()]}
    return [_map(item) for item in value] if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    """Converts Bokeh's notation to plain data."""
    if isinstance(value, dict):
        if value.get("type") == "map":
            return {key: _plain(item) for key, item in value.get("entries", ())}
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
