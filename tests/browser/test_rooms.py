"""What is said has room: nothing that tells two things apart is cut, and what is chosen stays in sight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import freeze_engine as fe
from tests.browser.pages import SELECTED, each_once, open_at, painted, resize, settle, write_comparison
from tests.builders import small_trace
from viewer.report import write_report

LONG = "encoder.layers.0.self_attention.in_proj_of_query_key_and_value."
HEADS = """() => {
    const shown = (one) => one.offsetWidth > 0;
    const edge = (one) => Math.round(one.getBoundingClientRect().right);
    const edges = (row) => [...row.querySelectorAll('.fv-pass-more')].filter(shown).map(edge);
    const rows = ['.fv-passes-heads', '[role=option][aria-selected=true]'];
    return rows.map((one) => edges(document.querySelector(one)));
}"""
CUT = "(elements) => elements.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)"
ENDS_IN_SIGHT = """(cells) => cells.map((cell) => {
    const letters = document.createRange();
    const text = cell.querySelector('bdi').firstChild;
    letters.setStart(text, text.length - 6);
    letters.setEnd(text, text.length);
    const [end, room] = [letters.getBoundingClientRect(), cell.getBoundingClientRect()];
    return room.left <= end.left + 1 && end.right <= room.right + 1;
})"""
AT_THE_EDGE = """(() => {
    const { view } = viewer.panels.get('graph');
    const box = view.picture.box(1);
    view.camera.jump({ x: box.x + box.width - view.panes.width() / 2 + 5, y: box.y, zoom: 1 });
    const width = view.panes.width();
    view.selection.choose(1);
    return width;
})()"""

Opener = Callable[..., Page]


def long_names() -> fe.Trace:
    """Returns the small trace with attributes whose paths differ at their end only, and without source texts."""
    trace = small_trace()
    paths = {"block.bn.weight": f"{LONG}weight", "block.conv.weight": f"{LONG}biases"}
    fates = tuple(replace(fate, path=paths.get(fate.path, fate.path)) for fate in trace.attributes)
    return replace(trace, attributes=fates, sources=())


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    kinds: dict[str, Callable[[Path], Any]] = {
        "small": lambda path: write_report(small_trace(), path),
        "long": lambda path: write_report(long_names(), path),
        "two": lambda path: write_comparison((long_names(), replace(small_trace(), name="another net")), path),
    }
    return each_once(tmp_path_factory.mktemp("rooms"), lambda kind, path: kinds[kind](path))


@pytest.fixture
def opened(page: Page, pages: Callable[[str], Path]) -> Opener:
    def open_page(kind: str = "small", fragment: str = "", width: int = 1280, height: int = 800) -> Page:
        page.set_viewport_size({"width": width, "height": height})
        open_at(page, pages(kind), fragment or ("" if kind == "two" else "step=2"))
        painted(page)
        return page

    return open_page


def test_a_wide_pass_list_has_names_in_full_under_heads_that_stand_over_their_columns(opened: Opener):
    page = opened(fragment="step=8", width=1920, height=1080)
    assert page.locator(".fv-pass-name").evaluate_all(CUT) == []
    heads, columns = page.evaluate(HEADS)
    assert heads == columns
    shown = "(names) => names.filter((one) => one.offsetWidth).map((one) => one.textContent)"
    assert page.locator(".fv-passes-heads .fv-pass-more").evaluate_all(shown) == ["error", "latency"]
    resize(page, 2560, 1080)
    assert page.locator(".fv-passes-heads .fv-pass-more").evaluate_all(shown) == ["nodes", "took", "error", "latency"]
    heads, columns = page.evaluate(HEADS)
    assert heads == columns
    assert page.locator(".fv-pass-name").evaluate_all(CUT) == []


@pytest.mark.parametrize("width", [700, 1024, 1280])
def test_paths_that_differ_at_their_end_stay_distinguishable(opened: Opener, width: int):
    page = opened("long", "tab=attributes", width)
    cells = page.locator(".fv-attributes .fv-clip-start").filter(has_text=LONG)
    expect(cells).to_have_text([f"{LONG}biases", f"{LONG}weight"])
    assert cells.evaluate_all(ENDS_IN_SIGHT) == [True, True]


def test_paths_are_whole_where_the_table_has_room_for_them(opened: Opener):
    page = opened("long", "tab=attributes", 1920)
    cells = page.locator(".fv-attributes .fv-clip-start").filter(has_text=LONG)
    expect(cells).to_have_text([f"{LONG}biases", f"{LONG}weight"])
    assert cells.evaluate_all(CUT) == []


def test_an_input_says_what_it_is_and_who_reads_it(opened: Opener):
    page = opened(fragment="step=8")
    page.evaluate("viewer.select('%x')")
    details = page.locator(".fv-details")
    expect(details.locator(".fv-details-title")).to_have_text("%xinput")
    expect(details).to_contain_text("Tensor")
    expect(details).to_contain_text("read by")
    details.get_by_role("link").first.click()
    expect(details.get_by_role("heading", name="History")).to_be_visible()
    details.get_by_role("link", name="%x", exact=True).click()
    expect(details.locator(".fv-details-title")).to_have_text("%xinput")
    page.evaluate("viewer.select('%return')")
    expect(details.locator(".fv-details-title")).to_have_text("return")
    expect(details.get_by_role("heading", name="Reads")).to_be_visible()


def test_the_chosen_box_is_still_in_sight_when_the_details_take_their_room(opened: Opener):
    page = opened(fragment="step=8")
    width = page.evaluate(AT_THE_EDGE)
    expect(page.locator(".fv-details")).to_be_visible()
    settle(page)
    painted(page)
    chosen = page.evaluate(SELECTED)
    assert chosen["width"] < width
    assert 0 <= chosen["left"] < chosen["right"] <= chosen["width"]


def test_code_takes_the_full_width_without_source(opened: Opener):
    page = opened("long", "tab=code&step=8")
    expect(page.get_by_role("region", name="Code of the pass")).to_be_visible()
    expect(page.get_by_role("heading", name="Source")).to_be_hidden()
    page = opened("small", "tab=code&step=8")
    expect(page.get_by_role("heading", name="Source")).to_be_visible()


def test_a_phone_has_the_names_of_two_traces_apart(opened: Opener):
    page = opened("two", "tab=findings", 390)
    heads = page.locator(".fv-two-findings thead").first.locator("th, td")
    assert heads.count() == 3
    assert heads.evaluate_all(CUT) == []
    assert page.locator(".fv-summary h2").evaluate_all(CUT) == []
    first, second = page.locator(".fv-two-name").evaluate_all("(names) => names.map((one) => one.offsetTop)")
    assert first < second
