"""Opens pages of the viewer in a browser, waits until they are drawn, and reads their state."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

import freeze_engine as fe
from tests.browser.chromium import PATIENCE_MS
from viewer.report import render_comparison

SELECTED = """(() => {
    const { view } = viewer.panels.get('graph');
    const { camera, panes, picture, selection } = view;
    const box = picture.box(selection.item);
    const [left, right] = [box.x, box.x + box.width].map((x) => (x - camera.x) * camera.zoom + panes.width() / 2);
    return { id: selection.id, left, right, width: panes.width() };
})()"""
"""The node that the graph has selected, with its edges and the width of its pane, in pixels."""


def write_comparison(traces: tuple[fe.Trace, fe.Trace], path: Path) -> None:
    path.write_text(render_comparison(*traces), encoding="utf-8")


def each_once(folder: Path, write: Callable[[str, Path], object]) -> Callable[[str], Path]:
    """Returns what gives the page of a kind, written when it is first asked for.

    Args:
        folder: where the pages are.
        write: writes the page of a kind to a path.
    """

    def written(kind: str) -> Path:
        path = folder / f"{kind}.html"
        if not path.exists():
            write(kind, path)
        return path

    return written


def open_at(page: Page, path: Path, fragment: str) -> Page:
    """Opens a page of a viewer at a fragment, by default in the graph, and waits until it is shown."""
    page.goto("about:blank")
    page.goto(f"{path.as_uri()}#{fragment or 'tab=graph'}")
    until(page, "globalThis.viewer !== undefined")
    settle(page)
    return page


def until(page: Page, condition: str) -> None:
    """Waits for a JavaScript condition; playwright's own way needs ``eval``, which the page's policy refuses."""
    end_s = time.monotonic() + PATIENCE_MS / 1000
    while not page.evaluate(condition):
        assert time.monotonic() < end_s, f"still not so: {condition}"
        page.wait_for_timeout(20)


def settle(page: Page) -> None:
    """Waits for the graph, which is laid out and drawn step by step."""
    page.evaluate("viewer.panels.get('graph').turn")


def painted(page: Page) -> None:
    """Waits for the charts, which are drawn one by one, and until all that follows the window's size has followed."""
    page.evaluate("viewer.panels.get('charts')?.turn")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))")


def resize(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    painted(page)
    settle(page)


def state(page: Page) -> dict[str, Any]:
    settle(page)
    return page.evaluate("viewer.state()")
