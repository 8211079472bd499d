"""Repeated modules in the graph: one box with a count, the way to each of them, and what differs among them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import freeze_engine as fe
from freeze_engine.trace import Environment, GraphSnapshot, Node, Step, Value
from tests.browser.accessibility import serious_findings
from tests.browser.pages import open_at, settle, until
from viewer.report import write_report

VIEW = "viewer.panels.get('graph').view"
LAYERS = 6


def layer(number: int, before: str, ops: tuple[str, ...]) -> Iterator[Node]:
    for op in ops:
        name = f"{op}{number}"
        path = f"encoder.layer.{number}.{op}"
        yield Node(name, f"aten::{op}", (before,), (Value(name, "Float(4, 4)"),), module=path)
        before = name


def network() -> fe.Trace:
    """Six layers; a pass leaves the gelu out of all but the third one."""

    def graph(lacking: frozenset[int]) -> GraphSnapshot:
        nodes: list[Node] = []
        for number in range(LAYERS):
            ops = ("linear", "gelu", "neg") if number not in lacking else ("linear", "neg")
            nodes += layer(number, nodes[-1].id if nodes else "x", ops)
        return GraphSnapshot((Value("x", "Float(4, 4)"),), tuple(nodes), (nodes[-1].id,))

    steps = (
        Step(0, "input", "input", "forward", graph(frozenset()), changed=True),
        Step(1, "freeze_module", "Drop", "forward", graph(frozenset(range(LAYERS)) - {2}), changed=True),
    )
    place = Environment("2.13.0", "3.11", "Linux", "a CPU", (), 1)
    return fe.Trace("layers", "torchscript", "", (), (), place, steps)


@pytest.fixture
def opened(page: Page, tmp_path: Path) -> Page:
    path = tmp_path / "report.html"
    write_report(network(), path)
    page.set_viewport_size({"width": 1280, "height": 800})
    return open_at(page, path, "step=1&tab=graph")


def labels(page: Page) -> list[str]:
    shown = f"{VIEW}.picture.scene.items.filter((item) => item.group && item.group.id).map((item) => item.group.label)"
    found: list[str] = page.evaluate(shown)
    return found


def test_layers_of_one_structure_are_one_box_and_each_can_be_reached(opened: Page) -> None:
    opened.evaluate(f"{VIEW}.groups.collapseAll()")
    settle(opened)
    opened.evaluate(f"{VIEW}.groups.expand('encoder')")
    settle(opened)
    assert labels(opened) == ["encoder.layer", "layer.0", "layer.1", "layer.2", "layer.3–5 × 3"]
    opened.evaluate("viewer.navigate({ node: 'encoder.layer.3×' })")
    details = opened.get_by_role("complementary", name="Details")
    expect(details).to_contain_text("3 modules of one structure")
    expect(details).to_contain_text("layer.2 differs: +1 gelu")
    details.get_by_role("link", name="layer.4", exact=True).click()
    expect(details).to_contain_text("module, 2 of 3 alike")
    until(opened, f"{VIEW}.selection.item > 0 && {VIEW}.state().expanded.includes('encoder.layer.3×+')")
    details.get_by_role("link", name="layer.5 ›").click()
    expect(details).to_contain_text("module, 3 of 3 alike")
    assert not serious_findings(opened)


def test_a_search_opens_the_rest_where_it_hides_a_match(opened: Page) -> None:
    opened.evaluate(f"{VIEW}.groups.collapseAll()")
    settle(opened)
    field = opened.get_by_role("searchbox", name="Search nodes")
    field.fill("/^neg5$/")
    field.press("Enter")
    until(opened, f"{VIEW}.selection.item > 0 && {VIEW}.picture.scene.idOf({VIEW}.selection.item) === 'neg5'")
    assert "layer.4–5: 2 like it" in labels(opened)
