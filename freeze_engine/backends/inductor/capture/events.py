"""Events emitted during a compile."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from freeze_engine.backends.inductor.capture.raw import RawCompile


class CompileObserver:
    """Receives the events of the compiles of a capture; the base class ignores them.

    An observer's own work delays the compile but counts in no duration. An exception of an observer ends the compile.
    """

    def stage_begins(self, stage: str) -> None:
        """Called when another stage begins."""

    def under_way(self, compiled: RawCompile, stage: str, name: str) -> None:
        """Called with the innermost pass, or else function of torch, that starts to run."""

    def step_added(self, compiled: RawCompile) -> None:
        """Called right after a step was added to a compile."""

    def compile_ended(self, compiled: RawCompile) -> None:
        """Called when nothing more will be added to a compile, whether it succeeded or not."""


class CompileEvents:
    """Passes the events of one compile to observers.

    Args:
        compiled: the compile.
        observers: receive the events.
    """

    def __init__(self, compiled: RawCompile, observers: Sequence[CompileObserver]) -> None:
        self._compiled = compiled
        self._observers = observers
        self._place: tuple[str, str] | None = None
        self._spent_ns = 0

    def clock_ns(self) -> int:
        """Returns a clock that stops while observers work."""
        return time.perf_counter_ns() - self._spent_ns

    def stage(self, stage: str) -> None:
        """Emits the beginning of a stage."""
        self._notify(lambda observer: observer.stage_begins(stage))

    def place(self, stage: str, name: str) -> None:
        """Emits the pass or function that starts to run, unless it ran before."""
        if self._place != (stage, name):
            self._place = stage, name
            self._notify(lambda observer: observer.under_way(self._compiled, stage, name))

    def step(self) -> None:
        """Emits that a step was added."""
        self._notify(lambda observer: observer.step_added(self._compiled))

    def end(self) -> None:
        """Emits the end of the compile."""
        self._notify(lambda observer: observer.compile_ended(self._compiled))

    def _notify(self, notify: Callable[[CompileObserver], None]) -> None:
        if not self._observers:
            return
        began_ns = time.perf_counter_ns()
        for observer in self._observers:
            notify(observer)
        self._spent_ns += time.perf_counter_ns() - began_ns
