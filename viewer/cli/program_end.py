"""The end of a Python program: what the interpreter waits for and calls once the main program has ended."""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Callable
from typing import Any


def wait_as_python_does() -> None:
    """Waits for executors, threads and processes of `multiprocessing` that are not daemons.

    The interpreter does the same a moment later, and finds nothing left then: ``threading._shutdown``, which first
    calls what `concurrent.futures`, loky and others have registered to end their threads, and the exit handler of
    `multiprocessing.util` (CPython 3.10 to 3.14). After this, no executor of the process takes work.
    """
    registered: list[Callable[[], object]] = getattr(threading, "_threading_atexits", [])
    while registered:
        try:
            registered.pop()()
        except Exception:  # noqa: BLE001 - the interpreter prints it, too, and goes on to the exit code
            sys.excepthook(*sys.exc_info())
    while running := [
        each for each in threading.enumerate() if not (each.daemon or each is threading.current_thread())
    ]:
        for thread in running:
            thread.join()
    processes: Any = sys.modules.get("multiprocessing.util")
    if processes is not None and hasattr(processes, "_exit_function"):
        processes._exit_function()


def run_exit_handlers() -> None:
    """Calls the functions that `atexit` knows, the last one first, and forgets them.

    The interpreter does the same a moment later (``atexit._run_exitfuncs``, CPython 3.10 to 3.14), and prints the
    exceptions of each.
    """
    atexit._run_exitfuncs()
