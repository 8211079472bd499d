"""Measures the page of a sweep with 1,000 rows in Chromium: first picture, scrolling, sorting and searching.

Run from the project's root: ``python -m benchmarks.sweep_page``. An empty page that scrolls as far, in the same
browser, shows what the machine itself can do.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.in_page import chromium, new_page
from freeze_engine import sweep
from tests.sweeps import make_sweep, sweep_row
from viewer.sweep_page import write_sweep

ROWS = 1_000
_SCRIPT = Path(__file__).with_name("sweep_page.js")
_EMPTY = '<!doctype html><div id="list" style="height: 600px; overflow: auto"><div style="height: 30000px"></div></div>'


def main() -> None:
    """Prints the figures of both pages."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        rows = [sweep_row(f"net{number:04}", latency_ratio=(number * 37 % 1000 + 1) / 500) for number in range(ROWS)]
        file = Path(folder) / "sweep.html"
        made = make_sweep(Path(folder) / "sweep", *rows, with_traces=False)
        write_sweep(sweep.read_sweep(made), file)
        empty = Path(folder) / "empty.html"
        empty.write_text(_EMPTY, encoding="utf-8")
        page = new_page(browser)
        page.add_init_script(path=_SCRIPT)
        page.goto(empty.as_uri())
        alone = page.evaluate("sweepBench.scroll(document.getElementById('list'))")
        page.goto(file.as_uri())
        page.locator(".fs-table .fs-row").nth(5).wait_for()
        took = page.evaluate("sweepBench.all()")
    print(f"page of a sweep, {ROWS:,} rows: first picture {took['first']:.0f} ms after the request")
    print(f"  sort {took['sort']:.0f} ms   search {took['search']:.0f} ms   {took['rows']} rows in the page at a time")
    for name, frames in (("scrolling the table", took["scroll"]), ("scrolling an empty page", alone)):
        print(f"  {name:<24}{frames['fps']:.0f} frames/s, 19 of 20 within {frames['p95']:.0f} ms")


if __name__ == "__main__":
    main()
