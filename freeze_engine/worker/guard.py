"""Ends what a worker started when its caller is killed; the kernel then ends the worker alone."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path
from typing import Final

from freeze_engine.worker.process_tree import HAS_PROC, ProcessTree

_DESCRIPTORS: Final = 1 << 16


def start_guard(lifeline: int, folder: Path) -> None:
    """Forks a process that waits for the caller's end; it must be called before any thread is started.

    The guard is killed with the rest of the worker's processes. So it acts only if the caller could not.

    Args:
        lifeline: descriptor that reaches its end when the caller is gone.
        folder: the worker's folder, which its caller would have removed.
    """
    worker = os.getpid()
    if not HAS_PROC or os.fork() != 0:
        return
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        os.setpgid(0, 0)  # the worker ends its own group when it sees that the caller is gone
        # The caller and the reader of the output wait until all processes have closed their pipes.
        os.closerange(0, lifeline)
        os.closerange(lifeline + 1, _DESCRIPTORS)
        os.read(lifeline, 1)
        ProcessTree.of_this_process(worker).kill()
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os._exit(0)
