"""Measures the dashboard under load: fifty pages on traces of 10,000 nodes and 30 passes, with five recordings.

Some of the pages are tabs of a real Chromium; the others are clients that load the page, its scripts and the trace,
keep the websocket open and send messages, as `bokeh_client.py` does. The phases: one page alone, as the reference; all
pages in use while the recordings wait for each other and run; all pages closed. Run from the project's root:

    python -m benchmarks.load
    python -m benchmarks.load --pages 10 --tabs 2 --nodes 1000

Exit code 1 if a request failed, a tab's console or the server's log has an error, a recording did not finish, or the
server did not release the pages' memory within a minute.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.async_api import BrowserContext, Page, async_playwright
from tornado.httpclient import AsyncHTTPClient

import freeze_engine as fe
from benchmarks.bokeh_client import PageClient, PageError
from tests.browser.chromium import ARGUMENTS, installed_chromium
from tests.builders import synthetic_trace
from tests.dashboard import RunningServer, running_server

TRACES = 5
RECORDINGS = 5
ALONE = 20
"""Rounds of requests of the single page."""
THINK_S = 2.0
"""Pause of a page between two rounds, in s."""
REPORT_EVERY = 10
"""Number of rounds of a page from one report request to the next."""
GIVEN_BACK_S = 60
LEFT = 0.1
"""Share of the pages' memory that the server may keep."""
RECORDED_S = 180
"""Time limit of a recording on a busy machine, in s."""
MODEL = "example:resnet18"
MEASURED = {"seconds": 2.0, "numerics": False, "memory": False}
TAB_BYTES = 600 << 20
_SHOWN = Path(__file__).with_name("in_page.js")
_NEXT = """() => {
  const { viewer } = bench.dashboard.page;
  viewer.root.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true, composed: true }));
  return viewer.panels.get("graph").turn;
}"""


@dataclass
class Record:
    """Results of one phase.

    Attributes:
        times: durations of the requests by their kind, in s.
        problems: error messages.
    """

    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    problems: list[str] = field(default_factory=list)

    def took(self, kind: str, seconds: float) -> None:
        self.times[kind].append(seconds)


@dataclass(frozen=True, slots=True)
class Memory:
    """Resident memory in megabytes: of the server, and of its child processes."""

    server_mb: float
    children_mb: float

    def __str__(self) -> str:
        return f"{self.server_mb:.0f} MB, {self.children_mb:.0f} MB in its child processes"

    @property
    def total_mb(self) -> float:
        return self.server_mb + self.children_mb


def memory(server: RunningServer) -> Memory:
    """Reads the memory of a server and of all its descendants."""
    return Memory(_resident_mb(server.process.pid), sum(map(_resident_mb, descendants(server.process.pid))))


def descendants(pid: int) -> list[int]:
    """Returns the ids of a process's children and of their descendants."""
    parents = defaultdict(list)
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(status.read_text().rpartition(")")[2].split()[1])].append(int(status.parent.name))
        except OSError:
            continue  # it ended meanwhile
    found = list(parents[pid])
    for each in found:
        found += parents[each]
    return found


def _resident_mb(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1e3


async def one_round(client: PageClient, trace: Path, report: bool) -> None:
    """Sends the requests of a page in use."""
    await client.get("small asset", "/assets/start.js")
    await client.ask("parse_input", text="1x3x224x224")
    await client.get("trace data", "/trace/data", path=str(trace))
    if report:
        await client.get("report", "/trace/report", path=str(trace))


async def guarded(record: Record, work: Awaitable[None]) -> None:
    """Records the errors of one page's work."""
    try:
        await work
    except (PageError, OSError) as error:
        record.problems.append(f"{type(error).__name__}: {error}")


async def use(client: PageClient, trace: Path, until: Callable[[], bool], first_report: int) -> None:
    """Uses a page until `until` returns true; `first_report` spreads the reports of the pages over time."""
    number = 0
    while not until():
        await one_round(client, trace, number % REPORT_EVERY == first_report % REPORT_EVERY)
        number += 1
        await asyncio.sleep(THINK_S)


async def use_tab(page: Page, record: Record, until: Callable[[], bool]) -> None:
    """Steps from pass to pass in a real tab."""
    while not until():
        began = time.perf_counter()
        await page.evaluate(_NEXT)
        record.took("tab: next pass", time.perf_counter() - began)
        await asyncio.sleep(THINK_S)


async def open_tab(context: BrowserContext, address: str, trace: Path, record: Record) -> Page:
    """Opens a trace in a tab, and waits until it is painted."""
    page = await context.new_page()
    page.on("console", lambda told: record.problems.append(f"console: {told.text}") if told.type == "error" else None)
    page.on("pageerror", lambda error: record.problems.append(f"page: {error}"))
    page.on("requestfailed", lambda request: record.problems.append(f"{request.url}: {request.failure}"))
    began = time.perf_counter()
    await page.goto(f"{address}/?trace={trace}")
    await page.evaluate("bench.shown")
    record.took("tab: painted", time.perf_counter() - began)
    return page


@asynccontextmanager
async def browser(server: RunningServer) -> AsyncIterator[BrowserContext]:
    """Runs a Chromium with the server's cookie."""
    name, _, value = server.cookie["Cookie"].partition("=")
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=installed_chromium(), args=list(ARGUMENTS))
        context = await chromium.new_context(viewport={"width": 1280, "height": 720})
        context.set_default_timeout(300_000)
        await context.add_cookies([{"name": name, "value": value, "url": f"http://127.0.0.1:{server.port}"}])
        await context.add_init_script(path=_SHOWN)
        yield context
        await chromium.close()


async def alone(server: RunningServer, traces: list[Path]) -> Record:
    """Uses one page of the idle server after it has shown every trace, so that no first rendering is measured."""
    record = Record()
    client = PageClient(f"http://127.0.0.1:{server.port}", server.cookie, record.took)
    await client.open()
    for trace in traces:
        await one_round(client, trace, report=True)
    record.times.clear()
    for number in range(ALONE):
        await one_round(client, traces[number % TRACES], report=number % REPORT_EVERY == 0)
    await client.close()
    return record


async def together(
    server: RunningServer, traces: list[Path], pages: int, tabs: int, recordings: int
) -> tuple[Record, Memory, float]:
    """Opens all pages and uses them while recordings run; returns the results, the peak memory, and the time in s."""
    record, began = Record(), time.perf_counter()
    address = f"http://127.0.0.1:{server.port}"
    clients = [PageClient(address, server.cookie, record.took) for _ in range(pages - tabs)]
    async with browser(server) as context:
        opened = [open_tab(context, address, traces[number % TRACES], record) for number in range(tabs)]
        *_, shown = await asyncio.gather(
            *(guarded(record, client.open()) for client in clients), asyncio.gather(*opened)
        )
        print(f"  {pages} pages are open after {time.perf_counter() - began:.0f} s: {memory(server)}", flush=True)
        most = [memory(server)]
        for client in clients[:recordings]:
            await client.ask("record", model=MODEL, backend="torchscript", measure=MEASURED)
        limit_s = time.perf_counter() + RECORDED_S * recordings
        done = lambda: len(ends(clients[0])) == recordings or time.perf_counter() > limit_s  # noqa: E731
        users = [use(client, traces[number % TRACES], done, number) for number, client in enumerate(clients)]
        users += [use_tab(page, record, done) for page in shown]
        working = asyncio.gather(*(guarded(record, user) for user in users))
        while not working.done():
            await asyncio.sleep(0.5)
            most.append(memory(server))
        await working
        states = [job["state"] for job in clients[0].jobs]
        record.problems += [f"a recording: {state}" for state in states if state != "finished"]
        for page in shown:
            await page.close()
    await asyncio.gather(*(client.close() for client in clients))
    return record, max(most, key=lambda each: each.server_mb), time.perf_counter() - began


def ends(client: PageClient) -> list[str]:
    """Returns the end states of the ended recordings, as one client's page shows them."""
    return [job["state"] for job in client.jobs if job["state"] not in ("waiting", "queued", "running")]


async def given_back(server: RunningServer, before: Memory, most: Memory) -> tuple[Memory, float]:
    """Waits up to a minute for the server to release the pages' memory; returns the memory left, and the wait in s."""
    began = time.perf_counter()
    while True:
        now, waited_s = memory(server), time.perf_counter() - began
        goal_mb = before.total_mb + LEFT * (most.server_mb - before.server_mb)
        if now.total_mb <= goal_mb or waited_s > GIVEN_BACK_S:
            return now, waited_s
        await asyncio.sleep(1)


def print_times(idle: Record, busy: Record) -> None:
    """Prints a line per kind of request, with ratios to the idle server."""
    print(
        f"  {'':<16}{'alone: median':>15}{'95%':>10}{'most':>10}   {'busy: median':>13}"
        f"{'95%':>18}{'most':>18}   requests"
    )
    for kind, times in busy.times.items():
        now, before = figures(times), figures(idle.times[kind]) if idle.times.get(kind) else None
        told = [f"{each * 1e3:.0f} ms" for each in before] if before else ["", "", ""]
        beside = [f" ({one / other:.1f} ×)" for one, other in zip(now, before, strict=True)] if before else [""] * 3
        busy_told = [f"{each * 1e3:.0f} ms{ratio}" for each, ratio in zip(now, beside, strict=True)]
        print(
            f"  {kind:<16}{told[0]:>15}{told[1]:>10}{told[2]:>10}  "
            f"{busy_told[0]:>18}{busy_told[1]:>18}{busy_told[2]:>18}   {len(times)}"
        )


def figures(times: list[float]) -> tuple[float, float, float]:
    """Returns the median, the 95th percentile and the maximum."""
    ordered = sorted(times)
    return statistics.median(ordered), ordered[int(0.95 * (len(ordered) - 1))], ordered[-1]


async def measured(server: RunningServer, traces: list[Path], arguments: argparse.Namespace) -> bool:
    """Runs all phases, prints their results, and returns whether memory was released and no error occurred."""
    AsyncHTTPClient.configure(None, max_clients=arguments.pages)
    print(f"  started: {memory(server)}", flush=True)
    idle = await alone(server, traces)
    before = memory(server)
    print(f"  after one page that showed all traces: {before}", flush=True)
    busy, most, took_s = await together(server, traces, arguments.pages, arguments.tabs, arguments.recordings)
    print(f"  most, in {took_s:.0f} s: {most}")
    left, waited_s = await given_back(server, before, most)
    print(f"  {waited_s:.0f} s after all pages were closed: {left}")
    print_times(idle, busy)
    problems = idle.problems + busy.problems
    print(f"  errors: {len(problems)}" + "".join(f"\n    {each}" for each in problems[:20]))
    return not problems and waited_s <= GIVEN_BACK_S


def main() -> int:
    """Runs the benchmark; see the module's docstring."""
    available = int(
        next(line for line in Path("/proc/meminfo").read_text().splitlines() if "MemAvailable" in line).split()[1]
    )
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=50, help="how many are open at once (default: 50)")
    parser.add_argument(
        "--tabs", type=int, help="how many of them are tabs of Chromium (default: what memory allows, up to 8)"
    )
    parser.add_argument("--nodes", type=int, default=10_000, help="of each trace (default: 10000)")
    parser.add_argument("--recordings", type=int, default=RECORDINGS, help=f"meanwhile (default: {RECORDINGS})")
    arguments = parser.parse_args()
    if arguments.tabs is None:
        arguments.tabs = max(1, min(8, available * 1024 // 2 // TAB_BYTES, arguments.pages - 1))
    print(
        f"{arguments.pages} pages on traces of {arguments.nodes:,} nodes × 30 passes, {arguments.tabs} of them tabs of "
        f"Chromium; {arguments.recordings} recordings"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        traces = [folder / f"trace{number}.fztrace" for number in range(TRACES)]
        for number, path in enumerate(traces):
            fe.save(synthetic_trace(arguments.nodes + number, 30), path)
        with running_server(folder) as server:
            fine = asyncio.run(measured(server, traces, arguments))
            code, told = server.ended()
    expected = ("open this link", "is taken, so this is port")
    log = [line for line in told.splitlines() if not any(each in line for each in expected)]
    print(
        f"  the server ended with {code}; lines in its log: {len(log)}" + "".join(f"\n    {line}" for line in log[:40])
    )
    return 0 if fine and code == 0 and not log else 1


if __name__ == "__main__":
    sys.exit(main())
