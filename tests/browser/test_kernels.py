"""Kernels, findings and how they lead to nodes and passes, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessibility import serious_findings
from tests.browser.pages import painted, resize, state
from tests.builders import small_trace
from tests.kernel_traces import kernel_trace
from viewer.report import write_report

Opener = Callable[..., Page]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("kernels")
    bare = small_trace()
    unmeasured = tuple(replace(step, latency=(), numerics=()) for step in bare.steps)
    traces = {
        "kernels": kernel_trace(),
        "bare": replace(
            bare,
            call="fe.record(model, inputs, measure=None)",
            steps=unmeasured,
            baselines=(),
            checks=(),
            memory=None,
            programs=(),
            ablation=(),
        ),
    }
    for name, trace in traces.items():
        write_report(trace, folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in traces}


@pytest.fixture
def opened(page: Page, reports: dict[str, Path]) -> Opener:
    def open_report(fragment: str, kind: str = "kernels") -> Page:
        page.goto("about:blank")
        page.goto(f"{reports[kind].as_uri()}#{fragment}")
        expect(page.locator(".fv-tab[aria-selected=true]")).to_be_visible()
        page.evaluate("viewer.panels.get('graph').turn")
        return page

    return open_report


def test_a_kernel_leads_to_its_code_its_source_and_its_nodes(opened):
    page = opened("tab=kernels&step=2")
    page.get_by_role("option", name="extern_kernels.convolution").click()
    details = page.get_by_role("complementary", name="Details")
    expect(details).to_contain_text("call 1 of 2, compiled with freezing")
    expect(details).to_contain_text("1.50 µs (1.40–1.70 µs)")
    expect(details.locator(".fv-source-here")).to_have_count(1)
    expect(page.locator(".fv-code .fv-chosen")).to_contain_text("buf0 = extern_kernels.convolution(args)")
    details.get_by_role("link", name="Show in the graph").click()
    shown = state(page)
    assert (shown["tab"], shown["step"], shown["kernel"], shown["node"]) == ("graph", 10, 0, None)
    view = "viewer.panels.get('graph').view"
    assert page.evaluate(f"[Object.keys({view}.marks), {view}.selection.id]") == [["y"], "y"]
    page.keyboard.press("Escape")
    assert state(page)["kernel"] is None
    assert "y" not in page.evaluate(f"Object.keys({view}.marks)")


def test_a_node_leads_to_its_kernels_or_says_why_it_has_none(opened):
    page = opened("step=10&node=y")
    details = page.get_by_role("complementary", name="Details")
    expect(details).to_contain_text("extern_kernels.plain compiled")
    details.get_by_role("link", name="extern_kernels.convolution").click()
    shown = state(page)
    assert (shown["tab"], shown["program"], shown["kernel"], shown["node"]) == ("kernels", 0, 0, None)
    page.evaluate("viewer.navigate({node: 'seen', kernel: null, tab: 'graph'})")
    expect(details).to_contain_text("none: a view: moves no data")


def test_kernels_are_chosen_from_the_keyboard_and_the_pass_stays(opened):
    page = opened("tab=kernels&step=2")
    page.get_by_role("listbox", name="Kernels in call order").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    shown = state(page)
    assert (shown["kernel"], shown["step"]) == (1, 2)
    expect(page.get_by_role("option", name="cpp_fused_relu_0")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".fv-code .fv-chosen")).to_have_count(4)  # three lines of the kernel, and its call
    page.keyboard.press("/")
    page.keyboard.type("convol")
    expect(page.locator(".fv-kernel")).to_have_count(1)
    expect(page.locator(".fv-bar")).to_contain_text(["1 of 2 kernels, 3.00 µs in all"])


def test_both_programs_stand_side_by_side(opened):
    page = opened("tab=kernels")
    page.get_by_role("button", name="compiled", exact=True).click()
    expect(page.get_by_text("The generated code was not kept.")).to_be_visible()
    page.get_by_text("2 passes made it, 1 changed something").click()
    expect(page.get_by_role("cell", name="pointless_view")).to_be_visible()
    page.get_by_role("button", name="Side by side").click()
    both = page.get_by_role("region", name="Both programs")
    expect(both).to_contain_text("2 kernels with freezing, 1 without; by the work they do: 1 differ")
    both.get_by_role("link", name="extern_kernels.plain").click()
    shown = state(page)
    assert (shown["beside"], shown["program"], shown["kernel"]) == (True, 1, 0)
    expect(both.locator("tr.fv-chosen")).to_contain_text("extern_kernels.convolution")


@pytest.mark.parametrize("fragment", ["tab=kernels&program=9&kernel=7", "program=x&kernel=-1&tab=kernels"])
def test_a_link_to_a_kernel_that_is_not_there_opens_the_view(opened, fragment):
    shown = state(opened(fragment))
    assert (shown["tab"], shown["program"], shown["kernel"]) == ("kernels", 0, None)


def test_a_trace_without_programs_has_no_tab_for_them(opened):
    page = opened("tab=kernels", "bare")
    assert state(page)["tab"] == "graph"
    assert page.get_by_role("tab", name="Kernels").count() == 0


def test_findings_lead_to_passes_and_checks_open_from_the_keyboard(opened):
    page = opened("tab=findings")
    panel = page.get_by_role("region", name="Findings")
    check = panel.locator("summary", has_text="round trip")
    expect(panel.get_by_text("max abs error 0.5")).to_be_visible()  # what failed stands open
    check.focus()
    page.keyboard.press("Enter")
    expect(panel.get_by_text("max abs error 0.5")).to_be_hidden()
    expect(panel).to_contain_text("(one of 11% or more would have shown)")
    expect(panel.get_by_role("listitem")).to_contain_text(["2 outliers left out"])
    panel.get_by_role("link", name="6 ConstantPropagation").click()
    assert (state(page)["step"], state(page)["tab"]) == (6, "findings")
    expect(panel.locator("tr.fv-chosen")).to_contain_text("12% less time (8 to 16%)")
    inside = page.evaluate(
        """[...document.querySelectorAll('.fv-ratio')].every((bar) => [...bar.children].every((part) => {
            const [outer, inner] = [bar.getBoundingClientRect(), part.getBoundingClientRect()];
            return inner.left >= outer.left - 5 && inner.right <= outer.right + 5;
        }))"""
    )
    assert inside


def test_unmeasured_parts_name_the_remedy_and_show_no_empty_table(opened):
    page = opened("tab=findings", "bare")
    panel = page.get_by_role("region", name="Findings")
    assert panel.locator("h3").all_text_contents() == ["Not recorded"]
    expect(panel).to_contain_text("leave out --no-latency and --no-measure")
    expect(panel).to_contain_text("--check all")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (2560, 1440)])
def test_nobody_is_kept_out(opened, scheme, width, height):
    page = opened("tab=findings")
    page.emulate_media(color_scheme=scheme)
    resize(page, width, height)
    for shown in ("tab: 'findings'", "tab: 'kernels', kernel: 1", "beside: true"):
        page.evaluate(f"viewer.navigate({{{shown}}})")
        painted(page)
        assert serious_findings(page) == []
