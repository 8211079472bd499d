"""The web application: the guard in front of every route, and the sessions that join once Panel is loaded.

Panel takes a second to load. The page, its scripts and its data need none of it, so this application answers them at
once, while Panel loads in a thread. A request that needs a session waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any, Final, Protocol

from tornado.httputil import HTTPHeaders, HTTPMessageDelegate, HTTPServerRequest, RequestStartLine, ResponseStartLine
from tornado.web import Application

from viewer.dashboard.auth import Guard, Refusal
from viewer.dashboard.front import fault
from viewer.dashboard.handlers_base import TOKENS, EntryHandler, JsonHandler, RefusingHandler, SecurityHeaders

POLICY_VIOLATION: Final = 1008
"""Code that closes a websocket."""

SESSION_PATHS: Final = ("/session", "/ws")
"""Addresses that the sessions answer: the start of one, and its websocket."""


class Channel(Protocol):
    """An open websocket of a page."""

    request: HTTPServerRequest

    def close(self, code: int | None = None, reason: str | None = None) -> None:
        """Closes the websocket."""


class Sessions(Protocol):
    """The part of Bokeh's application that this module uses."""

    @property
    def patterns(self) -> tuple[str, ...]:
        """The regular expressions of its routes."""

    def find_handler(self, request: HTTPServerRequest) -> HTTPMessageDelegate:
        """Returns the handler of a request."""


class GuardedApplication(Application):
    """tornado's web application behind a guard.

    Args:
        guard: admits or refuses a request before the handler of any route is created, so before a body is read.
        remark: prints a message to the user's terminal.
        routes: of the handlers that need no session.

    Attributes:
        channels: the open websockets.
    """

    def __init__(self, guard: Guard, remark: Callable[[str], object], routes: Sequence[Any]) -> None:
        super().__init__(list(routes), default_handler_class=_NothingHere)
        self._guard = guard
        self._remark = remark
        self._sessions: asyncio.Future[Sessions] = asyncio.get_running_loop().create_future()
        self.channels: set[Channel] = set()
        self.add_transform(SecurityHeaders)

    def connect(self, sessions: Sessions) -> None:
        """Takes the loaded sessions, and answers the requests that wait for them."""
        self._sessions.set_result(sessions)

    def find_handler(self, request: HTTPServerRequest, **options: Any) -> Any:
        """Returns the handler of a request: the route's, or one that refuses."""
        refusal = self._guard.refusal(request)
        wants_in = request.method == "GET" and request.path == "/" and not TOKENS.isdisjoint(request.query_arguments)
        if wants_in and (refusal is None or refusal.needs_token) and fault(request) is None:
            return self.get_handler_delegate(request, EntryHandler, {"guard": self._guard, "on_reuse": self._shut_out})
        if refusal is not None:
            return self._refused(request, refusal, HTTPStatus.FORBIDDEN)
        if text := fault(request):
            return self._refused(request, Refusal(text), HTTPStatus.BAD_REQUEST)
        if request.path in SESSION_PATHS:
            return _Waiting(request, self._sessions)
        return super().find_handler(request, **options)

    @property
    def patterns(self) -> tuple[str, ...]:
        """The regular expressions of all routes; those of the sessions only once they are connected."""
        own = tuple(rule.matcher.regex.pattern for rule in self.wildcard_router.rules)  # type: ignore[attr-defined]
        return own + (self._sessions.result().patterns if self._sessions.done() else ())

    def _refused(self, request: HTTPServerRequest, refusal: Refusal, status: HTTPStatus) -> Any:
        return self.get_handler_delegate(request, RefusingHandler, {"refusal": refusal, "status": status})

    def _shut_out(self) -> None:
        """Closes the websockets of browsers whose cookie was withdrawn, and warns the user at the terminal."""
        self._remark(
            "the one-time link that started the browser was used a second time, so the browser that used it first is "
            "shut out; open the printed link, and look for who can read this machine's list of programs"
        )
        for channel in tuple(self.channels):
            if not self._guard.admits(channel.request):
                channel.close(POLICY_VIOLATION, "This browser is shut out.")


class _NothingHere(JsonHandler):
    """Answers addresses without a route."""

    def prepare(self) -> None:
        """Refuses the request."""
        self.refuse(HTTPStatus.NOT_FOUND, "There is no such page.")


class _Waiting(HTTPMessageDelegate):
    """Holds a request back until the sessions are loaded, and hands it to their handler.

    Args:
        request: with its headers read.
        sessions: as soon as they are loaded.
    """

    def __init__(self, request: HTTPServerRequest, sessions: asyncio.Future[Sessions]) -> None:
        self._request = request
        self._sessions = sessions
        self._handler: HTTPMessageDelegate | None = None

    async def headers_received(self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders) -> None:
        """Waits; tornado reads nothing more of the request meanwhile."""
        sessions = await asyncio.shield(self._sessions)
        self._handler = sessions.find_handler(self._request)
        if (reading := self._handler.headers_received(start_line, headers)) is not None:
            await reading

    def data_received(self, chunk: bytes) -> Any:
        """Forwards a chunk of the body."""
        return None if self._handler is None else self._handler.data_received(chunk)

    def finish(self) -> None:
        """Forwards the end of the request."""
        if self._handler is not None:
            self._handler.finish()

    def on_connection_close(self) -> None:
        """Forwards that the connection closed."""
        if self._handler is not None:
            self._handler.on_connection_close()
