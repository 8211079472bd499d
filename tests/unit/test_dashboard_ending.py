"""What the dashboard's server says when it ends."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from tornado.websocket import WebSocketClosedError

from viewer.dashboard.end_signals import is_fault


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (asyncio.CancelledError(), False),
        (WebSocketClosedError(), False),
        (ConnectionResetError("gone"), True),
        (None, True),
    ],
)
def test_truncated_message_raises_no_error(error: BaseException | None, told: bool) -> None:
    information: Any = error and (type(error), error, None)
    record = logging.LogRecord("tornado.application", logging.ERROR, "", 0, "Uncaught exception", None, information)
    assert is_fault(record) is told
