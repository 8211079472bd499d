"""In a graph of Inductor, inputs and constants go by the paths that the user knows, and are found by them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import SELECTED, each_once, open_at, painted, settle, write_comparison
from tests.builders import small_trace
from tests.inductor_names import BIAS, projection
from viewer.report import write_report

WRITTEN = """() => {
    const { picture } = viewer.panels.get('graph').view;
    return [1, 2].filter((side) => picture.snapshotOf(side) !== null).map((side) => {
        const isNode = (item) => picture.sides[item] & side && !picture.scene.items[item].group;
        const items = picture.closedItems().filter(isNode);
        return Object.fromEntries(items.map((item) => {
            const { title, lines } = picture.content(item, side);
            return [picture.scene.idOf(item), [title, ...lines.flat().map((chip) => chip.text)]];
        }));
    });
}"""
FOUND = "(text) => viewer.panels.get('graph').view.search(text).map(({ id }) => id)"
TIP = """(id) => {
    const { view } = viewer.panels.get('graph');
    const { tooltip } = view.pointer;
    tooltip.show(view.picture.scene.itemOf(id), 2);
    const lines = [...tooltip.box.children].map((line) => line.textContent);
    tooltip.hide();
    return lines;
}"""
IMAGE, RELU = ["arg2_1"], ["relu.default"]

Opener = Callable[..., Page]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    kinds: dict[str, Callable[[Path], Any]] = {
        "one": lambda path: write_report(projection(), path),
        "two": lambda path: write_comparison((projection(), projection()), path),
        "torchscript": lambda path: write_report(small_trace(), path),
    }
    return each_once(tmp_path_factory.mktemp("names"), lambda kind, path: kinds[kind](path))


@pytest.fixture
def opened(page: Page, pages: Callable[[str], Path]) -> Opener:
    def open_page(kind: str, fragment: str) -> Page:
        page.set_viewport_size({"width": 1280, "height": 800})
        open_at(page, pages(kind), fragment)
        page.evaluate("viewer.panels.get('graph').view.groups.expandAll()")
        painted(page)
        return page

    return open_page


def test_inputs_and_constants_are_written_as_their_paths(opened: Opener):
    page = opened("one", "step=1")
    inputs = {"%arg0_1": ["projection.weight"], "%arg1_1": ["projection.bias"], "%arg2_1": IMAGE}
    rest = {"relu": RELU, "%return": ["return"]}
    held = ["convolution.default", "weight [4, 3, 1, 1]", "bias [4]"]  # in the frame of the projection
    assert page.evaluate(WRITTEN) == [
        {**inputs, "convolution": ["convolution.default"], **rest},
        {"%arg2_1": IMAGE, "convolution": held, **rest},
    ]
    page.evaluate("viewer.navigate({ step: 2 })")
    settle(page)
    packed = ["_convolution_pointwise.default", *held[1:]]
    assert page.evaluate(WRITTEN)[1] == {"%arg2_1": IMAGE, "packed": packed, **rest}


def test_two_traces_are_written_so_as_well(opened: Opener):
    page = opened("two", "step=3")
    first, second = page.evaluate(WRITTEN)
    assert first == second
    assert first["%arg1_1"] == ["projection.bias"]


def test_the_details_and_the_tooltip_say_both_names(opened: Opener):
    page = opened("one", "step=0")
    page.evaluate("viewer.select('%arg1_1')")
    details = page.locator(".fv-details")
    expect(details.locator(".fv-details-title")).to_have_text("%arg1_1input")
    expect(details.get_by_role("heading", name="Is attribute")).to_be_visible()
    expect(details.get_by_role("link", name=BIAS)).to_be_visible()
    assert page.evaluate(TIP, "%arg1_1") == ["input", "%arg1_1 : Float(4)", BIAS, "inlined"]
    assert f"← %arg1_1 : f32[4]   {BIAS}" in page.evaluate(TIP, "convolution")
    details.get_by_role("link", name="%convolution").click()
    expect(details).to_contain_text(f"%arg1_1 {BIAS}")


def test_a_chosen_attribute_is_shown_in_its_input(opened: Opener):
    page = opened("one", f"step=0&attribute={BIAS}")
    assert page.evaluate("[...viewer.focused]") == ["%arg1_1"]


def test_inputs_and_paths_are_found(opened: Opener):
    page = opened("one", "step=0")
    assert page.evaluate(FOUND, "arg1_1") == ["%arg1_1"]
    assert page.evaluate(FOUND, "PROJECTION.bias") == ["%arg1_1"]
    assert page.evaluate(FOUND, "arg2") == ["%arg2_1"]
    assert page.evaluate(FOUND, "input") == ["%arg0_1", "%arg1_1", "%arg2_1"]
    assert page.evaluate(FOUND, "return") == []
    page.evaluate("viewer.navigate({ step: 2 })")
    settle(page)
    assert page.evaluate(FOUND, "projection.weight") == ["reordered", "arg0_1"]


def test_module_input_of_torchscript_is_not_listed_as_result(opened: Opener):
    page = opened("torchscript", "step=8")
    assert "%x" in page.evaluate(FOUND, "x")
    assert not [found for found in page.evaluate(FOUND, "self") if found.startswith("%")]


def test_match_inside_a_box_of_another_pass_is_scrolled_into_sight(opened: Opener):
    page = opened("one", "step=1")
    page.evaluate("viewer.panels.get('graph').view.camera.jump({ x: 0, y: 0, zoom: 1 })")
    page.get_by_role("searchbox", name="Search nodes").fill("_frozen_arg1_1")
    page.get_by_role("searchbox", name="Search nodes").press("Enter")
    expect(page.locator(".fv-details")).to_be_visible()
    settle(page)
    painted(page)
    chosen = page.evaluate(SELECTED)
    view = "viewer.panels.get('graph').view"
    assert (chosen["id"], page.evaluate(f"{view}.picture.scene.idOf({view}.selection.item)")) == (
        "arg1_1",
        "convolution",
    )
    assert 0 <= chosen["left"] < chosen["right"] <= chosen["width"]
