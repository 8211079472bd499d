"""The first page of a trace: the verdict, what would help, the passes that mattered."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import freeze_engine as fe
from tests.browser.accessibility import violations
from tests.browser.chromium import windowless_chromium
from tests.browser.pages import each_once, write_comparison
from tests.builders import empty_trace, failed_trace, small_trace
from viewer.cli import main
from viewer.report import write_report

Opener = Callable[..., Page]
CUT = """() => [...document.querySelectorAll('.fv-answer *')]
    .filter((one) => one.clientWidth > 0 && getComputedStyle(one).display !== 'inline')
    .filter((one) => one.scrollWidth > one.clientWidth + 1)
    .map((one) => one.className)"""

MARGINS = """[...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
    .filter((rule) => rule instanceof CSSPageRule).map((rule) => rule.style.margin)"""
"""The margins of the paper, which a reader's program may have none of."""


def tidied_trace() -> fe.Trace:
    """Returns the small trace with an operation that nothing reads, until the last pass of ``forward`` removes it."""
    trace = small_trace()
    unread = replace(trace.steps[2].graph.nodes[-1], id="unread", outputs=(fe.trace.Value("unread", "Tensor"),))
    steps = tuple(
        replace(step, graph=replace(step.graph, nodes=(*step.graph.nodes, unread)))
        if step.method == "forward" and step.index < 10
        else replace(step, changed=step.changed or step.index == 10)
        for step in trace.steps
    )
    return replace(trace, steps=steps)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Writes each report once."""
    kinds = {"small": small_trace, "failed": failed_trace, "empty": empty_trace, "tidied": tidied_trace}
    folder = tmp_path_factory.mktemp("summaries")
    return each_once(folder, lambda kind, path: write_report(kinds[kind](), path))


@pytest.fixture
def opened(page: Page, reports: Callable[[str], Path]) -> Opener:
    """Opens a report as somebody does who got the file."""

    def open_page(kind: str = "small", fragment: str = "", width: int = 1280) -> Page:
        page.set_viewport_size({"width": width, "height": 800})
        page.goto("about:blank")
        page.goto(f"{reports(kind).as_uri()}{fragment}")
        expect(page.get_by_role("tab", name="Summary")).to_be_visible()
        return page

    return open_page


@pytest.mark.parametrize(("kind", "make"), [("small", small_trace), ("failed", failed_trace), ("empty", empty_trace)])
def test_a_report_opens_on_the_summary_with_the_verdict(opened: Opener, kind: str, make: Callable[[], fe.Trace]):
    page = opened(kind)
    expect(page.get_by_role("tab", name="Summary")).to_have_attribute("aria-selected", "true")
    assert page.locator(".fv-answer-sentence").text_content() == fe.summarize(make()).sentence
    assert "tab" not in page.url


def test_passes_that_only_tidied_up_are_left_out_of_those_that_mattered_and_counted_below(opened: Opener):
    page = opened("tidied")
    rest = page.locator(".fv-moves-rest")
    expect(rest).to_have_text("Left out: a pass that only tidied up, which removed 1 operation that nothing read.")
    rest.get_by_role("link").click()
    expect(page.get_by_role("tab", name="Graph")).to_have_attribute("aria-selected", "true")
    assert page.evaluate("viewer.state().step") == 10
    expect(opened().locator(".fv-moves-rest")).to_have_count(0)


def test_the_summary_has_the_page_to_itself_and_keys_scroll_it(opened: Opener):
    page = opened()
    expect(page.get_by_role("complementary", name="Passes")).to_be_hidden()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("viewer.state().step") == 8
    page.keyboard.press("1")
    expect(page.get_by_role("complementary", name="Passes")).to_be_visible()
    page.keyboard.press("0")
    expect(page.get_by_role("tab", name="Summary")).to_have_attribute("aria-selected", "true")


def test_a_card_has_evidence_fix_and_gain_and_leads_to_its_place(opened: Opener):
    page = opened()
    cards = page.locator(".fv-card")
    expect(cards).to_have_count(3)
    for action, card in zip(fe.summarize(small_trace()).actions, cards.all(), strict=True):
        for text in (action.title, action.evidence, action.fix, action.gain):
            expect(card).to_contain_text(text)
    page.get_by_role("link", name="See the attribute").click()
    expect(page.get_by_role("tab", name="Attributes")).to_have_attribute("aria-selected", "true")
    assert page.evaluate("viewer.state().attribute") == "count"


def test_the_picture_has_a_row_for_each_pass_and_a_click_opens_it_at_its_change(opened: Opener):
    page = opened()
    rows = page.locator(".fv-move")
    expect(rows).to_have_count(5)
    fold = page.get_by_role("link", name="Step 8, FoldFrozenConvBatchnorm, round 1; operations 18 → 17")
    expect(fold).to_have_accessible_name(
        "Step 8, FoldFrozenConvBatchnorm, round 1; operations 18 → 17; error 0 → 3.0e-04, past tolerance"
    )
    expect(fold.locator("svg rect")).to_have_count(2)
    fold.click()
    expect(page.get_by_role("tab", name="Graph", exact=True)).to_have_attribute("aria-selected", "true")
    assert page.evaluate("[viewer.state().step, viewer.state().node]") == [8, "y"]
    page.go_back()
    expect(page.get_by_role("tab", name="Summary")).to_have_attribute("aria-selected", "true")


def test_the_graph_opens_on_the_pass_that_mattered_most(opened: Opener):
    page = opened(fragment="#tab=graph")
    expect(page.get_by_role("region", name="Chosen pass")).to_contain_text("FoldFrozenConvBatchnorm")


def test_a_link_to_a_step_still_opens_the_graph(opened: Opener):
    page = opened(fragment="#step=4")
    expect(page.get_by_role("tab", name="Graph", exact=True)).to_have_attribute("aria-selected", "true")


@pytest.mark.parametrize(("width", "named"), [(1440, True), (390, False)])
def test_the_marks_of_charts_say_passes_by_their_names_where_there_is_room(opened: Opener, width: int, named: bool):
    page = opened(fragment="#tab=charts", width=width)
    expect(page.locator(".fv-charts .bk-Figure").first).to_be_visible()
    texts = page.evaluate("() => viewer.panels.get('charts').drawn.flatMap((one) => one.center).map((one) => one.text)")
    marks = [text for text in texts if text]
    assert marks
    assert all(bool(re.search(r"^\d+ [A-Za-z]", text)) == named for text in marks), marks


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_is_cut(opened: Opener, scheme: str):
    page = opened()
    page.evaluate(f"viewer.setTheme('{scheme}')")
    for width, room in ((1440, "middle"), (1024, "tight"), (390, "narrow")):
        page.set_viewport_size({"width": width, "height": 844})
        expect(page.locator("#viewer")).to_have_attribute("data-size", room)
        assert page.evaluate(CUT) == []
    assert [(one["id"], one["nodes"][0]["html"]) for one in violations(page)] == []


def test_a_card_can_be_drawn_as_png(tmp_path: Path):
    fe.save(small_trace(), tmp_path / "a.fztrace")
    if windowless_chromium() is None:
        pytest.skip("no Chromium is installed as a program")
    assert main(["report", str(tmp_path / "a.fztrace"), "--card", str(tmp_path / "a.png")]) == 0
    drawn = (tmp_path / "a.png").read_bytes()
    assert (drawn[:8], drawn[16:24]) == (b"\x89PNG\r\n\x1a\n", struct.pack(">II", 1200, 630))


def test_a_report_is_printed_over_pages_and_nothing_is_cut(opened: Opener):
    page = opened()
    page.evaluate("viewer.setTheme('dark')")
    printed = page.pdf(format="A4")
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) > 2
    expect(page.locator(".fv-print > *")).to_have_count(0)  # made for the print, and gone after it
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.set_viewport_size({"width": 700, "height": 1000})
    paper = page.locator(".fv-print")
    sentence = fe.summarize(small_trace()).sentence
    for text in (sentence, "block.conv.weight", "Operations after each step", "8 FoldFrozenConvBatchnorm"):
        expect(paper.get_by_text(text).first).to_be_visible()
    expect(paper.locator(".fv-print-pass")).to_have_count(5)
    expect(page.get_by_role("tab", name="Summary")).to_be_hidden()
    assert page.evaluate(CUT.replace(".fv-answer", ".fv-print")) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    fates = paper.locator("section", has_text="What became of the weights").locator("tbody tr td:nth-child(4)")
    expect(fates.first).to_have_text("preserved")  # what stays is what a reader looks for
    assert page.evaluate(MARGINS) == ["14mm 12mm"]


def test_a_chart_of_zeros_is_a_sentence_on_paper(page: Page, tmp_path: Path):
    trace = small_trace()
    (none,) = (one for one in trace.steps[0].numerics if one.reference == "eager")
    exact = tuple(replace(step, numerics=(none,) if step.numerics else ()) for step in trace.steps)
    write_report(replace(trace, steps=exact), tmp_path / "exact.html")
    page.goto((tmp_path / "exact.html").as_uri())
    expect(page.get_by_role("tab", name="Summary")).to_be_visible()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    chart = page.locator(".fv-print-chart", has_text="Largest error against eager")
    expect(chart).to_have_text("Largest error against eager 0 at every step")
    expect(chart.locator("svg")).to_have_count(0)


def test_two_traces_are_printed_with_all_that_differs(page: Page, tmp_path: Path):
    trace = small_trace()
    fates = (replace(fate, fate="dropped") if fate.path == "block.bn.weight" else fate for fate in trace.attributes)
    other = replace(trace, name="other", attributes=tuple(fates))
    write_comparison((trace, other), tmp_path / "two.html")
    page.goto((tmp_path / "two.html").as_uri())
    expect(page.get_by_role("tab", name="Summary")).to_be_visible()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.set_viewport_size({"width": 700, "height": 1000})
    paper = page.locator(".fv-print")
    expect(paper.locator("header")).to_contain_text("B other")
    row = paper.locator("section", has_text="Attributes that differ").locator("tbody tr")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("block.bn.weight")
    expect(row).to_contain_text("another fate")
    expect(paper.get_by_text("Passes that made a difference of their own")).to_have_count(0)  # none did
    assert page.evaluate(CUT.replace(".fv-answer", ".fv-print")) == []
