"""Base of all HTTP handlers: security headers, errors as JSON, and the guard in front of every route."""

from __future__ import annotations

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote

from bokeh.server.tornado import BokehTornado
from bokeh.server.views.metadata_handler import MetadataHandler
from jinja2 import Environment, FunctionLoader, StrictUndefined
from panel.io.server import AutoloadJsHandler, WSHandler
from tornado.httputil import HTTPHeaders, HTTPServerRequest, url_concat
from tornado.web import HTTPError, OutputTransform, RequestHandler, stream_request_body

from viewer.assets import read_asset
from viewer.dashboard.auth import Guard, Refusal
from viewer.dashboard.channel import MAX_MESSAGE_BYTES, POLICY_VIOLATION, ChannelHandler
from viewer.dashboard.entrances import Admission
from viewer.dashboard.front import fault

_POLICY: Final = (
    "default-src 'none'; "
    "script-src 'self' blob:; "  # blob: the component's module, and the worker that lays out graphs
    "worker-src blob:; "
    "style-src 'self' 'unsafe-inline'; "  # those that BokehJS and the views set
    "img-src 'self' data: blob:; "
    "font-src 'self' data:; "
    "connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


_TOKENS: Final = frozenset(("token", "launch"))


def page(name: str, **values: Any) -> str:
    """Renders a template of ``static/dashboard/``, with every value escaped."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, loader=FunctionLoader(read_asset))
    return environment.get_template(f"dashboard/{name}").render(**values)


class SecurityHeaders(OutputTransform):
    """Adds the security headers to the answers of every handler, Bokeh's own included."""

    def transform_first_chunk(
        self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
    ) -> tuple[int, HTTPHeaders, bytes]:
        """Sets the headers, and forbids caching unless the handler has set ``Cache-Control``."""
        for name, value in _HEADERS.items():
            headers[name] = value
        headers.setdefault("Cache-Control", "no-store")
        headers.pop("Server", None)
        return status_code, headers, chunk


class GuardedTornado(BokehTornado):  # type: ignore[misc]  # bokeh is not typed here
    """Bokeh's web application behind a guard.

    Args:
        guard: admits or refuses a request before the handler of any route is created, so before a body is read.
        remark: prints a message to the user's terminal.
        applications, options: see `BokehTornado`.
    """

    def __init__(self, guard: Guard, remark: Callable[[str], object], applications: Any, **options: Any) -> None:
        super().__init__(applications, websocket_max_message_size_bytes=MAX_MESSAGE_BYTES, **options)
        self._guard = guard
        self._remark = remark
        self.channels: set[Any] = set()
        rules = self.wildcard_router.rules
        # Drop the routes that the page does not use: Bokeh's script for pages of other sites, and its list of models.
        rules[:] = [rule for rule in rules if not issubclass(rule.target, (AutoloadJsHandler, MetadataHandler))]
        for rule in rules:
            if issubclass(rule.target, WSHandler):
                rule.target = ChannelHandler
        self.add_transform(SecurityHeaders)

    def find_handler(self, request: HTTPServerRequest, **options: Any) -> Any:
        """Returns the handler of a request: the route's, or one that refuses."""
        refusal = self._guard.refusal(request)
        wants_in = request.method == "GET" and request.path == "/" and not _TOKENS.isdisjoint(request.query_arguments)
        if wants_in and (refusal is None or refusal.needs_token) and fault(request) is None:
            return self.get_handler_delegate(request, EntryHandler, {"guard": self._guard, "on_reuse": self._shut_out})
        if refusal is not None:
            return self._refused(request, refusal, HTTPStatus.FORBIDDEN)
        if text := fault(request):
            return self._refused(request, Refusal(text), HTTPStatus.BAD_REQUEST)
        return super().find_handler(request, **options)

    @property
    def patterns(self) -> tuple[str, ...]:
        """The regular expressions of all routes."""
        return tuple(rule.matcher.regex.pattern for rule in self.wildcard_router.rules)

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


class _AnyMethod:
    def __contains__(self, method: object) -> bool:
        return True


@stream_request_body
class RefusingHandler(RequestHandler):
    """Refuses a request before its body is read; sends the reason as a page to people, as JSON to scripts."""

    SUPPORTED_METHODS = _AnyMethod()  # type: ignore[assignment]

    def initialize(self, refusal: Refusal, status: HTTPStatus) -> None:
        """Takes the reason."""
        self._refusal = refusal
        self._status = status

    def prepare(self) -> None:
        """Answers a request of any method."""
        self.set_status(self._status)
        if "text/html" in self.request.headers.get("Accept", ""):
            self.finish(_refusing_page(self.request, self._refusal))
        else:
            self.finish({"error": self._refusal.reason})

    def data_received(self, chunk: bytes) -> None:
        """Ignores the body."""


class EntryHandler(RequestHandler):
    """Takes a token from the address, and gives a cookie for it if it is right."""

    def initialize(self, guard: Guard, on_reuse: Callable[[], object]) -> None:
        """Takes the guard that knows the tokens, and the callback for a launch token that is used again."""
        self._guard = guard
        self._on_reuse = on_reuse

    def get(self) -> None:
        """Redirects the browser to the same address without the token."""
        admission = self._admission()
        if admission.withdrawn:
            self._on_reuse()
        if admission.reason:
            self.set_status(HTTPStatus.FORBIDDEN)
            self.finish(_refusing_page(self.request, Refusal(admission.reason, needs_token=True)))
            return
        if admission.cookie is not None:
            self.set_cookie(self._guard.cookie_name, admission.cookie, path="/", httponly=True, samesite="Strict")
        address = url_concat("/", _other_arguments(self.request))
        if self.request.headers.get("Sec-Fetch-Site", "none") == "none":
            self.redirect(address, status=HTTPStatus.SEE_OTHER)
        else:
            # The browser would count a redirect as a request of the linking page, and send no strict cookie.
            self.finish(page("entry.html", address=address))

    def _admission(self) -> Admission:
        token = self.get_query_argument("token", None)
        if token is not None:
            return self._guard.entrances.by_token(token)
        if self._guard.admits(self.request):  # the same browser again, for example from its history
            return Admission()
        return self._guard.entrances.by_launch(self.get_query_argument("launch"))


class JsonHandler(RequestHandler):
    """Base of handlers that report errors to the page as JSON, ``{"error": text}``."""

    def refuse(self, status: HTTPStatus, text: str) -> None:
        """Ends the request with an error.

        Args:
            status: of the answer.
            text: what, where, and what to do.
        """
        self.set_status(status)
        self.finish(json.dumps({"error": text}))

    def write_error(self, status_code: int, **options: Any) -> None:
        """Writes a raised error; the server's log has the unforeseen ones."""
        error = options.get("exc_info", (None, None))[1]
        text = error.log_message if isinstance(error, HTTPError) and error.log_message else self._reason
        self.set_header("Content-Type", "application/json; charset=UTF-8")
        self.finish(json.dumps({"error": text}))

    def write_download(self, name: str, content_type: str) -> None:
        """Sets the headers of a download.

        Args:
            name: proposed for the file.
            content_type: of the file.
        """
        plain = "".join(sign if sign.isascii() and sign.isprintable() and sign not in '"\\' else "_" for sign in name)
        quoted = quote(name, safe="")
        self.set_header("Content-Type", content_type)
        self.set_header("Content-Disposition", f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quoted}")


def _refusing_page(request: HTTPServerRequest, refusal: Refusal) -> str:
    kept = _other_arguments(request) if request.path == "/" else []
    return page("refused.html", reason=refusal.reason, needs_token=refusal.needs_token, kept=kept)


def _other_arguments(request: HTTPServerRequest) -> list[tuple[str, str]]:
    """The address's arguments except the tokens."""
    return [
        (name, value.decode("utf-8", "replace"))
        for name, values in request.query_arguments.items()
        if name not in _TOKENS
        for value in values
    ]
