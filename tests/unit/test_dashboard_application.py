"""The server before Panel is loaded: what needs no session is answered, and what needs one waits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

from tornado.httpclient import AsyncHTTPClient, HTTPResponse
from tornado.httputil import HTTPServerRequest
from tornado.web import Application, RequestHandler

from viewer.dashboard.application import GuardedApplication
from viewer.dashboard.auth import Guard
from viewer.dashboard.connections import Patience, PatientServer
from viewer.dashboard.entrances import Entrances
from viewer.dashboard.handlers_base import JsonHandler
from viewer.dashboard.listening_socket import listen, port_of

TOKEN = "the-token-of-these-tests"
LIMIT_S = 300.0
Ask = Callable[..., Awaitable[HTTPResponse]]


class _Own(JsonHandler):
    def get(self) -> None:
        self.finish({"who": "the page"})


class _Session(RequestHandler):
    def get(self) -> None:
        self.finish({"who": "the session"})

    def post(self) -> None:
        self.finish(self.request.body)


class _Sessions(Application):
    patterns = ("/session$",)

    def __init__(self) -> None:
        super().__init__([("/session", _Session)])

    def find_handler(self, request: HTTPServerRequest, **options: Any) -> Any:
        return super().find_handler(request, **options)


@asynccontextmanager
async def _served() -> AsyncIterator[tuple[GuardedApplication, Ask]]:
    with listen("127.0.0.1", None) as listening:
        port = port_of(listening)
        guard = Guard(Entrances(TOKEN), "127.0.0.1", port)
        application = GuardedApplication(guard, print, [("/own", _Own)])
        http = PatientServer(application, Patience(), print)
        http.add_socket(listening)
        cookie = f"{guard.cookie_name}={guard.entrances.by_token(TOKEN).cookie}"

        async def ask(path: str, is_known: bool = True, **options: Any) -> HTTPResponse:
            origin = {"Origin": f"http://127.0.0.1:{port}"}
            headers = origin | ({"Cookie": cookie} if is_known else {})
            return await AsyncHTTPClient().fetch(
                f"http://127.0.0.1:{port}{path}",
                headers=headers,
                raise_error=False,
                connect_timeout=LIMIT_S,
                request_timeout=LIMIT_S,
                **options,
            )

        yield application, ask
        http.stop()
        await http.close_all_connections()


def _run(test: Callable[[], Awaitable[None]]) -> None:
    # A browser of other tests may keep a loop in this thread, and a thread can run one only.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(asyncio.wait_for(test(), LIMIT_S))).result()


async def _before() -> None:
    async with _served() as (application, ask):
        waiting = [
            asyncio.ensure_future(ask("/session")),
            asyncio.ensure_future(ask("/session", method="POST", body="x")),
        ]
        own, stranger, nothing = await ask("/own"), await ask("/session", is_known=False), await ask("/no/such/page")
        assert json.loads(own.body) == {"who": "the page"}
        assert (stranger.code, nothing.code) == (403, 404)
        assert set(json.loads(nothing.body)) == {"error"}
        assert not any(each.done() for each in waiting)
        assert list(application.patterns) == ["/own$"]
        application.connect(_Sessions())
        first, second = await asyncio.gather(*waiting)
        assert (json.loads(first.body), second.body) == ({"who": "the session"}, b"x")
        assert json.loads((await ask("/session")).body) == {"who": "the session"}
        assert list(application.patterns) == ["/own$", "/session$"]


def test_requests_that_need_a_session_wait_for_it_and_no_others() -> None:
    _run(_before)


async def _abandoned() -> None:
    async with _served() as (application, ask):
        waiting = asyncio.ensure_future(ask("/session"))
        await ask("/own")
        waiting.cancel()
        application.connect(_Sessions())
        assert (await ask("/session")).code == 200


def test_a_client_that_leaves_before_there_are_sessions_harms_nobody() -> None:
    _run(_abandoned)
