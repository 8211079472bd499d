"""Ctrl-C, SIGTERM and SIGHUP end a command alike: with its results so far, a message, and the signal's exit code.

Containers, schedulers and CI send SIGTERM; a terminal that closes sends SIGHUP.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Final

from freeze_engine import process

_NUMBERS: Final = process.END_SIGNALS
_EXIT_CODE_OF_SIGNALS: Final = 128


class EndingScript(SystemExit):
    """Ends a script of ``freezer-ui run``; ``except Exception`` and ``except KeyboardInterrupt`` do not catch it."""


class EndingCommand(KeyboardInterrupt):
    """Ends a command.

    A subclass, for CPython (3.8 to 3.14, Python/pythonrun.c) ends itself by SIGINT after a `KeyboardInterrupt` inside
    any ``exec``, such as that of a dataclass, even if it was handled.
    """


class EndSignals:
    """The end signals that this process has received.

    Attributes:
        first: the first one, ``None`` before any.
        count: their number.
        ends_process: whether this process ends with the command.
    """

    def __init__(self) -> None:
        self.first: signal.Signals | None = None
        self.count = 0
        self.ends_process = False
        self._process = os.getpid()
        self._only_counts = False
        self._in_script = False

    @contextlib.contextmanager
    def listening(self, *, lasts: bool) -> Iterator[None]:
        """Makes each signal raise `KeyboardInterrupt` during the block; does nothing outside the main thread.

        An ignored signal, such as SIGHUP under ``nohup``, stays ignored.

        Args:
            lasts: whether the process ends after the block; further signals then end it at once, without a traceback.
        """
        self.ends_process = lasts
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self.first, self.count, self._process = None, 0, os.getpid()
        self._only_counts = self._in_script = False
        before = {number: signal.getsignal(number) for number in _NUMBERS}
        heard = {number: handler for number, handler in before.items() if handler is not signal.SIG_IGN}
        for number in heard:
            signal.signal(number, self._take)
        try:
            with _no_tracebacks_of_signals():
                yield
        finally:
            for number, handler in heard.items():
                signal.signal(number, signal.SIG_DFL if lasts or handler is None else handler)

    @contextlib.contextmanager
    def counted(self) -> Iterator[None]:
        """Only counts signals during the block, which has to check `count`.

        Raises:
            EndingCommand: a signal came before.
        """
        self._only_counts = True
        try:
            self.check()
            yield
        finally:
            self._only_counts = False

    @contextlib.contextmanager
    def of_script(self) -> Iterator[None]:
        """Leaves Ctrl-C to Python during the block; the other signals raise `EndingScript`.

        A handler that the script installs replaces this one.
        """
        if signal.getsignal(signal.SIGINT) == self._take:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        self._in_script = True
        try:
            yield
        finally:
            self._in_script = False

    def check(self) -> None:
        """Raises again if a signal came: Python only prints exceptions of a ``__del__`` or an import's callback.

        Raises:
            EndingCommand: a signal came.
        """
        if self.first is not None:
            raise EndingCommand

    def ends(self) -> str:
        """Only counts signals from now on, and returns the final message."""
        self._only_counts = True
        return "interrupted" if self.first in (None, signal.SIGINT) else f"ended by {self.first.name}"

    @property
    def exit_code(self) -> int:
        """Exit code for the first signal."""
        return _EXIT_CODE_OF_SIGNALS + (self.first or signal.SIGINT)

    @property
    def is_from_terminal(self) -> bool:
        """Whether the signal is Ctrl-C, so that the user may press it again."""
        return self.first in (None, signal.SIGINT)

    def _take(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._process:  # in a fork, restore the default action
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        self.first = self.first or signal.Signals(number)
        self.count += 1
        if self._only_counts:
            return
        if self._in_script:
            raise EndingScript(self.exit_code)
        raise EndingCommand


@contextlib.contextmanager
def _no_tracebacks_of_signals() -> Iterator[None]:
    """Prints no traceback of a signal that comes during a ``__del__``, an exit handler or an import's callback."""
    before = sys.unraisablehook

    def hook(unraisable: sys.UnraisableHookArgs) -> None:
        if not isinstance(unraisable.exc_value, (EndingCommand, EndingScript)):
            before(unraisable)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


SIGNALS = EndSignals()
"""The end signals of this process."""
