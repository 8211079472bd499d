"""The tab Quantisation in a real browser, of finished traces of quantised models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import freeze_engine as fe
from freeze_engine.trace import LayerError, OutputError
from tests.browser.accessibility import serious_findings
from tests.browser.pages import each_once, open_at, settle
from tests.builders import small_trace
from viewer.report import write_report

GOLDEN = Path(__file__).parents[1] / "golden"


def compared() -> fe.Trace:
    """Returns a model whose first layer was compared with that of the float model."""
    errors = (OutputError("weight", 0.5, 0.25, 40.0, 0, False), OutputError("output", 0.1, 0.2, 12.34, 0, False))
    return replace(fe.load(GOLDEN / "quantised_pt2e.fztrace"), layer_errors=(LayerError("0", errors),))


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    kinds = {
        "undone": lambda: fe.load(GOLDEN / "quantised_weight_only_float32.fztrace"),
        "compared": compared,
        "small": small_trace,
    }
    return each_once(tmp_path_factory.mktemp("quantised"), lambda kind, path: write_report(kinds[kind](), path))


def test_layers_that_freezing_undid_are_shown_with_the_pass_and_the_pattern(
    page: Page, reports: Callable[[str], Path]
) -> None:
    open_at(page, reports("undone"), "tab=quantisation")
    expect(page.get_by_role("tab", selected=True)).to_contain_text("Quantisation")
    panel = page.get_by_role("region", name="Quantisation")
    expect(panel).to_contain_text("5 layers: 4 undone by freezing; 1 not quantised")
    row = panel.locator("tr", has_text="block.0").first
    expect(row).to_contain_text("undone by")
    expect(row).to_contain_text("int8 → float32")
    expect(panel.locator(".fv-quantisation-patterns").first).to_contain_text("int8 weight-only matrix product")
    expect(panel.get_by_label("did not match").first).to_be_visible()
    expect(panel).to_contain_text("Record it again with the float model, --float-model MODEL")
    expect(panel.get_by_role("columnheader", name="Error against the float model")).to_have_count(0)
    assert serious_findings(page) == []


def test_a_layer_leads_to_its_node_and_shows_its_error(page: Page, reports: Callable[[str], Path]) -> None:
    open_at(page, reports("compared"), "tab=quantisation")
    panel = page.get_by_role("region", name="Quantisation")
    expect(panel.get_by_role("columnheader", name="Error against the float model")).to_be_visible()
    row = panel.get_by_role("row").nth(1)
    expect(row).to_contain_text("weight 5.0e-01, 40.0 dB")
    expect(row).to_contain_text("output 1.0e-01, 12.3 dB")
    expect(panel).to_contain_text("The worst output is that of 0 (12.3 dB of signal over error).")
    row.get_by_role("link", name="0 in the graph").click()
    settle(page)
    expect(page.get_by_role("tab", selected=True)).to_contain_text("Graph")
    state = page.evaluate("viewer.state()")
    layer = compared().steps[state["step"]]
    assert state["node"] in {node.id for node in layer.graph.walk()}


def test_a_model_without_quantised_weights_has_no_such_tab(page: Page, reports: Callable[[str], Path]) -> None:
    open_at(page, reports("small"), "")
    expect(page.get_by_role("tab", name="Attributes")).to_be_visible()
    expect(page.get_by_role("tab", name="Quantisation")).to_have_count(0)
