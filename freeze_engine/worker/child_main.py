"""Entry point of the child process: prepares it to be watched, and runs its task."""

from __future__ import annotations

import faulthandler
import importlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from freeze_engine.process.exit_cause import DEAF
from freeze_engine.process.fork import end_with_caller
from freeze_engine.process.temporary_folders import keep_within
from freeze_engine.worker.guard import start_guard
from freeze_engine.worker.limits import limit_this_process

#: The module of each task; its ``run`` gets the folder and a function that sends a line to the caller.
_TASKS = {
    "record": "freeze_engine.worker.record_task",
    "inspect": "freeze_engine.worker.inspect_task",
    "try": "freeze_engine.worker.try_task",
    "post_mortem": "freeze_engine.worker.post_mortem_task",
    "check_trace": "freeze_engine.worker.check_task",
}
CONFINED = "FREEZER_CONFINED"
"""Name of the variable that is set in a sandbox."""
#: In a sandbox: the largest file, and the most files that a process has open at once.
_FILE_BYTES = 8 << 30
_OPEN_FILES = 1024
Send = Callable[[str], None]


def main(task: str, folder: str, lines: int, lifeline: int, memory_bytes: int) -> None:
    """Runs a task and ends the process.

    Args:
        task: a key of `_TASKS`.
        folder: what the task reads and writes.
        lines: descriptor to send lines to.
        lifeline: descriptor that reaches its end when the caller is gone.
        memory_bytes: limit for this process and all that it starts, 0 for none.
    """
    if memory_bytes:
        limit_this_process(memory_bytes)
    if CONFINED in os.environ:
        _limit_files()
    for descriptor in (lines, lifeline):
        os.set_inheritable(descriptor, False)
    if CONFINED not in os.environ:  # a sandbox ends with its caller, and all in it
        start_guard(lifeline, Path(folder))
    end_with_caller(lifeline)
    keep_within(Path(folder))
    # While a module is frozen, descriptor 2 is torch's log.
    output = os.dup(2)
    faulthandler.enable(output, all_threads=False)
    faulthandler.register(signal.SIGUSR1, output)
    # The signal goes to the thread that waits for the caller's end: it must not wake code that hangs here.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    pipe = os.fstat(lines)
    importlib.import_module(_TASKS[task]).run(Path(folder), lambda line: _send(lines, pipe, line))
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    # torch's own shutdown takes time, and may crash, although the work is done.
    os._exit(0)


def _limit_files() -> None:
    """Limits this process and all that it starts; none of them can take that back."""
    import resource

    for limit, most in (
        (resource.RLIMIT_FSIZE, _FILE_BYTES),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(limit)
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (value, value))


def _send(descriptor: int, pipe: os.stat_result, line: str) -> None:
    """Sends a line; if the model closed the descriptor, nothing can be sent any more, and the process ends."""
    data = line.encode() + b"\n"
    try:
        is_ours = os.path.samestat(os.fstat(descriptor), pipe)  # the number may be that of a file of the model's
        while is_ours and data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        is_ours = False
    if not is_ours:
        os._exit(DEAF)
