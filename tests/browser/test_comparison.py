"""Two real recordings side by side in a real browser; `page` fails a test on any error and on any request."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
import torch
from playwright.sync_api import Page, expect

import freeze_engine as fe
from tests.browser.accessibility import serious_findings
from tests.browser.host_page import host_page
from tests.browser.pages import each_once, open_at, painted, resize, settle, write_comparison
from viewer.page import comparison_data

TABS = ("attributes", "rewrites", "aliases", "ir", "code", "charts", "findings", "environment", "graph")

Opener = Callable[..., Page]


class Layers(torch.nn.Module):
    def __init__(self, wide: bool = False) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = torch.nn.Conv2d(3, 8, 3)
        self.norm = torch.nn.BatchNorm2d(8)
        self.more = torch.nn.Conv2d(8, 8, 1) if wide else torch.nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.more(torch.relu(self.norm(self.conv(x))))


def layers(via: Literal["script", "trace"] = "script", wide: bool = False) -> fe.Trace:
    return fe.record(Layers(wide).eval(), (torch.zeros(1, 3, 8, 8),), measure=None, via=via).trace


def resnet(optimize_numerics: bool) -> fe.Trace:
    options = fe.TorchScriptOptions(optimize_numerics=optimize_numerics)
    return fe.record("example:resnet18", measure=None, options=options).trace


def counter() -> fe.Trace:
    return fe.record("example:counter", measure=fe.Measure(seconds=0.5)).trace


KINDS: dict[str, Callable[[], tuple[fe.Trace, fe.Trace]]] = {
    "resnet": lambda: (resnet(True), resnet(False)),
    "counter": lambda: (counter(), counter()),
    "traced": lambda: (layers(), layers(via="trace")),
    "wider": lambda: (layers(), layers(wide=True)),
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Writes each kind of page once."""
    return each_once(tmp_path_factory.mktemp("comparisons"), lambda kind, path: write_comparison(KINDS[kind](), path))


@pytest.fixture
def opened(page: Page, pages: Callable[[str], Path]) -> Opener:
    """Opens a comparison at a fragment."""
    return lambda kind, fragment="": open_at(page, pages(kind), fragment)


def shown(page: Page) -> tuple[int | None, int | None]:
    state = page.evaluate("viewer.state()")
    return state["against"], state["step"]


def test_the_first_pass_that_differs_is_shown_first(opened: Opener):
    page = opened("resnet")
    expect(page.locator(".fv-pair[aria-selected=true]")).to_contain_text("FoldFrozenConvBatchnorm")
    expect(page.locator(".fv-pair[aria-selected=true]")).to_contain_text("only A")
    expect(page.locator(".fv-summary")).to_contain_text("only A runs this pass")
    expect(page.locator(".fv-facts")).to_contain_text("8 of 23")


def test_only_differences_can_be_listed(opened: Opener):
    page = opened("resnet")
    expect(page.locator(".fv-pair")).to_have_count(23)
    page.locator(".fv-passes").get_by_label("Only differences").check()
    expect(page.locator(".fv-pair")).to_have_count(8)
    page = opened("counter")
    page.locator(".fv-passes").get_by_label("Only differences").check()
    expect(page.locator(".fv-passes-list")).to_contain_text("No pass differs.")


def test_two_recordings_of_one_model_are_the_same(opened: Opener):
    page = opened("counter", "tab=ir")
    expect(page.locator(".fv-title")).to_contain_text("the same in both")
    expect(page.locator(".fv-bar:visible")).to_contain_text("read the same")
    assert page.locator(".fv-line-added, .fv-line-removed").count() == 0


def test_keys_walk_the_rows_and_links_lead_back(opened: Opener):
    page = opened("wider")
    first = shown(page)
    page.keyboard.press("ArrowDown")
    second = shown(page)
    assert second[0] is not None
    assert first != second
    fragment = page.evaluate("location.hash").lstrip("#")
    assert shown(opened("wider", fragment)) == second
    page.keyboard.press("ArrowUp")
    assert shown(page) == first


def test_any_two_steps_can_be_put_together(opened: Opener):
    page = opened("wider")
    rows = page.locator(".fv-pair")
    rows.nth(3).click()
    rows.nth(9).locator("[data-side=b]").click()
    against, step = shown(page)
    count = page.evaluate("viewer.model.steps.filter((step) => step.side === 0).length")
    assert (against, step) == (3, count + 9)
    expect(page.locator(".fv-summary")).to_contain_text("A 3")
    expect(page.locator(".fv-summary")).to_contain_text("B 9")
    assert shown(opened("wider", f"step={step}&against={against}")) == (3, count + 9)


def test_steps_of_one_trace_are_not_held_against_each_other(opened: Opener):
    page = opened("wider", "step=5&against=2")
    assert shown(page) == (5, page.evaluate("viewer.model.passRows[5].b"))


def test_attributes_show_both_fates_those_that_differ_first(opened: Opener):
    page = opened("resnet", "tab=attributes")
    row = page.locator(".fv-two-fates .fv-virtual .fv-table-row").first
    expect(row).to_contain_text("folded")
    expect(row).to_contain_text("inlined")
    row.click()
    details = page.locator(".fv-details")
    expect(details.locator(".fv-side-head")).to_have_count(2)
    expect(details.get_by_role("link", name="A 15 FoldFrozenConvBatchnorm").first).to_be_visible()


def test_every_tab_opens(opened: Opener):
    for kind in ("traced", "wider"):
        page = opened(kind)
        for tab in TABS:
            page.get_by_role("tab", name=tab_name(tab)).click()
            settle(page)
            expect(page.locator(f"[role=tabpanel][id$=pane-{tab}]")).to_be_visible()


def tab_name(tab: str) -> str:
    return {"ir": "IR diff", "environment": "Settings", "aliases": "Aliases & writes"}.get(tab, tab.capitalize())


def test_charts_lead_to_both_traces(opened: Opener):
    page = opened("wider", "tab=charts")
    expect(page.locator(".bk-Canvas").first).to_be_visible()
    page.evaluate("viewer.panels.get('charts').choose(7.14)")
    assert shown(page) == (7, page.evaluate("viewer.model.passRows[7].b"))


def test_settings_that_differ_are_named(opened: Opener):
    page = opened("resnet", "tab=environment")
    panel = page.locator(".fv-two-settings")
    expect(panel).to_contain_text("optimize_numerics")
    expect(panel.get_by_role("row", name="options optimize_numerics")).to_contain_text("TrueFalse")


def test_the_page_offers_what_its_host_can_do(opened: Opener):
    page = opened("counter")
    page.evaluate(
        """() => {
          const [{ graph, model }, element] = [viewer, document.getElementById("viewer")];
          viewer.destroy();
          const actions = [{ id: "swap", label: "Swap", run: () => (globalThis.swapped = true) }];
          const data = { view: model.view, graph, comparison: model.comparison, options: { actions } };
          globalThis.viewer = FreezerViewer.mount(element, data);
        }"""
    )
    page.get_by_role("button", name="Swap", include_hidden=True).first.dispatch_event("click")
    assert page.evaluate("swapped")


ONLY_IN = """(side) => {
    const { model, pair } = viewer;
    const sides = side === "b" ? [pair.after, pair.before] : [pair.before, pair.after];
    const [own, other] = sides.map(({ index }) => model.graph(index).nodes);
    return [...own.keys()].find((id) => !other.has(id) && own.get(id).op.startsWith("aten::"));
}"""


def test_a_node_says_whose_it_is_and_what_became_of_it_in_both(opened: Opener):
    page = opened("resnet")
    details = page.locator(".fv-details")
    page.evaluate("viewer.select([...viewer.model.graph(viewer.pair.after.index).nodes.keys()].at(-1))")
    history = details.locator("section", has=page.get_by_role("heading", name="History"))
    expect(history.get_by_role("link")).to_contain_text(["A ", "B "])
    page.evaluate(f"viewer.select(({ONLY_IN})('b'))")
    expect(details.locator(".fv-details-title")).to_contain_text("+ only in B")


def test_alias_sets_stand_side_by_side(opened: Opener):
    page = opened("counter", "tab=aliases")
    page.evaluate("viewer.setStep(viewer.model.steps.find((step) => step.aliases !== null).index)")
    tables = page.get_by_role("table", name="Alias sets")
    expect(tables).to_have_count(2)
    for side in (0, 1):
        expect(page.locator(".fv-split .fv-side-head").nth(side)).to_contain_text("AB"[side])
    page.get_by_label("Filter alias sets").first.fill("no such value")
    expect(page.locator(".fv-split").get_by_role("status")).to_contain_text(["0 of", "0 of"])


def test_the_key_sheet_speaks_of_two_traces(opened: Opener):
    page = opened("counter")
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys and signs")
    expect(sheet).to_contain_text("leave only what differs")
    expect(sheet).to_contain_text("nodes only in A, only in B")
    expect(sheet).not_to_contain_text("without effect")


def test_a_phone_has_the_passes_in_a_drawer(opened: Opener):
    page = opened("wider")
    resize(page, 390, 844)
    rows = page.locator(".fv-pair")
    expect(rows.first).to_be_hidden()
    page.get_by_role("button", name="Passes").click()
    rows.nth(4).click()
    expect(rows.first).to_be_hidden()
    assert shown(page)[0] == 4
    for tab in TABS:
        page.get_by_role("tab", name=tab_name(tab)).click()
        settle(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, tab


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with the comparison in a shadow root."""
    path = tmp_path_factory.mktemp("hosted") / "page.html"
    path.write_text(host_page(comparison_data(*KINDS["wider"]())), encoding="utf-8")
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_shadow_root_axe_finds_nothing_serious(page: Page, hosted: Path, scheme: str):
    page.goto(hosted.as_uri())
    page.evaluate(f"start({{theme: '{scheme}', state: {{attribute: 'conv.weight'}}}}) && null")
    for number in range(1, 10):
        page.keyboard.press(str(number))
        settle(page)
        painted(page)
        assert serious_findings(page) == [], number
    page.keyboard.press("ArrowDown")
    page.evaluate(
        "viewer.navigate({ tab: 'graph', attribute: null, "
        "node: [...viewer.model.graph(viewer.current.step).nodes.keys()].at(-1) })"
    )
    settle(page)
    assert serious_findings(page) == []
