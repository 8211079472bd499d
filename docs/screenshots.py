"""Takes the README's pictures of real reports, in a real Chromium: ``python docs/screenshots.py``."""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser, ViewportSize, sync_playwright

import freeze_engine as fe
from viewer.report import write_report

FOLDER = Path(__file__).parent
SIZE: ViewportSize = {"width": 1440, "height": 860}
FOLD = "FoldFrozenConvBatchnorm"


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture.

    Attributes:
        name: of the file, without its ending.
        trace: the recording to show.
        state: what to show of it, as in a report's address.
    """

    name: str
    trace: fe.Trace
    state: dict[str, str | int]


def pictures() -> tuple[Picture, ...]:
    """Records the examples and returns what to show of them."""
    resnet = fe.record("example:resnet18").trace
    counter = fe.record("example:counter").trace
    fold = next(step for step in resnet.steps if step.name == FOLD and step.rewrites)
    conv = fold.rewrites[0].produced[0]
    written = next(fate for fate in counter.attributes if fate.reason == "mutated_in_place")
    return (
        Picture("report", resnet, {"step": fold.index, "node": conv, "tab": "graph"}),
        Picture("attributes", counter, {"step": written.step or 0, "attribute": written.path, "tab": "attributes"}),
        Picture("charts", resnet, {"step": fold.index, "tab": "charts"}),
    )


def take(browser: Browser, picture: Picture, folder: Path) -> None:
    """Writes a picture's report to ``folder``, opens it from there, and saves what it looks like."""
    report = folder / f"{picture.name}.html"
    write_report(picture.trace, report)
    page = browser.new_page(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
    page.goto(f"{report.as_uri()}#{urlencode(picture.state)}")
    page.locator(".fv-summary").wait_for()
    page.evaluate("viewer.panels.get(viewer.state().tab).turn")  # layout and charts are done when it resolves
    page.evaluate("new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)))")
    page.screenshot(path=FOLDER / f"{picture.name}.png")
    page.close()


def main() -> int:
    """Records, writes the reports and takes the pictures."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for picture in pictures():
            take(browser, picture, Path(folder))
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
