"""Finds faults in the looks of a page: cut texts, covered controls, and what axe reports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page

from tests.browser.accessibility import violations

LAYOUT = (Path(__file__).parent / "every_screen.js").read_text("utf-8")
DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
SIZES = ((1440, 900), (1024, 768), (768, 1024), (390, 844))


def layouts(page: Page) -> Iterator[str]:
    """Yields what is wrong with the page that is shown, at each size."""
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(DRAWN)
        yield from (f"{width} px: {found}" for found in page.evaluate(LAYOUT))


def axe(page: Page) -> list[str]:
    """Returns all that axe finds on the page that is shown."""
    return [f"{one['id']}: {[node['html'][:120] for node in one['nodes']][:3]}" for one in violations(page)]
