"""Follows the compiles of one recording, so that whoever watches it has the trace as it grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from freeze_engine.backends.common.environment import utc_now
from freeze_engine.backends.common.observer import PHASES, Watcher
from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.capture.events import Listener
from freeze_engine.backends.inductor.capture.pass_observer import COMPILE
from freeze_engine.backends.inductor.capture.raw import RawCompile
from freeze_engine.backends.inductor.graph.live import LiveGraph
from freeze_engine.backends.inductor.trace_builder import Assembly, Told, head
from freeze_engine.trace import Failure, Trace

#: What goes on between two compiles and after the last: Dynamo traces, or the compiled code runs.
_FIRST_CALL = "the first call"


class Following(Listener):
    """Tells a watcher how compiles go; only for one that watches, the trace is put together meanwhile.

    Args:
        watcher: the watcher.
        told: what is known from who asked for the recording.
    """

    def __init__(self, watcher: Watcher, told: Told) -> None:
        self._watcher = watcher
        self._told = told
        self._assembly = Assembly(told)
        self._steps = 0

    def begins(self) -> None:
        """Tells the trace before Dynamo and Inductor are imported and do anything."""
        if self._watcher.watches:
            self._watcher.trace_grew(replace(head(self._told), created=utc_now()))

    def stage_begins(self, stage: str) -> None:
        """Tells how far the recording is."""
        self._watcher.progress(f"compiling: {stage}", 1, PHASES)

    def under_way(self, compiled: RawCompile, stage: str, name: str) -> None:
        """Tells what runs from now on."""
        if self._watcher.watches:
            self._watcher.under_way((stage, name, self._assembly.method_of(compiled)))

    def step_added(self, compiled: RawCompile) -> None:
        """Tells the trace with that step."""
        if self._watcher.watches:
            with torch_private.without_modes():
                self._assembly.add(compiled)
            self._tell()

    def compile_ended(self, compiled: RawCompile) -> None:
        """Tells the trace with all that is known of that graph."""
        if self._watcher.watches:
            with torch_private.without_modes():
                self._assembly.end(compiled)
            self._tell()
            self._watcher.under_way((COMPILE, _FIRST_CALL, None))

    def finished(self, compiles: Sequence[RawCompile]) -> tuple[Trace, tuple[dict[int, LiveGraph], ...]]:
        """Returns the trace once the module has been called, and for each graph its steps that can be run.

        Args:
            compiles: all of them, in order.
        """
        self._watcher.under_way(None)
        for compiled in compiles:
            self._assembly.end(compiled)
        live = self._assembly.settle()
        return self._tell(), live

    def broken_off(self, compiles: Sequence[RawCompile], error: BaseException) -> Trace:
        """Returns the trace of a call that raised.

        Args:
            compiles: those that had begun, in order.
            error: what it raised.
        """
        trace, _ = self.finished(compiles)
        if trace.failure is not None:
            return trace
        last = trace.steps[-1].index
        return replace(trace, failure=Failure(type(error).__name__, str(error), COMPILE, _FIRST_CALL, None, last))

    def _tell(self) -> Trace:
        trace = self._assembly.trace()
        self._watcher.trace_grew(trace)
        for step in trace.steps[self._steps :]:
            self._watcher.step_added(step)
        self._steps = len(trace.steps)
        return trace
