"""The renderer process: makes what the pages load of trace files, within limits of memory and time.

A trace file can unpack to thousands of times its size. Here that costs this process only. A job is a line of JSON on
standard input, ``{"kind", "paths"}``. The answer is a line of JSON on standard output, ``{"shown", "size"}``, followed
by that many bytes; or ``{"error"}`` for a file that cannot be read, or ``{"fault"}`` with a traceback.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import threading
import traceback
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO, Final

import freeze_engine as fe
from viewer.dashboard.payloads import MAKERS
from viewer.dashboard.render_process import OUT_OF_MEMORY

_WARM: Final = ("viewer.page", "viewer.views.comparison.data", "viewer.report")
"""Modules that the first job would wait for; Bokeh among them takes most of a second."""


def main(memory_bytes: int, cpu_s: int) -> None:
    """Does one job after the other, until standard input ends.

    Args:
        memory_bytes: how large the address space may grow.
        cpu_s: processor time for each job, in s.
    """
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed is no answer
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_AS, memory_bytes)
    jobs: SimpleQueue[dict[str, Any]] = SimpleQueue()
    threading.Thread(target=_listen, args=(jobs,), daemon=True).start()
    try:
        for name in _WARM:
            if jobs.empty():
                importlib.import_module(name)
        while True:
            job = jobs.get()
            _limit(resource.RLIMIT_CPU, int(_used_s()) + 1 + cpu_s)
            _answer(job, replies)
    except MemoryError:
        # Whatever this process still holds, nothing more can be relied on.
        os._exit(OUT_OF_MEMORY)


def _listen(jobs: SimpleQueue[dict[str, Any]]) -> None:
    """Takes jobs while others are done, and ends the process when the server is gone."""
    for line in sys.stdin.buffer:
        jobs.put(json.loads(line))
    os._exit(0)


def _limit(kind: int, most: int) -> None:
    """Sets a limit of this process; only Linux holds a process to all of them."""
    if sys.platform != "linux":
        return
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _used_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _answer(job: dict[str, Any], replies: BinaryIO) -> None:
    head: dict[str, Any]
    data = b""
    try:
        made = MAKERS[job["kind"]]([Path(path) for path in job["paths"]])
    except fe.FreezerError as error:
        head = {"error": str(error)}
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - told to the server, which logs it
        head = {"fault": traceback.format_exc()}
    else:
        data = made.data
        head = {"shown": [asdict(entry) for entry in made.shown], "size": len(data)}
    replies.write(json.dumps(head).encode() + b"\n")
    replies.write(data)
    replies.flush()
