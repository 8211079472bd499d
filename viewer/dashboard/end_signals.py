"""Ctrl-C, SIGTERM and SIGHUP end the server, also while it is still being loaded."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Final

_END_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class EndSignals:
    """Inside the block, notes that the server is to end; an import that is under way is not torn apart by it."""

    def __init__(self) -> None:
        self._asked = False
        self._tell: Callable[[], object] | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> EndSignals:
        heard = [number for number in _END_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]  # as by nohup
        self._before = {number: signal.signal(number, self._note) for number in heard}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, frames: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def when_asked(self, tell: Callable[[], object]) -> None:
        """Names what to call at the end; if that was asked for already, at once.

        Args:
            tell: called on the main thread, between any two instructions.
        """
        self._tell = tell
        if self._asked:
            tell()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._asked = True
        if self._tell is not None:
            self._tell()


def is_fault(record: logging.LogRecord) -> bool:
    """Whether a record tells of more than that what was being sent was cut off: by the server's end, or a closed page.

    A write to a websocket that is closed meanwhile fails in a task that nobody awaits (tornado 6.6).
    """
    from tornado.websocket import WebSocketClosedError  # this module is loaded before the server is

    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError | WebSocketClosedError))
