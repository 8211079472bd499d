"""Ctrl-C, SIGTERM and SIGHUP end the server, also while it is still being loaded."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Final

from freeze_engine import process

_END_SIGNALS: Final = process.END_SIGNALS


class EndedEarlyError(BaseException):
    """Unwinds an import because the server has to end; an ``except Exception`` around an import does not catch it."""


class EndSignals:
    """Inside the block, a signal only sets a flag that ends the server; imports end where `ends_imports` lets them."""

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
        """Sets the callback for an end signal; calls it at once if a signal came before.

        Args:
            tell: called on the main thread, between any two instructions.
        """
        self._tell = tell
        if self._asked:
            tell()

    @contextmanager
    def ends_imports(self) -> Iterator[None]:
        """Makes the imports of this thread fail from the first signal on, each before its next module.

        Panel and what it needs are more than a thousand modules, which take seconds on a busy machine.

        Raises:
            EndedEarlyError: by the imports inside the block, after a signal.
        """
        finder = _Gate(self)
        sys.meta_path.insert(0, finder)
        try:
            yield
        finally:
            sys.meta_path.remove(finder)

    @property
    def asked(self) -> bool:
        """Whether a signal came."""
        return self._asked

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._asked = True
        if self._tell is not None:
            self._tell()


class _Gate:
    """A finder of modules that finds none; it is asked before each import, and raises after an end signal.

    Args:
        signals: report when the server has to end.
    """

    def __init__(self, signals: EndSignals) -> None:
        self._signals = signals
        self._thread = threading.get_ident()

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Finds nothing, so that Python asks the next finder.

        Raises:
            EndedEarlyError: a signal came, and the import is one of the thread that made this finder.
        """
        if self._signals.asked and threading.get_ident() == self._thread:
            raise EndedEarlyError


def is_fault(record: logging.LogRecord) -> bool:
    """Returns whether a log record is about more than a message cut off by the server's end or by a closed page.

    A write to a websocket that closes meanwhile fails in a task that nothing awaits (tornado 6.6).
    """
    from tornado.websocket import WebSocketClosedError  # this module is loaded before the server is

    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError | WebSocketClosedError))
