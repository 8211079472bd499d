"""The viewer in an element of a page that holds more than it: in a shadow root, as the dashboard has it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from playwright.sync_api import Browser, Page, expect

import freeze_engine as fe
from freeze_engine.analysis import diff_snapshots
from freeze_engine.analysis.alignment import increasing
from freeze_engine.trace import SourceRef, Value, graph_lines
from tests.browser.accessibility import serious_findings
from tests.browser.chromium import PATIENCE_MS
from tests.browser.host_page import host_page
from tests.browser.pages import painted, resize, settle, state
from tests.builders import attribute, small_trace, synthetic_trace, traces
from tests.verdicts import bare_in_text, unclaimed
from viewer.charts.figures import chart_items
from viewer.notebook.view_state import state_defaults
from viewer.report import Embedding, render_report
from viewer.views import view_data
from viewer.views.graph_data import graph_data

ACTIONS = """{actions: [
    {id: "python", label: "Copy as Python", icon: "code", run: (app) => { ran.push(app.state().step); }},
    {id: "report", label: "Export report", icon: "page", title: "One file",
     run: async () => { throw new Error("disk full"); }},
]}"""

Mount = Callable[..., Page]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[fe.Trace], Path]:
    """Writes a page that can mount a trace's viewer in a shadow root."""
    folder = tmp_path_factory.mktemp("pages")

    @cache
    def written(trace: fe.Trace) -> Path:
        path = folder / f"{len(list(folder.iterdir()))}.html"
        data = {"view": view_data(trace), "graph": graph_data(trace), "charts": chart_items(trace)}
        path.write_text(host_page(data), encoding="utf-8")
        return path

    return written


@pytest.fixture
def mounted(page: Page, pages: Callable[[fe.Trace], Path]) -> Mount:
    """Mounts a trace, with the options written in JavaScript, and waits until it is drawn."""

    def mount(trace: fe.Trace | None = None, options: str = "{}", fragment: str = "") -> Page:
        step = ", step: 2" if trace is None else ""
        page.goto(f"{pages(trace or small_trace()).as_uri()}{fragment or '#tab=graph'}")
        page.evaluate(f"start({{state: {{tab: 'graph'{step}}}, ...{options}}}) && null")
        settle(page)
        return page

    return mount


@pytest.fixture(scope="module")
def empty_page(browser: Browser, pages: Callable[[fe.Trace], Path]) -> Iterator[Page]:
    """A page that has the viewer's scripts and shows nothing."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(pages(small_trace()).as_uri())
    yield page
    page.close()


def test_keys_are_heard_on_the_whole_page_but_not_in_its_fields(mounted):
    page = mounted()
    page.locator("body").press("ArrowDown")
    assert state(page)["step"] == 4
    page.get_by_label("Name", exact=True).fill("f")
    page.get_by_label("Name", exact=True).press("f")
    page.get_by_label("Name", exact=True).press("ArrowDown")
    page.get_by_label("Filter passes").press("ArrowDown")  # inside the shadow root, seen from outside it
    assert state(page)["step"] == 4
    page.get_by_label("Filter passes").press("Escape")
    page.keyboard.press("/")
    expect(page.get_by_label("Search nodes")).to_be_focused()
    page.keyboard.type("conv2d")
    page.keyboard.press("Enter")
    settle(page)
    assert state(page)["node"] == "y"


def test_keys_can_stay_with_the_viewer(mounted):
    page = mounted(options="{keys: 'viewer'}")
    page.locator("#out").press("ArrowDown")
    assert state(page)["step"] == 2
    page.get_by_role("listbox", name="Passes").press("ArrowDown")
    assert state(page)["step"] == 4


def test_keys_rest_while_the_viewer_is_hidden(mounted):
    page = mounted()
    page.evaluate("document.getElementById('host').style.display = 'none'")
    page.locator("body").press("ArrowDown")
    assert page.evaluate("viewer.state().step") == 2


def test_dialogs_notes_and_downloads_work_in_a_shadow_root(mounted):
    page = mounted()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys and signs")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys and signs")).to_be_hidden()
    assert state(page)["step"] == 2
    page.evaluate("viewer.copySheet.show('a text')")
    copied = page.get_by_role("textbox", name="Text to copy")
    expect(copied).to_have_value("a text")
    expect(copied).to_be_focused()
    page.keyboard.press("Escape")
    page.evaluate("viewer.select('no-such-node')")
    expect(page.locator(".fv-toast")).to_contain_text("no-such-node")
    for kind, start in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
        page.get_by_role("button", name="Save the graph as a picture").click()
        with page.expect_download() as download:
            page.get_by_role("menuitem", name=f"Save the picture as {kind}").click()
        assert Path(download.value.path()).read_bytes().startswith(start)


def test_every_tab_draws_in_a_shadow_root(mounted):
    page = mounted()
    for number in range(1, 10):
        page.keyboard.press(str(number))
        settle(page)
    page.keyboard.press("8")
    expect(page.locator(".fv-chart canvas").first).to_be_visible()
    painted(page)
    drawn = "viewer.panels.get('charts').drawn"
    page.evaluate(f"{drawn}[0].renderers.at(-1).data_source.selected.indices = [1]")
    assert state(page)["step"] == 6


def test_every_tab_says_what_would_have_shown_where_nothing_is_claimed(mounted):
    page, seen = mounted(unclaimed()), 0
    for number in range(1, 10):
        page.keyboard.press(str(number))
        settle(page)
        titles = page.evaluate("Array.from(root.querySelectorAll('[title]'), (each) => each.title)")
        text = "\n".join((page.evaluate("root.textContent"), *titles))
        assert bare_in_text(text) == []
        seen += text.count("would have shown")
    assert seen > 9


def test_selecting_text_does_not_click_its_line(mounted):
    page = mounted(options="{state: {tab: 'ir', step: 8}}")
    line = page.locator(".fv-line-added").first.bounding_box()
    page.mouse.move(line["x"] + 120, line["y"] + 10)
    page.mouse.down()
    page.mouse.move(line["x"] + 240, line["y"] + 10)
    page.mouse.up()
    assert state(page)["node"] is None
    page.mouse.click(line["x"] + 320, line["y"] + 10)
    assert state(page)["node"] is not None


def test_the_address_is_followed_only_where_it_is_the_viewers(mounted):
    page = mounted(options="{hash: true}", fragment="?trace=one#step=4&tab=code")
    assert (state(page)["step"], state(page)["tab"]) == (4, "code")
    page.evaluate(
        "globalThis.heard = []; viewer.on('step', (step) => heard.push(step)); viewer.navigate({step: 8}, {jump: true})"
    )
    page.go_back()
    assert state(page)["step"] == 4
    assert page.evaluate("heard") == [8, 4]
    page.evaluate("history.pushState(null, '', '?trace=two#step=8'); dispatchEvent(new PopStateEvent('popstate'))")
    assert state(page)["step"] == 4


def test_actions_are_buttons_where_there_is_room_and_a_menu_elsewhere(mounted, problems):
    page = mounted(options=ACTIONS)
    expect(page.get_by_role("button", name="Copy as Python")).to_be_hidden()
    page.get_by_role("button", name="Actions").click()
    menu = page.get_by_role("menu", name="Actions")
    expect(menu.get_by_role("menuitem")).to_have_text(["Copy as Python", "Export report"])
    page.keyboard.press("ArrowDown")
    expect(menu.get_by_role("menuitem", name="Export report")).to_be_focused()
    assert state(page)["step"] == 2
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    expect(page.get_by_role("button", name="Actions")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert page.evaluate("ran") == [2]
    page.set_viewport_size({"width": 2560, "height": 1440})
    expect(page.get_by_role("button", name="Actions")).to_be_hidden()
    with page.expect_event("pageerror"):
        page.get_by_role("button", name="Export report").click()
    expect(page.locator(".fv-toast")).to_have_text("Export report: disk full")
    assert problems == ["disk full"]
    problems.clear()


def test_theme_can_be_given_and_its_switch_emits_an_event(mounted):
    page = mounted(options="{theme: 'dark'}")
    assert page.evaluate("viewer.theme()") == "dark"
    page.evaluate("globalThis.heard = []; viewer.on('theme', (theme) => heard.push(theme)); null")
    page.get_by_label("Switch between light and dark").click()
    page.evaluate("viewer.setTheme('dark')")
    assert page.evaluate("heard") == ["light"]


def test_a_destroyed_viewer_leaves_nothing_behind(page, pages):
    page.add_init_script(
        """
        globalThis.alive = new Map();
        const those = (what) => alive.get(what) ?? alive.set(what, new Set()).get(what);
        for (const target of [document, window]) {
            const [add, remove] = [target.addEventListener, target.removeEventListener];
            target.addEventListener = (name, run, how) => { those(name).add(run); add.call(target, name, run, how); };
            target.removeEventListener = (name, run, how) => {
                those(name).delete(run);
                remove.call(target, name, run, how);
            };
        }
        globalThis.ResizeObserver = class extends ResizeObserver {
            constructor(call) { super(call); those("observer").add(this); }
            disconnect() { super.disconnect(); those("observer").delete(this); }
        };
        globalThis.Worker = class extends Worker {
            constructor(url) { super(url); those("worker").add(this); }
            terminate() { super.terminate(); those("worker").delete(this); }
        };
        globalThis.count = () => [...alive].map(([what, all]) => [what, all.size]).filter(([, size]) => size);
        """
    )
    page.goto(pages(synthetic_trace(3_000, 4)).as_uri())
    page.evaluate("loadBokeh() && null")  # what it listens to is its own
    baseline = page.evaluate("count()")
    page.evaluate("start({hash: true}) && null")
    for number in range(1, 9):
        page.keyboard.press(str(number))
        settle(page)
    page.evaluate("viewer.panels.get('graph').view.groups.expandAll()")
    page.evaluate("viewer.setTheme('dark')")
    assert dict(page.evaluate("count()")).keys() >= {"observer", "worker", "keydown", "popstate"}
    assert page.evaluate("viewer.panels.get('charts').shown")  # being drawn, and broken off in the midst of it
    page.evaluate(
        """async () => {
            const turns = [...viewer.panels.values()].map((panel) => panel.turn);
            viewer.destroy();
            await Promise.all(turns);
        }"""
    )
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))")
    assert page.evaluate("count()") == baseline
    assert page.evaluate("root.lastElementChild.outerHTML") == '<div id="viewer" class=""></div>'
    page.keyboard.press("ArrowDown")


def select(page: Page, step: int, *modifiers: str) -> None:
    held: Any = list(modifiers)
    page.locator(f"[data-step='{step}']").click(modifiers=held, position={"x": 120, "y": 10})


def test_any_two_passes_of_a_method_are_compared(mounted):
    page = mounted(options="{hash: true}", fragment="#step=2")
    select(page, 8, "Shift")
    assert (state(page)["against"], state(page)["step"]) == (2, 8)
    summary = page.get_by_role("region", name="Chosen pass")
    expect(summary).to_contain_text("comparing 2 Inline → 8 FoldFrozenConvBatchnorm")
    expect(summary).to_contain_text("nodes24 → 17 −9 +2 ~3")
    assert page.evaluate("viewer.panels.get('graph').view.state().steps") == {"before": 2, "after": 8}
    page.evaluate("viewer.navigate({tab: 'ir', node: 'y'})")
    expect(page.locator("#fv1-pane-ir")).to_contain_text("lines differ between 2 and 8")
    expect(page.get_by_role("complementary", name="Details")).to_contain_text("Changed between 2 and 8")
    expect(page).to_have_url(re.compile("against=2"))
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowUp")
    assert (state(page)["against"], state(page)["step"]) == (2, 7)
    page.keyboard.press("Escape")
    assert state(page)["against"] is None
    expect(summary).to_contain_text("Compare from here")


def test_a_pass_is_marked_to_compare_from(mounted):
    page = mounted()
    page.keyboard.press("c")
    base = page.locator("[data-step='2']")
    expect(base).to_have_attribute("aria-description", "compared from here")
    summary = page.get_by_role("region", name="Chosen pass")
    expect(summary).to_contain_text("comparing from here: choose another pass")
    select(page, 8)
    expect(summary).to_contain_text("comparing 2 Inline → 8")
    expect(page.locator(".fv-pass-between")).to_have_count(5)
    page.locator("[data-step='6'] .fv-pass-index").click()
    assert (state(page)["against"], state(page)["step"]) == (6, 8)
    page.keyboard.press("c")
    assert state(page)["against"] is None
    expect(page.locator("[aria-description]")).to_have_count(0)


def test_an_earlier_pass_is_what_a_later_one_is_compared_with(mounted):
    page = mounted(options="{state: {step: 8}}")
    select(page, 2, "Shift")
    assert (state(page)["against"], state(page)["step"]) == (2, 8)
    page.evaluate("viewer.navigate({against: 8, step: 2})")
    expect(page.get_by_role("region", name="Chosen pass")).to_contain_text("back in time")


def test_passes_of_two_methods_are_not_compared(mounted):
    page = mounted(options="{state: {step: 5, against: 2}}")
    summary = page.get_by_role("region", name="Chosen pass")
    expect(summary).to_contain_text("not compared with 2 Inline: that is forward, and only passes of one method")
    assert page.evaluate("viewer.panels.get('graph').view.state().steps") == {"before": 3, "after": 5}
    summary.get_by_role("button", name="Stop comparing").click()
    assert state(page)["against"] is None


@pytest.mark.parametrize(
    ("against", "step", "words"),
    [(0, 6, "90.0 µs (88.5–92.3 µs) → 80.0 µs (78.5–82.3 µs) faster, 12% less time (8 to 16%)"), (6, 8, None)],
)
def test_a_pair_has_the_verdict_that_the_trace_has(mounted, against, step, words):
    page = mounted(options=f"{{state: {{step: {step}, against: {against}}}}}")
    facts = page.locator(".fv-summary-facts > div", has_text="latency")
    if words is None:
        expect(facts).to_have_count(0)
    else:
        expect(facts).to_contain_text(words)


def test_no_difference_is_claimed_beyond_the_statistics(mounted):
    page = mounted(synthetic_trace(200, 6))
    measured = page.evaluate("viewer.model.steps.filter((step) => step.latency.length).map((step) => step.index)")
    page.evaluate(f"viewer.navigate({{against: {measured[1]}, step: {measured[-1]}}})")
    told = page.evaluate("viewer.pair.latencyVerdict('cpu')")
    assert told is None
    expect(page.locator(".fv-summary-facts")).to_contain_text("no verdict on this pair")


def test_the_code_of_two_passes_is_compared(mounted):
    trace = small_trace()
    steps = list(trace.steps)
    steps[8] = replace(steps[8], code="def forward(self, x):\n  return torch.relu(x)\n")
    steps[2] = replace(steps[2], code="def forward(self, x):\n  y = x + 1\n  return torch.relu(y)\n")
    page = mounted(replace(trace, steps=tuple(steps)), "{state: {tab: 'code', step: 8, against: 2}}")
    code = page.get_by_role("region", name="Code of the pass")
    expect(code.locator(".fv-line-removed")).to_have_count(2)
    expect(code.locator(".fv-line-added")).to_have_count(1)
    expect(page.get_by_role("heading", name="Code of 2 and 8")).to_be_visible()


PAIRS = """({ view, graph }) => {
    const model = new FreezerViewer.TraceModel(view, graph);
    const indices = model.steps.map((step) => step.index);
    return indices.flatMap((one) => indices.filter((other) => model.comparable(one, other)).map((other) => {
        const pair = new FreezerViewer.Pair(model, one, other);
        const rows = pair.lines().map(({ kind, line }) => [kind, FreezerViewer.lineText(line)]);
        return [one, other, pair.counts(), rows, Object.fromEntries(pair.operators())];
    }));
}"""


@given(traces())
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_two_steps_differ_as_the_engine_says(empty_page, trace):
    told = empty_page.evaluate(PAIRS, {"view": view_data(trace), "graph": graph_data(trace)})
    for one, other, counts, rows, operators in told:
        before, after = trace.steps[one].graph, trace.steps[other].graph
        diff = diff_snapshots(before, after)
        assert counts == {"added": len(diff.added), "removed": len(diff.removed), "changed": len(diff.changed)}
        assert [text for kind, text in rows if kind != "added"] == list(graph_lines(before))
        assert [text for kind, text in rows if kind != "removed"] == list(graph_lines(after))
        deltas = Counter(node.op for node in after.walk())
        deltas.subtract(Counter(node.op for node in before.walk()))
        assert operators == {op: delta for op, delta in deltas.items() if delta}


@given(st.lists(st.integers(0, 30)))
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_longest_run_is_found(empty_page, numbers):
    run = empty_page.evaluate("(numbers) => FreezerViewer.increasing(numbers)", numbers)
    assert run == sorted(run)
    values = [numbers[at] for at in run]
    assert all(one < other for one, other in pairwise(values))
    assert len(run) == len(increasing(numbers))


def test_ten_thousand_lines_are_compared_at_once(empty_page):
    trace = synthetic_trace(10_000, 6)
    script = """({ view, graph }) => {
        const model = new FreezerViewer.TraceModel(view, graph);
        const pair = model.pair(model.steps.length - 1, 0);
        const lines = pair.lines();
        return [lines.length, lines.filter((row) => row.kind === "same").length];
    }"""
    length, kept = empty_page.evaluate(script, {"view": view_data(trace), "graph": graph_data(trace)})
    assert length > 5_000
    assert kept > 0


def test_an_attribute_is_chosen_in_every_view(mounted):
    page = mounted(options="{state: {step: 2}}")
    page.evaluate("viewer.navigate({attribute: 'block.conv.weight'})")
    assert state(page)["node"] is None
    nodes = page.evaluate("[...viewer.focused]")
    assert nodes == page.evaluate("viewer.model.nodesOf(2, 'block.conv.weight')") != []
    assert page.evaluate("viewer.panels.get('graph').view.state().selection") == nodes[0]
    page.keyboard.press("5")
    expect(page.locator("#viewer .fv-code-line.fv-chosen")).to_contain_text(f"%{nodes[0]}")
    expect(page.get_by_role("complementary", name="Details")).to_contain_text("In the graph of step 2")


def test_a_node_is_chosen_in_every_view(mounted):
    page = mounted(options="{state: {step: 2, tab: 'aliases'}}")
    row = page.get_by_role("table", name="Alias sets").get_by_role("row").nth(1)
    row.click(position={"x": 300, "y": 10})
    node = state(page)["node"]
    assert node is not None
    expect(row).to_have_class(re.compile("fv-chosen"))
    assert page.evaluate("viewer.panels.get('graph').view") is None  # drawn when it is opened, at that node
    page.keyboard.press("1")
    settle(page)
    assert page.evaluate("viewer.panels.get('graph').view.state().selection") == node
    page.evaluate("viewer.navigate({step: 8, tab: 'rewrites', node: 'y'})")
    expect(page.locator(".fv-chosen-node").first).to_contain_text("%y")
    written = page.evaluate("viewer.model.view.aliases[0].writes[0].node")
    page.evaluate(f"viewer.navigate({{step: 2, tab: 'aliases', node: '{written}'}})")
    expect(page.locator(".fv-writes tr.fv-chosen")).to_have_count(1)


def test_one_click_leads_from_a_row_to_the_write_and_to_where_the_value_is(mounted):
    page = mounted(options="{state: {tab: 'attributes', minor: true}}")
    row = page.locator("[data-path='count']")
    row.get_by_role("link", name="keeps count").click()
    written = state(page)
    assert (written["tab"], written["attribute"]) == ("graph", None)
    evidence = page.evaluate("viewer.model.attribute('count').evidence.find((one) => one.node !== null)")
    assert (written["node"], written["step"]) == (evidence["node"], evidence["step"])
    expect(page.get_by_role("complementary", name="Details").locator(".fv-source-here")).to_have_count(1)
    page.keyboard.press("2")
    row.locator("[role=cell]").last.get_by_role("link").click()
    read = state(page)
    assert read["step"] == page.evaluate("viewer.model.steps.findLast((step) => step.method === 'forward').index")
    assert page.evaluate(f"viewer.model.graph({read['step']}).nodes.get('{read['node']}').op") == "prim::GetAttr"


def test_an_attributes_row_is_shown_for_the_node_that_reads_it(mounted):
    page = mounted(options="{state: {step: 2, tab: 'attributes'}}")
    node = page.evaluate("viewer.model.nodesOf(2, 'block.conv.weight')[0]")
    page.evaluate(f"viewer.select('{node}')")
    expect(page.locator("[data-path='block.conv.weight']")).to_have_class(re.compile("fv-linked"))


def test_a_node_of_torchs_own_file_leads_to_the_users_call(empty_page):
    own, torchs = SourceRef("/home/me/net.py", 7), SourceRef("/lib/site-packages/torch/nn/conv.py", 560)
    get = attribute("conv", "conv", type="Conv2d")
    call = fe.Node("called", "prim::CallMethod", ("conv", "x"), (Value("called", "Tensor"),), source=own)
    inner = fe.Node("y", "aten::conv2d", ("x",), (Value("y", "Tensor"),), module="conv", source=torchs)
    inputs = (Value("self", "Net"), Value("x", "Tensor"))
    first = fe.GraphSnapshot(inputs, (get, call), ("called",))
    second = fe.GraphSnapshot(inputs, (inner,), ("y",))
    base = small_trace()
    steps = tuple(
        replace(step, graph=graph, rewrites=(), aliases=None, index=index)
        for index, (step, graph) in enumerate(zip((base.steps[0], base.steps[2]), (first, second), strict=True))
    )
    trace = replace(base, steps=steps, attributes=(), near_misses=(), notices=(), failure=None)
    script = """({ view, graph }) => {
        const model = new FreezerViewer.TraceModel(view, graph);
        const places = model.places("forward", model.graph(1).nodes.get("y"));
        return places.map(({ source, called }) => [source.file, called]);
    }"""
    assert empty_page.evaluate(script, {"view": view_data(trace), "graph": graph_data(trace)}) == [
        ["/home/me/net.py", "conv"],
        ["/lib/site-packages/torch/nn/conv.py", None],
    ]


@pytest.mark.parametrize(
    ("width", "size"), [(2560, "wide"), (1500, "middle"), (1280, "small"), (880, "tight"), (390, "narrow")]
)
def test_the_room_is_used_as_it_comes(mounted, width, size):
    page = mounted()
    page.set_viewport_size({"width": width, "height": 800})
    expect(page.locator("#viewer")).to_have_attribute("data-size", size)
    settle(page)
    panes = page.evaluate("viewer.panels.get('graph').view.state().options.panes")
    both = page.get_by_label("Which graphs").locator("option").first
    expect(both).to_have_text("Before | after (needs a wider window)" if size == "narrow" else "Before | after")
    assert (panes, both.is_disabled()) == (("after", True) if size == "narrow" else ("split", False))
    assert page.locator(".fv-passes-heads").is_visible() == (size == "wide")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [1400, 1100, 1000, 880, 780, 500])
def test_the_facts_of_the_header_stand_side_by_side(mounted, width):
    page = mounted()
    resize(page, width, 800)
    overlap = """() => {
        const box = (element) => element.getBoundingClientRect();
        const facts = [...viewer.root.querySelectorAll(".fv-fact")].filter((one) => one.offsetWidth);
        const ends = facts.map((one) => Math.max(...[...one.querySelectorAll("span")].map((span) => box(span).right)));
        const follows = (index) => box(facts[index - 1]).bottom > box(facts[index]).top; // else it starts a line
        return facts.some((fact, index) => index && follows(index) && ends[index - 1] > box(fact).left);
    }"""
    assert not page.evaluate(overlap)


def test_a_tab_has_all_the_room_when_it_is_drawn(mounted):
    page = mounted(options="{state: {tab: 'attributes'}}")
    resize(page, 1500, 800)
    page.keyboard.press("1")
    settle(page)
    assert page.get_by_label("Which graphs").input_value() == "split"
    expect(page.get_by_label("Which graphs").locator("option").first).to_be_enabled()
    for width, shown in ((600, "after"), (700, "split")):  # both are one size of the style sheet
        resize(page, width, 800)
        expect(page.get_by_label("Which graphs")).to_have_value(shown)


def test_python_knows_the_words_of_a_state(empty_page):
    assert empty_page.evaluate("FreezerViewer.DEFAULTS") == state_defaults()


def test_charts_that_a_page_leaves_out_are_said_to_be_elsewhere(page, tmp_path):
    trace = small_trace()
    bare = replace(trace, steps=tuple(replace(step, latency=(), numerics=()) for step in trace.steps))
    path = tmp_path / "embedded.html"
    path.write_text(render_report(bare, Embedding(state={"tab": "charts"})), encoding="utf-8")
    page.goto(path.as_uri())
    expect(page.get_by_text("The HTML report (freezer-ui report, or viewer.report.write_report)")).to_be_visible()


def test_pass_list_is_a_drawer_on_narrow_pages(mounted):
    page = mounted()
    page.set_viewport_size({"width": 390, "height": 844})
    passes = page.get_by_role("complementary", name="Passes")
    expect(passes).to_be_hidden()
    page.get_by_role("button", name="Passes").click()
    select(page, 8)
    expect(passes).to_be_hidden()
    assert state(page)["step"] == 8
    page.get_by_role("button", name="Passes").click()
    page.keyboard.press("Escape")
    expect(passes).to_be_hidden()


def test_on_a_phone_a_chosen_row_has_a_margin_and_an_axis_is_no_name_of_a_cell(mounted):
    page = mounted(options="{state: {step: 8, tab: 'findings'}}")
    page.set_viewport_size({"width": 390, "height": 844})
    chosen = page.locator(".fv-findings tr.fv-chosen").first
    expect(chosen).to_be_visible()
    lefts = chosen.evaluate("row => [...row.cells].map((cell) => cell.getBoundingClientRect().left)")
    assert min(lefts) - chosen.evaluate("row => row.getBoundingClientRect().left") >= 8
    assert page.locator(".fv-findings .fv-ratio-axis").count()
    assert page.locator(".fv-findings td[data-label*='same']").count() == 0


def test_on_a_phone_the_tools_of_the_graph_take_two_rows_and_values_have_half_the_width(mounted):
    page = mounted(options="{state: {step: 8, tab: 'graph'}}")
    page.set_viewport_size({"width": 390, "height": 844})
    bar = page.get_by_role("toolbar", name="Graph")
    expect(page.get_by_label("Which graphs").locator("option").first).to_be_disabled()
    boxes = "bar => [...bar.children].map((each) => each.getBoundingClientRect()).filter((box) => box.height)"
    middles = bar.evaluate(f"bar => ({boxes})(bar).map((box) => box.y + box.height / 2)")
    assert 1 <= len({round(middle / 8) for middle in middles}) <= 2

    page.evaluate("viewer.navigate({tab: 'findings'})")
    pairs = page.locator(".fv-findings .fv-pairs").first
    expect(pairs).to_be_visible()
    long = "list.querySelector('dt').textContent = 'memory during the freeze, and whether it saves'"
    value, whole = pairs.evaluate(
        f"list => {{ {long}; return [list.querySelector('dd').clientWidth, list.clientWidth] }}"
    )
    assert value >= whole / 2


def test_a_phone_shows_the_facts_of_a_pass_on_demand_and_tables_as_cards(mounted):
    page = mounted(options="{state: {step: 8, tab: 'rewrites', scope: 'all'}}")
    page.set_viewport_size({"width": 390, "height": 844})
    chosen = page.get_by_role("region", name="Chosen pass")
    expect(chosen.get_by_text("nodes", exact=True)).to_be_visible()
    expect(chosen.get_by_text("took", exact=True)).to_be_hidden()
    chosen.get_by_role("button", name="More").click()
    expect(chosen.get_by_text("took", exact=True)).to_be_visible()
    chosen.get_by_role("button", name="Less").click()
    expect(chosen.get_by_text("took", exact=True)).to_be_hidden()

    row = page.locator(".fv-grid-cards tbody tr").first
    cells = [cell.bounding_box() for cell in row.locator("td").all() if cell.inner_text()]
    assert len(cells) > 2
    assert all(above["y"] + above["height"] <= below["y"] for above, below in pairwise(cells))
    label = "cell => getComputedStyle(cell, '::before').content"
    assert row.locator("td").nth(1).evaluate(label) == '"Consumed"'


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(mounted, scheme):
    page = mounted(options=f"{{...{ACTIONS}, theme: '{scheme}', state: {{step: 8, node: 'y'}}}}")
    for number in range(1, 10):
        page.keyboard.press(str(number))
        settle(page)
        painted(page)
        assert serious_findings(page) == [], number


def test_passes_far_apart_open_where_they_differ(mounted):
    page = mounted(synthetic_trace(1_500, 8), "{state: {step: 1}}")
    view = "viewer.panels.get('graph').view"
    page.evaluate(f"{view}.camera.jump({{y: {view}.picture.whole.height, zoom: 1}})")
    place = page.evaluate(f"{view}.camera.place()")
    page.evaluate("viewer.setStep(3)")
    settle(page)
    assert page.evaluate(f"{view}.camera.place()") == place  # from pass to pass nothing moves
    page.evaluate("viewer.navigate({step: 7, against: 1})")
    settle(page)
    assert page.evaluate(f"{view}.picture.changedItems().some((item) => {view}.camera._sees({view}.picture.box(item)))")


def test_a_constant_that_a_pass_folds_has_its_fate_in_the_graph_before(mounted):
    page = mounted(options="{state: {step: 8}}")
    mark = page.evaluate("viewer.panels.get('graph').view.marks['self.block.conv.weight']")
    assert (mark["label"], mark["sign"]) == ("folded", "F")
    page.evaluate("viewer.navigate({attribute: 'block.conv.weight', step: 6})")
    assert "self.block.conv.weight" in page.evaluate("[...viewer.focused]")


def test_a_pass_says_what_it_does_and_why_it_changed_nothing(mounted):
    page = mounted(options="{state: {step: 10}}")
    summary = page.get_by_role("region", name="Chosen pass")
    expect(summary.locator(".fv-summary-does")).to_contain_text("into the convolution's weight and bias")
    expect(summary.locator(".fv-why-not")).to_have_text(
        "It changed nothing here. No batch norm is left: step 8 removed 1."
    )
    title = page.locator("[data-step='10']").get_attribute("title")
    assert "into the convolution's weight and bias" in title


def test_a_term_explains_itself_to_the_pointer_the_keyboard_and_a_screen_reader(mounted):
    page = mounted(options="{state: {against: 2, step: 8}}")
    tip = page.locator(".fv-tip")
    label = page.get_by_role("region", name="Chosen pass").locator("[data-term=constant]")
    label.hover()
    expect(tip).to_have_text(re.compile("stored in the graph itself"))
    page.mouse.move(2, 2)
    expect(tip).to_be_hidden()
    page.keyboard.press("Shift")  # from here on, the focus is the keyboard's
    label.focus()
    expect(tip).to_be_visible()
    expect(label).to_have_accessible_description(re.compile("stored in the graph itself"))
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    assert state(page)["against"] == 2
    page.keyboard.press("Escape")
    assert state(page)["against"] is None


def test_the_sheet_of_keys_has_the_glossary(mounted):
    page = mounted()
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys and signs")
    expect(sheet.get_by_role("heading", name="Glossary")).to_be_visible()
    expect(sheet.get_by_role("definition").filter(has_text="Values that may share memory")).to_have_count(1)
