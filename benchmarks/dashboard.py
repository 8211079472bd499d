"""Measures the start of the dashboard by ``freezer-ui TRACE`` in Chromium, and the server's memory for open pages.

Run from the project's root: ``python -m benchmarks.dashboard``. The browser runs already, as a user's does. Times count
from the start of the process. The total is also given as a ratio to the minimum: an empty Python process and then an
empty page.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page

import freeze_engine as fe
from benchmarks.in_page import HEADING, SIZES, STEPS, chromium, graph_columns, new_page
from tests.builders import synthetic_trace
from tests.dashboard import RunningServer, running_server

STARTS = 3
PAGES = 8
COLUMNS = ("link", "first page", "connected", "loaded", "drawing", "painted")
ROUNDS = 3
FORGET_S = 36
"""Wait for the server to drop sessions, in s; every few seconds it drops those unused for 30 s."""


@dataclass(frozen=True, slots=True)
class Start:
    """Times of the milestones of one start, in s.

    Attributes:
        link: the link is printed; the browser starts to load.
        first: the first picture of the page is painted, before its trace and its session are there.
        connected: the page's websocket answers.
        loaded: the trace is in the page; the same as ``first`` without a trace.
        painted: the requested view is painted.
        reloaded: duration from a reload of the page until it is painted.
    """

    link: float
    first: float
    connected: float
    loaded: float
    painted: float
    reloaded: float

    @property
    def drawn(self) -> float:
        """Duration of drawing after loading."""
        return self.painted - self.loaded

    def __str__(self) -> str:
        parts = (self.link, self.first, self.connected, self.loaded, self.drawn, self.painted)
        return " ".join(f"{part:>9.2f} s" for part in parts)


def main() -> None:
    """Prints the times of starts, the speed of open pages, and the memory of sessions."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        traces = {f"{size:,}": saved(size, Path(folder)) for size in SIZES}
        used = print_starts(browser, {"home": None, **traces})
        print_open_pages(used)
        print_memory(browser, traces[f"{SIZES[0]:,}"])


def saved(size: int, folder: Path) -> Path:
    """Writes a trace with that many nodes and returns its path."""
    path = folder / f"{size}.fztrace"
    fe.save(synthetic_trace(size, STEPS), path)
    return path


def print_starts(browser: Browser, targets: dict[str, Path | None]) -> dict[str, dict[str, float]]:
    """Prints the median start of each target, and returns the measurements of the open pages."""
    empty_s = empty_python_s() + empty_page_s(browser)
    print(f"freezer-ui TRACE in Chromium, {STEPS} passes; an empty Python and an empty page take {empty_s:.2f} s")
    print(f"  {'nodes':<7}" + " ".join(f"{name:>11}" for name in COLUMNS))
    used = {}
    for name, path in targets.items():
        starts = []
        for number in range(STARTS):
            start, measured = one_start(browser, path, measuring=path is not None and number == 0)
            starts.append(start)
            used.update({name: measured} if measured else {})
        middle = sorted(starts, key=lambda start: start.painted)[STARTS // 2]
        print(f"  {name:<7}{middle}, {middle.painted / empty_s:.1f} ×; reloaded {middle.reloaded:.2f} s", flush=True)
    return used


def one_start(browser: Browser, path: Path | None, measuring: bool) -> tuple[Start, dict[str, float] | None]:
    """Starts ``freezer-ui``, opens its page, and ends it."""
    with tempfile.TemporaryDirectory() as folder:
        started_s = time.time()
        with running_server(Path(folder), *([] if path is None else [str(path)])) as server:
            link_s = time.time()
            page = new_page(browser)
            page.goto(server.link)
            marks = page.evaluate("bench.shown")
            measured = page.evaluate("bench.dashboardGraph()") if measuring else None
            page.reload()
            again = page.evaluate("bench.shown")
            page.close()
    at = {name: mark / 1e3 - started_s for name, mark in marks.items()}
    start = Start(
        link=link_s - started_s,
        first=at["first"],
        connected=at["connected"],
        loaded=at.get("loaded", at["first"]),
        painted=at["painted"],
        reloaded=(again["painted"] - again["asked"]) / 1e3,
    )
    return start, measured


def print_open_pages(used: dict[str, dict[str, float]]) -> None:
    """Prints the measurements of the graph view under simulated user input."""
    print("its open page (goals for 10,000 nodes: drawing 1 s, next pass 100 ms, 60 frames per second)")
    print(f"           {HEADING[0]}\n  nodes    {HEADING[1]}")
    for name, measured in used.items():
        print(f"  {name:<7}  {graph_columns(measured)}")


def print_memory(browser: Browser, path: Path) -> None:
    """Prints the server's memory for further pages of one trace, and after they are closed."""
    with tempfile.TemporaryDirectory() as folder, running_server(Path(folder), str(path)) as server:
        one = shown_page(browser, server)
        alone_mb = resident_mb(server)
        open_mb, closed_mb = zip(*(one_round(browser, server) for _ in range(ROUNDS)), strict=True)
        one.close()
    each = ", ".join(f"{mb - alone_mb:+.2f}" for mb in open_mb)
    after = ", ".join(f"{mb - alone_mb:+.2f}" for mb in closed_mb)
    print(f"server memory, 200 nodes: {alone_mb:.0f} MB with one page; in {ROUNDS} rounds, MB more than that")
    print(f"  with {PAGES} pages more: {each}   {FORGET_S} s after they were closed: {after}")


def one_round(browser: Browser, server: RunningServer) -> tuple[float, float]:
    """Opens pages and closes them; returns the memory at both times, in MB."""
    pages = [shown_page(browser, server) for _ in range(PAGES)]
    open_mb = resident_mb(server)
    for page in pages:
        page.close()
    time.sleep(FORGET_S)
    return open_mb, resident_mb(server)


def shown_page(browser: Browser, server: RunningServer) -> Page:
    """Opens the server's page as a new browser would, and waits until it is painted."""
    page = new_page(browser)
    page.goto(server.link)
    page.evaluate("bench.shown")
    return page


def resident_mb(server: RunningServer) -> float:
    """Returns the server's resident memory in MB, from Linux's /proc."""
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="utf-8")
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None, status
    return int(found[1]) / 1e3


def empty_python_s() -> float:
    """Returns the shortest of a few runs of an empty Python process, in s."""
    times = []
    for _ in range(STARTS):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", ""], check=True)
        times.append(time.perf_counter() - started)
    return min(times)


def empty_page_s(browser: Browser) -> float:
    """Returns the shortest first paint of an empty page in the same Chromium, in s."""
    times = []
    for _ in range(STARTS):
        page = new_page(browser)
        started = time.perf_counter()
        page.goto("data:text/html,<!doctype html>")
        page.evaluate("bench.painted()")
        times.append(time.perf_counter() - started)
        page.close()
    return min(times)


if __name__ == "__main__":
    main()
