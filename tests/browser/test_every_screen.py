"""Every page of a trace at four sizes, in both themes: nothing is cut, covered or wider than the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

import freeze_engine as fe
from tests.browser.pages import each_once, open_at, painted, write_comparison
from tests.browser.screens import SIZES, axe, layouts
from tests.builders import empty_trace, failed_trace, small_trace, synthetic_trace
from tests.kernel_traces import kernel_trace
from viewer.report import write_report

REPORTS: dict[str, Callable[[], fe.Trace]] = {"kernels": kernel_trace, "failed": failed_trace, "empty": empty_trace}
COMPARISONS: dict[str, Callable[[], tuple[fe.Trace, fe.Trace]]] = {
    "comparison": lambda: (kernel_trace(), small_trace()),
    "comparison with large counts": lambda: (synthetic_trace(11_000, 5), small_trace()),
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Writes each kind of report once."""

    def write(kind: str, path: Path) -> None:
        if kind in COMPARISONS:
            write_comparison(COMPARISONS[kind](), path)
        else:
            write_report(REPORTS[kind](), path)

    return each_once(tmp_path_factory.mktemp("screens"), write)


@pytest.mark.parametrize("kind", [*REPORTS, *COMPARISONS])
def test_every_tab_of_a_trace(page: Page, reports: Callable[[str], Path], kind: str) -> None:
    open_at(page, reports(kind), "tab=summary")
    wrong: list[str] = []
    for at, tab in enumerate(page.get_by_role("tab").all()):
        page.set_viewport_size({"width": SIZES[0][0], "height": SIZES[0][1]})
        tab.click()
        painted(page)
        name = tab.inner_text()
        wrong += [f"{name}, {found}" for found in layouts(page)]
        for theme, (width, height) in zip(("light", "dark"), (SIZES[0], SIZES[-1])[:: (1, -1)[at % 2]], strict=True):
            page.set_viewport_size({"width": width, "height": height})
            page.evaluate(f"viewer.setTheme('{theme}')")
            painted(page)
            wrong += [f"{name}, {theme}, {width} px, {found}" for found in axe(page)]
    assert wrong == [], "\n".join(wrong)
