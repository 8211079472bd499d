"""Measures the graph view alone in Chromium: first paint, next pass, expanding all groups, search, frame rate.

Run from the project's root: ``python -m benchmarks.graph_view``. First paint is the time from the text of the message
to the painted picture, with the view's default groups open.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from playwright.sync_api import Page

from benchmarks.in_page import HEADING, SIZES, STEPS, chromium, graph_columns, new_page
from tests.builders import synthetic_trace
from viewer.assets import read_asset
from viewer.views.graph_data import graph_data


def main() -> None:
    """Prints one line per size."""
    print(f"graph view alone, {STEPS} passes")
    print(f"  nodes     first paint  {HEADING[0]}\n                         {HEADING[1]}")
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        page = new_page(browser)
        page.goto(write_page(Path(folder)))
        for size in SIZES:
            print_row(size, page)


def write_page(folder: Path) -> str:
    """Writes a page with only the renderer and returns its address."""
    script = read_asset("bundles/graph_view.js")
    style = "html, body, #graph { margin: 0; height: 100% }"
    text = f'<!doctype html><meta charset="utf-8"><style>{style}</style><div id="graph"></div><script>{script}</script>'
    file = folder / "graph.html"
    file.write_text(text, encoding="utf-8")
    return file.as_uri()


def print_row(size: int, page: Page) -> None:
    took = page.evaluate("(text) => bench.bareGraph(text)", json.dumps(graph_data(synthetic_trace(size, STEPS))))
    print(f"  {size:>6,} {took['first']:>11.0f} ms  {graph_columns(took)}")


if __name__ == "__main__":
    main()
