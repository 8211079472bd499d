"""Builds the trace of a recording while its compiles run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from freeze_engine.backends.common.environment import utc_now
from freeze_engine.backends.common.observer import PHASES, RecordingObserver
from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.capture.events import CompileObserver
from freeze_engine.backends.inductor.capture.pass_observer import COMPILE
from freeze_engine.backends.inductor.capture.raw import RawCompile
from freeze_engine.backends.inductor.graph.live import LiveGraph
from freeze_engine.backends.inductor.trace_builder import RecordingInfo, TraceBuilder, head
from freeze_engine.trace import Failure, Trace

#: The activity between two compiles and after the last: Dynamo traces, or the compiled code runs.
_FIRST_CALL = "the first call"


class LiveTraceObserver(CompileObserver):
    """Passes the events of compiles to a recording's observer, with the trace so far if the observer watches.

    Args:
        observer: the observer.
        info: the caller's facts about the recording.
    """

    def __init__(self, observer: RecordingObserver, info: RecordingInfo) -> None:
        self._observer = observer
        self._info = info
        self._builder = TraceBuilder(info)
        self._steps = 0

    def begins(self) -> None:
        """Emits the trace before Dynamo and Inductor are imported."""
        if self._observer.watches:
            self._observer.trace_grew(replace(head(self._info), created=utc_now()))

    def stage_begins(self, stage: str) -> None:
        """Reports progress."""
        self._observer.progress(f"compiling: {stage}", 1, PHASES)

    def under_way(self, compiled: RawCompile, stage: str, name: str) -> None:
        """Reports the activity that starts now."""
        if self._observer.watches:
            self._observer.under_way((stage, name, self._builder.method_of(compiled)))

    def step_added(self, compiled: RawCompile) -> None:
        """Emits the trace with that step."""
        if self._observer.watches:
            with torch_private.without_modes():
                self._builder.add(compiled)
            self._notify()

    def compile_ended(self, compiled: RawCompile) -> None:
        """Emits the trace with all facts about that graph."""
        if self._observer.watches:
            with torch_private.without_modes():
                self._builder.end(compiled)
            self._notify()
            self._observer.under_way((COMPILE, _FIRST_CALL, None))

    def finished(self, compiles: Sequence[RawCompile]) -> tuple[Trace, tuple[dict[int, LiveGraph], ...]]:
        """Returns the trace once the module has been called, and for each graph its steps that can be run.

        Args:
            compiles: all of them, in order.
        """
        self._observer.under_way(None)
        for compiled in compiles:
            self._builder.end(compiled)
        live = self._builder.settle()
        return self._notify(), live

    def broken_off(self, compiles: Sequence[RawCompile], error: BaseException) -> Trace:
        """Returns the trace of a call that raised.

        Args:
            compiles: those that had begun, in order.
            error: the exception.
        """
        trace, _ = self.finished(compiles)
        if trace.failure is not None:
            return trace
        last = trace.steps[-1].index
        return replace(trace, failure=Failure(type(error).__name__, str(error), COMPILE, _FIRST_CALL, None, last))

    def _notify(self) -> Trace:
        trace = self._builder.trace()
        self._observer.trace_grew(trace)
        for step in trace.steps[self._steps :]:
            self._observer.step_added(step)
        self._steps = len(trace.steps)
        return trace
