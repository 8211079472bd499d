"""Captures torch's own log while a module is frozen.

Nothing inside ``_freeze_module`` is bound to Python, but two of its C++ files log every graph and every
decision (``GRAPH_DEBUG``, ``GRAPH_UPDATE`` and ``GRAPH_DUMP`` of ``torch/csrc/jit/jit_log.h``). The log goes to
the C-level stderr, so file descriptor 2 is pointed at a temporary file for that time. Whatever else is written
there meanwhile is passed on to the real stderr afterwards. Checked on torch 2.13.0.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from freeze_engine.backends.common.torch_private import private
from freeze_engine.backends.torchscript.log.growth_clock import LogClock
from freeze_engine.backends.torchscript.log.records import FILES, PREFIX, CapturedLog

#: ``>>`` is the DEBUG level, ``>`` UPDATE, a bare name DUMP; see ``jit_log.h``.
LOGGING_OPTION = ">>freeze_module:>>graph_executor"
_OUR_PREFIX = rb"\[(?:DEBUG|UPDATE|DUMP) (?:" + "|".join(FILES).encode() + rb")\.cpp:\d+\]"
_OURS = re.compile(_OUR_PREFIX + rb"[^\n]*\n?")
_BEFORE_ANOTHERS = re.compile(rb"\n(?!" + _OUR_PREFIX + rb"|\Z)")
#: The longest logs of large models take some hundred MB.
_ROOM_BYTES = 1 << 30
_LEVELS = {b"DUMP": 0, b"UPDATE": 1, b"DEBUG": 2}


@contextlib.contextmanager
def captured_log(clock: LogClock | None = None, path: Path | None = None) -> Iterator[CapturedLog]:
    """Turns torch's freezing log on and collects it.

    The user's own logging option stays in force, and its messages still reach stderr.

    Args:
        clock: notes when the log grew; without one the log carries no times.
        path: the file that torch writes to, which stays there; without one, a private file.

    Yields:
        The log, filled in when the block ends, normally or not.
    """
    log = CapturedLog()
    own_option = private("_jit_get_logging_option")()
    _flush_stderr()
    with _sink(path) as sink, _stderr_into(sink, own_option, log):
        if clock:
            clock.start()
        try:
            # The log is on as briefly as possible: a freeze in another thread meanwhile would be in it.
            with logging_option(f"{LOGGING_OPTION}:{own_option}" if own_option else LOGGING_OPTION):
                yield log
        finally:
            _flush_stderr()
            log.written = clock.stop() if clock else ()


def _sink(path: Path | None) -> IO[bytes]:
    """Opens the log's file; in memory where the disk lacks room.

    A log that is cut off loses the passes inside ``_freeze_module``, and C++'s stderr writes nothing more afterwards.
    """
    try:
        folder = Path(tempfile.gettempdir()) if path is None else path.parent
        if not hasattr(os, "memfd_create") or shutil.disk_usage(folder).free >= _ROOM_BYTES:
            return tempfile.TemporaryFile() if path is None else path.open("w+b")
    except OSError:  # there is no temporary folder, or the recording's own is gone
        if not hasattr(os, "memfd_create"):
            raise
    return os.fdopen(os.memfd_create("torch log"), "w+b")


@contextlib.contextmanager
def _stderr_into(sink: IO[bytes], own_option: str, log: CapturedLog) -> Iterator[None]:
    """Points file descriptor 2 at ``sink``; forwards other writers' bytes before the real one is restored.

    A program may have closed it, as daemons do; it is closed again then.
    """
    real = _duplicate(2)
    data = b""
    try:
        os.dup2(sink.fileno(), 2)
        try:
            yield
        finally:
            data = _content(sink, 0)
            _write_all(real, _foreign(data, own_option))
    finally:
        if real is None:
            os.close(2)
        else:
            os.dup2(real, 2)
            _write_all(real, _content(sink, len(data)))
            os.close(real)
        log.keep(data)


@contextlib.contextmanager
def logging_option(option: str) -> Iterator[None]:
    """Sets torch's option. torch keeps the first entry for a file (jit_log.cpp emplaces), so ours come first."""
    set_option = private("_jit_set_logging_option")
    before = private("_jit_get_logging_option")()
    set_option(option)
    try:
        yield
    finally:
        set_option(before)


@contextlib.contextmanager
def logging_off() -> Iterator[None]:
    """Turns off what the user logs.

    An option that another thread has set for its capture stays: that does not log inlining, and restoring it later
    would leave it on for good.
    """
    if private("_jit_get_logging_option")() in ("", LOGGING_OPTION):
        yield
        return
    with logging_option(""):
        yield


def _flush_stderr() -> None:
    """Flushes Python's stderr; a program may have closed or removed it, and its disk may be full."""
    if sys.stderr is not None and not sys.stderr.closed:
        with contextlib.suppress(OSError):
            sys.stderr.flush()


def _content(sink: IO[bytes], start: int) -> bytes:
    """Reads from an offset on, without moving the position that file descriptor 2 writes at."""
    return os.pread(sink.fileno(), os.fstat(sink.fileno()).st_size - start, start)


def _duplicate(descriptor: int) -> int | None:
    """Returns another descriptor of the same file, ``None`` where this one is closed."""
    try:
        return os.dup(descriptor)
    except OSError as error:
        if error.errno != errno.EBADF:
            raise
        return None


def _write_all(descriptor: int | None, data: bytes) -> None:
    """Writes what others wrote; where that cannot be written (a full disk, a closed pipe), theirs was not either."""
    with contextlib.suppress(OSError):
        while data and descriptor is not None:
            data = data[os.write(descriptor, data) :]


def _foreign(data: bytes, own_option: str) -> bytes:
    """Returns the bytes that are not from this capture: other writers' bytes, and what the user's own option logs."""
    if not own_option:
        # Usually no other code writes; checking that is faster than removing every line.
        alone = _OURS.match(data) and not _BEFORE_ANOTHERS.search(data)
        return b"" if alone else _OURS.sub(b"", data)
    wanted = _levels(own_option)
    kept = bytearray()
    for line in data.splitlines(keepends=True):
        match = PREFIX.search(line)
        if match is None or match[2].decode() not in FILES or _LEVELS[match[1]] <= wanted.get(match[2].decode(), -1):
            kept += line
        else:
            kept += line[: match.start()]
    return bytes(kept)


def _levels(option: str) -> dict[str, int]:
    """Returns the log level that an option sets for each file."""
    levels: dict[str, int] = {}
    for part in filter(None, re.split("[:,]", option)):
        name = part.lstrip(">")
        levels.setdefault(name.removesuffix(".cpp"), len(part) - len(name))
    return levels
