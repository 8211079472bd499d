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
        started = phase_started = time.monotonic()
        latest = (0, 0)

        def show(message: str, done: int, total: int) -> None:
            nonlocal phase_started, latest
            now = time.monotonic()
            if total != latest[1] or done < latest[0]:
                phase_started = now
            latest = (done, total)
            text = progress_text(message, done / total if total else 0.0, now - started, now - phase_started)
            _draw(stream, text[: shutil.get_terminal_size().columns - 1])

        try:
            yield show
        finally:
            _draw(stream, "")


def progress_text(message: str, share: float, elapsed_s: float, phase_s: float) -> str:
    """Returns the text of the progress line.

    Args:
        message: what is being done.
        share: how much of this phase is done, from 0 to 1.
        elapsed_s: seconds since the start.
        phase_s: seconds since this phase began; from 1 s on the time that it still takes is told.
    """
    left = f", about {_clock(phase_s * (1 - share) / share)} left" if share > 0 and phase_s >= 1 else ""
    return f"{share:4.0%} {message} ({_clock(elapsed_s)}{left})"


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
