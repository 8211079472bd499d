"""Clocks for tests that must not depend on how fast the machine is, or on what else it does."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest

AHEAD_S = 10_000.0
"""Beyond every limit that a test sets."""


@dataclass(frozen=True)
class LimitClock:
    """Stands for `time` in the modules that watch over a recording: goes right until ``is_over`` holds, then ahead."""

    is_over: Callable[[], bool]

    def monotonic(self) -> float:
        return time.monotonic() + AHEAD_S * self.is_over()


def limit_reached_once(is_over: Callable[[], bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the limit of every recording that is started here be reached once something holds, and not before."""
    for module in ("recording_process", "child_process"):
        monkeypatch.setattr(f"freeze_engine.worker.{module}.time", LimitClock(is_over))


class OwnTime:
    """Stands for `time` in the module that takes samples: counts what this thread computes, and no waiting.

    On a busy machine a thread is stopped in the midst of a sample, for longer than the sample takes.
    """

    perf_counter = staticmethod(time.thread_time)
    perf_counter_ns = staticmethod(time.thread_time_ns)
