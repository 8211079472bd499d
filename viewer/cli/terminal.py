"""What is written to the terminal: results, remarks, and how far the work is."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

Progress = Callable[[str, int, int], None]
_CLEAR_LINE = "\r\x1b[K"


def say(text: str) -> None:
    """Writes a result to standard output."""
    _write(sys.stdout, text)


def remark(text: str) -> None:
    """Writes a remark or an error to standard error."""
    _write(sys.stderr, f"freezer-ui: {text}\n")


@contextmanager
def progress_line() -> Iterator[Progress | None]:
    """Shows one line that tells how far the work is, on a terminal only, and clears it at the end.

    Yields:
        What to call as ``progress(message, done, total)``; ``None`` where standard error is no terminal.
    """
    if not sys.stderr.isatty():
        yield None
        return
    # A descriptor of its own: while torch's log is captured, descriptor 2 is not the terminal.
    with os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding=sys.stderr.encoding, errors="replace") as stream:
        started = time.monotonic()

        def show(message: str, done: int, total: int) -> None:
            elapsed_s = time.monotonic() - started
            text = progress_text(message, done, total, elapsed_s)
            _draw(stream, text[: shutil.get_terminal_size().columns - 1])

        try:
            yield show
        finally:
            _draw(stream, "")


def progress_text(message: str, done: int, total: int, elapsed_s: float) -> str:
    """Returns the text of the progress line.

    Args:
        message: what is being done.
        done: units of work that are finished.
        total: units of work in all, 0 if unknown.
        elapsed_s: seconds since the start.
    """
    counted = f"[{done}/{total}] " if total else ""
    left = f", about {_clock(elapsed_s * (total - done) / done)} left" if 0 < done <= total and elapsed_s >= 1 else ""
    return f"{counted}{message} ({_clock(elapsed_s)}{left})"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"


def _draw(stream: TextIO, text: str) -> None:
    stream.write(_CLEAR_LINE + text)
    stream.flush()


def _write(stream: TextIO, text: str) -> None:
    """Writes text, with escapes for what the stream's encoding lacks (a path may hold undecodable bytes)."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()
