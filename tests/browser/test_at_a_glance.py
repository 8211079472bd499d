"""Which pass paid off and which broke the numbers, seen at once; `page` fails a test on any error and any request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import freeze_engine as fe
from freeze_engine.trace import Interval
from tests.browser.pages import open_at, until
from tests.builders import small_trace
from viewer.report import render_report

Opener = Callable[..., Page]
CUT = """() => {
    const right = (one) => one.getBoundingClientRect().right;
    const words = document.querySelectorAll('.fv-fact:not(.fv-fact-payoff) > :is(.fv-fact-value, .fv-fact-label)');
    const isCut = (one) => right(one.parentElement) + 1 < right(one) || one.scrollWidth > one.clientWidth + 1;
    return [...words].filter(isCut).map((one) => one.textContent);
}"""


def measured() -> fe.Trace:
    """Returns a trace whose last step runs past tolerance too, and costs time."""
    trace = small_trace()
    fold, last = trace.steps[8], trace.steps[10]
    latency = replace(last.latency[0], previous=Interval(1.1, 1.05, 1.15), change="slower")
    steps = list(trace.steps)
    steps[10] = replace(last, numerics=fold.numerics, latency=(latency,))
    return replace(trace, steps=tuple(steps))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("glance") / "report.html"
    path.write_text(render_report(measured()), encoding="utf-8")
    return path


@pytest.fixture
def opened(page: Page, report: Path) -> Opener:
    def open_page(fragment: str = "", width: int = 1440, height: int = 900) -> Page:
        page.set_viewport_size({"width": width, "height": height})
        return open_at(page, report, fragment or "step=2")

    return open_page


def test_the_pass_list_marks_what_paid_off_and_what_cost_time(opened: Opener):
    page = opened()
    marked = page.locator(".fv-pass:has(.fv-payoff)")
    assert marked.locator(".fv-pass-index").all_inner_texts() == ["6", "10"]
    saved, cost = (page.get_by_role("img", name=f"measurably {word}") for word in ("faster", "slower"))
    expect(saved).to_have_text("▼ −12%")
    expect(cost).to_have_text("▲ +10%")
    expect(saved).to_have_attribute("title", "measurable: 12% less time than step 0 (8 to 16%) on cpu")


def test_only_the_first_pass_past_tolerance_stands_out(opened: Opener):
    page = opened()
    expect(page.get_by_role("img", name="the first past tolerance")).to_have_count(1)
    assert page.locator(".fv-pass:has(.fv-pass-broke) .fv-pass-index").all_inner_texts() == ["8"]
    expect(page.get_by_role("img", name="past tolerance", exact=True)).to_have_count(1)


def test_the_header_names_the_pass_that_saved_most_and_leads_to_it(opened: Opener):
    page = opened("step=0")
    fact = page.locator(".fv-fact", has_text="saved most")
    expect(fact).to_contain_text("12% less time (8 to 16%)")
    fact.get_by_role("link", name="ConstantPropagation").click()
    assert page.evaluate("viewer.state().step") == 6


@pytest.mark.parametrize("width", [600, 900, 1100, 1440])
def test_names_are_not_crowded_out_and_nothing_is_cut(opened: Opener, width: int):
    page = opened(width=width)
    if width == 600:
        page.get_by_role("button", name="Passes").click()
    names = "[...document.querySelectorAll('.fv-pass:has(.fv-payoff) .fv-pass-name')].map((one) => one.offsetWidth)"
    assert min(page.evaluate(names)) >= 60
    assert page.evaluate(CUT) == []


def test_the_charts_name_them_too(opened: Opener):
    page = opened("tab=charts")
    expect(page.locator(".bk-Canvas").first).to_be_visible()
    until(page, "viewer.panels.get('charts').views.length === 6")
    words = page.evaluate(
        """viewer.panels.get('charts').drawn.map((figure) =>
            figure.center.filter(({ type }) => type === 'Label').map(({ text }) => text))"""
    )
    assert words == [
        ["6 ConstantPropagation −12%", "10 FoldFrozenConvBatchnorm +10%"],
        [],
        ["8 FoldFrozenConvBatchnorm"],
        [],
        [],
        [],
    ]


def test_the_chosen_pass_is_not_under_the_title_of_its_stage(opened: Opener):
    page = opened("step=11", height=360)
    list_ = page.locator(".fv-passes-list")
    list_.focus()
    for _ in range(6):
        page.keyboard.press("ArrowUp")
        covered = page.locator(".fv-pass[aria-selected=true]").evaluate(
            """(option) => {
              const { left, top } = option.getBoundingClientRect();
              return document.elementFromPoint(left + 40, top + 2).className;
            }"""
        )
        assert "fv-pass" in covered.split()
