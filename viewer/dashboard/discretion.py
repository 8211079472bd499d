"""Keeps tokens, and complaints about faulty requests, out of the server's log."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Sequence
from typing import Final

_IN_ADDRESSES: Final = re.compile(r"((?:token|launch)=)[^&\s'\"]+", re.IGNORECASE)
_IN_COOKIES: Final = re.compile(r"(freezer-ui-\d+=)[^;\s'\"]+")
QUIET: Final = {
    "tornado.access": logging.ERROR,
    "tornado.general": logging.ERROR,
    "bokeh.protocol": logging.CRITICAL,
    "bokeh.server.views.ws": logging.ERROR,  # a page that is gone when it should get a message
    "panel.io.document": logging.ERROR,
}
"""Loggers that report faulty requests and messages, each with the level from which it may still log."""

_HIDDEN: Final = "…"


class DiscreetFormatter(logging.Formatter):
    """Formats a record with another formatter and removes the tokens.

    Args:
        inner: the other formatter.
        tokens: to remove wherever they occur.
    """

    def __init__(self, inner: logging.Formatter, tokens: Sequence[str]) -> None:
        super().__init__()
        self._inner = inner
        self._tokens = tuple(tokens)

    def format(self, record: logging.LogRecord) -> str:
        """Returns the record's text, with its traceback."""
        text = self._inner.format(record)
        for token in self._tokens:
            text = text.replace(token, _HIDDEN)
        return _IN_COOKIES.sub(rf"\1{_HIDDEN}", _IN_ADDRESSES.sub(rf"\1{_HIDDEN}", text))


def quieten() -> None:
    """Keeps errors of requests out of the log: the browser shows them; the terminal is for the server's own errors."""
    for name, level in QUIET.items():
        logging.getLogger(name).setLevel(level)


def hide_tokens(tokens: Sequence[str]) -> None:
    """Removes the tokens from all log output, that of loaded libraries with handlers of their own included."""
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(logging.StreamHandler(sys.stderr))
    loggers = [root, *(each for each in logging.root.manager.loggerDict.values() if isinstance(each, logging.Logger))]
    for handler in {handler for logger in loggers for handler in logger.handlers}:
        if not isinstance(handler.formatter, DiscreetFormatter):
            handler.setFormatter(DiscreetFormatter(handler.formatter or logging.Formatter(), tokens))
