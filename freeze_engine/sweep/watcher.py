"""Interfaces of a running sweep: the receiver of its events, and the place where its recordings are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from freeze_engine.sweep.environment_facts import EnvironmentFacts
from freeze_engine.sweep.plan import PlannedRow
from freeze_engine.sweep.recording import RowTask
from freeze_engine.sweep.row import SweepRow

Rows = Iterator[tuple[SweepRow, Path | None]]
"""Rows with the files of their traces, ``None`` where there is none."""


class SweepWatcher(Protocol):
    """Receives the events of a sweep; the calls come from several threads, one at a time for each recording."""

    def planned(self, total: int, done: int) -> None:
        """The recordings are known; ``done`` of them the folder has already."""

    def started(self, key: str, label: str) -> None:
        """A recording has begun."""

    def progress(self, key: str, message: str) -> None:
        """A recording has come to an activity."""

    def ended(self, key: str, row: SweepRow) -> None:
        """A recording has ended, and its row is written."""


class Pool(Protocol):
    """A place where recordings are made."""

    def facts(self, row: PlannedRow) -> EnvironmentFacts:
        """Returns the facts of a recording's environment there."""

    def rows(self, tasks: list[RowTask], folder: Path, watcher: SweepWatcher, is_cancelled: Callable[[], bool]) -> Rows:
        """Yields the row of each recording when it has ended, with the trace's file until then."""
