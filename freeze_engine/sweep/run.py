"""Runs a sweep: makes the recordings that its folder does not have yet."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from freeze_engine.sweep.environment_facts import EnvironmentFacts, environment_facts
from freeze_engine.sweep.folder import at_work, finish_row, finished_row, write_manifest
from freeze_engine.sweep.local_pool import run_here
from freeze_engine.sweep.plan import PlannedRow, SweepPlan
from freeze_engine.sweep.recording import RowTask
from freeze_engine.sweep.row import SweepRow
from freeze_engine.sweep.row_key import row_key
from freeze_engine.sweep.table import can_write_table, write_table
from freeze_engine.sweep.watcher import Pool, Rows, SweepWatcher

#: The table is written anew at most this often while the sweep runs, and at its end.
_TABLE_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class SweepOptions:
    """How to run a sweep.

    Attributes:
        jobs: recordings at the same time; those that measure still run alone.
        measure_together: whether recordings that measure may run at the same time as others.
        scheduler: address of a Dask scheduler, ``None`` to record on this machine.
        retry: whether to record again what failed, crashed or exceeded a limit.
        only: patterns of the labels of the recordings to make now; ``()`` for all.
    """

    jobs: int = 1
    measure_together: bool = False
    scheduler: str | None = None
    retry: bool = False
    only: tuple[str, ...] = ()


def run_sweep(
    plan: SweepPlan,
    folder: Path,
    options: SweepOptions,
    watcher: SweepWatcher,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> tuple[SweepRow, ...]:
    """Makes the recordings of a sweep that its folder does not have, and writes the table.

    Args:
        plan: the sweep.
        folder: of the results; made if it is missing.
        options: how to run it.
        watcher: receives the events.
        is_cancelled: ends the sweep; the running recordings are made anew next time.

    Returns:
        The rows of the sweep that are there, in the order of the plan.

    Raises:
        FreezerError: another sweep is at work in the folder, an environment or the scheduler cannot be used, a pattern
            of `SweepOptions.only` matches no recording.
    """
    chosen = frozenset(row.label for row in plan.rows_like(options.only))
    with at_work(folder), _pool(options) as pool:
        keyed = [(row_key(row, facts), row, facts) for row in plan.rows for facts in (pool.facts(row),)]
        write_manifest(folder, plan.name, ((key, row.label) for key, row, _ in keyed))
        rows = {key: row for key, planned, _ in keyed if (row := _kept(folder, key, planned, options)) is not None}
        watcher.planned(len(keyed), len(rows))
        written_s = time.monotonic()
        try:
            for row, unfinished in pool.rows(_missing(keyed, rows, chosen, options), folder, watcher, is_cancelled):
                rows[row.key] = finish_row(folder, row, unfinished)
                watcher.ended(row.key, rows[row.key])
                if time.monotonic() - written_s > _TABLE_S:
                    _write(folder, keyed, rows)
                    written_s = time.monotonic()
        finally:
            found = _write(folder, keyed, rows)
    return found


Keyed = list[tuple[str, PlannedRow, EnvironmentFacts]]


def _missing(
    keyed: Keyed, rows: Mapping[str, SweepRow], chosen: frozenset[str], options: SweepOptions
) -> list[RowTask]:
    """Returns the recordings to make now, of those with a chosen label.

    Those that measure come last, since they wait until nothing else runs.
    """
    tasks = [
        RowTask(key, row, facts, options.measure_together)
        for key, row, facts in keyed
        if key not in rows and row.label in chosen
    ]
    return sorted(tasks, key=lambda task: task.planned.measures_latency)


class _Here:
    """This machine.

    Args:
        jobs: recordings at the same time.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    def facts(self, row: PlannedRow) -> EnvironmentFacts:
        return environment_facts(row.environment.python, row.packages)

    def rows(self, tasks: list[RowTask], folder: Path, watcher: SweepWatcher, is_cancelled: Callable[[], bool]) -> Rows:
        return run_here(tasks, folder, self._jobs, watcher, is_cancelled)


@contextlib.contextmanager
def _pool(options: SweepOptions) -> Iterator[Pool]:
    if options.scheduler is None:
        yield _Here(options.jobs)
        return
    from freeze_engine.sweep.dask_pool import dask_pool

    with dask_pool(options.scheduler) as pool:
        yield pool


def _kept(folder: Path, key: str, planned: PlannedRow, options: SweepOptions) -> SweepRow | None:
    """Returns the row that an earlier run has left, ``None`` if the recording is to be made."""
    row = finished_row(folder, key)
    if row is None or row.is_recorded:
        return row if row is None or not row.trace or (folder / row.trace).is_file() else None
    is_wider = (row.status == "timed_out" and _is_wider(planned.request.limit_s, row.limit_s)) or (
        row.status == "over_limit" and _is_wider(planned.request.memory_bytes, row.memory_bytes)
    )
    return None if options.retry or is_wider or row.status == "killed" else row


def _is_wider(limit: float | None, before: float | None) -> bool:
    return before is not None and (limit is None or limit > before)


def _write(folder: Path, keyed: Keyed, rows: dict[str, SweepRow]) -> tuple[SweepRow, ...]:
    found = tuple(rows[key] for key, _, _ in keyed if key in rows)
    if can_write_table():
        write_table(folder, found)
    return found
