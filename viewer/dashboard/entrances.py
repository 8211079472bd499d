"""The credentials of a server: two tokens that links contain, and the cookies that browsers get in exchange.

The token of the printed link is valid as long as the server runs. The launch token is for the browser that the command
starts, and works once: every user of the machine can read a started program's command line. No cookie reveals a token.
A browser that shows the launch token a second time may have read it there, and so may the first one; so the first
one's cookie is withdrawn.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

LAUNCH_S: Final = 60.0
"""How long the launch token is valid, in s from the start of the server."""

_WRONG_TOKEN: Final = "That is not this server's token. Each start of the server makes a new one."
_NO_LAUNCH: Final = "That is not this server's launch link. Each start of the server makes a new one."
_TOO_LATE: Final = (
    f"This launch link was not used within {LAUNCH_S:.0f} s of the server's start, so it opens nothing now."
)
_USED: Final = (
    "This launch link has been used already, and it works once. Another program may have read it from the list of "
    "running programs, so the browser that used it first is shut out as well."
)
_WITHDRAWN: Final = "The launch link that let this browser in was used a second time, so this browser is shut out."


@dataclass(frozen=True, slots=True)
class Admission:
    """Result of checking a token that a browser showed.

    Attributes:
        cookie: admits the browser; ``None`` if the token does not.
        reason: why the token does not.
        withdrawn: whether another browser's cookie was withdrawn.
    """

    cookie: str | None = None
    reason: str = ""
    withdrawn: bool = False


class Entrances:
    """The tokens of one server, and the cookies in force.

    Args:
        token: of the printed link.
        launch: for the browser that the command starts, ``None`` if it starts none.
        clock: in s.
    """

    def __init__(self, token: str, launch: str | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._token = token
        self._launch = launch
        self._clock = clock
        self._ends_s = clock() + LAUNCH_S
        # A server restarted with the user's own token recognizes its browsers.
        self._link_cookie = hmac.digest(token.encode(), b"freezer-ui cookie", "sha256").hex()
        self._launch_cookie: str | None = None
        self._is_withdrawn = False

    def admits(self, cookie: str) -> bool:
        """Returns whether a cookie is valid, in a time that does not depend on how much of it is right."""
        return _same(cookie, self._link_cookie) or (self._came_of_launch(cookie) and not self._is_withdrawn)

    def refusal(self, cookie: str) -> str | None:
        """Returns why a cookie was withdrawn, ``None`` for any other cookie."""
        return _WITHDRAWN if self._came_of_launch(cookie) and self._is_withdrawn else None

    def by_token(self, text: str) -> Admission:
        """Exchanges the printed link's token for a cookie."""
        return Admission(self._link_cookie) if _same(text, self._token) else Admission(reason=_WRONG_TOKEN)

    def by_launch(self, text: str) -> Admission:
        """Exchanges the launch token for a cookie; a second use withdraws that cookie."""
        if self._launch is None or not _same(text, self._launch):
            return Admission(reason=_NO_LAUNCH)
        if self._launch_cookie is not None:
            is_first = not self._is_withdrawn
            self._is_withdrawn = True
            return Admission(reason=_USED, withdrawn=is_first)
        if self._clock() > self._ends_s:
            return Admission(reason=_TOO_LATE)
        self._launch_cookie = secrets.token_urlsafe(32)
        return Admission(self._launch_cookie)

    def _came_of_launch(self, cookie: str) -> bool:
        return self._launch_cookie is not None and _same(cookie, self._launch_cookie)


def _same(text: str, secret: str) -> bool:
    return hmac.compare_digest(text.encode("utf-8", "surrogatepass"), secret.encode())
