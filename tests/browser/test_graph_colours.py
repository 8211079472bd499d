"""Colours of the graph's boxes: the choice, the legend, and the value in words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessibility import serious_findings
from tests.browser.pages import open_at, painted, settle
from tests.builders import small_trace
from viewer.report import write_report

VIEW = "viewer.panels.get('graph').view"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("colours") / "report.html"
    write_report(small_trace(), path)
    return path


def test_boxes_are_coloured_by_what_is_chosen_and_a_link_keeps_the_choice(page: Page, report: Path) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    open_at(page, report, "step=8&tab=graph")
    choice = page.get_by_role("combobox", name="Colour by")
    legend = page.locator(".fg-legend")
    expect(choice).to_have_value("change")
    expect(legend).not_to_contain_text("memory")
    choice.select_option("memory")
    expect(legend).to_contain_text("memory (weights read):")
    expect(page).to_have_url(re.compile("colour=memory"))
    page.evaluate(f"{VIEW}.groups.collapseAll()")
    settle(page)
    painted(page)
    assert re.search(r"\d+ ops?  ·  [\d.]+ (B|KiB)<", page.evaluate(f"{VIEW}.toSVG()"))
    open_at(page, report, "step=8&tab=graph&colour=error&node=y")
    expect(choice).to_have_value("error")
    details = page.get_by_role("complementary", name="Details")
    expect(details).to_contain_text("memory (weights read)")
    choice.select_option("latency")
    expect(legend).to_contain_text("not measured")
    expect(legend).to_contain_text("No kernel that was timed computes these.")
    assert not serious_findings(page)


def test_a_choice_that_there_is_not_is_change(page: Page, report: Path) -> None:
    open_at(page, report, "step=8&tab=graph&colour=taste")
    expect(page.get_by_role("combobox", name="Colour by")).to_have_value("change")
