"""How fast the graph view is, measured inside Chromium: first paint, next pass, opening everything, search, frames.

Run from the root: ``python benchmarks/graph_view.py``. First paint counts from the parsed text of the message to the
finished picture, with the groups open that the view opens on its own; the rest is measured with everything open.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser.conftest import ARGUMENTS, installed_chromium  # noqa: E402
from tests.builders import synthetic_trace  # noqa: E402
from viewer.graph_data import SCRIPTS, graph_data  # noqa: E402

SIZES = (200, 2_000, 10_000)
STEPS = 30
MEASURE = """async (text) => {
  const took = async (act) => {
    const start = performance.now();
    await act();
    return performance.now() - start;
  };
  const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
  // Frames per second while something changes on every frame, for two seconds.
  const frames = (change) => new Promise((resolve) => {
    const start = performance.now();
    let count = 0;
    const tick = (now) => {
      change(count++);
      if (now - start < 2000) requestAnimationFrame(tick);
      else resolve((1000 * (count - 1)) / (now - start));
    };
    requestAnimationFrame(tick);
  });
  const pan = (count) => {
    view.camera.y += (count % 120 < 60 ? 12 : -12) / view.camera.zoom;
    view._redraw();
  };
  const view = FreezerGraph.create(document.getElementById("graph"), { theme: "light" });
  const result = {};
  result.first = await took(async () => {
    view.setData(JSON.parse(text));
    await view.show({ after: 10 });
  });
  result.boxes = view.picture.scene.items.length - 1;
  const walk = async () => {
    const times = [];
    for (let after = 11; after < 20; after++) times.push(await took(() => view.show({ after })));
    return median(times);
  };
  result.next = await walk();
  result.expand = await took(() => view.expandAll());
  result.open = view.picture.scene.items.length - 1;
  result.nextOpen = await walk();
  result.search = await took(() => view.search("relu"));
  view.clearSearch();
  Object.assign(view.camera, { x: view.picture.layout.width[0] / 2, y: view.picture.layout.height[0] / 2, zoom: 1 });
  result.pan = await frames(pan);
  result.zoom = await frames((count) => view.zoomBy(count % 120 < 60 ? 0.97 : 1 / 0.97));
  view.fit();
  await new Promise((resolve) => setTimeout(resolve, 400));
  result.whole = await frames(pan);
  view.destroy();
  return result;
}"""


def main() -> None:
    print("as opened                           everything open                            frames per second")
    print("  nodes  boxes    first     next     boxes   expand     next   search       pan  zoom  whole graph")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed_chromium(), args=list(ARGUMENTS))
        page = browser.new_page(viewport={"width": 1600, "height": 900})
        page.goto(write_page(Path(folder)))
        for size in SIZES:
            print_row(size, page)
        browser.close()


def write_page(folder: Path) -> str:
    """Writes a page with nothing but the renderer and returns its address."""
    scripts = "\n".join((ROOT / "static" / name).read_text(encoding="utf-8") for name in SCRIPTS)
    style = "html, body, #graph { margin: 0; height: 100% }"
    text = (
        f'<!doctype html><meta charset="utf-8"><style>{style}</style><div id="graph"></div><script>{scripts}</script>'
    )
    file = folder / "graph.html"
    file.write_text(text, encoding="utf-8")
    return file.as_uri()


def print_row(size: int, page: Page) -> None:
    took = page.evaluate(MEASURE, json.dumps(graph_data(synthetic_trace(size, STEPS))))
    opened = f"{size:>7} {took['boxes']:>6} {took['first']:>5.0f} ms {took['next']:>5.0f} ms"
    times = " ".join(f"{took[name]:>5.0f} ms" for name in ("expand", "nextOpen", "search"))
    print(f"{opened}    {took['open']:>6} {times}    {took['pan']:>6.0f} {took['zoom']:>5.0f} {took['whole']:>12.0f}")


if __name__ == "__main__":
    main()
