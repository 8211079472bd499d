"""What all answers have in common: headers, errors as JSON, and the guard in front of every route."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote

from bokeh.server.tornado import BokehTornado
from jinja2 import Environment, FunctionLoader, StrictUndefined
from tornado.httputil import HTTPHeaders, HTTPServerRequest, url_concat
from tornado.web import HTTPError, OutputTransform, RequestHandler

from viewer.assets import read_asset
from viewer.dashboard.guard import Guard, Refusal

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


def page(name: str, **values: Any) -> str:
    """Returns a template of ``static/dashboard/`` filled in, with every value escaped."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, loader=FunctionLoader(read_asset))
    return environment.get_template(f"dashboard/{name}").render(**values)


class SecurityHeaders(OutputTransform):
    """Adds the headers to the answers of every handler, Bokeh's own included."""

    def transform_first_chunk(
        self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
    ) -> tuple[int, HTTPHeaders, bytes]:
        """Sets the headers, and keeps everything out of caches that does not ask to be in one."""
        for name, value in _HEADERS.items():
            headers[name] = value
        headers.setdefault("Cache-Control", "no-store")
        headers.pop("Server", None)
        return status_code, headers, chunk


class GuardedTornado(BokehTornado):  # type: ignore[misc]  # bokeh is not typed here
    """Bokeh's web application behind a guard.

    Args:
        guard: who may ask; looked at before any handler of any route is made, so before a body is read.
        applications, options: see `BokehTornado`.
    """

    def __init__(self, guard: Guard, applications: Any, **options: Any) -> None:
        super().__init__(applications, **options)
        self._guard = guard
        self.add_transform(SecurityHeaders)

    def find_handler(self, request: HTTPServerRequest, **options: Any) -> Any:
        """Returns what answers a request: the route's handler, or a refusal."""
        refusal = self._guard.refusal(request)
        wants_in = request.method == "GET" and request.path == "/" and "token" in request.query_arguments
        if wants_in and (refusal is None or refusal.needs_token):
            return self.get_handler_delegate(request, EntryHandler, {"guard": self._guard})
        if refusal is not None:
            return self.get_handler_delegate(request, RefusingHandler, {"refusal": refusal})
        return super().find_handler(request, **options)


class RefusingHandler(RequestHandler):
    """Says why a request is not answered: as a page to people, as JSON to the page's own scripts."""

    def initialize(self, refusal: Refusal) -> None:
        """Takes the reason."""
        self._refusal = refusal

    def prepare(self) -> None:
        """Answers, whatever the method."""
        self.set_status(HTTPStatus.FORBIDDEN)
        if "text/html" in self.request.headers.get("Accept", ""):
            self.finish(_refusing_page(self.request, self._refusal))
        else:
            self.finish({"error": self._refusal.reason})


class EntryHandler(RequestHandler):
    """Takes the token out of the address, and puts it into a cookie if it is right."""

    def initialize(self, guard: Guard) -> None:
        """Takes the guard that knows the token."""
        self._guard = guard

    def get(self) -> None:
        """Sends the browser to the same address without the token."""
        if not self._guard.knows_token(self.get_query_argument("token")):
            self.set_status(HTTPStatus.FORBIDDEN)
            reason = "That is not this server's token. Each start of the server makes a new one."
            self.finish(_refusing_page(self.request, Refusal(reason, needs_token=True)))
            return
        self.set_cookie(self._guard.cookie, self._guard.token, path="/", httponly=True, samesite="Strict")
        address = url_concat("/", _other_arguments(self.request))
        if self.request.headers.get("Sec-Fetch-Site", "none") == "none":
            self.redirect(address, status=HTTPStatus.SEE_OTHER)
        else:
            # A redirect goes on as the request of the page that had the link, without a strict cookie.
            self.finish(page("entry.html", address=address))


class JsonHandler(RequestHandler):
    """A handler whose errors are JSON, ``{"error": text}``, for the page to show."""

    def refuse(self, status: HTTPStatus, text: str) -> None:
        """Ends the request with an error.

        Args:
            status: of the answer.
            text: what, where, and what to do.
        """
        self.set_status(status)
        self.finish(json.dumps({"error": text}))

    def write_error(self, status_code: int, **options: Any) -> None:
        """Writes an error that was raised; what was not foreseen is in the server's log."""
        error = options.get("exc_info", (None, None))[1]
        text = error.log_message if isinstance(error, HTTPError) and error.log_message else self._reason
        self.set_header("Content-Type", "application/json; charset=UTF-8")
        self.finish(json.dumps({"error": text}))

    def write_download(self, name: str, content_type: str) -> None:
        """Sets the headers of a file to be saved.

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
    """The address's arguments except the token."""
    return [
        (name, value.decode("utf-8", "replace"))
        for name, values in request.query_arguments.items()
        if name != "token"
        for value in values
    ]
