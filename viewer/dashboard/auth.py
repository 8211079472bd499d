"""Authenticates requests: each, the websocket's included, has to name this server and to show a cookie of its own.

Three dangers come from pages of other sites that are open in the user's browser: such a page can send requests here
(``Origin`` and ``Sec-Fetch-Site`` reveal it), it can reach this server under a name of its own that it points at
127.0.0.1 (DNS rebinding; ``Host`` reveals it), and it can guess the port. A cookie that neither scripts nor requests
from other sites can use, given in exchange for a token, keeps out everything else that runs on or reaches the machine.
"""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from tornado.httputil import HTTPServerRequest

from viewer.dashboard.entrances import Entrances

_WILDCARDS: Final = ("0.0.0.0", "::", "")
_LOCAL: Final = ("127.0.0.1", "localhost", "::1")
_SAFE_METHODS: Final = ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason to refuse a request.

    Attributes:
        reason: what is wrong and what to do.
        needs_token: whether only the token is missing.
    """

    reason: str
    needs_token: bool = False


@dataclass(frozen=True, slots=True)
class Guard:
    """The rules of one server.

    Attributes:
        entrances: the tokens and cookies in force.
        host: the address the server listens on, as the user gave it.
        port: the port it listens on.
    """

    entrances: Entrances
    host: str
    port: int

    @property
    def cookie_name(self) -> str:
        """Name of the cookie; it contains the port, for browsers keep one set of cookies for all ports of a host."""
        return f"freezer-ui-{self.port}"

    def refusal(self, request: HTTPServerRequest) -> Refusal | None:
        """Returns the reason to refuse a request, ``None`` if it is admitted.

        Args:
            request: any request, with its headers read, its body not yet.
        """
        host = request.headers.get("Host", "")
        if not self.is_own(host):
            return Refusal(
                f"This server does not answer to the name {host!r}. Open it by the link it printed; to serve it under "
                "another name, start it with --host."
            )
        if not _is_same_origin(request, host):
            return Refusal("This request comes from another site's page, and is not answered.")
        if not self.admits(request):
            reason = self.entrances.refusal(self._cookie(request))
            return Refusal(reason or "This browser has not shown the server's token yet.", needs_token=True)
        return None

    def admits(self, request: HTTPServerRequest) -> bool:
        """Returns whether a request shows a cookie that is in force."""
        return self.entrances.admits(self._cookie(request))

    def _cookie(self, request: HTTPServerRequest) -> str:
        morsel = request.cookies.get(self.cookie_name)
        return "" if morsel is None else morsel.value

    def is_own(self, host: str) -> bool:
        """Returns whether a ``Host`` header names this server.

        Args:
            host: name or address, IPv6 in brackets, with the port unless that is 80.
        """
        try:
            address = urlsplit(f"//{host}")
            name, port = address.hostname, address.port or 80
        except ValueError:
            return False
        if name is None or address.path or address.query or address.fragment or "@" in host or port != self.port:
            return False
        if name in _LOCAL or name == self.host.lower():
            return True
        # Where the server listens on every address, only names can be rebound, and the machine's own is known.
        return self.host in _WILDCARDS and (_is_address(name) or name in _own_names())


def link_host(host: str) -> str:
    """Returns the host part of a link to the server."""
    name = socket.gethostname() if host in _WILDCARDS else host
    return f"[{name}]" if ":" in name else name


def is_local(host: str) -> bool:
    """Returns whether only this machine can reach an address."""
    if host == "localhost":
        return True
    return _is_address(host) and ipaddress.ip_address(host).is_loopback


def _is_same_origin(request: HTTPServerRequest, host: str) -> bool:
    origin = request.headers.get("Origin")
    if origin is not None:
        return origin.lower() == f"http://{host}".lower()
    if request.method not in _SAFE_METHODS or request.headers.get("Upgrade"):
        return False  # browsers send an Origin with all of these
    # Browsers send which site the request comes from; a link may be opened from anywhere.
    site = request.headers.get("Sec-Fetch-Site", "none")
    return site in ("same-origin", "none") or request.headers.get("Sec-Fetch-Mode") == "navigate"


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _own_names() -> tuple[str, ...]:
    return (socket.gethostname().lower(), socket.getfqdn().lower())
