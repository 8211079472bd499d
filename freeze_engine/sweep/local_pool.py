"""Makes recordings on this machine, some at the same time."""

from __future__ import annotations

import functools
import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from freeze_engine.sweep.folder import UNFINISHED
from freeze_engine.sweep.recording import RowTask, record_row
from freeze_engine.sweep.row import SweepRow
from freeze_engine.sweep.watcher import SweepWatcher

Made = tuple[SweepRow, Path | None]


def run_here(
    tasks: list[RowTask], folder: Path, jobs: int, watcher: SweepWatcher, is_cancelled: Callable[[], bool]
) -> Iterator[Made]:
    """Makes recordings on threads that each follow a child process.

    Args:
        tasks: the recordings.
        folder: of the sweep.
        jobs: recordings at the same time.
        watcher: receives the events.
        is_cancelled: ends the running recordings, and starts no other.

    Yields:
        Each row when its recording has ended, with the file of its trace.
    """
    waiting: queue.SimpleQueue[RowTask] = queue.SimpleQueue()
    for task in tasks:
        waiting.put(task)
    made: queue.SimpleQueue[Made | BaseException | None] = queue.SimpleQueue()
    closed = threading.Event()

    def is_over() -> bool:
        return closed.is_set() or is_cancelled()

    def make(task: RowTask) -> Made | None:
        return _made(task, folder, watcher, is_over)

    work = functools.partial(_work, waiting, made, make, is_over)
    threads = [threading.Thread(target=work, name=f"sweep {number}", daemon=True) for number in range(jobs)]
    for thread in threads:
        thread.start()
    try:
        yield from _until_all_ended(made, jobs)
    finally:
        closed.set()
        for thread in threads:
            thread.join()


def _work(
    waiting: queue.SimpleQueue[RowTask],
    made: queue.SimpleQueue[Made | BaseException | None],
    make: Callable[[RowTask], Made | None],
    is_over: Callable[[], bool],
) -> None:
    """Makes recordings until none waits; ends with ``None``, after the exception that ended it, if one did."""
    try:
        while not is_over():
            try:
                task = waiting.get_nowait()
            except queue.Empty:
                return
            found = make(task)
            if found is not None:
                made.put(found)
    except BaseException as error:  # noqa: BLE001 - raised again by the caller's thread
        made.put(error)
    finally:
        made.put(None)


def _until_all_ended(made: queue.SimpleQueue[Made | BaseException | None], running: int) -> Iterator[Made]:
    while running:
        found = made.get()
        if found is None:
            running -= 1
        elif isinstance(found, BaseException):
            raise found
        else:
            yield found


def _made(task: RowTask, folder: Path, watcher: SweepWatcher, is_over: Callable[[], bool]) -> Made | None:
    watcher.started(task.key, task.planned.label)
    output = (folder / UNFINISHED / f"{task.key}.fztrace").absolute()
    row = record_row(
        task, output, on_progress=lambda message: watcher.progress(task.key, message), is_cancelled=is_over
    )
    return None if row is None else (row, output if output.is_file() else None)
