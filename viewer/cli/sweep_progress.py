"""The progress of a sweep: a live display on a terminal, and a line for each recording elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from freeze_engine.sweep import WAITING_FOR_ANY, WAITING_FOR_MEASURING, SweepRow
from viewer.cli.terminal import clock_text, progress_terminal, remark
from viewer.text.printable import printable
from viewer.text.sweep_table import row_line

_MOST_RUNNING = 12


@contextmanager
def sweep_progress() -> Iterator[LineProgress]:
    """Follows a sweep until the block ends: live if standard error is a terminal, else by lines."""
    terminal = progress_terminal()
    if terminal is None:
        yield LineProgress()
        return
    with LiveProgress(terminal) as live:
        yield live


class LineProgress:
    """Writes one line for each recording that ends; a `freeze_engine.sweep.SweepWatcher`."""

    def __init__(self) -> None:
        self.total = self.done = 0
        self._told_waits: set[str] = set()

    def planned(self, total: int, done: int) -> None:
        """Writes how many recordings there are."""
        self.total, self.done = total, done
        there = f", {done} of them made already" if done else ""
        self.say(f"{total} recordings{there}")

    def started(self, key: str, label: str) -> None:
        """Does nothing: the end is what a log needs."""

    def progress(self, key: str, message: str) -> None:
        """Writes what the sweep waits for, once; otherwise the end is what a log needs."""
        if message in (WAITING_FOR_ANY, WAITING_FOR_MEASURING) and message not in self._told_waits:
            self._told_waits.add(message)
            self.say(message)

    def ended(self, key: str, row: SweepRow) -> None:
        """Writes the result of a recording."""
        self.done += 1
        self.say(f"[{self.done}/{self.total}] {row_line(row)}")

    def say(self, text: str) -> None:
        """Writes a line."""
        remark(text)


class LiveProgress(LineProgress):
    """Shows a bar and the running recordings below the lines.

    Args:
        stream: the terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.live import Live

        super().__init__()
        self._lock = threading.Lock()
        self._running: dict[str, tuple[str, str, float]] = {}
        self._began_s = time.monotonic()
        self._made = 0
        console = Console(file=stream, markup=False, highlight=False, emoji=False)
        self._live = Live(get_renderable=self._picture, console=console, refresh_per_second=4, transient=True)

    def __enter__(self) -> LiveProgress:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def started(self, key: str, label: str) -> None:
        """Adds a recording to the running ones."""
        with self._lock:
            self._running[key] = (label, "starting", time.monotonic())

    def progress(self, key: str, message: str) -> None:
        """Shows its current activity."""
        with self._lock:
            if key in self._running:
                label, _, began_s = self._running[key]
                self._running[key] = (label, message, began_s)

    def ended(self, key: str, row: SweepRow) -> None:
        """Removes it from the running ones, and writes its result above them."""
        with self._lock:
            self._running.pop(key, None)
            self._made += 1
        super().ended(key, row)

    def say(self, text: str) -> None:
        """Writes a line above the running recordings."""
        from rich.text import Text

        self._live.console.print(Text(printable(text)))

    def _picture(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        with self._lock:
            running, made = list(self._running.values()), self._made
        now = time.monotonic()
        elapsed_s = now - self._began_s
        left = f", about {clock_text(elapsed_s / made * (self.total - self.done))} left" if made else ""
        head = Table.grid(padding=(0, 1))
        head.add_row(
            ProgressBar(total=max(self.total, 1), completed=self.done, width=30),
            Text(f"{self.done} of {self.total} ({clock_text(elapsed_s)}{left})"),
        )
        rows = Table.grid(padding=(0, 2))
        for label, message, began_s in running[:_MOST_RUNNING]:
            rows.add_row(
                Text(printable(label)), Text(printable(message), "dim"), Text(clock_text(now - began_s), "dim")
            )
        if len(running) > _MOST_RUNNING:
            rows.add_row(Text(f"and {len(running) - _MOST_RUNNING} more", "dim"), "", "")
        return Group(head, rows)
