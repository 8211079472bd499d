"""Events of a recording, emitted while it runs, so that its steps outlive a crash of the process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from freeze_engine.requests.options import Progress
from freeze_engine.trace import Step, Trace

#: The phases before anything is measured are units of one; this is the message of the second.
PHASES = 3
FREEZING = "freezing"


@dataclass(frozen=True, slots=True)
class NotedStep:
    """A finished pass that this package ran.

    Attributes:
        stage, passes, method, round, duration_ns: as in `freeze_engine.trace.Step`.
        text: torch's text of the graph after it, ``None`` if that did not change.
    """

    stage: str
    passes: tuple[str, ...]
    method: str
    round: int | None
    duration_ns: int | None
    text: str | None


@dataclass(frozen=True, slots=True)
class MethodNotes:
    """One method when the freeze begins.

    Attributes:
        method: dotted path.
        before: torch's text of its graph.
        inlined: torch's text of its graph with everything inlined.
        modules: for each node of ``inlined``, in order, the dotted path of the submodule it comes from.
    """

    method: str
    before: str
    inlined: str
    modules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FreezeNotes:
    """Facts that are known when ``_freeze_module`` begins, as plain data.

    Attributes:
        methods: those that are frozen, in the user's order.
        attributes: paths of all slots of the module.
    """

    methods: tuple[MethodNotes, ...]
    attributes: tuple[str, ...]


def silent(message: str, done: int, total: int) -> None:
    """Ignores progress."""


class RecordingObserver:
    """Receives recording events; the base class forwards progress only.

    Args:
        progress: called with how far the recording is.

    Attributes:
        watches: whether to emit the events that cost time to prepare.
        log_file: where torch's log goes while a module is frozen, ``None`` for a file without a name.
    """

    watches = False
    log_file: Path | None = None

    def __init__(self, progress: Progress = silent) -> None:
        self.progress = progress

    def trace_grew(self, trace: Trace) -> None:
        """Called with the trace so far, if it watches; at first the trace may have no steps."""

    def freeze_begins(self, notes: FreezeNotes) -> None:
        """Called right before ``_freeze_module``, if it watches."""

    def module_frozen(self, graphs: Mapping[str, str]) -> None:
        """Called right after ``_freeze_module`` with torch's texts of the graphs, by method."""

    def pass_begins(self, stage: str, name: str, method: str, number: int | None) -> None:
        """Called right before a pass that this package runs; the names are those of `Step`."""

    def pass_ended(self, step: NotedStep) -> None:
        """Called right after that pass."""

    def under_way(self, place: tuple[str, str, str | None] | None) -> None:
        """Called, if it watches, with stage, name and method of the pass that begins, ``None`` if none runs any more.

        For a pass that this package runs, `pass_begins` and `pass_ended` are called instead.
        """

    def step_added(self, step: Step) -> None:
        """Called for each step while the trace is built; measurements come later."""

    def trace_built(self, trace: Trace) -> None:
        """Called with the trace before anything is measured."""


SILENT = RecordingObserver()
