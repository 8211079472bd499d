"""Takes the README's pictures of real reports, in a real Chromium: ``python docs/screenshots.py``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

import freeze_engine as fe
from viewer.report import write_report

FOLDER = Path(__file__).parent
CHROMIUM = "/usr/bin/chromium"
SIZE = {"width": 1440, "height": 860}


def show_fold(page: Page, trace: fe.Trace) -> None:
    """Opens the conv-batchnorm folding of a report's page."""
    fold = next(step.index for step in trace.steps if step.rewrites)
    page.goto(f"{page.url.partition('#')[0]}#step={fold}")
    page.reload()


def main() -> int:
    """Records, writes the reports and takes the pictures."""
    trace = fe.record("example:resnet18").trace
    counter = fe.record("example:counter").trace
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport=SIZE)
        for name, recorded, tab in (
            ("report", trace, "graph"),
            ("attributes", counter, "attributes"),
            ("charts", trace, "charts"),
        ):
            path = Path(folder) / f"{name}.html"
            write_report(recorded, path)
            step = next(step.index for step in recorded.steps if step.rewrites) if tab == "graph" else None
            page.goto(f"{path.as_uri()}#tab={tab}" + (f"&step={step}" if step is not None else ""))
            page.wait_for_timeout(2500)
            page.screenshot(path=FOLDER / f"{name}.png")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
