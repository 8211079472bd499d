"""The freezes that a ``with capture()`` block saw."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from freeze_engine.captures.unrecorded import unmade_text, unreceived_text, unrecorded_lines
from freeze_engine.trace import Trace
from freeze_engine.trace.rules.texts import with_plain_texts
from freeze_engine.trace.validation import problems

if TYPE_CHECKING:
    from freeze_engine.backends.inductor.capture.compile_capture import CompileCapture
    from freeze_engine.backends.inductor.capture.raw import RawCompile
    from freeze_engine.backends.inductor.record import CallableTrace
    from freeze_engine.backends.torchscript.capture.freeze_capture import FreezeCapture
    from freeze_engine.backends.torchscript.capture.raw import RawFreeze

OnTrace = Callable[[int, Trace], None]
"""Called as ``on_trace(number, trace)`` when a freeze has ended."""


class Captured:
    """The freezes that a ``with capture()`` block saw."""

    def __init__(
        self,
        freezes: FreezeCapture,
        compiles: CompileCapture,
        on_trace: OnTrace | None = None,
        *,
        values: bool = True,
    ) -> None:
        self._values = values
        self._freezes = freezes
        self._compiles = compiles
        self._on_trace = on_trace
        self._built: dict[RawFreeze, tuple[tuple[object, ...], Trace]] = {}
        self._callables: dict[RawCompile, CallableTrace] = {}
        self._ended: list[RawCompile] = []
        self._unmade: list[str] = []
        self._kept: tuple[Trace, ...] = ()
        self._over = False
        self._lock = threading.RLock()
        freezes.settle = lambda: self.traces
        if on_trace is not None:
            freezes.on_end = self._freeze_ended

    @property
    def traces(self) -> tuple[Trace, ...]:
        """One trace per freeze, in the order they began.

        All graphs that Inductor compiled for one module are one trace, each a method of it, recompilations included.
        Graphs of a function without a module belong together where they are of the same code, or follow a graph break.

        A trace is built on first use, so that the capture itself costs next to nothing; until
        that is done after the block, the modules are kept alive. What of a freeze cannot be read is left out of its
        trace, and a notice (``unread``) says why.
        """
        with self._lock:
            traces = (*self._kept, *(self._trace(found, True) for found in self._begun()))
            if self._over:
                # A task that began in the block may still add to it.
                self._kept = traces
                self._freezes.freezes.clear()
                self._compiles.compiles.clear()
                self._built.clear()
                self._callables.clear()
                self._ended.clear()
            return traces

    @property
    def unrecorded(self) -> tuple[str, ...]:
        """Sentences on freezes that did not happen or left no trace, each with the remedy.

        Gradients were on, Inductor's freezing was off, torch reused earlier compiled code, a loaded module was frozen
        already, the tensors of a module could not be read.
        """
        with self._lock:
            return (*dict.fromkeys(self._unmade), *unrecorded_lines(self._freezes, self._compiles))

    def end(self) -> None:
        """Marks the ``with`` block as finished."""
        self._over = True

    def renew_in_child(self, on_trace: OnTrace) -> None:
        """Forgets the freezes of the parent process, of which this one is a fork.

        Args:
            on_trace: called from now on.
        """
        self._lock = threading.RLock()
        self._freezes.freezes.clear()
        self._freezes.loaded_frozen.clear()
        self._freezes.inside_passes.clear()
        self._compiles.compiles.clear()
        self._compiles.unrecorded.clear()
        self._compiles.unread.clear()
        self._built.clear()
        self._callables.clear()
        self._ended.clear()
        self._unmade.clear()
        self._on_trace = on_trace

    def compile_ended(self, compiled: RawCompile) -> None:
        """Emits the trace of the callable that a compile belongs to, once that has ended."""
        with self._lock:
            self._ended.append(compiled)
            for number, found in enumerate(self._begun(), len(self._kept) + 1):
                if isinstance(found, list) and compiled in found:
                    self._emit(number, found)

    def _freeze_ended(self, freeze: RawFreeze) -> None:
        with self._lock:
            for number, found in enumerate(self._begun(), len(self._kept) + 1):
                if found is freeze:
                    self._emit(number, found)

    def _emit(self, number: int, found: RawFreeze | list[RawCompile]) -> None:
        """Passes on a trace. The freeze is the user's, and goes on whatever goes wrong here."""
        if self._on_trace is None:
            return
        try:
            trace = self._trace(found, False)
        except Exception as error:  # noqa: BLE001 (the user's freeze goes on; Captured.unrecorded names it)
            self._unmade.append(unmade_text(error))
            return
        try:
            self._on_trace(number, trace)
        except Exception as error:  # noqa: BLE001 (as above)
            self._unmade.append(unreceived_text(number, error))

    def _begun(self) -> Iterator[RawFreeze | list[RawCompile]]:
        from freeze_engine.backends.inductor.record import callables

        begun: list[tuple[int, RawFreeze | list[RawCompile]]] = [
            (freeze.began_ns, freeze) for freeze in self._freezes.freezes
        ]
        begun += [(graphs[0].began_ns, graphs) for graphs in callables(self._compiles.compiles)]
        return (found for _, found in sorted(begun, key=lambda pair: pair[0]))

    def _trace(self, found: RawFreeze | list[RawCompile], settled: bool) -> Trace:
        from freeze_engine.tensors.values import keeping_values

        with keeping_values(self._values):
            return self._read(found, settled)

    def _read(self, found: RawFreeze | list[RawCompile], settled: bool) -> Trace:
        if isinstance(found, list):
            return self._trace_of_compiles(found, settled)
        from freeze_engine.backends.torchscript.record import trace_of

        # A later optimize_for_inference may extend a trace that was read before.
        state: tuple[object, ...] = (len(found.steps), found.failure is None)
        known = self._built.get(found)
        if known is None or known[0] != state:
            known = self._built[found] = state, _sound(trace_of(found))
        return known[1]

    def _trace_of_compiles(self, found: list[RawCompile], settled: bool) -> Trace:
        from freeze_engine.backends.inductor.record import CallableTrace

        of_callable = self._callables.setdefault(found[0], CallableTrace())
        # In another thread a graph of the same callable may be compiled right now.
        ended = found if settled else [each for each in found if each in self._ended]
        return _sound(of_callable.trace(ended, settled))


def _sound(trace: Trace) -> Trace:
    """Returns a trace that can be saved: without its steps, if it is only a part and breaks the rules of traces."""
    trace = with_plain_texts(trace)
    if not any(notice.code == "unread" for notice in trace.notices) or not problems(trace):
        return trace
    notices = tuple(replace(notice, step=None) for notice in trace.notices)
    empty = replace(
        trace, steps=(), attributes=(), near_misses=(), programs=(), sources=(), failure=None, notices=notices
    )
    return empty if not problems(empty) else replace(empty, notices=notices[-1:])
