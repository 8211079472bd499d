"""Runs a task in a fork of this process, which may crash, hang, or be killed without harm to this one.

A fork has all objects of this process, live graphs included, and costs milliseconds where a new Python with torch costs
seconds. Its changes are not visible here; its result comes back pickled.
"""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import faulthandler
import os
import pickle
import select
import signal
import struct
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from freeze_engine.errors import CrashError
from freeze_engine.process.exit_cause import cause_of

CAN_FORK = sys.platform == "linux"
"""On other systems a fork of a process that has used system libraries may not use them again."""
#: What torch (2.9 to 2.15) calls the threads that run what torch.jit.fork starts (c10/core/thread_pool.cpp).
_TASK_THREAD = "PTThreadPool"
_LENGTH = struct.Struct("!Q")
_READ_BYTES = 1 << 16
#: Interval of looking for the end of the process, needed if something that it started holds its pipe open.
_LOOK_S = 0.5

Result = TypeVar("Result")
Tell = Callable[[object], None]
"""Sends a message from the fork to its parent before the end; the message is pickled."""
#: Of ``linux/prctl.h``.
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Lost:
    """The end of a fork that returned no result.

    Attributes:
        how: whether it died, or its time was up.
        type: short: ``SIGSEGV``, ``exit code 1``, ``time limit``.
        message: what happened, as a sentence without its end.
    """

    how: Literal["died", "hung"]
    type: str
    message: str


def why_not_forked() -> str:
    """Returns why a fork of this process could not run models; empty where it can."""
    if not CAN_FORK:
        return "forks are used on Linux only"
    torch = sys.modules.get("torch")
    return "a fork cannot use CUDA" if torch is not None and torch.cuda.is_initialized() else ""


def has_task_threads() -> bool:
    """Returns whether ``torch.jit.fork`` has run here; in a fork of this process it would wait for ever."""
    if not CAN_FORK:
        return False
    for thread in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it has ended meanwhile
            if (thread / "comm").read_text().strip() == _TASK_THREAD:
                return True
    return False


def forked(
    task: Callable[[Tell], Result],
    *,
    limit_s: float | None = None,
    on_told: Callable[[Any], None] | None = None,
    leads: bool = False,
) -> Result | Lost:
    """Runs a task in a fork and waits for its end.

    Args:
        task: the function to run; its result must be picklable.
        limit_s: how long it may take, ``None`` for as long as it takes.
        on_told: called with each message that the task sends.
        leads: whether all processes that the fork starts end with it, its own forks included. An interrupt at the
            terminal then reaches this process only.

    Returns:
        The task's result, or how the fork ended without one.

    Raises:
        CrashError: the task raised an exception that cannot be pickled.
        Exception: the task's exception, its traceback in the cause.
    """
    reading, writing = os.pipe()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # otherwise the fork would write the buffered text, too
    with warnings.catch_warnings():
        # Python 3.12 and later warn of other threads, whose locks nobody would ever free. Here they are those of
        # OpenMP, which `_child` leaves behind, and those that wait for Inductor's compile workers, which torch starts
        # anew after a fork (torch/_inductor/async_compile.py, torch 2.13).
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        os.close(reading)
        _child(task, writing, leads)
    os.close(writing)
    fork = _Fork(pid, reading, leads)
    try:
        return cast("Result | Lost", fork.result(limit_s, on_told))
    finally:
        fork.end()


class _Fork:
    """The fork as its caller sees it."""

    def __init__(self, pid: int, reading: int, leads: bool) -> None:
        self._pid = pid
        self._reading = reading
        self._leads = leads
        self._status: int | None = None

    def result(self, limit_s: float | None, on_told: Callable[[Any], None] | None) -> object:
        until_s = None if limit_s is None else time.monotonic() + limit_s
        data = bytearray()
        while True:
            left_s = _LOOK_S if until_s is None else min(_LOOK_S, until_s - time.monotonic())
            if left_s <= 0:
                return Lost("hung", "time limit", f"not done after {limit_s:g} s")
            is_ready = bool(select.select([self._reading], [], [], left_s)[0])
            chunk = os.read(self._reading, _READ_BYTES) if is_ready else b""
            data += chunk
            for kind, content in _messages(data):
                if kind == "told" and on_told is not None:
                    on_told(content)
                elif kind == "result":
                    return content
                elif kind == "raised":
                    raise _raised(*content)
            if (is_ready and not chunk) or (not is_ready and self._has_ended(os.WNOHANG)):
                self._has_ended(0)
                assert self._status is not None
                kind, message = cause_of(os.waitstatus_to_exitcode(self._status))
                return Lost("died", kind, message)

    def end(self) -> None:
        """Kills the fork if it still runs, and the processes that it leads."""
        # All of them may have ended already.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self._leads:
                os.killpg(self._pid, signal.SIGKILL)
        if self._status is None:
            os.kill(self._pid, signal.SIGKILL)
            self._has_ended(0)
        os.close(self._reading)

    def _has_ended(self, options: int) -> bool:
        if self._status is None:
            pid, status = os.waitpid(self._pid, options)
            self._status = status if pid else None
        return self._status is not None


def _messages(data: bytearray) -> list[tuple[str, Any]]:
    """Takes the complete messages from the front of the buffer."""
    found = []
    while len(data) >= _LENGTH.size:
        (length,) = _LENGTH.unpack_from(data)
        end = _LENGTH.size + length
        if len(data) < end:
            break
        found.append(pickle.loads(data[_LENGTH.size : end]))
        del data[:end]
    return found


def _raised(error: bytes | None, described: str, trace: str) -> BaseException:
    found = CrashError(described) if error is None else cast("BaseException", pickle.loads(error))
    found.__cause__ = CrashError(f"in the process that did it:\n{trace}")
    return found


def _child(task: Callable[[Tell], object], writing: int, leads: bool) -> None:
    """Runs the task in the fork; never returns."""
    try:
        die_with_caller()
        # The caller reports a crash here; the user enabled faulthandler for crashes of their own program.
        faulthandler.disable()
        if leads:
            os.setpgid(0, 0)
        # A fork has only the thread that forked. libgomp, though, keeps a pool of threads for each thread that used it,
        # and would wait for those of this one for ever; a new thread gets a new pool.
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(_done, task, writing))
        thread.start()
        thread.join()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    finally:
        # The caller's temporary files and exit handlers must stay untouched here.
        os._exit(0)


def _done(task: Callable[[Tell], object], writing: int) -> None:
    def tell(content: object) -> None:
        _send(writing, "told", content)

    try:
        _send(writing, "result", task(tell))
    except BaseException as error:  # noqa: BLE001 - whatever the task raises is raised by `forked`
        described = "".join(traceback.format_exception_only(error)).strip()
        _send(writing, "raised", (_pickled(error), described, "".join(traceback.format_exception(error))))


def _pickled(error: BaseException) -> bytes | None:
    """Pickles an exception; ``None`` if it cannot be pickled and read again."""
    try:
        data = pickle.dumps(error)
        pickle.loads(data)
    except Exception:  # noqa: BLE001 - pickling runs code of the exception's class, which may raise anything
        return None
    return data


def _send(descriptor: int, kind: str, content: object) -> None:
    data = pickle.dumps((kind, content))
    data = _LENGTH.pack(len(data)) + data
    while data:
        data = data[os.write(descriptor, data) :]


def die_with_caller() -> None:
    """Makes the kernel kill this process when the thread that started it ends; on Linux only."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def end_with_caller(lifeline: int) -> None:
    """Makes this process end with its caller, whatever it is doing then."""
    if sys.platform == "linux":
        # Unlike the thread below this does not need the interpreter lock, which torch may never give back.
        die_with_caller()

    def wait() -> None:
        os.read(lifeline, 1)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=wait, daemon=True).start()
