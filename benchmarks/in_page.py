"""Shared parts of the benchmarks in Chromium: the browser, the sizes, and the row of figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.chromium import ARGUMENTS, installed_chromium

SIZES = (200, 2_000, 10_000)
STEPS = 30
HEADING = (
    "as opened            everything open                              frames per second",
    "boxes  next pass     boxes    expand   next pass    search        pan  zoom  whole graph",
)
_SCRIPT = Path(__file__).with_name("in_page.js")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Runs the tests' Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed_chromium(), args=list(ARGUMENTS))
        yield browser
        browser.close()


def new_page(browser: Browser) -> Page:
    """Returns a page with a profile of its own and with ``bench`` of ``in_page.js`` in every document."""
    page = browser.new_page(viewport={"width": 1600, "height": 900})
    page.set_default_timeout(120_000)
    page.add_init_script(path=_SCRIPT)
    return page


def graph_columns(took: Mapping[str, float]) -> str:
    """Formats the result of ``bench.graph`` as a row below `HEADING`."""
    times = " ".join(f"{took[name]:>8.0f} ms" for name in ("expand", "nextOpen", "search"))
    frames = f"{took['pan']:>6.0f} {took['zoom']:>5.0f} {took['whole']:>12.0f}"
    return f"{took['boxes']:>5} {took['next']:>7.0f} ms  {took['open']:>8} {times}    {frames}"
