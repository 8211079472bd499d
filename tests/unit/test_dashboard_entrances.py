"""Tokens, and the cookies that they are exchanged for."""

from __future__ import annotations

import logging

import pytest

from viewer.dashboard.discretion import DiscreetFormatter
from viewer.dashboard.entrances import LAUNCH_S, Entrances

TOKEN, LAUNCH = "the-token-of-the-link", "the-token-of-the-launch"


class _Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def test_each_entrance_has_its_own_cookie_that_reveals_no_token() -> None:
    entrances = Entrances(TOKEN, LAUNCH)
    cookies = (entrances.by_token(TOKEN).cookie, entrances.by_launch(LAUNCH).cookie)
    assert None not in cookies
    assert len({*cookies, TOKEN, LAUNCH}) == 4
    assert all(entrances.admits(cookie or "") for cookie in cookies)
    assert not any(entrances.admits(token) for token in (TOKEN, LAUNCH, "", "é", "\udcff"))


def test_the_launch_token_works_once_and_its_second_use_withdraws_the_cookie() -> None:
    entrances = Entrances(TOKEN, LAUNCH)
    cookie = entrances.by_launch(LAUNCH).cookie or ""
    again, once_more = entrances.by_launch(LAUNCH), entrances.by_launch(LAUNCH)
    assert (again.cookie, again.withdrawn, once_more.cookie, once_more.withdrawn) == (None, True, None, False)
    assert "has been used already" in again.reason
    assert not entrances.admits(cookie)
    assert "used a second time" in (entrances.refusal(cookie) or "")
    link = entrances.by_token(TOKEN).cookie or ""
    assert entrances.admits(link)
    assert entrances.refusal(link) is None


@pytest.mark.parametrize("launch", ["", "x", TOKEN, LAUNCH[:-1], "é", "\udcff"])
def test_wrong_launch_token_withdraws_nothing(launch: str) -> None:
    entrances = Entrances(TOKEN, LAUNCH)
    cookie = entrances.by_launch(LAUNCH).cookie or ""
    assert entrances.by_launch(launch).cookie is None
    assert entrances.admits(cookie)
    assert Entrances(TOKEN).by_launch(launch).cookie is None


def test_the_launch_token_expires() -> None:
    clock = _Clock()
    entrances = Entrances(TOKEN, LAUNCH, clock)
    clock.now_s += LAUNCH_S + 1
    late = entrances.by_launch(LAUNCH)
    assert (late.cookie, late.withdrawn) == (None, False)
    assert "not used within 60 s" in late.reason


def test_a_server_with_the_user_s_own_token_knows_its_browsers_after_a_restart() -> None:
    assert Entrances(TOKEN).by_token(TOKEN).cookie == Entrances(TOKEN).by_token(TOKEN).cookie
    assert Entrances(TOKEN).by_token(TOKEN).cookie != Entrances(TOKEN + "x").by_token(TOKEN + "x").cookie


def test_no_token_is_written_to_a_log() -> None:
    formatter = DiscreetFormatter(logging.Formatter("%(levelname)s %(message)s"), (TOKEN, LAUNCH))
    try:
        raise ValueError(f"GET /?launch={LAUNCH}")
    except ValueError as error:
        failed = (ValueError, error, error.__traceback__)
    message, given = "%s /?a=b&token=%s&c=d Cookie: freezer-ui-7007=secret; x", ("GET", TOKEN[:-1])
    record = logging.LogRecord("tornado.access", logging.ERROR, __file__, 1, message, given, failed)
    text = formatter.format(record)
    assert "GET /?a=b&token=…&c=d Cookie: freezer-ui-7007=…; x" in text
    assert "ValueError: GET /?launch=…" in text
    assert not any(secret in text for secret in (TOKEN, TOKEN[:-1], LAUNCH, "secret"))
