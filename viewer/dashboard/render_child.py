"""The renderer process: renders trace files for the pages, within limits of memory and time.

A trace file can unpack to thousands of times its size; here that ends only this process. A job is a line of JSON on
standard input, ``{"kind", "paths"}``. The answer is a line of JSON on standard output, ``{"shown", "size"}``, followed
by that many bytes; or ``{"error"}`` for a file that cannot be read, or ``{"fault"}`` with a traceback.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
import time
import traceback
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO, Final

import freeze_engine as fe
from freeze_engine import process
from viewer.dashboard.payloads import MAKERS
from viewer.dashboard.render_process import OUT_OF_MEMORY

_WARM: Final = ("viewer.page", "viewer.views.comparison.data", "viewer.report")
"""Modules to import before the first job; Bokeh among them takes most of a second."""


def main(memory_bytes: int, cpu_s: int) -> None:
    """Runs jobs one after the other until standard input ends.

    Args:
        memory_bytes: limit of the address space.
        cpu_s: processor time for each job, in s.
    """
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # printed text must not mix with the answers
    _limit("RLIMIT_CORE", 0)
    _limit("RLIMIT_AS", memory_bytes)
    jobs: SimpleQueue[dict[str, Any]] = SimpleQueue()
    threading.Thread(target=_listen, args=(jobs,), daemon=True).start()
    try:
        for name in _WARM:
            if jobs.empty():
                importlib.import_module(name)
        while True:
            job = jobs.get()
            _limit("RLIMIT_CPU", int(_used_s()) + 1 + cpu_s)
            _answer(job, replies)
    except MemoryError:
        # After this error no object of the process is reliable.
        os._exit(OUT_OF_MEMORY)


def _listen(jobs: SimpleQueue[dict[str, Any]]) -> None:
    """Queues jobs while others run, and ends the process when standard input closes, as when the server ends."""
    for line in sys.stdin.buffer:
        jobs.put(json.loads(line))
    os._exit(0)


def _limit(name: str, most: int) -> None:
    """Sets a resource limit of this process on Linux, the only system that enforces all of them."""
    if sys.platform != "linux":
        return
    import resource

    kind = getattr(resource, name)
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _used_s() -> float:
    return time.process_time()


def _answer(job: dict[str, Any], replies: BinaryIO) -> None:
    head: dict[str, Any]
    data = b""
    try:
        with process.collection_paused():  # twice as fast: the data of a page are many objects without a cycle
            made = MAKERS[job["kind"]]([Path(path) for path in job["paths"]])
    except fe.FreezerError as error:
        head = {"error": str(error)}
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - the server logs it
        head = {"fault": traceback.format_exc()}
    else:
        data = made.data
        head = {"shown": [asdict(entry) for entry in made.shown], "size": len(data)}
    replies.write(json.dumps(head).encode() + b"\n")
    replies.write(data)
    replies.flush()
