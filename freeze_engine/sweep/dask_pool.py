"""Makes recordings on a Dask cluster. ``distributed`` has to be installed here and there, and this package as well.

Each recording is one task of Dask's. It runs in a child process on its worker, as it does elsewhere, and returns its
trace: the machines need no common folder. Dask starts the tasks of a worker that dies on another one.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from freeze_engine.errors import FreezerError
from freeze_engine.process.temporary_folders import temporary_folder
from freeze_engine.sweep.environment_facts import EnvironmentFacts, environment_facts
from freeze_engine.sweep.folder import UNFINISHED
from freeze_engine.sweep.plan import PlannedRow
from freeze_engine.sweep.recording import RowTask, failed_row, record_row
from freeze_engine.sweep.row import SweepRow
from freeze_engine.sweep.watcher import SweepWatcher

_LOOK_S: Final = 0.1


@contextlib.contextmanager
def dask_pool(address: str) -> Iterator[DaskPool]:
    """Connects to a Dask cluster for the block.

    Args:
        address: of its scheduler, such as ``tcp://10.0.0.1:8786``.

    Raises:
        FreezerError: Dask is not installed, or the scheduler does not answer.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise FreezerError("--scheduler needs Dask: pip install 'freezer-ui[dask]'") from error
    try:
        client = Client(address)
    except (OSError, ValueError) as error:
        raise FreezerError(f"there is no Dask scheduler at {address}: {error}") from error
    with client:
        yield DaskPool(client)


class DaskPool:
    """A Dask cluster, as a `freeze_engine.sweep.watcher.Pool`.

    Args:
        client: connected to its scheduler.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._facts: dict[tuple[str | None, tuple[str, ...]], EnvironmentFacts] = {}

    def facts(self, row: PlannedRow) -> EnvironmentFacts:
        """Requests the facts of a recording's environment."""
        asked = (row.environment.python, row.packages)
        if asked not in self._facts:
            self._facts[asked] = self._client.submit(environment_facts, *asked, pure=False).result()
        return self._facts[asked]

    def rows(
        self, tasks: list[RowTask], folder: Path, watcher: SweepWatcher, is_cancelled: Callable[[], bool]
    ) -> Iterator[tuple[SweepRow, Path | None]]:
        """Yields the row of each recording when it has ended, with the file of its trace."""
        run = secrets.token_hex(4)
        waiting = {}
        for task in tasks:
            future = self._client.submit(record_remotely, task, key=f"freezer-{task.key}-{run}", pure=False)
            waiting[future] = task
        try:
            while waiting and not is_cancelled():
                for future in [each for each in waiting if each.done()]:
                    task = waiting.pop(future)
                    watcher.started(task.key, task.planned.label)
                    row, data = _result(future, task)
                    path = folder / UNFINISHED / f"{task.key}.fztrace"
                    if data is not None:
                        path.write_bytes(data)
                    future.release()
                    yield row, None if data is None else path
                time.sleep(_LOOK_S)
        finally:
            self._client.cancel(list(waiting))


def _result(future: Any, task: RowTask) -> tuple[SweepRow, bytes | None]:
    """Returns the result of a task of Dask's; a worker that died again and again is the recording's end.

    Raises:
        Exception: the task could not be run there, for example because this package is missing.
    """
    from distributed import KilledWorker

    try:
        found: tuple[SweepRow, bytes | None] = future.result()
    except KilledWorker as error:
        return failed_row(task, "killed", f"each worker of Dask's that tried it died: {error}"), None
    return found


def record_remotely(task: RowTask) -> tuple[SweepRow, bytes | None]:
    """Makes a recording on a worker of Dask's.

    Args:
        task: the recording.

    Returns:
        The row, and the content of the trace's file.

    Raises:
        FreezerError: the recording was cancelled there.
    """
    with temporary_folder("freezer-recording-") as folder:
        output = folder / f"{task.key}.fztrace"
        row = record_row(task, output)
        if row is None:
            raise FreezerError(f"{task.planned.label}: the recording was cancelled on its worker; run the sweep again")
        return row, output.read_bytes() if output.is_file() else None
