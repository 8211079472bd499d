"""Remembers the caller's interrupt, since the exception alone may be lost."""

from __future__ import annotations

import signal
from types import FrameType


class Interrupts:
    """Raises `KeyboardInterrupt` when the caller interrupts this process, as Python does, and remembers it.

    The exception can be lost (Python only prints what a callback of a weak reference or a ``__del__`` raises, and
    a model may catch it) or come out of torch's C++ as another one.

    The caller starts this process with the signal blocked, so that none comes before the handler exists.

    Attributes:
        came: whether an interrupt came.
    """

    def __init__(self) -> None:
        self.came = False
        signal.signal(signal.SIGINT, self._take)

    def listen(self) -> None:
        """Accepts interrupts from now on, also a pending one.

        Raises:
            KeyboardInterrupt: one did.
        """
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    def check(self) -> None:
        """Raises the interrupt again if it was lost.

        Raises:
            KeyboardInterrupt: one came.
        """
        if self.came:
            raise KeyboardInterrupt

    def _take(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        signal.default_int_handler(number, frame)
