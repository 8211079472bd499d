"""The search of the graph in a report: plain text, regular expressions, and the way from match to match."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import open_at, painted, settle, until
from tests.builders import small_trace
from viewer.report import write_report

VIEW = "viewer.panels.get('graph').view"
SELECTED_BOX = f"{VIEW}.picture.scene.idOf({VIEW}.selection.item)"
FOUND = ".fv-found"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("search") / "report.html"
    write_report(small_trace(), path)
    return path


@pytest.fixture
def opened(page: Page, report: Path) -> Page:
    page.set_viewport_size({"width": 1280, "height": 800})
    return open_at(page, report, "step=8&tab=graph")


def test_a_bad_pattern_is_named_beside_the_field_and_leaves_the_graph_alone(opened: Page) -> None:
    field = opened.get_by_role("searchbox", name="Search nodes")
    opened.evaluate(f"{VIEW}.groups.expandAll()")
    boxes = opened.evaluate(f"{VIEW}.picture.scene.items.length")
    toggle = opened.get_by_role("button", name="Regular expression")
    expect(toggle).to_have_attribute("aria-pressed", "false")
    field.fill("conv.d")
    expect(opened.locator(FOUND)).to_have_text("nothing found")
    toggle.press("Space")
    expect(toggle).to_have_attribute("aria-pressed", "true")
    expect(opened.locator(FOUND)).to_have_text("1")
    field.fill("conv(")
    expect(opened.locator(FOUND)).to_have_text("Bad pattern: unterminated group")
    expect(field).to_have_attribute("aria-invalid", "true")
    field.press("Enter")
    assert opened.evaluate(f"{VIEW}.picture.scene.items.length") == boxes
    field.fill("conv2d|relu")
    expect(field).not_to_have_attribute("aria-invalid", "true")
    expect(opened.locator(FOUND)).not_to_contain_text("Bad")


def test_enter_goes_first_to_what_is_in_sight_and_then_opens_what_hides_a_match(opened: Page) -> None:
    opened.evaluate(f"{VIEW}.groups.collapseAll()")
    painted(opened)
    field = opened.get_by_role("searchbox", name="Search nodes")
    field.fill("/./")
    first = opened.evaluate(f"{VIEW}.firstMatch()")
    hidden = opened.evaluate(
        f"""{VIEW}.found.matches.findIndex(({{ id }}) => {{
            const item = {VIEW}.picture.scene.itemOf(id);
            const {{ model, outline, items }} = {VIEW}.picture.scene;
            const isChip = outline.hidden[model.keyOfId.get(id)];
            return item > 0 && items[item].group && {VIEW}.picture.scene.idOf(item) !== id && !isChip;
        }})"""
    )
    assert first != hidden
    field.press("Enter")
    expect(opened.locator(FOUND)).to_contain_text(f"{first + 1} of ")
    settle(opened)
    name = opened.evaluate(f"{VIEW}.found.matches[{hidden}].id")
    field.fill(f"/^{name}$/".replace(".", r"\."))
    field.press("Enter")
    expect(opened.locator(".fv-details")).to_be_visible()
    until(opened, f"{VIEW}.selection.item > 0 && {SELECTED_BOX} === {name!r}")
    expect(field).to_be_focused()


def test_buttons_and_keys_go_round_through_the_matches(opened: Page) -> None:
    opened.evaluate(f"{VIEW}.groups.expandAll()")
    field = opened.get_by_role("searchbox", name="Search nodes")
    field.fill("block")
    count = opened.evaluate(f"{VIEW}.found.matches.length")
    assert count > 1
    field.press("Shift+Enter")
    expect(opened.locator(FOUND)).to_have_text(f"{count} of {count}")
    opened.get_by_role("button", name="Next match (Enter)").click()
    expect(opened.locator(FOUND)).to_have_text(f"1 of {count}")
    field.press("Shift+Enter")
    expect(opened.locator(FOUND)).to_have_text(f"{count} of {count}")
    field.fill("")
    expect(opened.get_by_role("button", name="Next match (Enter)")).to_be_hidden()
