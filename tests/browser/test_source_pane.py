"""Source, graph and kernels side by side, in a real browser: what is looked at in one shows in the others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessibility import serious_findings
from tests.browser.pages import until
from tests.builders import empty_trace
from tests.kernel_traces import kernel_trace
from viewer.report import write_report

Opener = Callable[..., Page]
PANEL = "viewer.panels.get('source')"
MARKED = f"Object.keys({PANEL}.graph.view.marks)"
LINE = "Lines of model.py"


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("source")
    for name, trace in {"kernels": kernel_trace(), "empty": empty_trace()}.items():
        write_report(trace, folder / f"{name}.html")
    return {path.stem: path for path in folder.iterdir()}


@pytest.fixture
def opened(page: Page, reports: dict[str, Path]) -> Opener:
    def open_report(fragment: str = "tab=source&step=10", kind: str = "kernels", width: int = 1440) -> Page:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto("about:blank")
        page.goto(f"{reports[kind].as_uri()}#{fragment}")
        expect(page.locator(".fv-tab[aria-selected=true]")).to_be_visible()
        page.evaluate(f"{PANEL}?.graph.turn")
        return page

    return open_report


def line(page: Page, number: int):
    return page.get_by_role("listbox", name=LINE).get_by_role("option", name=f"Line {number}:")


def kernel(page: Page, name: str):
    return page.get_by_role("listbox", name="Kernels").get_by_role("option", name=name)


def linked(page: Page) -> tuple[list[str], list[str]]:
    """The numbers of the linked lines, and the places of the linked kernels."""
    lines = page.locator(".fv-line:is(.fv-linked, .fv-chosen) .fv-line-number").all_text_contents()
    return lines, page.locator(".fv-line-kernel:is(.fv-linked, .fv-chosen) > :first-child").all_text_contents()


def test_hovering_a_line_shows_its_nodes_and_its_kernels_and_leaving_lets_go(opened: Opener) -> None:
    page = opened()
    line(page, 5).hover()
    until(page, f"{MARKED}.length === 2")
    assert page.evaluate(MARKED) == ["y", "sum"]
    assert linked(page) == (["5"], ["1", "2"])
    facts = page.locator(".fv-line-facts")
    expect(facts).to_contain_text("2 operators rewritten (conv_bn)")
    expect(facts).to_contain_text("100% of the time of all kernels")
    page.get_by_role("tab", name="Source").hover()
    until(page, f"{MARKED}.length === 0")
    assert linked(page) == ([], [])


def test_a_kernel_shows_its_line_and_its_nodes_and_a_click_keeps_it(opened: Opener) -> None:
    page = opened()
    kernel(page, "extern_kernels.convolution").hover()
    until(page, f"{MARKED}.length === 1")
    assert linked(page) == (["5"], ["1"])
    kernel(page, "extern_kernels.convolution").click()
    page.get_by_role("tab", name="Source").hover()
    assert linked(page) == (["5"], ["1"])
    assert page.evaluate("viewer.state().kernel") == 0
    page.keyboard.press("Escape")
    assert linked(page) == ([], [])


def test_hovering_a_node_shows_its_lines_and_its_kernel(opened: Opener) -> None:
    page = opened()
    page.evaluate(f"{PANEL}.graph.view.groups.expandAll()")
    view = f"{PANEL}.graph.view"
    place = f"""(() => {{
        const {{ camera, panes, picture, stage }} = {view};
        const box = picture.box(picture.scene.itemOf(picture.shownAs('y')));
        camera.jump({{ x: box.x + box.width / 2, y: box.y + box.height / 2, zoom: 1 }});
        const {{ left, top, width, height }} = stage.canvas.getBoundingClientRect();
        return [left + width / 2, top + height / 2 + 4];
    }})()"""
    x, y = page.evaluate(place)
    page.mouse.move(x + 2, y)
    page.mouse.move(x, y)
    expect(page.locator(".fv-line.fv-linked .fv-line-number")).to_have_text(["5"])
    assert linked(page) == (["5"], ["1"])
    page.mouse.click(x, y)
    until(page, "viewer.state().node === 'y'")


def test_a_kept_line_is_in_the_address_and_marked_in_the_other_tabs(opened: Opener) -> None:
    page = opened()
    line(page, 5).click()
    assert page.evaluate("viewer.state().line").endswith("model.py:5")
    link = page.url
    page.get_by_role("tab", name="Kernels").click()
    expect(page.locator(".fv-kernel.fv-linked")).to_have_count(2)
    page.get_by_role("tab", name="Graph", exact=True).click()
    page.evaluate("viewer.panels.get('graph').turn")
    expect(page.get_by_role("complementary", name="Details")).to_contain_text("2 operators rewritten (conv_bn)")
    assert page.evaluate("Object.keys(viewer.panels.get('graph').view.marks)") == ["y", "sum"]
    page.goto("about:blank")
    page.goto(link)
    expect(line(page, 5)).to_have_attribute("aria-selected", "true")
    line(page, 5).click()
    expect(line(page, 5)).to_have_attribute("aria-selected", "false")


def test_the_keyboard_goes_through_lines_and_keeps_one(opened: Opener) -> None:
    page = opened("step=10")
    page.keyboard.press("s")
    expect(page.get_by_role("tab", name="Source")).to_have_attribute("aria-selected", "true")
    lines = page.get_by_role("listbox", name=LINE)
    lines.focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    expect(page.locator(".fv-line.fv-linked .fv-line-number")).to_have_text(["5"])
    assert page.evaluate("viewer.state().step") == 10  # the keys are the listing's
    page.keyboard.press("Enter")
    expect(line(page, 5)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(line(page, 5)).to_have_attribute("aria-selected", "false")


def test_a_line_of_which_nothing_is_left_says_so(opened: Opener) -> None:
    page = opened()
    line(page, 7).hover()
    expect(page.locator(".fv-line-facts")).to_contain_text("Nothing is left of its 1 operator.")
    expect(line(page, 7)).to_have_class("fv-line fv-line-known fv-line-gone fv-linked")


@pytest.mark.parametrize("width", [1440, 1024, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_three_stand_beside_one_another_or_below_and_axe_finds_nothing(
    opened: Opener, width: int, scheme: str
) -> None:
    page = opened(width=width)
    page.evaluate(f"viewer.setTheme('{scheme}')")
    line(page, 5).click()
    boxes = [page.locator(f".fv-trio-{part}").bounding_box() for part in ("source", "graph", "facts")]
    left = [round(box["x"]) for box in boxes if box]
    assert (len(set(left)) == 3) if width == 1440 else (len(set(left)) == 2 if width == 1024 else len(set(left)) == 1)
    assert serious_findings(page) == []


@pytest.mark.parametrize("width", [1920, 1440, 1024, 390])
def test_a_long_line_goes_on_below_instead_of_out_of_the_pane(opened: Opener, width: int) -> None:
    page = opened(width=width)
    long = line(page, 5)
    height = long.evaluate("(row) => row.offsetHeight")
    long.locator(".fv-line-code").evaluate("(code) => { code.textContent += ' + layer(x)'.repeat(40); }")
    assert long.evaluate("(row) => row.offsetHeight") > 2 * height
    assert (
        page.evaluate(
            "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(viewer.root.querySelector('.fv-lines'))"
        )
        == 0
    )


def test_a_trace_without_a_line_has_no_source(opened: Opener) -> None:
    page = opened("tab=graph", "empty")
    assert page.get_by_role("tab", name="Source").count() == 0
