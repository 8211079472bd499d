"""The report in a real browser, opened from disk; `page` fails a test on any error and on any request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import freeze_engine as fe
from freeze_engine import analysis
from freeze_engine.trace import Failure, Notice, graph_lines
from tests.browser.chromium import PATIENCE_MS
from tests.browser.pages import each_once, open_at, painted, resize, settle, state, until
from tests.builders import empty_trace, failed_trace, small_trace, synthetic_trace
from viewer.report import write_report
from viewer.text.stats import stats_text

ATTACK = '</script><script>window.__pwned=1</script><img src=x onerror="window.__pwned=1"><!--'
LITERAL = {"origin", "backend", "change", "fate", "reason", "relation", "verdict", "reference"}

Opener = Callable[..., Page]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Writes each kind of report once."""
    kinds: dict[str, Callable[[], fe.Trace]] = {
        "small": small_trace,
        "failed": failed_trace,
        "empty": empty_trace,
        "large": lambda: synthetic_trace(3_000, 8),
        "hostile": lambda: poisoned(small_trace()),
        "hostile_failed": lambda: poisoned(failed_trace()),
    }

    return each_once(tmp_path_factory.mktemp("reports"), lambda kind, path: write_report(kinds[kind](), path))


@pytest.fixture
def opened(page: Page, reports: Callable[[str], Path]) -> Opener:
    """Opens a report at a fragment."""

    def open_page(kind: str = "small", fragment: str = "") -> Page:
        return open_at(page, reports(kind), fragment or ("step=2" if kind in ("small", "hostile") else ""))

    return open_page


def open_trace(page: Page, trace: fe.Trace, folder: Path, fragment: str = "") -> None:
    """Opens the report of a trace of a test's own."""
    write_report(trace, folder / "report.html")
    open_at(page, folder / "report.html", fragment)


def poisoned(value: Any, name: str = "") -> Any:
    """Puts an attack behind every text of a trace, names that must stay equal staying equal."""
    if isinstance(value, str):
        return value if name in LITERAL else value + ATTACK
    if isinstance(value, tuple):
        return tuple(poisoned(entry, name) for entry in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    literal = {"kind"} if isinstance(value, fe.AttributeFate) else set()
    changes = {
        field.name: poisoned(getattr(value, field.name), field.name)
        for field in fields(value)
        if field.name not in literal
    }
    return replace(value, **changes)


def tabs(page: Page) -> list[str]:
    """Returns the tabs that this trace has."""
    return page.evaluate("[...viewer.panels.keys()]")


def tab(page: Page, name: str) -> None:
    page.locator(f"#fv1-tab-{name}").click()


def press(page: Page, *keys: str) -> int:
    for key in keys:
        page.keyboard.press(key)
    return state(page)["step"]


def test_report_opens_at_the_first_pass_that_changed_something(opened):
    page = opened()
    assert page.title() == "Net « naïve » <b> – freeze report"
    expect(page.locator(".fv-summary h2")).to_have_text("Inline")
    expect(page.locator("[role=option][aria-selected=true] .fv-pass-name")).to_have_text("Inline")
    assert page.locator("[role=option]").count() == 12


def test_the_keyboard_walks_the_passes(opened):
    page = opened()
    assert press(page, "ArrowDown") == 4
    assert press(page, "ArrowDown", "ArrowDown") == 7
    assert press(page, "ArrowUp") == 6
    assert press(page, "f") == 8
    assert press(page, "f") == 5  # 9 and 10 changed nothing; then comes the other method
    assert press(page, "f") == 5
    assert press(page, "r", "r", "r") == 4
    assert press(page, "Home") == 4


def test_passes_without_effect_can_be_hidden(opened):
    page = opened()
    page.get_by_label("Hide passes without effect").check()
    shown = page.locator("[role=option]").evaluate_all("all => all.map((one) => Number(one.dataset.step))")
    assert shown == [0, 2, 4, 6, 8, 1, 5]
    page.keyboard.press("h")
    assert page.locator("[role=option]").count() == 12


def test_passes_are_filtered_by_name(opened):
    page = opened()
    page.get_by_label("Filter passes by name").fill("batchnorm")
    shown = page.locator("[role=option]").evaluate_all("all => all.map((one) => Number(one.dataset.step))")
    assert shown == [8, 10]
    page.get_by_label("Filter passes by name").fill("no such pass")
    expect(page.get_by_text("No pass matches.")).to_be_visible()
    page.keyboard.press("f")  # typed into the field, not a command
    assert state(page)["passes"] == "no such passf"


def test_one_click_from_an_attribute_to_the_write_that_blocks_it(opened):
    page = opened(fragment="tab=attributes&step=8")
    page.get_by_label("aten::add_ model.py:4 keeps count").click()
    now = state(page)
    assert (now["step"], now["node"], now["tab"]) == (2, "seen.1", "graph")
    assert page.evaluate("viewer.panels.get('graph').view.state().selection") == "seen.1"
    details = page.get_by_role("complementary", name="Details")
    expect(details.locator(".fv-source-here")).to_have_text("4        seen += 1")
    expect(details.locator(".fv-details-title")).to_contain_text("aten::add_")
    page.go_back()
    settle(page)
    assert state(page)["tab"] == "attributes"


def test_attribute_shows_the_evidence_of_its_verdict(opened):
    page = opened(fragment="tab=attributes")
    page.locator("[data-path='count']").click()
    details = page.get_by_role("complementary", name="Details")
    expect(details).to_contain_text("A preserved method writes its memory in place.")
    expect(details).to_contain_text("attribute: count in %count has inplace writer")
    expect(details.locator(".fv-chain li")).to_have_text(
        ["%seen = aten::view model.py:3", "%count = prim::GetAttr model.py:3"]
    )
    page.locator("[data-path='block.bn.weight'] a", has_text="%weight_fused_bn").click()
    assert (state(page)["step"], state(page)["node"]) == (10, "weight_fused_bn")
    expect(details).to_contain_text("Holds attribute")
    expect(details.get_by_role("link", name="block.bn.weight")).to_be_visible()


def test_attributes_are_filtered_and_sorted(opened):
    page = opened(fragment="tab=attributes")
    paths = "all => all.map((one) => one.dataset.path)"
    page.get_by_role("button", name="preserved 1 + 2 others").click()
    assert page.locator("[data-path]").evaluate_all(paths) == ["count", "meta", "meta.version"]
    page.get_by_label("All reasons").select_option("requested")
    assert page.locator("[data-path]").evaluate_all(paths) == ["meta.version"]
    page.get_by_label("Filter attributes").fill("nothing like this")
    expect(page.get_by_text("No attribute matches these filters.")).to_be_visible()
    page.evaluate("viewer.navigate({q: '', fate: [], reason: '', sort: '-bytes'})")
    assert page.locator("[data-path]").evaluate_all(paths)[:3] == ["block.conv.weight", "block.bn.weight", "count"]


def test_attributes_are_sorted_as_people_count(page, tmp_path):
    paths = [f"layers.{number}.weight" for number in (1, 10, 100, 2, 20)]
    fates = tuple(fe.AttributeFate(path, "parameter", "Tensor", None, None, 4, "inlined") for path in paths)
    open_trace(page, replace(small_trace(), attributes=fates), tmp_path, "tab=attributes")
    shown = page.locator("[data-path]").evaluate_all("all => all.map((one) => one.dataset.path)")
    assert shown == [f"layers.{number}.weight" for number in (1, 2, 10, 20, 100)]
    assert "layers.1.weight, layers.2.weight, layers.10.weight" in stats_text(replace(small_trace(), attributes=fates))


def test_submodules_and_flags_are_hidden_until_they_are_switched_on(page, tmp_path):
    def fate(path, kind, fate):
        return fe.AttributeFate(path, kind, "bool", None, None, 0, fate)

    fates = (
        fate("block", "submodule", "inlined"),
        fate("block.training", "attribute", "dropped"),
        fate("block.weight", "parameter", "inlined"),
        fate("block._hook", "attribute", "dropped"),
        fate("scale", "attribute", "dropped"),
        fate("training", "attribute", "preserved"),
    )
    open_trace(page, replace(small_trace(), attributes=fates), tmp_path, "tab=attributes")
    paths = "all => all.map((one) => one.dataset.path)"
    chips = page.get_by_role("group", name="Fates").get_by_role("button")
    assert page.locator("[data-path]").evaluate_all(paths) == ["block.weight", "training"]
    expect(page.get_by_text("1 + 1 other of 1 parameters and buffers")).to_be_visible()
    expect(page.locator(".fv-fates")).to_have_text("1 parameters and buffers1 inlinedand 1 other preserved")
    expect(chips).to_have_text(["inlined1", "preserved1 other"])
    page.get_by_label("Others (4)").check()
    assert page.locator("[data-path]").count() == 6
    expect(chips).to_have_text(["inlined1 + 1 other", "preserved1 other", "dropped3 others"])
    page.evaluate("viewer.navigate({minor: false, attribute: 'block.training'})")
    expect(page.locator("[data-path='block.training']")).to_be_visible()


def test_forward_comes_first_whatever_torch_froze_first(page, tmp_path):
    trace = small_trace()
    names = {"forward": "encode", "describe": "forward"}
    steps = tuple(replace(step, method=names[step.method]) for step in trace.steps)
    open_trace(page, replace(trace, steps=steps, attributes=()), tmp_path)
    first = page.locator("[role=option]").first
    assert first.get_attribute("data-step") == "1"
    assert page.evaluate("viewer.model.step(viewer.state().step).method") == "forward"


def test_notices_appear_in_the_header_and_at_their_pass(opened):
    page = opened()
    page.get_by_role("button", name="notice").click()
    assert state(page)["tab"] == "environment"
    marked = page.locator("[role=option]:has([aria-label=notice])")
    assert marked.evaluate_all("all => all.map((one) => Number(one.dataset.step))") == page.evaluate(
        "viewer.model.steps.filter((step) => step.notices.length && !step.numerics.some((entry) => entry.reference "
        "=== 'eager' && !entry.close)).map((step) => step.index)"
    )


def test_the_sheet_explains_keys_and_signs(opened):
    page = opened()
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys and signs")
    for words in ("nodes that a pass removed, added, changed", "95% interval", "past torch's tolerances", "the fate"):
        expect(sheet).to_contain_text(words)


def test_a_long_table_keeps_few_rows_in_the_page(opened):
    page = opened("large", "tab=attributes")
    rows = page.evaluate("viewer.model.attributes.length")
    assert rows > 1000
    assert page.locator("[data-path]").count() < 80
    page.locator("#fv1-pane-attributes [role=rowgroup]").focus()
    page.keyboard.press("End")
    paths = page.evaluate("viewer.model.attributes.map((one) => one.path)")
    last = max(paths, key=analysis.natural_order)
    expect(page.locator(f"[data-path='{last}']")).to_be_visible()
    assert state(page)["attribute"] == last


def test_the_text_of_every_step_is_what_the_trace_prints(opened):
    page = opened()
    for step in small_trace().steps:
        script = f"viewer.model.graph({step.index}).lines.map((line) => FreezerViewer.lineText(line))"
        assert page.evaluate(script) == list(graph_lines(step.graph))


def test_ir_diff_shows_the_changed_lines(opened):
    page = opened(fragment="tab=ir&step=8")
    lines = page.locator("#fv1-pane-ir .fv-code-line")
    removed, added = (page.locator(f"#fv1-pane-ir .fv-line-{kind}") for kind in ("removed", "added"))
    expect(page.get_by_text("9 lines changed")).to_be_visible()
    expect(removed).to_have_count(5)
    expect(added).to_have_count(4)
    expect(added.nth(2).locator("mark")).to_have_text("%weight_fused_bn, %bias_fused_bn")
    folded = lines.count()
    page.get_by_role("button", name="7 unchanged lines").click()
    assert lines.count() == folded + 6
    added.nth(2).click()
    assert state(page)["node"] == "y"
    expect(page.get_by_role("complementary", name="Details")).to_contain_text("Changed in this pass")


def test_the_diff_of_every_step_rebuilds_both_texts(opened):
    page = opened()
    for step in small_trace().steps:
        rows = page.evaluate(
            f"viewer.model.pair({step.index}).lines().map((row) => [row.kind, FreezerViewer.lineText(row.line)])"
        )
        before = small_trace().before(step)
        assert [text for kind, text in rows if kind != "removed"] == list(graph_lines(step.graph))
        if before is not None:
            assert [text for kind, text in rows if kind != "added"] == list(graph_lines(before.graph))


def test_a_link_opens_the_same_view_again(opened, browser, problems):
    page = opened()
    page.keyboard.press("f")
    page.evaluate("viewer.navigate({node: 'count', quiet: true, passes: 'prop', q: 'a&b=c#d', fate: ['folded']})")
    tab(page, "ir")
    wanted = state(page)
    fresh = browser.new_page()
    fresh.set_default_timeout(PATIENCE_MS)
    fresh.on("pageerror", lambda error: problems.append(str(error)))
    fresh.goto(page.url)
    until(fresh, "globalThis.viewer !== undefined")
    assert state(fresh) == wanted
    expect(fresh.locator("#fv1-tab-ir")).to_have_attribute("aria-selected", "true")
    fresh.close()


@pytest.mark.parametrize(
    ("fragment", "tab"),
    [
        ("step=999&tab=nothing", "graph"),
        ("step=-1", "summary"),  # as if it said nothing
        ("fate=unknown&sort=unknown&x=y", "graph"),
        ("%%%", "summary"),
    ],
)
def test_a_broken_link_still_opens_a_view(opened, fragment, tab):
    page = opened(fragment=fragment)
    assert (state(page)["step"], state(page)["tab"]) == (8, tab)


def test_a_link_to_an_unknown_node_says_so(opened):
    page = opened(fragment="node=no-such-node")
    expect(page.locator(".fv-toast")).to_contain_text("no-such-node")


def test_node_panel_shows_history_and_neighbours(opened):
    page = opened(fragment="step=8&node=y")
    details = page.get_by_role("complementary", name="Details")
    expect(details.locator("ol.fv-list li")).to_have_text(
        ["2 Inline added", "4 AttributePropagation inputs changed", "8 FoldFrozenConvBatchnorm inputs changed"]
    )
    details.get_by_role("link", name="%bias_fused_bn").click()
    assert state(page)["node"] == "bias_fused_bn"
    expect(details.locator(".fv-section", has_text="Constant")).to_contain_text("8 B")
    page.keyboard.press("Escape")
    expect(details).to_be_hidden()


def test_rewrites_near_misses_aliases_and_code(opened):
    page = opened(fragment="tab=rewrites&step=8")
    expect(page.locator("#fv1-pane-rewrites")).to_contain_text("Rewrites (1)")
    page.get_by_role("button", name="All passes").click()
    expect(page.locator("#fv1-pane-rewrites")).to_contain_text("Near misses (1)")
    expect(page.get_by_text("Add a constant instead of the counter.")).to_be_visible()
    tab(page, "aliases")
    expect(page.locator("#fv1-pane-aliases")).to_contain_text("No alias analysis was recorded for this pass.")
    page.locator("#fv1-pane-aliases").get_by_role("link", name="2 Inline").click()
    expect(page.locator("#fv1-pane-aliases")).to_contain_text("3 of 3 relations, 1 write")
    expect(page.locator(".fv-wildcard [data-term=wildcard]")).to_have_text("WILDCARD for type Tensor")
    tab(page, "code")
    expect(page.locator("#fv1-pane-code")).to_contain_text("def forward(self, x: Tensor) -> Tensor:")
    page.locator("#fv1-pane-code").get_by_role("button", name="8 nodes").click()
    assert state(page)["node"] == "block"


def test_charts_follow_and_lead(opened):
    page = opened(fragment="tab=charts&step=4")
    until(page, "viewer.panels.get('charts').drawn?.length === 6")
    drawn = "viewer.panels.get('charts').drawn"
    chosen = f"{drawn}.map((one) => one.center.find((line) => line.tags?.[0] === 'chosen').location)"
    until(page, f"String({chosen}) === '4,4,4,4,4,4'")
    page.evaluate(f"{drawn}[0].renderers.at(-1).data_source.selected.indices = [1]")
    assert state(page)["step"] == 6
    assert page.evaluate(chosen) == [6] * 6
    numbers = page.locator("#fv1-pane-charts .fv-measured")
    expect(numbers).to_contain_text("80.0 µs (78.5–82.3 µs)")
    expect(numbers).to_contain_text("2 outliers left out")
    press(page, "ArrowDown")
    expect(numbers).to_contain_text("Step 7 was not measured: its graph cannot run on its own.")


def test_the_theme_follows_the_system_and_can_be_switched(opened):
    page = opened()
    background = "getComputedStyle(document.querySelector('#viewer')).backgroundColor"
    light = page.evaluate(background)
    page.emulate_media(color_scheme="dark")
    expect(page.locator("#viewer")).to_have_attribute("data-scheme", "dark")
    dark = page.evaluate(background)
    assert dark != light
    page.get_by_label("Switch between light and dark").click()
    assert page.evaluate(background) == light
    settle(page)


@pytest.mark.parametrize("kind", ["hostile", "hostile_failed"])
def test_nothing_that_a_model_says_is_executed(opened, kind):
    page = opened(kind)
    for name in tabs(page):
        tab(page, name)
        for step in range(page.evaluate("viewer.model.steps.length")):
            page.evaluate(f"viewer.setStep({step})")
            settle(page)
    painted(page)
    assert page.evaluate("viewer.panels.get('charts').drawn.length") > 0
    page.evaluate(
        "for (const row of viewer.model.attributes) viewer.navigate({attribute: row.path, tab: 'attributes'})"
    )
    page.evaluate("for (const id of viewer.model.graph(0).nodes.keys()) viewer.select(id)")
    settle(page)
    assert page.evaluate("window.__pwned") is None
    assert page.locator("#viewer img, #viewer script").count() == 0
    expect(page.locator("h1")).to_have_text(f"Net « naïve » <b>{ATTACK}")


def test_a_failed_trace_says_what_failed_and_shows_the_graph_before(opened):
    page = opened("failed")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The freeze failed in AttributePropagation")
    expect(alert).to_contain_text("RuntimeError: attempted to freeze </script><script>alert(1)</script>")
    assert state(page)["step"] == 2
    page.evaluate("viewer.navigate({step: 0, tab: 'ir'})")
    alert.get_by_role("link", name="Show the graph just before").click()
    assert (state(page)["step"], state(page)["tab"]) == (2, "graph")


def test_a_process_that_died_says_while_what_and_keeps_its_last_words(page, tmp_path):
    trace = small_trace()
    words = Notice("last_words", "The last that was logged:\nFatal Python error: Aborted\n  frame #0", 3)
    failure = Failure("SIGABRT", "the process was ended", "measure", "latency: round 3 of 80", None, 3)
    open_trace(page, replace(trace, notices=(*trace.notices, words), failure=failure), tmp_path)
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The process died (SIGABRT) while measuring latency: round 3 of 80")
    expect(alert).to_contain_text("All of the freeze itself is here")
    expect(alert.get_by_text("frame #0")).to_be_hidden()
    alert.get_by_text("What was logged last").click()
    expect(alert.get_by_text("frame #0")).to_be_visible()
    expect(page.locator(".fv-pass", has_text="died")).to_have_count(1)
    expect(page.locator(".fv-summary")).not_to_contain_text("frame #0")
    tab(page, "environment")
    expect(page.locator(".fv-notices pre")).to_contain_text("frame #0")


def test_an_empty_trace_says_so_on_every_tab(opened):
    page = opened("empty")
    expect(page.locator(".fv-summary")).to_contain_text("This trace holds no pass.")
    for name in tabs(page):
        tab(page, name)
        expect(page.locator(f"#fv1-pane-{name}")).to_be_visible()
    assert press(page, "ArrowDown", "f", "r") is None


@pytest.mark.parametrize("kind", ["small", "large"])
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (2560, 1440), (390, 844)])
def test_the_page_never_scrolls_sideways(opened, kind, width, height):
    page = opened(kind, "step=4")
    page.evaluate("viewer.select([...viewer.model.graph(4).nodes.keys()].at(-1))")
    resize(page, width, height)
    for name in tabs(page):
        tab(page, name)
        settle(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name


def test_tabs_and_the_key_sheet_work_from_the_keyboard(opened):
    page = opened()
    page.keyboard.press("5")
    expect(page.locator("#fv1-tab-ir")).to_have_attribute("aria-selected", "true")
    page.locator("#fv1-tab-ir").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#fv1-tab-code")).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys and signs")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys and signs")).to_be_hidden()
    page.keyboard.press("/")
    expect(page.get_by_label("Search nodes")).to_be_focused()
    page.keyboard.type("conv2d")
    page.keyboard.press("Enter")
    until(page, "viewer.state().node === 'y'")


def test_callers_hear_what_is_chosen(opened):
    page = opened()
    page.evaluate(
        """() => {
            globalThis.heard = [];
            viewer.on("step", (step) => heard.push(["step", step]));
            const stop = viewer.on("select", (node) => heard.push(["select", node]));
            viewer.setStep(8);
            viewer.select("y");
            stop();
            viewer.select(null);
            viewer.setStep(8);
        }"""
    )
    settle(page)
    assert page.evaluate("heard") == [["step", 8], ["select", "y"]]
    before = state(page)
    page.evaluate("viewer.restore({step: 4, tab: 'code'})")
    assert (state(page)["step"], state(page)["tab"]) == (4, "code")
    page.evaluate("(state) => viewer.restore(state)", before)
    assert state(page) == before


def test_a_script_that_slipped_in_would_not_run(opened, problems):
    page = opened()
    page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.__pwned = 1";
            document.body.append(script);
        }"""
    )
    assert page.evaluate("window.__pwned") is None
    assert ["Content Security Policy" in problem for problem in problems] == [True]
    problems.clear()


@pytest.mark.parametrize("width", [1440, 390])
def test_failed_measurement_is_shown_above_all_tabs(page: Page, tmp_path: Path, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    trace = small_trace()
    steps = tuple(replace(step, latency=(), numerics=()) for step in trace.steps)
    said = "Nothing was timed on cpu: the model does not run on the inputs (forward() is missing attention_mask)."
    notice = Notice("nothing_ran", said)
    open_trace(page, replace(trace, steps=steps, baselines=(), notices=(notice,)), tmp_path)
    banner = page.get_by_role("status").filter(has_text="Recorded, not measured: forward() is missing attention_mask.")
    expect(banner).to_be_visible()
    assert banner.evaluate("(box) => box.scrollWidth <= box.clientWidth")
    expect(page.get_by_role("group", name="In short")).to_contain_text("not measured")
    expect(page.locator("body")).not_to_contain_text("--no-latency")
