"""The Chromium that the tests and the benchmarks drive: its path, its arguments, its time limit."""

from __future__ import annotations

import shutil

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
)
PATIENCE_MS = 120_000
"""Time limit of waits for a page, in ms; only a failing test reaches it."""
WITHOUT_TOUR = """if (location.origin !== "null" && !location.search.includes("tour")) {
  localStorage.setItem("freezer-toured", "1");
}"""
"""Marks the dashboard's tour as seen, except at an address that has the word."""


def installed_chromium() -> str | None:
    """Returns the path of the system's Chromium; ``None`` makes playwright use its own."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
