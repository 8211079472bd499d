"""Fills in the form of a recording."""

from __future__ import annotations

from playwright.sync_api import Page


def switch_measuring_off(page: Page) -> None:
    """Unchecks everything that the form can measure."""
    measured = page.get_by_role("group", name="Measure")
    for name in ("Latency", "Numeric errors", "Memory", "Executor's graph"):
        measured.get_by_role("checkbox", name=name).uncheck()
