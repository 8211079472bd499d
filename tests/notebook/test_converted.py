"""A converted notebook, opened from disk without a network: the graph is still explorable."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

import freeze_engine as fe
from tests.builders import small_trace
from tests.notebook.kernels import notebook_of, until, write_notebook
from tests.notebook.lab import jupyter_environment, views

SOURCES = (
    "import freeze_engine as fe\nimport viewer\n\ntrace = fe.load('small.fztrace')",
    "trace",
    "view = viewer.show(trace, step=4)",
)


def _convert(folder: Path, *options: str) -> None:
    command = [sys.executable, "-m", "nbconvert", *options]
    done = subprocess.run(
        command, cwd=folder, env=jupyter_environment(folder), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module", params=["executed by nbconvert", "reopened, without a kernel"])
def converted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("converted")
    fe.save(small_trace(), folder / "small.fztrace")
    write_notebook(notebook_of(*SOURCES), folder / "shown.ipynb")
    if request.param == "executed by nbconvert":
        _convert(folder, "--execute", "--to", "html", "shown.ipynb")
    else:
        _convert(folder, "--execute", "--to", "notebook", "--inplace", "shown.ipynb")
        _convert(folder, "--to", "html", "shown.ipynb")
    return folder / "shown.html"


@pytest.fixture
def offline(page: Page, converted: Path) -> Page:
    """The converted notebook; what it asks the network for (nbconvert's template does) is refused."""
    page.route(lambda url: urlsplit(url).scheme in ("http", "https"), lambda route: route.abort())
    page.goto(converted.as_uri())
    return page


def test_the_graph_can_be_explored(offline: Page) -> None:
    first, second = views(offline)
    assert [frame.evaluate("viewer.state().step") for frame in (first, second)] == [8, 4]
    second.get_by_role("option").filter(has_text="ConstantPropagation").click()
    expect(second.locator(".fv-summary h2")).to_have_text("ConstantPropagation")
    second.locator("[role=option][aria-selected=true]").press("f")
    expect(second.locator(".fv-summary h2")).to_have_text("FoldFrozenConvBatchnorm")
    assert second.evaluate("viewer.panels.get('graph').view.select('weight_fused_bn').then(() => true)")
    expect(second.get_by_role("complementary", name="Details")).to_contain_text("weight_fused_bn")
    assert first.evaluate("viewer.state().step") == 8


def test_the_charts_are_drawn(offline: Page) -> None:
    frame = views(offline)[0]
    frame.get_by_role("tab", name="Charts").click()
    until(lambda: frame.locator(".fv-chart canvas").count() >= 4, "the charts")


def test_the_summary_stands_behind(offline: Page) -> None:
    views(offline)
    assert [summary.is_visible() for summary in offline.locator(".freeze-trace").all()] == [False, False]
    offline.evaluate("document.querySelectorAll('iframe').forEach((frame) => frame.remove())")
    assert [summary.is_visible() for summary in offline.locator(".freeze-trace").all()] == [True, True]


def test_the_views_have_the_theme_of_the_page(offline: Page) -> None:
    frame = views(offline)[0]
    assert frame.evaluate("viewer.theme()") == "light"
    offline.evaluate("document.body.dataset.jpThemeLight = 'false'")
    until(lambda: frame.evaluate("viewer.theme()") == "dark", "the page turns dark")


def test_the_views_fill_the_width_and_can_be_made_taller(offline: Page) -> None:
    views(offline)
    frame = offline.locator("iframe.freeze-frame").first
    width, height, around = frame.evaluate(
        "(one) => [one.offsetWidth, one.offsetHeight, one.parentElement.clientWidth]"
    )
    assert (width, height) == (around, 640)
    frame.scroll_into_view_if_needed()
    box = frame.bounding_box()
    assert box is not None
    corner = box["x"] + box["width"] - 4, box["y"] + box["height"] - 4
    offline.mouse.move(*corner)
    offline.mouse.down()
    offline.mouse.move(corner[0], corner[1] + 60, steps=5)
    offline.mouse.up()
    assert frame.evaluate("(one) => one.offsetHeight") > 640
