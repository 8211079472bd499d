"""One visit: opens one model in one viewer in a browser of its own, and prints what it measured as JSON.

``python -m benchmarks.side_by_side.visit VIEWER MODEL FOLDER PROGRAMS``. It runs in a process of its own, because a
page that draws without end can only be ended with its browser.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import CDPSession, Page

from benchmarks.in_page import chromium, new_page
from benchmarks.side_by_side.quality import netron_quality, own_quality
from benchmarks.side_by_side.viewers import VIEWERS, Viewer

_SCRIPT = Path(__file__).with_name("page.js")
_MOVES = 90
_FRAME_S = 1 / 60


class Visit:
    """An open page, asked by the browser's protocol: some pages refuse `eval`."""

    def __init__(self, page: Page, browser: CDPSession) -> None:
        self.page = page
        self._page = page.context.new_cdp_session(page)
        self._browser = browser

    def ask(self, code: str) -> Any:
        """Returns the value of an expression, awaited."""
        options = {"expression": code, "awaitPromise": True, "returnByValue": True}
        answer = self._page.send("Runtime.evaluate", options)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{code[:80]}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, condition: str) -> float:
        """Waits for a condition and its picture; returns the page's time in ms."""
        return float(self.ask(f"sideBySide.until(() => {condition})"))

    def frames(self, kind: str) -> dict[str, float]:
        """Pans by dragging, or zooms by the wheel; returns frames per second and the 95th percentile of a frame."""
        self.ask("globalThis.stopFrames = sideBySide.frames(); 0")
        x, y = 1000.0, 500.0
        if kind == "pan":
            self._mouse("mousePressed", x, y, button="left", clickCount=1)
        for move in range(_MOVES):
            began = time.monotonic()
            if kind == "pan":
                up = move % 60 if move % 60 < 30 else 60 - move % 60
                self._mouse("mouseMoved", x, y - 6 * up, button="left", buttons=1)
            else:
                self._mouse("mouseWheel", x, y, deltaX=0, deltaY=-20 if move % 60 < 30 else 20, modifiers=2)
            time.sleep(max(0.0, _FRAME_S - (time.monotonic() - began)))
        if kind == "pan":
            self._mouse("mouseReleased", x, y, button="left", clickCount=1)
        durations = sorted(self.ask("stopFrames()"))
        return {"fps": 1e3 * len(durations) / sum(durations), "p95_ms": durations[int(0.95 * len(durations))]}

    def memory_mb(self) -> float:
        """Returns the memory of the page's process and of the one that draws (Linux: shared pages count in part)."""
        processes = self._browser.send("SystemInfo.getProcessInfo")["processInfo"]
        renderers = [one for one in processes if one["type"] == "renderer"]
        shown = max(renderers, key=lambda one: float(one["cpuTime"]))
        drawing = [one for one in processes if one["type"] == "GPU"]
        return sum(_proportional_mb(int(one["id"])) for one in [shown, *drawing])

    def _mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self._page.send("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})


def _proportional_mb(pid: int) -> float:
    text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")) / 1e3


def measure(viewer: Viewer, visit: Visit, told: dict[str, Any]) -> None:
    """Measures an opened page; ``told`` gets each figure as soon as it is there."""
    told["first_ms"] = visit.until(viewer.shows)
    print(json.dumps(told), flush=True)
    if viewer.opens:
        began = float(visit.ask("performance.now()"))
        visit.ask(f"void ({viewer.opens})")
        told["open_ms"] = visit.until(viewer.opened) - began
    else:
        told["open_ms"] = 0.0
    if viewer.boxes:
        told["boxes"] = visit.ask(viewer.boxes)
    told["memory_mb"] = visit.memory_mb()
    print(json.dumps(told), flush=True)
    for kind in ("pan", "zoom"):
        told[kind] = visit.frames(kind)
    print(json.dumps(told), flush=True)
    if viewer.name == "its report":
        told["quality"] = own_quality(visit.ask)
    elif viewer.name == "Netron":
        told["quality"] = netron_quality(visit.ask)
    print(json.dumps(told), flush=True)


def main(name: str, model: str, folder: str, programs: str) -> None:
    """Makes one visit."""
    viewer = VIEWERS[name]
    with viewer.serve(model, Path(folder), Path(programs)) as address, chromium() as browser:  # type: ignore[attr-defined]
        page = new_page(browser)
        page.add_init_script(path=_SCRIPT)
        viewer.prepare(page, address)
        page.goto(address, wait_until="commit")
        measure(viewer, Visit(page, browser.new_browser_cdp_session()), {})


if __name__ == "__main__":
    main(*sys.argv[1:])
