"""Signals that end a command, raised where Python only prints exceptions."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable

import pytest

from viewer.cli.signals import EndingCommand, EndSignals


class Last:
    """Does something when it goes."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act

    def __del__(self) -> None:
        self._act()


def test_a_signal_while_an_object_goes_is_raised_again_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", printed.append)
    signals = EndSignals()
    with signals.listening(lasts=False):
        Last(lambda: signal.raise_signal(signal.SIGTERM))
        with pytest.raises(EndingCommand):
            signals.check()
    assert (signals.first, signals.count, printed) == (signal.SIGTERM, 1, [])


def test_another_error_while_an_object_goes_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: printed.append(unraisable.exc_type))
    before = sys.unraisablehook
    with EndSignals().listening(lasts=False):
        Last(lambda: 1 / 0)
    assert printed == [ZeroDivisionError]
    assert sys.unraisablehook is before
