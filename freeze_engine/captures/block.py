"""`capture()`: records the freezes of a block of the user's code."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from freeze_engine.captures.captured import Captured, OnTrace

if TYPE_CHECKING:
    from freeze_engine.backends.inductor.capture.events import CompileObserver


@contextlib.contextmanager
def capture(*, threads: bool = False, on_trace: OnTrace | None = None, values: bool = True) -> Iterator[Captured]:
    """Records every freeze in the block, without changing it.

    ``torch.jit.freeze``, ``torch.jit.run_frozen_optimizations`` and ``torch.jit.optimize_for_inference`` are covered,
    also through earlier references. Their results and exceptions are torch's own. A later pass over a module that
    was frozen in the same block continues its trace. So is ``torch.compile`` where Inductor freezes: with
    ``torch._inductor.config.freezing`` on and gradients off. It compiles when what it returned is called, so that call
    belongs into the block. Captures nest, each seeing what happens inside it; a freeze in another thread belongs to the
    captures of that thread, and to those with ``threads=True``.

    Args:
        threads: whether to record the freezes of all threads of the process, executors' included.
        on_trace: called as ``on_trace(number, trace)`` in the thread of a freeze when it has ended, with the number of
            the freeze among those of the block, from 1; called again with the whole trace when a later pass or
            compile continues it. What it raises becomes a sentence of `Captured.unrecorded`, and the freeze goes on.
        values: as of `Measure`: whether traces keep numbers of weights and constants.

    Yields:
        The freezes seen so far.

    Raises:
        UnsupportedTorchError: this torch lacks a private name that recording needs.
    """
    from freeze_engine.backends.inductor.capture.capture import capturing as capturing_compiles
    from freeze_engine.backends.torchscript.capture.capture import capturing

    seen: list[Captured] = []
    observer = None if on_trace is None else _ending_observer(seen)
    with capturing(threads=threads) as freezes, capturing_compiles(threads=threads, observer=observer) as compiles:
        captured = Captured(freezes, compiles, on_trace, values=values)
        seen.append(captured)
        try:
            yield captured
        finally:
            captured.end()


def _ending_observer(seen: list[Captured]) -> CompileObserver:
    """Returns an observer of compiles that reports each end to the block."""
    from freeze_engine.backends.inductor import torch_private
    from freeze_engine.backends.inductor.capture.events import CompileObserver
    from freeze_engine.backends.inductor.capture.raw import RawCompile

    class EndingObserver(CompileObserver):
        def compile_ended(self, compiled: RawCompile) -> None:
            with torch_private.without_modes():
                seen[0].compile_ended(compiled)

    return EndingObserver()
