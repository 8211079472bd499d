"""Takes the pictures in this folder, of the real dashboard and recordings: ``python -m docs.screenshots [NAME …]``.

Run it from the project's root. Without a NAME it takes all pictures.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from playwright.sync_api import Page, ViewportSize, expect, sync_playwright

import freeze_engine as fe
from tests.browser.chromium import ARGUMENTS, WITHOUT_TOUR, installed_chromium
from tests.dashboard import running_server

FOLDER: Final = Path(__file__).parent
SIZE: Final[ViewportSize] = {"width": 1440, "height": 860}
FOLD: Final = "FoldFrozenConvBatchnorm"
PATIENCE_MS: Final = 180_000

Take = Callable[[Page], None]


class Pictures:
    """Goes to what the pictures show.

    Args:
        address: of the dashboard, ending in a slash.
        folder: the traces are written to it.
    """

    def __init__(self, address: str, folder: Path) -> None:
        self._address = address
        self._folder = folder
        exact = fe.TorchScriptOptions(optimize_numerics=False)
        self._resnet, self._resnet_path = _recorded("example:resnet18", folder / "resnet18.fztrace")
        self._counter, self._counter_path = _recorded("example:counter", folder / "counter.fztrace")
        _, self._exact_path = _recorded("example:resnet18", folder / "resnet18-same-numbers.fztrace", exact)
        self._compiled, self._compiled_path = _compiled("example:resnet18", folder / "resnet18-inductor.fztrace")
        self.takes: dict[str, Take] = {
            "summary": self._summary,
            "report": self._graph,
            "attributes": self._attributes,
            "charts": self._charts,
            "comparison": self._comparison,
            "dark": self._dark,
            "home": self._home,
            "form": self._form,
            "recording": self._recording,
            "inductor": self._inductor,
            "findings": self._findings,
            "kernels": self._kernels,
        }

    def _summary(self, page: Page) -> None:
        page.goto(self._link({"trace": str(self._resnet_path)}))
        expect(page.get_by_role("heading", name="The passes that mattered")).to_be_visible()

    def _graph(self, page: Page) -> None:
        self._open_fold(page, "graph")

    def _attributes(self, page: Page) -> None:
        written = next(fate for fate in self._counter.attributes if fate.reason == "mutated_in_place")
        state = {"step": written.step or 0, "attribute": written.path, "tab": "attributes"}
        self._open(page, {"trace": str(self._counter_path)}, state)

    def _charts(self, page: Page) -> None:
        self._open_fold(page, "charts")

    def _comparison(self, page: Page) -> None:
        page.goto(self._link({"compare": str(self._exact_path), "with": str(self._resnet_path)}))
        expect(page.get_by_role("heading", name="What changed from A to B")).to_be_visible()

    def _dark(self, page: Page) -> None:
        page.emulate_media(color_scheme="dark")
        self._open_fold(page, "graph")

    def _home(self, page: Page) -> None:
        page.goto(self._link({}))
        expect(page.get_by_role("heading", level=1)).to_be_visible()

    def _form(self, page: Page) -> None:
        page.goto(self._link({"record": "example:counter"}))
        expect(page.get_by_role("tree")).to_be_visible()

    def _recording(self, page: Page) -> None:
        page.goto(self._link({"record": "example:resnet50"}))
        expect(page.get_by_role("tree")).to_be_visible()
        page.get_by_role("button", name="Record", exact=True).click()
        # Its graphs are there, and it is known how long measuring them will take.
        expect(page.get_by_text(re.compile(r"^about .+ left$"))).to_be_visible()

    def _inductor(self, page: Page) -> None:
        folding = next(step for step in self._compiled.steps if step.name == "binary_folding" and step.changed)
        state = {"step": folding.index, "node": folding.rewrites[0].produced[-1], "tab": "graph"}
        self._open(page, {"trace": str(self._compiled_path)}, state)

    def _findings(self, page: Page) -> None:
        trace, path = _recorded("example:bf16_misfold", self._folder / "bf16_misfold.fztrace", thorough=True)
        self._open(page, {"trace": str(path)}, {"step": trace.steps[-1].index, "tab": "findings"})

    def _kernels(self, page: Page) -> None:
        state = {"step": self._compiled.steps[-1].index, "tab": "kernels", "program": 0, "kernel": 0}
        self._open(page, {"trace": str(self._compiled_path)}, state)

    def _open_fold(self, page: Page, tab: str) -> None:
        fold = next(step for step in self._resnet.steps if step.name == FOLD and step.rewrites)
        state = {"step": fold.index, "node": fold.rewrites[0].produced[0], "tab": tab}
        self._open(page, {"trace": str(self._resnet_path)}, state)

    def _open(self, page: Page, query: dict[str, str], state: Mapping[str, object]) -> None:
        page.goto(f"{self._link(query)}#{urlencode(state)}")
        page.locator(".fv-summary").wait_for()

    def _link(self, query: dict[str, str]) -> str:
        return f"{self._address}?{urlencode(query)}"


def _recorded(
    model: str, path: Path, options: fe.TorchScriptOptions | None = None, *, thorough: bool = False
) -> tuple[fe.Trace, Path]:
    trace = fe.record(model, options=options, checks=fe.CHECKS if thorough else (), ablation=thorough).trace
    fe.save(trace, path)
    return trace, path


def _compiled(model: str, path: Path) -> tuple[fe.Trace, Path]:
    trace = fe.record(model, backend="inductor").trace
    fe.save(trace, path)
    return trace, path


def _take(page: Page, name: str, take: Take) -> None:
    """Saves what a page looks like once it has come to rest."""
    take(page)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1_500)  # layout in a worker, charts
    page.screenshot(path=FOLDER / f"{name}.png")


def main(names: list[str]) -> int:
    """Records, serves, and takes the pictures."""
    with tempfile.TemporaryDirectory(prefix="work-") as place, sync_playwright() as playwright:
        folder = Path(place)
        with running_server(folder) as server:
            pictures = Pictures(server.link.partition("?")[0], folder)
            browser = playwright.chromium.launch(executable_path=installed_chromium(), args=list(ARGUMENTS))
            context = browser.new_context(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
            context.set_default_timeout(PATIENCE_MS)
            expect.set_options(timeout=PATIENCE_MS)
            context.add_init_script(WITHOUT_TOUR)
            context.new_page().goto(server.link)  # lets the browser in
            for name in names or pictures.takes:
                page = context.new_page()
                _take(page, name, pictures.takes[name])
                page.close()
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
