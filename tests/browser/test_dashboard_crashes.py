"""Recordings that die, in a real browser on the real server: what is told of them, and that the rest goes on.

The models are trusted, as they are named on the command line; the page is driven from then on.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

import freeze_engine as fe
from tests.browser.record_form import switch_measuring_off

SLOW_MS = 300_000  # torch is imported by each recording, on a machine that may be busy
MAIN = Path(__file__).parents[2]
MODELS = "tests.torch.worker_models"
TOKEN = "a-token-that-no-trace-may-hold"
# The server itself, whose limits are reached once a test says so, and which waits as long as it takes.
SERVER = """
import sys
from pathlib import Path

import pytest

from tests.clocks import limit_reached_once
from tests.warm_workers import warm
from viewer.cli import main

warm()
with pytest.MonkeyPatch.context() as patched:
    patched.setattr("viewer.dashboard.jobs.PATIENCE_S", 600.0)
    limit_reached_once(Path("limit-reached").exists, patched)
    sys.exit(main())
"""

Served = Callable[..., Page]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The user's folders, for one test."""
    return tmp_path / "home"


@pytest.fixture
def served(page: Page, data: Path, tmp_path: Path) -> Iterator[Served]:
    """Starts a server by a command line, and opens what it printed; the server has to end by itself when asked to."""
    servers: list[subprocess.Popen[str]] = []

    def serve(*words: str) -> Page:
        places = {f"XDG_{kind}_HOME": str(data / kind) for kind in ("STATE", "DATA", "CACHE", "CONFIG")}
        environment = os.environ | places | {"PYTHONPATH": str(MAIN), "PYTHONUNBUFFERED": "1"}
        command = [sys.executable, "-c", SERVER, "--no-browser", "--token", TOKEN, *words]
        server = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)
        servers.append(server)
        assert server.stdout is not None
        page.goto(server.stdout.readline().strip())
        expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=SLOW_MS)
        return page

    yield serve
    for server in servers:
        with server:
            # The page is there before its session: a server that ended now would end a session that is being opened.
            try:
                page.locator("html[data-session=open]").wait_for(state="attached", timeout=SLOW_MS)
            finally:
                server.send_signal(signal.SIGINT)
            assert server.wait(timeout=300) == 0


def traces(data: Path) -> list[fe.Trace]:
    """What was recorded, in any order; the file of a recording that still runs is empty."""
    files = [path for path in (data / "DATA").rglob("*.fztrace") if path.stat().st_size]
    assert not [path for path in files if TOKEN.encode() in path.read_bytes()]
    found = [fe.load(path) for path in files]
    assert not [trace for trace in found if TOKEN in trace.call]
    return found


def opens_what_was_recorded(page: Page, failed_in: str) -> None:
    page.get_by_role("link", name="Open what was recorded").click()
    expect(page.get_by_role("tab", name="Graph")).to_be_visible(timeout=SLOW_MS)
    expect(page.get_by_role("alert").first).to_contain_text(failed_in)
    page.get_by_role("tab", name="Graph", exact=True).click()
    page.get_by_role("option", name="Inline").first.click()
    expect(page.get_by_role("tab", name="Graph", exact=True)).to_have_attribute("aria-selected", "true")


def test_a_crash_inside_torch(served: Served, data: Path) -> None:
    page = served(f"{MODELS}:inside_segfault", "--no-measure")
    result = page.get_by_role("alert", name="Result")
    expect(result).to_contain_text("The recording crashed in ConstantPropagation", timeout=SLOW_MS)
    expect(result).to_contain_text("ended by SIGSEGV (segmentation fault)")
    expect(result).to_contain_text("7 steps until then are kept")
    log = page.get_by_role("region", name="Log")
    expect(log).to_contain_text("After PeepholeOptimize, before ConstantPropagation")
    expect(log).to_contain_text("Segmentation fault")
    expect(page.locator(".fv-pass-failed")).to_contain_text("ConstantPropagation")
    opens_what_was_recorded(page, "ConstantPropagation")
    [trace] = traces(data)
    assert trace.failure is not None
    assert (trace.failure.type, trace.call) == (
        "SIGSEGV",
        f"freezer-ui --no-browser {MODELS}:inside_segfault --no-measure",
    )


def test_hanging_recording_ends_at_its_limit_and_another_continues(served: Served, data: Path, tmp_path: Path) -> None:
    page = served(f"{MODELS}:inside_hang", "--no-measure", "--limit", "900", "--jobs", "2")
    expect(page.get_by_text("freezing: ConstantPropagation")).to_be_visible(timeout=SLOW_MS)
    hanging = page.url
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Options for counter").click()
    switch_measuring_off(page)
    page.get_by_role("button", name="Record", exact=True).click()
    expect(page.get_by_role("tab", name="Graph")).to_be_visible(timeout=SLOW_MS)
    assert [(trace.name, trace.failure) for trace in traces(data) if trace.name == "counter"] == [("counter", None)]
    page.goto(hanging)
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    (tmp_path / "limit-reached").touch()
    result = page.get_by_role("alert", name="Result")
    expect(result).to_contain_text("Stopped at the time limit, in ConstantPropagation", timeout=SLOW_MS)
    expect(result).to_contain_text("not done after 900 s, the limit")
    expect(page.get_by_role("region", name="Log")).to_contain_text("worker_models.py")
    opens_what_was_recorded(page, "ConstantPropagation")


def test_an_exception_of_a_pass(served: Served, data: Path) -> None:
    page = served(f"{MODELS}:pass_error", "--no-measure", "--preserve", "conv")
    result = page.get_by_role("alert", name="Result")
    expect(result).to_contain_text("The freeze failed in FoldFrozenConvAddOrSub", timeout=SLOW_MS)
    expect(result).to_contain_text("RuntimeError: the fold is broken")
    expect(result).to_contain_text("16 steps until then are kept")
    log = page.get_by_role("region", name="Log")
    expect(log).to_contain_text("worker_models.py")
    expect(log).not_to_contain_text("record_task.py")
    job = page.url
    opens_what_was_recorded(page, "FoldFrozenConvAddOrSub")
    # After a reload, and for a recording that the page did not start, the page still knows what was asked.
    page.goto(job)
    expect(page.get_by_text("To record it again, use the command below")).to_be_visible()
    command = f"freezer-ui record {MODELS}:pass_error --preserve conv --no-measure"
    expect(page.get_by_role("region", name="What is recorded").get_by_text(command, exact=True)).to_be_visible()


def test_the_server_answers_while_torch_works(served: Served, data: Path) -> None:
    page = served("example:resnet18", "--seconds", "900")
    running = page.get_by_role("button", name="Cancel")
    measuring = page.get_by_role("region", name="Progress").get_by_text(re.compile("^measuring latency", re.IGNORECASE))
    expect(measuring).to_be_visible(timeout=SLOW_MS)
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(page.url))
    for number in range(20):
        assert page.request.get(f"{origin}/no/such/page/{number}").status == 404
    expect(running).to_be_visible()
    page.get_by_role("link", name="Look at the graphs meanwhile").click()
    expect(page.get_by_role("tab", name="Graph")).to_be_visible(timeout=SLOW_MS)
    page.go_back()
    running.click()
    expect(page.get_by_role("region", name="Result")).to_contain_text("Cancelled", timeout=SLOW_MS)
    (trace,) = traces(data)
    assert trace.failure is not None
    assert (trace.failure.type, trace.failure.stage) == ("KeyboardInterrupt", "measure")


def test_trace_recorded_from_the_page_contains_its_command_but_no_token(served: Served, data: Path) -> None:
    page = served()
    page.get_by_role("link", name="Options for counter").click()
    switch_measuring_off(page)
    page.get_by_role("button", name="Record", exact=True).click()
    expect(page.get_by_role("tab", name="Graph")).to_be_visible(timeout=SLOW_MS)
    [trace] = traces(data)
    assert trace.call == "freezer-ui record example:counter --no-measure"
    page.get_by_role("button", name="Actions").click()
    page.get_by_role("menuitem", name="Record again…").click()
    expect(page.get_by_label("The same as a command")).to_have_text(trace.call)
