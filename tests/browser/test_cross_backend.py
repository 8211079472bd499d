"""Two traces of different backends side by side in a real browser; `page` fails a test on any error and any request."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessibility import serious_findings
from tests.browser.pages import open_at, settle
from tests.two_backends import inductor, torchscript
from viewer.report import render_comparison

Opener = Callable[..., Page]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("across") / "across.html"
    path.write_text(render_comparison(torchscript(), inductor()), encoding="utf-8")
    return path


@pytest.fixture
def opened(page: Page, written: Path) -> Opener:
    return lambda fragment="": open_at(page, written, fragment)


def test_the_purposes_are_shown_first(opened: Opener):
    page = opened()
    expect(page.get_by_role("tab", selected=True)).to_contain_text("Side by side")
    row = page.locator(".fv-across tr", has_text="fold into convolutions")
    expect(row).to_contain_text("FoldFrozenConvBatchnorm ×2")
    expect(row).to_contain_text("−2 +1 1 conv_bn")
    expect(row).to_contain_text("binary_folding ×2")
    expect(row).to_contain_text("−4 +2 1 conv_add, 1 conv_mul")
    expect(row).to_contain_text("only here: other.bn")
    expect(page.locator(".fv-across tr", has_text="unroll loops")).to_contain_text("Dynamo runs Python's loops")
    expect(page.locator(".fv-facts")).to_contain_text("2 met another fate")


def test_a_pass_opens_with_what_it_did_to_its_own_graph(opened: Opener):
    page = opened()
    page.locator(".fv-across").get_by_role("link", name="binary_folding").first.click()
    settle(page)
    assert page.evaluate("[viewer.state().step, viewer.state().tab]") == [6, "graph"]
    expect(page.locator(".fv-summary")).to_contain_text("B 2")
    assert page.evaluate("[viewer.pair.before.index, viewer.pair.after.index]") == [5, 6]
    again = opened(page.evaluate("location.hash").lstrip("#"))
    assert again.evaluate("[viewer.state().step, viewer.state().tab]") == [6, "graph"]


def test_each_pass_has_the_number_of_its_own_trace(opened: Opener):
    page = opened()
    numbers = page.locator(".fv-pass .fv-pass-index").all_inner_texts()
    assert numbers == ["0", "1", "2", "3", "0", "1", "2", "3", "4"]


def test_a_step_is_never_compared_with_one_of_the_other_trace(opened: Opener):
    page = opened("step=6&against=2")
    assert page.evaluate("[viewer.state().against, viewer.pair.before.index]") == [None, 5]
    page = opened("step=7&against=5")
    assert page.evaluate("[viewer.state().against, viewer.pair.before.index]") == [5, 5]


def test_an_attribute_shows_both_fates_with_their_reasons(opened: Opener):
    page = opened("tab=attributes&attribute=conv.weight")
    details = page.locator(".fv-details")
    expect(details).to_contain_text("net, torchscript")
    expect(details).to_contain_text("net, inductor")
    expect(details).to_contain_text("folded")
    expect(details).to_contain_text("preserved")
    expect(page.locator(".fv-two-fates")).not_to_contain_text("training")


@pytest.mark.parametrize("tab", ["graph", "attributes", "rewrites", "aliases", "ir", "code", "environment", "pairs"])
def test_every_view_opens_without_a_chosen_pass(tab: str, opened: Opener):
    page = opened()
    page.evaluate(f"viewer.navigate({{ tab: {tab!r} }})")
    settle(page)
    assert page.evaluate("viewer.state().tab") == tab


def test_keys_walk_the_passes_of_both(opened: Opener):
    page = opened("step=3")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("viewer.state().step") == 4
    page.keyboard.press("f")
    assert page.evaluate("viewer.state().step") == 6


def test_nothing_serious_stands_in_the_way(opened: Opener):
    assert serious_findings(opened()) == []
