"""Notes when torch's log grew, so that passes inside ``_freeze_module`` get a duration.

``_freeze_module`` holds Python's interpreter lock from start to end and its log carries no times, so no thread
of this process can watch it. A small child process can: it shares the log's file and notes its size and the
clock whenever the size has changed. It is started once, sleeps between freezes, and ends with its parent.
"""

from __future__ import annotations

import atexit
import os
import struct
import subprocess
import sys
from pathlib import Path

#: One entry of the child's answer: offset in bytes, ``time.monotonic_ns``.
_ENTRY = struct.Struct("=QQ")
_WATCHER = """# freeze_engine: growth of torch's log
import ctypes, os, struct, sys, time
# Linux rounds short sleeps up to 50 us unless asked not to (PR_SET_TIMERSLACK).
ctypes.CDLL(None).prctl(29, 1, 0, 0, 0)
entry = struct.Struct("=QQ")
command, answer = sys.stdin.fileno(), sys.stdout.buffer
os.set_blocking(command, False)
def order():
    try:
        return os.read(command, 1)
    except BlockingIOError:
        return None
while True:
    os.set_blocking(command, True)
    if os.read(command, 1) != b"+":
        break
    os.set_blocking(command, False)
    grown, size, path = [], 0, "/proc/%s/fd/2" % sys.argv[1]
    watched = os.open(path, os.O_RDONLY)
    answer.write(b"+")
    answer.flush()
    told, began = None, time.monotonic()
    while told is None:
        told = order()
        now = os.fstat(watched).st_size
        if now != size:
            grown.append(entry.pack(now, time.monotonic_ns()))
            size = now
        else:
            # Looking costs the freeze time, so the longer it takes, the longer the looks are apart.
            time.sleep(max(2e-5, (time.monotonic() - began) / 200))
    os.close(watched)
    if told != b"-":
        break
    answer.write(struct.pack("=Q", len(grown)) + b"".join(grown))
    answer.flush()
"""


class LogClock:
    """Watches a file grow from a child process.

    If the child cannot start (no ``/proc``, no right to start a process) every answer is empty: the steps
    inside ``_freeze_module`` then have no duration, and nothing else changes.
    """

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._owner = -1
        self._running = False
        self._worked = False

    def start(self) -> None:
        """Starts watching the file behind file descriptor 2, and returns once the watch runs."""
        child = self._ready_child()
        if child is None:
            return
        self._running = self._tell(child, b"+") and self._hear(child, 1) == b"+"
        self._worked |= self._running

    def stop(self) -> tuple[tuple[int, int], ...]:
        """Ends the watch.

        Returns:
            ``(offset, clock)`` pairs in order: bytes, ns of ``time.monotonic_ns``.
        """
        if not self._running or self._child is None:
            return ()
        self._running = False
        if not self._tell(self._child, b"-"):
            return ()
        count = self._hear(self._child, 8)
        if len(count) < 8:
            return ()
        data = self._hear(self._child, struct.unpack("=Q", count)[0] * _ENTRY.size)
        return tuple(_ENTRY.iter_unpack(data)) if len(data) % _ENTRY.size == 0 else ()

    def _ready_child(self) -> subprocess.Popen[bytes] | None:
        # After a fork the child process belongs to the parent: start a new one. One that has worked and died since
        # is replaced; one that never worked will not the next time either.
        foreign = self._owner != os.getpid()
        died = self._worked and self._child is not None and self._child.poll() is not None
        if foreign or died:
            self._child, self._owner, self._worked = self._start_child(), os.getpid(), False
        return self._child if self._child is not None and self._child.poll() is None else None

    def _start_child(self) -> subprocess.Popen[bytes] | None:
        if not Path("/proc/self/fd").is_dir():
            return None
        try:
            child = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _WATCHER, str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,  # an interrupt at the terminal is for the freeze, not for its watcher
            )
        except OSError:
            return None
        atexit.register(self._end_child, child)
        return child

    def _end_child(self, child: subprocess.Popen[bytes]) -> None:
        if self._owner != os.getpid() or child.stdin is None:
            return
        child.stdin.close()
        if child.stdout is not None:
            child.stdout.close()
        child.wait()

    @staticmethod
    def _tell(child: subprocess.Popen[bytes], order: bytes) -> bool:
        try:
            return child.stdin is not None and child.stdin.write(order) == len(order)
        except OSError:
            return False

    @staticmethod
    def _hear(child: subprocess.Popen[bytes], count: int) -> bytes:
        data = b""
        while child.stdout is not None and len(data) < count:
            part = child.stdout.read(count - len(data))
            if not part:
                break
            data += part
        return data
