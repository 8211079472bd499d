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
ONE_RENDERER = "--renderer-process-limit=1"
"""Shows all pages of a context in one process, which then starts once and compiles each script once."""
PATIENCE_MS = 300_000
"""Time limit of waits for a page, in ms; only a failing test reaches it."""
WITHOUT_TOUR = """if (location.origin !== "null" && !location.search.includes("tour")) {
  localStorage.setItem("freezer-toured", "1");
}"""
"""Marks the dashboard's tour as seen, except at an address that has the word."""


def windowless_chromium() -> str | None:
    """Returns the path of the Chromium that has no window to draw, which halves the CPU time; else of another."""
    return shutil.which("chromium-headless-shell") or installed_chromium()


def installed_chromium() -> str | None:
    """Returns the path of the system's Chromium, with windows if possible; ``None`` makes playwright use its own."""
    names = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
    return next(filter(None, map(shutil.which, names)), None)
