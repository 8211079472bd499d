"""Which Chromium to use, and pages that tolerate neither errors nor the network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Request

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
)


def installed_chromium() -> str | None:
    """Returns the system's Chromium; ``None`` lets playwright use the one it brought along."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture
def problems() -> list[str]:
    """What went wrong on `page` so far; a test that provokes an error takes it out."""
    return []


@pytest.fixture
def page(browser: Browser, problems: list[str]) -> Iterator[Page]:
    """A page that fails its test on any console error, exception, or request that leaves this machine."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, reduced_motion="reduce")
    opened = context.new_page()
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("request", lambda request: None if stays_here(request) else problems.append(f"asked for {request.url}"))
    yield opened
    context.close()
    assert problems == []


def stays_here(request: Request) -> bool:
    """Whether a request needs no other machine."""
    address = urlsplit(request.url)
    return address.scheme in {"file", "data", "blob"} or address.hostname == "127.0.0.1"
