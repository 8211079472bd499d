"""Clocks for tests that must not depend on the machine's speed or load."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest

AHEAD_S = 10_000.0
"""More than every limit that a test sets, in s."""


@dataclass(frozen=True)
class LimitClock:
    """Replaces `time` in the modules that supervise a recording; jumps ahead when ``is_over`` holds."""

    is_over: Callable[[], bool]

    def monotonic(self) -> float:
        return time.monotonic() + AHEAD_S * self.is_over()


def limit_reached_once(is_over: Callable[[], bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """Triggers the time limit of every recording when ``is_over`` holds, and not before."""
    for module in ("recording_process", "child_process"):
        monkeypatch.setattr(f"freeze_engine.worker.{module}.time", LimitClock(is_over))


class OwnTime:
    """Replaces `time` in the module that takes samples: counts this thread's processor time only.

    A busy machine may suspend a thread during a sample, for longer than the sample takes.
    """

    perf_counter = staticmethod(time.thread_time)
    perf_counter_ns = staticmethod(time.thread_time_ns)
