"""Fills in the form of a recording, and watches what the page shows of it."""

from __future__ import annotations

from playwright.sync_api import Page


def switch_measuring_off(page: Page) -> None:
    """Unchecks everything that the form can measure."""
    measured = page.get_by_role("group", name="Measure")
    for name in ("Latency", "Numeric errors", "Memory", "Executor's graph"):
        measured.get_by_role("checkbox", name=name).uncheck()


WATCH = """(selector) => {
  const shadows = [...document.querySelectorAll("*")].map((element) => element.shadowRoot).filter(Boolean);
  const roots = [document, ...shadows];
  const look = () => { globalThis.came ||= roots.some((root) => root.querySelector(selector)); };
  globalThis.came = false;
  for (const root of roots) new MutationObserver(look).observe(root, { childList: true, subtree: true });
}"""


def watch_for(page: Page, selector: str) -> None:
    """Makes the page notice an element that it may show too briefly for playwright, which looks once in a while."""
    page.evaluate(WATCH, selector)


def came(page: Page) -> bool:
    """Returns whether the page has shown the element of `watch_for` since."""
    return bool(page.evaluate("globalThis.came"))
