"""Findings and kernels of two traces in a real browser; `page` fails a test on any error and any request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import freeze_engine as fe
from freeze_engine.trace import Interval
from tests.browser.accessibility import serious_findings
from tests.browser.pages import each_once, open_at, resize, settle, until, write_comparison
from tests.kernel_traces import kernel_trace
from viewer.notebook.content import one_trace, two_traces
from viewer.report import render_report

Opener = Callable[..., Page]
SLOWER = Interval(9000.0, 8000.0, 9900.0)


def other() -> fe.Trace:
    """Returns a trace of which a check passes, a pass costs time, and a kernel takes longer."""
    trace = kernel_trace()
    latency = replace(trace.steps[6].latency[0], previous=Interval(1.2, 1.1, 1.3), change="slower")
    steps = [replace(step, latency=(latency,)) if step.index == 6 else step for step in trace.steps]
    # The pace of the runs is not known, or one kernel of six times the time would be the only thing to go by.
    steps[0] = replace(steps[0], latency=())
    frozen, unfrozen = trace.programs
    convolution, relu = frozen.kernels
    kernels = (replace(convolution, time_ns=SLOWER), replace(relu, name="cpp_fused_relu_add_3"))
    return replace(
        trace,
        name="other",
        steps=tuple(steps),
        checks=tuple(replace(check, verdict="passed") for check in trace.checks),
        programs=(replace(frozen, kernels=kernels), unfrozen),
    )


def without_kernels() -> fe.Trace:
    return replace(kernel_trace(), name="plain", programs=())


def inductor() -> fe.Trace:
    return replace(kernel_trace(), name="compiled", backend="inductor")


TOO_WIDE = """[...document.querySelectorAll('.fv-scroll')]
    .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.className)"""


def without_the_fold() -> fe.Trace:
    """Returns the trace of a freeze that left out the fold of step 8."""
    trace = kernel_trace()
    before = trace.steps[6].graph
    late = {step.index for step in trace.steps[8:] if step.method == "forward"}
    steps = tuple(
        replace(step, graph=before, rewrites=(), numerics=()) if step.index in late else step for step in trace.steps
    )
    return replace(trace, steps=steps, attributes=(), near_misses=(), notices=(), programs=())


KINDS: dict[str, Callable[[], tuple[fe.Trace, fe.Trace]]] = {
    "two": lambda: (kernel_trace(), other()),
    "same": lambda: (kernel_trace(), kernel_trace()),
    "none": lambda: (without_kernels(), without_kernels()),
    "less": lambda: (kernel_trace(), without_the_fold()),
    "across": lambda: (without_kernels(), inductor()),
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    return each_once(tmp_path_factory.mktemp("tabs"), lambda kind, path: write_comparison(KINDS[kind](), path))


@pytest.fixture
def opened(page: Page, pages: Callable[[str], Path]) -> Opener:
    return lambda kind, fragment: open_at(page, pages(kind), fragment)


def test_differences_come_first_and_link_to_the_passes(opened: Opener):
    page = opened("two", "tab=findings")
    panel = page.get_by_role("region", name="Findings of both traces")
    expect(panel).to_contain_text("They differ in: What made it faster, Checks of the frozen module.")
    assert panel.locator("h3").all_inner_texts()[:3] == [
        "What made it faster ≠ differs",
        "Checks of the frozen module ≠ differs",
        "What changed the results = no difference",
    ]
    row = panel.get_by_role("row", name="ConstantPropagation")
    expect(row.locator("td").nth(0)).to_contain_text("12% less time (8 to 16%)measurably faster")
    expect(row.locator("td").nth(1)).to_contain_text("20% more time (10 to 30%)measurably slower")
    expect(row.locator(".fv-ratio-faster, .fv-ratio-slower")).to_have_count(2)
    row.get_by_role("link", name="ConstantPropagation").click()
    settle(page)
    assert page.evaluate("[viewer.state().against, viewer.state().step, viewer.state().tab]") == [6, 18, "findings"]
    expect(row).to_have_class("fv-chosen")


def test_without_a_difference_the_findings_say_so(opened: Opener):
    page = opened("same", "tab=findings")
    panel = page.get_by_role("region", name="Findings of both traces")
    expect(panel).to_contain_text("Nothing that was found differs by more than noise.")
    expect(page.get_by_role("tab", name="Findings")).to_have_text("Findings")
    expect(panel.locator(".fv-pair-new")).to_have_count(0)


def test_kernels_of_both_stand_in_one_row_and_a_ratio_only_beyond_noise(opened: Opener):
    page = opened("two", "tab=kernels")
    panel = page.get_by_role("region", name="Kernels of both traces")
    rows = panel.locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text("6.0 times the time of A (4.7 to 7.1)")
    expect(rows.nth(1)).to_contain_text("≠ other kernels")
    expect(rows.nth(1)).not_to_contain_text("×")
    expect(page.get_by_role("status").filter(has_text="1 the same, 1 differ")).to_be_visible()
    rows.nth(1).get_by_role("link", name="cpp_fused_relu_add_3").click()
    settle(page)
    assert page.evaluate("[viewer.state().program, viewer.state().kernel]") == [2, 1]
    expect(page.get_by_role("complementary", name="Details")).to_contain_text("call 2 of 2, B compiled with freezing")
    expect(rows.nth(1)).to_have_class("fv-chosen")


def test_kernels_can_be_filtered_and_the_same_ones_left_out(opened: Opener):
    page = opened("same", "tab=kernels")
    panel = page.get_by_role("region", name="Kernels of both traces")
    page.keyboard.press("/")
    page.keyboard.type("relu")
    expect(panel.locator("tbody tr")).to_have_count(1)
    page.get_by_role("toolbar", name="Kernels").get_by_label("Only differences").check()
    expect(panel).to_contain_text("No kernel matches.")
    page.get_by_label("Filter kernels").fill("")
    expect(panel).to_contain_text("Every kernel is the same in both.")
    page.get_by_role("button", name="compiled", exact=True).click()
    assert page.evaluate("viewer.state().program") == 1


def test_a_kernel_of_either_trace_leads_to_nodes_of_its_own_graphs(opened: Opener):
    page = opened("two", "tab=kernels&program=2&kernel=0")
    details = page.get_by_role("complementary", name="Details")
    details.get_by_role("link", name="Show in the graph").click()
    settle(page)
    assert page.evaluate("[viewer.state().against, viewer.state().step]") == [10, 22]
    page.evaluate("viewer.navigate({ node: 'y', kernel: null })")
    expect(details).to_contain_text("extern_kernels.convolution A compiled with freezing")
    expect(details).to_contain_text("extern_kernels.convolution B compiled with freezing")


def test_two_traces_without_kernels_have_no_tab_for_them(opened: Opener):
    page = opened("none", "tab=kernels")
    assert page.evaluate("viewer.state().tab") == "graph"
    assert page.get_by_role("tab", name="Kernels").count() == 0


def test_kernels_of_one_backend_have_no_counterpart(opened: Opener):
    page = opened("across", "tab=kernels")
    panel = page.get_by_role("region", name="Kernels of both traces")
    expect(panel).to_contain_text("TorchScript generates no kernels: its graph is run operator by operator.")
    expect(panel).to_contain_text("So no kernel of B below has a counterpart.")
    assert panel.locator("thead th").all_inner_texts() == ["B compiled", "Computes"]
    expect(panel.locator("tbody tr")).to_have_count(2)
    page.evaluate("viewer.navigate({ tab: 'findings' })")
    assert page.evaluate("[viewer.state().tab, viewer.state().step]") == ["findings", None]
    expect(page.get_by_role("region", name="Findings of both traces")).to_contain_text("no such pass")


def test_the_source_of_both_stands_in_one_listing_with_two_outcomes(opened: Opener):
    page = opened("less", "tab=source")
    expect(page.get_by_role("tab", name="Source")).to_have_text("Source1")
    facts = page.get_by_role("region", name="Line in both traces")
    expect(facts).to_contain_text("model.py:5 what is left of it, the passes that touched it")
    expect(page.locator(".fv-line:has(.fv-line-differs:not(:empty)) .fv-line-number")).to_have_text(["5"])
    facts.get_by_role("button", name="model.py:5").click()
    assert page.evaluate("viewer.state().line").endswith("model.py:5")
    expect(facts).to_contain_text("Differs: what is left of it, the passes that touched it")
    sides = facts.locator(".fv-duo-side")
    expect(sides.nth(0)).to_contain_text("2 operators rewritten (conv_bn)")
    expect(sides.nth(1)).not_to_contain_text("rewritten")
    sides.nth(1).get_by_role("link", name="B 4 AttributePropagation").click()
    settle(page)
    assert page.evaluate("[viewer.state().tab, viewer.pair.after.label]") == ["graph", "B 4"]


def test_only_the_lines_that_differ_are_left_with_some_around_them(opened: Opener):
    page = opened("less", "tab=source&quiet=1")
    numbers = page.locator(".fv-line-number")
    expect(numbers).to_have_text(["3", "4", "5", "6", "7"])
    page.get_by_label("Only differences").nth(1).uncheck()
    expect(numbers).to_have_count(13)


def test_the_keyboard_goes_through_the_lines_of_both(opened: Opener):
    page = opened("less", "")
    page.keyboard.press("s")
    expect(page.get_by_role("tab", name="Source")).to_have_attribute("aria-selected", "true")
    lines = page.get_by_role("listbox", name="Lines of model.py")
    lines.focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(lines.locator("[aria-selected=true] .fv-line-number")).to_have_text("5")
    page.get_by_role("tab", name="Graph", exact=True).click()
    settle(page)
    assert page.evaluate("Object.keys(viewer.panels.get('graph').view.marks)") != []
    page.get_by_role("tab", name="Source").click()
    page.get_by_role("listbox", name="Lines of model.py").locator("[aria-selected=true]").click()
    assert page.evaluate("viewer.state().line") == ""


@pytest.mark.parametrize("kind", list(KINDS))
def test_python_knows_the_tabs_of_two_traces(opened: Opener, kind: str):
    page = opened(kind, "")
    assert set(page.evaluate("[...viewer.panels.keys()]")) == set(two_traces(*KINDS[kind]()).choices.tabs)


@pytest.mark.parametrize("make", [kernel_trace, without_kernels, inductor])
def test_python_knows_the_tabs_of_one_trace(page: Page, tmp_path: Path, make: Callable[[], fe.Trace]):
    path = tmp_path / "one.html"
    path.write_text(render_report(make()), encoding="utf-8")
    page.goto(path.as_uri())
    until(page, "globalThis.viewer !== undefined")
    assert page.evaluate("[...viewer.panels.keys()]") == list(one_trace(make()).choices.tabs)


@pytest.mark.parametrize("width", [390, 600, 1440])
def test_nobody_is_kept_out_and_nothing_overflows(opened: Opener, width: int):
    page = opened("two", "tab=findings")
    resize(page, width, 900)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for shown in ("tab: 'findings', kernel: null", "tab: 'kernels', program: 2, kernel: 1"):
            page.evaluate(f"viewer.navigate({{{shown}}})")
            settle(page)
            assert serious_findings(page) == [], (scheme, shown)
            assert page.evaluate(TOO_WIDE) == [], (scheme, shown)


def test_two_traces_open_on_what_changed_and_each_change_leads_to_its_tab(page: Page, pages: Callable[[str], Path]):
    page.goto(pages("two").as_uri())
    until(page, "globalThis.viewer !== undefined")
    expect(page.get_by_role("tab", name="Summary")).to_have_attribute("aria-selected", "true")
    summary = page.get_by_role("region", name="Summary")
    expect(summary.get_by_role("heading", name="What changed from A to B")).to_be_visible()
    expect(summary).to_contain_text("check round trip: failed → passed")
    summary.get_by_role("link", name="Checks").press("Enter")
    expect(page.get_by_role("tab", name="Findings")).to_have_attribute("aria-selected", "true")
    page.get_by_role("tab", name="Graph").click()
    expect(page.get_by_role("region", name="Chosen pass").locator(".fv-summary-does")).to_contain_text(".")
