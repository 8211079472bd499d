"""Pages of Chromium that fail on errors and on network requests."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request

from tests.browser.chromium import PATIENCE_MS, WITHOUT_TOUR


@pytest.fixture
def problems() -> list[str]:
    """Errors of `page` so far; a test that provokes an error removes it."""
    return []


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """The browser context of one module's tests: one per test would take longer than most tests."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE_MS)
    context.add_init_script(WITHOUT_TOUR)
    context.new_page()  # keeps the process of the pages, with the scripts that it has compiled
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext, problems: list[str]) -> Iterator[Page]:
    """A page that fails its test on any console error, exception, or request that leaves this machine."""
    opened = context.new_page()
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("request", lambda request: None if stays_here(request) else problems.append(f"asked for {request.url}"))
    yield opened
    forget(context)
    assert problems == []


def forget(context: BrowserContext) -> None:
    """Closes a context's pages but the first, and clears cookies, permissions and storage."""
    kept, *others = context.pages
    for opened in others:  # before its cookies go: it may still be connecting
        opened.close()
    session = context.new_cdp_session(kept)
    session.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
    session.detach()
    context.clear_cookies()
    context.clear_permissions()


def stays_here(request: Request) -> bool:
    """Returns whether a request needs no other machine."""
    address = urlsplit(request.url)
    return address.scheme in {"file", "data", "blob"} or address.hostname == "127.0.0.1"
