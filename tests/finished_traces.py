"""Checks every trace that any test's recording finishes against the rules of the data model."""

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
    """Collects problems of finished traces until `take`.

    ``record()`` and ``capture()``, an exception with a trace, and a worker's output file all pass a trace through
    `with_plain_texts` last. A worker in a child process writes its trace by ``dumps``, which checks it.

    Args:
        patch: undoes the patches when it ends.
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
        """Returns the problems and clears them."""
        taken, self._problems = self._problems, []
        return taken
