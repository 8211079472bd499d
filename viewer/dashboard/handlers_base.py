"""Base of all HTTP handlers: security headers, the entry by a token, refusals, and errors as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote

from jinja2 import Environment, FunctionLoader, StrictUndefined
from tornado.httputil import HTTPHeaders, HTTPServerRequest, url_concat
from tornado.web import HTTPError, OutputTransform, RequestHandler, stream_request_body

from viewer.assets import read_asset
from viewer.dashboard.auth import Guard, Refusal
from viewer.dashboard.entrances import Admission

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


TOKENS: Final = frozenset(("token", "launch"))
"""Arguments of an address that hold a token."""


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
        if name not in TOKENS
        for value in values
    ]
