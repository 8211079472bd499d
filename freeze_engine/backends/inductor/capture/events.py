"""What is told of compiles while they run, to whoever wants more than what is left of them in the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from freeze_engine.backends.inductor.capture.raw import RawCompile


class Listener:
    """Is told of the compiles of a capture; this one takes no notice.

    What a listener does takes its time from the compile, but counts in no duration. What it raises ends the compile.
    """

    def stage_begins(self, stage: str) -> None:
        """Is told whenever another stage begins."""

    def under_way(self, compiled: RawCompile, stage: str, name: str) -> None:
        """Is told the innermost pass, or else function of torch, that runs from now on."""

    def step_added(self, compiled: RawCompile) -> None:
        """Is told right after a step was added to a compile."""

    def compile_ended(self, compiled: RawCompile) -> None:
        """Is told when nothing more will be added to a compile, whether it succeeded or not."""


class Telling:
    """Tells listeners how one compile goes.

    Args:
        compiled: the compile.
        listeners: who is told.
    """

    def __init__(self, compiled: RawCompile, listeners: Sequence[Listener]) -> None:
        self._compiled = compiled
        self._listeners = listeners
        self._place: tuple[str, str] | None = None
        self._spent_ns = 0

    def clock_ns(self) -> int:
        """Returns a clock that stands still while listeners are told."""
        return time.perf_counter_ns() - self._spent_ns

    def stage(self, stage: str) -> None:
        """Tells that a stage begins."""
        self._tell(lambda listener: listener.stage_begins(stage))

    def place(self, stage: str, name: str) -> None:
        """Tells what runs from now on, unless that is what ran before."""
        if self._place != (stage, name):
            self._place = stage, name
            self._tell(lambda listener: listener.under_way(self._compiled, stage, name))

    def step(self) -> None:
        """Tells that a step was added."""
        self._tell(lambda listener: listener.step_added(self._compiled))

    def end(self) -> None:
        """Tells that the compile has ended."""
        self._tell(lambda listener: listener.compile_ended(self._compiled))

    def _tell(self, tell: Callable[[Listener], None]) -> None:
        if not self._listeners:
            return
        began_ns = time.perf_counter_ns()
        for listener in self._listeners:
            tell(listener)
        self._spent_ns += time.perf_counter_ns() - began_ns
