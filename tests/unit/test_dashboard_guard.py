"""Who is let in."""

from __future__ import annotations

import socket

import pytest
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine

from viewer.dashboard.auth import Guard, Refusal, is_local, link_host
from viewer.dashboard.entrances import Entrances

TOKEN = "a-token-of-enough-letters"
ENTRANCES = Entrances(TOKEN)
COOKIE_VALUE = ENTRANCES.by_token(TOKEN).cookie
GUARD = Guard(ENTRANCES, "127.0.0.1", 7007)
COOKIE = {"Cookie": f"freezer-ui-7007={COOKIE_VALUE}"}
HERE = {"Host": "127.0.0.1:7007"}


def _refusal(headers: dict[str, str], method: str = "GET", guard: Guard = GUARD) -> Refusal | None:
    line = RequestStartLine(method, "/trace/data", "HTTP/1.1")
    return guard.refusal(HTTPServerRequest(start_line=line, headers=HTTPHeaders(headers)))


def test_a_browser_that_has_the_token_is_let_in() -> None:
    assert _refusal({**HERE, **COOKIE}) is None
    assert _refusal({**HERE, **COOKIE, "Origin": "http://127.0.0.1:7007"}, "PUT") is None
    assert _refusal({**HERE, **COOKIE, "Origin": "http://127.0.0.1:7007", "Upgrade": "websocket"}) is None


@pytest.mark.parametrize(
    "cookie",
    [
        {},
        {"Cookie": "freezer-ui-7007=x"},
        {"Cookie": f"freezer-ui-7008={COOKIE_VALUE}"},
        {"Cookie": f"freezer-ui-7007={TOKEN}"},
        {"Cookie": "freezer-ui-7007=é"},
    ],
    ids=str,
)
def test_without_the_token_only_the_token_is_missing(cookie: dict[str, str]) -> None:
    refusal = _refusal({**HERE, **cookie})
    assert refusal is not None
    assert refusal.needs_token


@pytest.mark.parametrize("token", ["", "é", "\udcff".encode("utf-8", "surrogateescape").decode("latin-1"), TOKEN[:-1]])
def test_wrong_tokens_are_wrong(token: str) -> None:
    assert ENTRANCES.by_token(token).cookie is None
    assert not ENTRANCES.admits(token)


@pytest.mark.parametrize(
    "host", ["127.0.0.1:7007", "localhost:7007", "LOCALHOST:7007", "[::1]:7007"], ids=lambda host: host
)
def test_this_machine_s_own_names_are_answered(host: str) -> None:
    assert _refusal({"Host": host, **COOKIE, "Origin": f"http://{host}"}) is None


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "evil.example:7007",
        "127.0.0.1",
        "127.0.0.1:7008",
        "127.0.0.1:7007.evil.example",
        "localhost.evil.example:7007",
        "0.0.0.0:7007",
    ],
)
def test_other_names_are_not_answered_even_with_the_token(host: str) -> None:
    refusal = _refusal({"Host": host, **COOKIE})
    assert refusal is not None
    assert not refusal.needs_token
    assert "does not answer to the name" in refusal.reason


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:7007@evil.example:7007",
        "evil.example@127.0.0.1:7007",
        "127.0.0.1:7007/x",
        "127.0.0.1:7007?x",
        "127.0.0.1:7007#x",
        "127.0.0.1:port",
        "127.0.0.1:99999",
        "[::1",
        "[x]:7007",
    ],
)
def test_malformed_host_is_refused(host: str) -> None:
    assert not GUARD.is_own(host)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:7008"},
        {"Origin": "https://127.0.0.1:7007"},
        {"Origin": "http://localhost:7007"},
        {"Origin": ""},
        {"Upgrade": "websocket"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"},
    ],
    ids=str,
)
def test_other_pages_are_not_answered(headers: dict[str, str]) -> None:
    refusal = _refusal({**HERE, **COOKIE, **headers})
    assert refusal is not None
    assert "another site's page" in refusal.reason


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE", "OPTIONS", "PATCH"])
def test_changing_request_needs_an_origin(method: str) -> None:
    assert _refusal({**HERE, **COOKIE}, method) is not None


def test_a_link_may_be_anywhere() -> None:
    assert _refusal({**HERE, **COOKIE, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}) is None


def test_a_given_host_is_answered() -> None:
    guard = Guard(ENTRANCES, "Machine.example", 80)
    cookie = {"Cookie": f"freezer-ui-80={COOKIE_VALUE}"}
    assert _refusal({"Host": "machine.example", **cookie}, guard=guard) is None
    assert _refusal({"Host": "other.example", **cookie}, guard=guard) is not None


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_on_every_address_any_address_but_no_foreign_name_is_answered(host: str) -> None:
    guard = Guard(ENTRANCES, host, 7007)
    for name in ("192.0.2.7", "[2001:db8::7]", socket.gethostname(), "localhost"):
        assert guard.is_own(f"{name}:7007"), name
    assert not guard.is_own("evil.example:7007")


def test_links_name_what_a_browser_can_reach() -> None:
    hosts = ["127.0.0.1", "::1", "0.0.0.0", "machine.example"]
    assert [link_host(host) for host in hosts] == ["127.0.0.1", "[::1]", socket.gethostname(), "machine.example"]


def test_only_loopback_is_local() -> None:
    hosts = ["127.0.0.1", "127.0.0.9", "::1", "localhost", "0.0.0.0", "192.0.2.7", "machine.example"]
    assert [is_local(host) for host in hosts] == [True, True, True, True, False, False, False]
