"""Holds every trace that a recording finishes, in whichever test, to the rules of the data model."""

from __future__ import annotations

import pytest

from freeze_engine import session
from freeze_engine.backends.common import partial_trace
from freeze_engine.trace import Trace
from freeze_engine.trace.rules.texts import with_plain_texts
from freeze_engine.trace.validation import problems
from freeze_engine.worker import output_file

_SHOWN = 5


class FinishedTraces:
    """Problems of the traces that were finished since they were last taken.

    ``record()`` and ``capture()``, an exception that carries a trace, and a worker's output file all let a trace go
    through `with_plain_texts` last. A worker in a process of its own writes its trace by ``dumps``, which checks it.

    Args:
        patch: undoes the watching when it ends.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._problems: list[str] = []
        for module in (session, partial_trace, output_file):
            patch.setattr(module, "with_plain_texts", self._watched)

    def _watched(self, trace: Trace) -> Trace:
        finished = with_plain_texts(trace)
        found = problems(finished)
        self._problems += [f"trace {trace.name!r}: {problem}" for problem in found[:_SHOWN]]
        return finished

    def take(self) -> list[str]:
        """Returns the problems, and forgets them."""
        taken, self._problems = self._problems, []
        return taken
