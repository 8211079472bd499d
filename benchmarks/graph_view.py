"""Measures the graph view alone in Chromium: first paint, next pass, expanding all groups, search, frame rate, memory.

Run from the project's root: ``python -m benchmarks.graph_view``. First paint is the time from the text of the message
to the painted picture, with the view's default groups open.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from playwright.sync_api import Browser

from benchmarks.in_page import HEADING, SIZES, STEPS, chromium, graph_columns, new_page
from tests.builders import synthetic_trace
from viewer.assets import read_asset
from viewer.views.graph_data import graph_data

LARGE = 50_000
"""Nodes of the largest graph; its goals: first paint 1.5 s, next pass 150 ms, everything open in 2 s, 600 MB."""


def main() -> None:
    """Prints one line per size."""
    print(f"graph view alone, {STEPS} passes")
    print(f"  nodes     first paint  {HEADING[0]}\n                         {HEADING[1]}  memory")
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        address = write_page(Path(folder))
        for size in (*SIZES, LARGE):
            print_row(size, browser, address)


def write_page(folder: Path) -> str:
    """Writes a page with only the renderer and returns its address."""
    script = read_asset("bundles/graph_view.js")
    style = "html, body, #graph { margin: 0; height: 100% }"
    text = f'<!doctype html><meta charset="utf-8"><style>{style}</style><div id="graph"></div><script>{script}</script>'
    file = folder / "graph.html"
    file.write_text(text, encoding="utf-8")
    return file.as_uri()


def print_row(size: int, browser: Browser, address: str) -> None:
    """Prints the figures of one size; the memory is what the page's scripts hold, without garbage."""
    page = new_page(browser)
    page.goto(address)
    took = page.evaluate("(text) => bench.bareGraph(text)", json.dumps(graph_data(synthetic_trace(size, STEPS))))
    protocol = page.context.new_cdp_session(page)
    protocol.send("HeapProfiler.collectGarbage")
    held_mb = protocol.send("Runtime.getHeapUsage")["usedSize"] / 1e6
    print(f"  {size:>6,} {took['first']:>11.0f} ms  {graph_columns(took)} {held_mb:>14.0f} MB", flush=True)
    page.close()


if __name__ == "__main__":
    main()
