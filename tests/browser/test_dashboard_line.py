"""Recordings that wait in line, in a real browser on the real server: one measures at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import freeze_engine as fe
from tests.browser.chromium import PATIENCE_MS
from tests.browser.record_form import switch_measuring_off
from tests.dashboard import RunningServer, running_server

# A model that is loaded once the test says so: its recording keeps the others waiting until then.
HELD_BACK = """
import time
from pathlib import Path

import torch


def build():
    while not Path("go").exists():
        time.sleep(0.05)
    return torch.nn.Linear(3, 2).eval(), (torch.zeros(1, 3),)
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    (tmp_path / "held_back.py").write_text(HELD_BACK)
    with running_server(tmp_path, "held_back:build", "--no-measure") as running:
        yield running


def _record(page: Page, example: str) -> None:
    """Asks for a recording of an example without measuring, from the first page, and waits for its own page."""
    page.get_by_role("link", name="freezer-ui: all recordings and traces").click()
    page.get_by_role("link", name=f"Options for {example}").click()
    switch_measuring_off(page)
    page.get_by_role("button", name="Record", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(example, timeout=PATIENCE_MS)


def test_two_recordings_queue_and_the_second_runs_after_the_first(page: Page, server: RunningServer) -> None:
    page.goto(server.link)
    expect(page.get_by_role("button", name="Cancel")).to_be_visible(timeout=PATIENCE_MS)
    _record(page, "counter")
    progress = page.get_by_role("region", name="Progress")
    expect(progress).to_contain_text("Waiting, next in line. This server runs one recording at a time")
    expect(progress).to_contain_text("when it starts is not known yet")
    expect(page.locator(".fd-job-head")).to_contain_text("waits for")
    waiting = page.url

    _record(page, "no_fold")
    expect(progress).to_contain_text("Waiting, number 2 in line.")
    assert len(list(server.recordings.iterdir())) == 3
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("region", name="Result")).to_contain_text("Cancelled before it started")
    assert len(list(server.recordings.iterdir())) == 2  # the file of the one that was cancelled is gone

    page.get_by_role("link", name="freezer-ui: all recordings and traces").click()
    rows = page.get_by_role("region", name="Recordings").get_by_role("listitem")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text("cancelled")
    expect(rows.nth(1)).to_contain_text("next in line · when it starts is not known yet")
    expect(rows.nth(2)).to_contain_text("recording")
    rows.nth(0).get_by_role("button", name="off this list").click()
    expect(rows).to_have_count(2)

    page.goto(waiting)
    expect(progress).to_contain_text("Waiting, next in line.", timeout=PATIENCE_MS)
    (server.folder / "go").touch()
    expect(page.get_by_role("tab", name="Graph")).to_be_visible(timeout=PATIENCE_MS)  # it has followed to the trace
    first, second = map(fe.load, sorted(server.recordings.iterdir(), key=lambda path: path.stat().st_mtime_ns))
    assert (first.name, second.name) == ("build", "counter")
    assert first.created <= second.created  # in whole seconds


def test_the_end_of_the_server_ends_those_that_wait(page: Page, server: RunningServer) -> None:
    page.goto(server.link)
    expect(page.get_by_role("button", name="Cancel")).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_role("link", name="freezer-ui: all recordings and traces").click()
    page.get_by_role("button", name="Record counter").click()
    expect(page.get_by_role("region", name="Progress")).to_contain_text("Waiting, next in line.")
    code, told = server.ended()
    assert (code, "Traceback" in told) == (0, False), told
    assert list(server.recordings.iterdir()) == []
