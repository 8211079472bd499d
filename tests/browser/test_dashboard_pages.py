"""The dashboard's pages in a real browser, on a channel that answers as each test says: every state, without torch."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup
from playwright.sync_api import Page, Route, expect

from freeze_engine.sweep import Sweep
from freeze_engine.worker import parse_recording_command
from tests.browser.accessibility import serious_findings
from tests.browser.screens import axe, layouts
from tests.builders import small_trace
from tests.sweeps import failed_row, sweep_row
from viewer.assets import read_asset
from viewer.cli.command_line import parse_command_line
from viewer.dashboard.record_request import form_values
from viewer.dashboard.server_info import Site
from viewer.sweep_page import sweep_data
from viewer.views import graph_data, view_data

HOME = "http://127.0.0.1/"
SWEEP = sweep_data(
    Sweep("zoo", (sweep_row("net", trace="traces/net.fztrace"), failed_row("other")), ("third",), False, Path("/zoo"))
)
TRACE = "/traces/small.fztrace"
ATTACK = '<img src=x onerror="window.__pwned=1">'

Opener = Callable[..., Page]


def values() -> dict[str, Any]:
    """What the server would tell at the start."""
    recent = {"path": TRACE, "name": "small", "backend": "torchscript", "torch": "2.13.0", "steps": 4, "nodes": 3}
    known = recent | {"created": "2026-01-01T00:00:00+00:00", "failed": None, "missing": False}
    gone = known | {"path": "/traces/gone.fztrace", "name": "gone", "missing": True}
    broken = known | {"path": "/traces/broken.fztrace", "name": "broken", "failed": "RuntimeError"}
    return {
        "site": Site(upload_limit_bytes=1024).view() | {"home": "/models", "torch": "2.13.0"},
        "library": {
            "examples": [{"name": "counter", "summary": "counts"}, {"name": "no_fold", "summary": "nothing folds"}],
            "recent": [known, broken, gone],
        },
        "jobs": [],
    }


@pytest.fixture(scope="module")
def template() -> Callable[[dict[str, Any]], str]:
    """Renders the page for the values at the start."""
    source = (Path(__file__).parent / "fake_dashboard.html").read_text("utf-8")
    page = Environment(autoescape=True, undefined=StrictUndefined).from_string(source)
    script = Markup(read_asset("bundles/dashboard.js"))
    style = Markup(
        read_asset("viewer/viewer.css") + read_asset("dashboard/dashboard.css") + read_asset("sweep/sweep.css")
    )

    def render(start: dict[str, Any]) -> str:
        data = Markup(json.dumps(start).replace("<", "\\u003c"))
        return page.render(values=data, style=style, script=script)

    return render


@pytest.fixture(scope="module")
def payload() -> dict[str, Any]:
    """What the server sends of the small trace."""
    trace = small_trace()
    return {"view": view_data(trace), "graph": graph_data.graph_data(trace)}


@pytest.fixture
def opened(page: Page, template: Callable[[dict[str, Any]], str], payload: dict[str, Any]) -> Opener:
    """Opens the dashboard at a route; ``change`` edits the values at the start."""

    def open_page(route: str = "", change: Callable[[dict[str, Any]], None] = lambda start: None) -> Page:
        start = values()
        change(start)

        def answer(request: Route) -> None:
            if "sweep/data" in request.request.url:
                request.fulfill(json=SWEEP)
            elif "trace/charts" in request.request.url:
                request.fulfill(status=400, json={"error": "There is no trace small.fztrace."})
            elif "trace/data" not in request.request.url:
                request.fulfill(body=template(start), content_type="text/html")
            elif "broken" in request.request.url:
                request.fulfill(status=400, json={"error": "The file is cut short at byte 12; record it again."})
            else:
                request.fulfill(json=payload)

        page.route(f"{HOME}**", answer)
        page.goto(HOME + route)
        expect(page.locator("h1")).to_be_visible()
        if "trace=" in route and "broken" not in route:  # until it has come, another heading stands there
            expect(page.get_by_role("tab", name="Graph")).to_be_visible()
        return page

    return open_page


def too_wide(page: Page) -> list[str]:
    """Elements of a page that stand out of it to the right."""
    return page.evaluate(
        """() => [...dashboard.stage.querySelectorAll("main *")]
          .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
          .filter((element) => !element.closest(".fv-clip, .fd-path, .fs-scroll, pre, svg"))
          .map((element) => element.className + ": " + element.textContent.slice(0, 40))"""
    )


def asked(page: Page, kind: str) -> list[dict[str, Any]]:
    """The messages of a type that were sent so far."""
    return page.evaluate("(kind) => fake.asked.filter((message) => message.type === kind)", kind)


def answer(page: Page, kind: str, function: str) -> None:
    """Sets how the channel answers a type of message."""
    page.evaluate(f"() => {{ fake.answers.{kind} = {function}; }}")


LAST_IS_SHOWN = """(list) => list.lastElementChild.getBoundingClientRect().bottom
    <= list.getBoundingClientRect().bottom"""
CUT_ROWS = """(list) => {
    const title = list.querySelector('.fv-passes-stage').getBoundingClientRect();
    const edge = Math.max(title.bottom, list.getBoundingClientRect().top + 1);
    return [...list.querySelectorAll('.fd-step')].map((row) => row.getBoundingClientRect())
        .filter(({ top, bottom }) => top < edge - 1 && bottom > edge + 1).map(({ top }) => top);
}"""


def set_jobs(page: Page, *changes: dict[str, Any], steps: int = 0) -> None:
    """Tells the page of recordings."""
    page.evaluate(
        """([changes, steps]) => fake.set("jobs", changes.map((change) => fake.job({
          steps: Array.from({ length: steps }, (_, index) => fake.step(index)), ...change })))""",
        [list(changes), steps],
    )


# --- the first page


def add_cancelled(start: dict[str, Any]) -> None:
    """Adds a cancelled recording to the recent traces."""
    recent = start["library"]["recent"]
    changes = {"path": "/traces/stopped.fztrace", "name": "stopped", "failed": "cancelled", "ending": "cancelled"}
    recent.append(recent[0] | changes)


def test_home_lists_examples_and_traces(opened: Opener) -> None:
    page = opened(change=add_cancelled)
    expect(page.get_by_role("heading", level=1)).to_have_text("See what freezing does to your model")
    expect(page.get_by_role("list").get_by_role("heading", level=3)).to_have_text(["counter", "no_fold"])
    expect(page.get_by_role("link", name="small", exact=True)).to_have_attribute("href", f"/?trace={TRACE}")
    expect(page.get_by_role("link", name="gone", exact=True)).to_have_count(0)
    expect(page.get_by_text("file is gone")).to_be_visible()
    expect(page.get_by_text("freeze failed")).to_be_visible()
    expect(page.get_by_text("cancelled", exact=True)).to_be_visible()
    assert page.title() == "freezer-ui"


def test_home_of_a_stranger_begins_with_the_examples(opened: Opener) -> None:
    page = opened(change=lambda start: start["library"].update(recent=[]))
    examples = page.get_by_role("region", name="Examples").bounding_box()
    recent = page.get_by_role("region", name="Recent traces").bounding_box()
    assert examples is not None
    assert recent is not None
    assert examples["y"] < recent["y"]
    expect(page.get_by_text("No traces yet")).to_be_visible()


def test_one_click_records_an_example(opened: Opener) -> None:
    page = opened()
    page.get_by_role("button", name="Record counter").click()
    expect(page).to_have_url(f"{HOME}?job=1")
    (message,) = asked(page, "record")
    assert message == {
        "type": "record",
        "call": "freezer-ui record example:counter",
        "model": "example:counter",
        "inputs": [],
        "imports": [],
        "backend": "torchscript",
        "via": None,
        "options": {
            "optimize_numerics": True,
            "optimize_for_inference": False,
            "other_methods": [],
            "disabled_passes": [],
        },
        "device": None,
        "measure": {
            "latency": True,
            "numerics": True,
            "memory": True,
            "seconds": 12,
            "threads": None,
            "input_sets": 3,
            "values": True,
            "runtime": True,
        },
        "checks": [],
        "ablation": False,
        "limit_s": None,
        "memory_bytes": None,
        "float_model": None,
        "preserve": [],
    }
    expect(page.locator("h1")).to_have_text("Starting the recording …")


def test_refused_recording_shows_the_reason(opened: Opener) -> None:
    page = opened()
    answer(page, "record", "() => { throw new Error('There is no torch here.'); }")
    page.get_by_role("button", name="Record counter").click()
    expect(page.get_by_text("There is no torch here.")).to_be_visible()
    expect(page.get_by_role("button", name="Record counter")).to_be_enabled()


def test_a_trace_is_forgotten(opened: Opener) -> None:
    page = opened()
    page.get_by_role("button", name="Take gone off this list").click()
    expect(page.get_by_text("gone is off the list")).to_be_visible()
    assert asked(page, "forget") == [{"type": "forget", "path": "/traces/gone.fztrace"}]


@pytest.mark.parametrize("width", [390, 1440])
def test_two_ticked_traces_are_compared(opened: Opener, width: int) -> None:
    page = opened()
    page.set_viewport_size({"width": width, "height": 800})
    small, broken, gone = (
        page.get_by_role("checkbox", name=f"Compare {name},") for name in ("small", "broken", "gone")
    )
    expect(gone).to_be_disabled()
    compare = page.get_by_role("button", name="Compare these two")
    small.focus()
    page.keyboard.press("Space")
    expect(page.get_by_text("small: tick another trace to compare it with.")).to_be_visible()
    expect(compare).to_have_count(0)
    broken.check()
    expect(page.get_by_text("small and broken", exact=True)).to_be_visible()
    assert (too_wide(page), serious_findings(page)) == ([], [])
    page.get_by_role("button", name="Clear the ticks").click()
    expect(small).not_to_be_checked()
    expect(compare).to_be_hidden()
    broken.check()
    small.check()
    compare.press("Enter")
    expect(page).to_have_url(re.compile(r"\?compare=.*&with="))


def test_arrows_walk_through_the_first_page(opened: Opener) -> None:
    page = opened()
    names: list[str] = []
    for _ in range(4):
        page.keyboard.press("ArrowDown")
        if not names:
            page.get_by_role("heading", level=1).focus()
            page.keyboard.press("ArrowDown")
        names.append(page.evaluate("dashboard.root.getRootNode().activeElement.textContent"))
    assert names == ["small", "broken", "Record", "Record"]


def test_names_enter_the_page_as_text(opened: Opener) -> None:
    def poison(start: dict[str, Any]) -> None:
        for entry in start["library"]["recent"]:
            entry["name"] += ATTACK
        start["library"]["examples"][0]["summary"] += ATTACK

    page = opened(change=poison)
    set_jobs(page, {"name": ATTACK, "message": ATTACK})
    expect(page.get_by_text(ATTACK).first).to_be_visible()
    assert page.evaluate("window.__pwned") is None


# --- going about


def test_back_and_forward_and_titles(opened: Opener) -> None:
    page = opened()
    page.get_by_role("link", name="Options for counter").click()
    expect(page).to_have_title("Record example:counter · freezer-ui")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.go_back()
    expect(page).to_have_title("freezer-ui")
    page.get_by_role("link", name="small", exact=True).click()
    expect(page).to_have_title(f"{small_trace().name} · freezer-ui")
    page.get_by_role("tab", name="Code").click()
    expect(page).to_have_url(re.compile("tab=code"))
    link = page.url
    page.go_back()
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("See what freezing does to your model")
    page.go_forward()
    page.go_forward()
    expect(page.get_by_role("tab", name="Code")).to_have_attribute("aria-selected", "true")
    page.goto("about:blank")
    page.goto(link)
    expect(page.get_by_role("tab", name="Code")).to_have_attribute("aria-selected", "true")


def test_keys_and_their_sheet(opened: Opener) -> None:
    page = opened()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("n")
    expect(page).to_have_url(HOME)
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    page.keyboard.press("n")
    expect(page).to_have_url(f"{HOME}?record=")
    page.get_by_role("combobox", name="File or example").fill("no?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page).to_have_url(f"{HOME}?")
    page.keyboard.press("o")
    expect(page.get_by_role("dialog", name="Open a file")).to_be_visible()


def test_lost_connection_shows_a_message(opened: Opener) -> None:
    page = opened()
    page.evaluate("disconnect('lost')")
    expect(page.get_by_role("alert")).to_contain_text("The connection to freezer-ui is lost")
    expect(page.get_by_role("button", name="Reload")).to_be_visible()


def test_theme_is_kept_and_shared_with_the_viewer(opened: Opener) -> None:
    page = opened()
    page.get_by_role("button", name="Switch between light and dark").click()
    page.reload()
    assert page.evaluate("dashboard.root.dataset.scheme") == "dark"
    page.get_by_role("link", name="small", exact=True).click()
    expect(page.get_by_role("tab", name="Graph")).to_be_visible()
    page.get_by_role("button", name="Switch between light and dark").click()
    page.get_by_role("link", name="All recordings and traces").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("See what freezing does to your model")
    assert page.evaluate("dashboard.root.dataset.scheme") == "light"


# --- a trace


def test_a_broken_file_says_why(opened: Opener, problems: list[str]) -> None:
    page = opened("?trace=/traces/broken.fztrace")
    expect(page.get_by_role("alert")).to_contain_text("The file is cut short at byte 12; record it again.")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    page.get_by_role("button", name="Take it off the recent traces").click()
    expect(page).to_have_url(f"{HOME}?")
    assert [problem for problem in problems if "400" not in problem] == []
    problems.clear()


def test_actions_of_a_trace(opened: Opener) -> None:
    page = opened(f"?trace={TRACE}")
    page.evaluate("dashboard.download = (url) => (globalThis.downloaded = url)")
    page.evaluate("dashboard.page.viewer.copy = (text) => (globalThis.copied = text)")
    actions = "dashboard.page.viewer.options.actions"
    labels = ["Export report", "Download trace", "Copy as Python", "Compare with…", "Record again…"]
    assert page.evaluate(f"{actions}.map((action) => action.label)") == labels

    def run(label: str) -> None:
        found = f"{actions}.find((one) => one.label === label)"
        page.evaluate(f"(label) => {found}.run(dashboard.page.viewer)", label)

    run("Export report")
    assert page.evaluate("downloaded") == "/trace/report?path=%2Ftraces%2Fsmall.fztrace"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("5")
    run("Copy as Python")
    step = page.evaluate("dashboard.page.viewer.state().step")
    text = page.evaluate("copied")
    compile(text, "copied", "exec")
    assert f'fe.load("{TRACE}")' in text
    assert 'viewer.show(trace, state={"tab": "ir"})' in text
    assert f"view.step = {step}" in text
    run("Compare with…")
    page.get_by_role("button", name="broken").click()
    expect(page).to_have_url(f"{HOME}?compare={TRACE}&with=/traces/broken.fztrace")


UNMEASURED = "not measured: forward() is missing attention_mask"


def test_a_recording_that_could_not_be_measured_has_not_merely_finished(opened: Opener) -> None:
    page = opened(change=lambda start: start["library"]["recent"][0].update(unmeasured=UNMEASURED))
    recent = page.get_by_role("region", name="Recent traces").get_by_role("listitem").first
    expect(recent.get_by_text("not measured", exact=True)).to_be_visible()
    expect(recent.get_by_text(f"recorded, {UNMEASURED}")).to_be_visible()
    set_jobs(page, {})
    set_jobs(page, {"state": "finished", "trace": TRACE, "unmeasured": UNMEASURED})
    expect(page.get_by_text(f"counter: recorded, {UNMEASURED}")).to_be_visible()
    row = page.get_by_role("region", name="Recordings").get_by_role("listitem").first
    expect(row.locator(".fd-badge")).to_have_text("recorded, not measured")
    expect(row.locator(".fd-badge")).to_have_class(re.compile("fd-tone-warn"))
    expect(row).to_contain_text(UNMEASURED)
    row.get_by_role("link", name="counter", exact=True).click()
    end = page.get_by_role("region", name="Result")
    expect(end).to_contain_text(f"Recorded, {UNMEASURED}")


def test_a_trace_that_is_still_measured(opened: Opener) -> None:
    page = opened(f"?trace={TRACE}#tab=code")
    set_jobs(page, {"preview": TRACE, "message": "latency of Pass3"}, steps=4)
    notice = page.locator(".fd-notice")
    expect(notice).to_contain_text("measuring goes on: latency of Pass3")
    set_jobs(page, {"preview": TRACE, "trace": TRACE, "state": "finished"}, steps=4)
    page.get_by_role("button", name="Show it complete").click()
    expect(notice).to_be_hidden()
    expect(page.get_by_role("tab", name="Code")).to_have_attribute("aria-selected", "true")


# --- a recording


def test_a_recording_from_start_to_viewer(opened: Opener) -> None:
    page = opened()
    page.get_by_role("button", name="Record counter").click()
    set_jobs(page, {"message": "freezing: Inline of forward"}, steps=2)
    expect(page.get_by_role("heading", level=1)).to_have_text("counter")
    rows = page.get_by_role("list", name="Recorded steps").locator(".fd-step")
    expect(rows).to_have_count(2)
    expect(page.get_by_role("progressbar", name="Recording")).not_to_have_attribute("aria-valuenow", "0")
    phase = {"phase": "Measuring latency", "detail": "round 3 of 9", "later": ["Comparing numbers", "Saving"]}
    set_jobs(page, {**phase, "done": 250, "total": 1000, "left_s": 8.4, "preview": TRACE}, steps=4)
    expect(page.get_by_role("progressbar", name="Recording")).to_have_attribute("aria-valuenow", "25")
    expect(page.get_by_text("Measuring latency: round 3 of 9", exact=True)).to_be_visible()
    expect(page.get_by_text("about 8 s left of this, then comparing numbers, saving", exact=True)).to_be_visible()
    expect(page).to_have_title("25% counter · freezer-ui")
    expect(rows.nth(3).get_by_role("link")).to_have_attribute("href", f"/?trace={TRACE}#step=3")
    set_jobs(page, {"state": "finished", "trace": TRACE, "preview": TRACE}, steps=4)
    expect(page).to_have_url(re.compile(re.escape(f"{HOME}?trace={TRACE}")))
    expect(page.get_by_role("tab", name="Graph")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("See what freezing does to your model")


@pytest.mark.parametrize("height", [620, 633, 700])
def test_the_title_of_a_stage_cuts_no_step_in_two(opened: Opener, height: int) -> None:
    page = opened("?job=1")
    page.set_viewport_size({"width": 1280, "height": height})
    for steps in (3, 18, 31):
        set_jobs(page, {"message": "freezing"}, steps=steps)
        shown = page.get_by_role("list", name="Recorded steps")
        expect(shown.locator(".fd-step")).to_have_count(steps)
        assert shown.evaluate(CUT_ROWS) == []
        assert shown.evaluate(LAST_IS_SHOWN)


def test_recording_that_ends_elsewhere_is_announced_without_navigation(opened: Opener) -> None:
    page = opened()
    set_jobs(page, {})
    expect(page.get_by_title("Recording goes on")).to_be_visible()
    set_jobs(page, {"state": "finished", "trace": TRACE})
    expect(page.get_by_text("counter: finished")).to_be_visible()
    expect(page).to_have_url(HOME)
    page.locator(".fd-toast").get_by_role("button", name="Open").click()
    expect(page.get_by_role("tab", name="Graph")).to_be_visible()


def test_cancelling(opened: Opener) -> None:
    page = opened("?job=1")
    expect(page.get_by_role("heading", level=1)).to_have_text("This recording is not known here")
    set_jobs(page, {}, steps=1)
    page.keyboard.press("x")
    page.wait_for_function("() => fake.asked.some((message) => message.type === 'cancel')")
    set_jobs(page, {"state": "cancelled", "message": "cancelled in Inline of forward"}, steps=1)
    expect(page.get_by_role("region", name="Result")).to_contain_text("Cancelled in Inline of forward")
    expect(page.get_by_role("button", name="Try again with changes…")).to_be_visible()


@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_a_recording_that_waits_says_its_place_and_when_it_starts(opened: Opener, width: int) -> None:
    page = opened("?job=1")
    page.set_viewport_size({"width": width, "height": 800})
    waiting = {"state": "waiting", "message": "waiting", "place": 2, "starts_s": None, "waited_s": 3.2, "elapsed_s": 0}
    set_jobs(page, waiting)
    work = page.get_by_role("region", name="Progress")
    expect(work).to_contain_text("Waiting, number 2 in line. This server runs one recording at a time")
    expect(work).to_contain_text("when it starts is not known yet")
    expect(page.get_by_role("progressbar")).to_have_count(0)
    expect(page.get_by_text("example:counter · TorchScript · waits for 3 s")).to_be_visible()
    expect(page).to_have_title("counter: waiting · freezer-ui")
    set_jobs(page, waiting | {"place": 1, "starts_s": 41.6})
    expect(work).to_contain_text("Waiting, next in line.")
    expect(work).to_contain_text("starts in 42 s at the earliest")
    assert (too_wide(page), serious_findings(page)) == ([], [])
    page.keyboard.press("Escape")
    row = page.get_by_role("region", name="Recordings").get_by_role("listitem")
    expect(row).to_contain_text("next in line · starts in 42 s at the earliest")
    expect(page.get_by_title("Recording goes on")).to_have_text("1 waiting")
    assert (too_wide(page), serious_findings(page)) == ([], [])
    row.get_by_role("button", name="Cancel counter").click()
    page.wait_for_function("() => fake.asked.some((message) => message.type === 'cancel')")
    row.get_by_role("link", name="counter").click()
    set_jobs(page, {"message": "freezing: Inline of forward", "waited_s": 45.0, "elapsed_s": 2.0}, steps=2)
    expect(work).to_contain_text("freezing: Inline of forward")
    expect(page.get_by_role("progressbar")).to_be_visible()
    expect(page.get_by_text("waited 45 s, 2 s")).to_be_visible()


def test_badge_shows_the_running_recording_and_the_number_waiting(opened: Opener) -> None:
    page = opened()
    waiting = {"state": "waiting", "place": 1}
    set_jobs(page, {"id": "3", **waiting, "place": 2}, {"id": "2", **waiting}, {"done": 3, "total": 12})
    expect(page.get_by_title("Recording goes on")).to_have_text("counter 25% · 2 waiting")
    set_jobs(page, {"id": "3", **waiting}, {"id": "2"}, {})
    expect(page.get_by_title("Recording goes on")).to_have_text("2 recordings · 1 waiting")


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("failed", "The freeze failed in FoldConvBatchnorm"),
        ("crashed", "The recording crashed in FoldConvBatchnorm"),
        ("timed_out", "Stopped at the time limit, in FoldConvBatchnorm"),
        ("over_limit", "Stopped at the memory limit, in FoldConvBatchnorm"),
    ],
)
def test_a_bad_end(opened: Opener, state: str, words: str) -> None:
    page = opened("?job=1")
    end = {"state": state, "died_in": "FoldConvBatchnorm", "error": "torch says no", "log": ["one", "two"]}
    set_jobs(page, end | {"trace": TRACE}, steps=3)
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text(words)
    expect(alert).to_contain_text("torch says no")
    expect(alert).to_contain_text("3 steps until then are kept.")
    expect(page.get_by_role("region", name="Log")).to_contain_text("one\ntwo")
    expect(page.get_by_role("list", name="Recorded steps").get_by_role("listitem").last).to_contain_text("FoldConvB")
    expect(page.get_by_role("link", name="Open what was recorded")).to_have_attribute("href", f"/?trace={TRACE}")
    assert serious_findings(page) == []
    page.get_by_role("button", name="Try again with changes…").click()
    expect(page.get_by_role("combobox", name="File or example")).to_have_value("example:counter")


def test_one_step_is_written_in_the_singular(opened: Opener) -> None:
    page = opened("?job=1")
    set_jobs(page, {"state": "failed", "error": "torch says no", "log": [], "trace": TRACE}, steps=1)
    expect(page.get_by_role("alert")).to_contain_text("1 step until then is kept.")


# --- the form


def describe(page: Page, **change: Any) -> None:
    """Sets what the look at a model tells."""
    page.evaluate("(change) => Object.assign(fake.inspected, change)", change)


def attribute(path: str, kind: str = "parameter") -> dict[str, Any]:
    return {"path": path, "kind": kind, "type": "Tensor", "shape": [4, 3], "dtype": "float32", "nbytes": 48}


def test_the_form_says_the_same_as_its_command(opened: Opener) -> None:
    page = opened("?record=")
    describe(page, attributes=[attribute("sub.weight"), attribute("sub.version", "attribute")], methods=["forward"])
    page.get_by_role("combobox", name="File or example").fill("/models/it's.pt")
    expect(page.get_by_text("Small 1 weight or buffer, 48 B")).to_be_visible()
    page.get_by_role("button", name="Add an input").click()
    page.get_by_role("textbox", name="Shape").fill("2, 16")
    page.get_by_role("combobox", name="Data type").select_option("int64")
    page.get_by_role("textbox", name="Below").fill("30000")
    page.get_by_role("textbox", name="Keyword argument").fill("tokens")
    page.get_by_role("checkbox", name="Allow folds that may change results slightly").uncheck()
    page.get_by_role("checkbox", name="Optimize for inference").check()
    page.get_by_role("combobox", name="Other methods").fill("encode decode")
    page.get_by_role("checkbox", name="Memory").uncheck()
    page.get_by_role("spinbutton", name="Seconds for latencies").fill("3")
    page.get_by_role("spinbutton", name="Threads").fill("2")
    page.get_by_role("spinbutton", name="Sets of inputs").fill("1")
    page.get_by_role("searchbox", name="Search attributes").fill("vers")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    words = shlex.split(page.get_by_label("The same as a command").inner_text())
    arguments = parse_command_line(words[1:])
    assert (arguments.command, arguments.model) == ("record", "/models/it's.pt")
    assert arguments.inputs == ["tokens=2x16:int64:0..30000"]
    assert arguments.preserved_attrs == ["sub.version"]
    assert arguments.optimize_numerics is False
    assert arguments.optimize_for_inference
    assert arguments.other_methods == ["encode", "decode"]
    assert (arguments.memory, arguments.latency, arguments.seconds) == (False, None, 3)
    assert (arguments.threads, arguments.input_sets) == (2, 1)
    page.get_by_role("button", name="Record", exact=True).click()
    page.wait_for_function("() => fake.asked.some((message) => message.type === 'record')")
    (message,) = asked(page, "record")
    assert shlex.split(message["call"]) == words
    assert message["inputs"] == ["tokens=2x16:int64:0..30000"]
    assert message["preserve"] == ["sub.version"]
    assert message["measure"] == {
        "latency": True,
        "numerics": True,
        "memory": False,
        "seconds": 3,
        "threads": 2,
        "input_sets": 1,
        "values": True,
        "runtime": True,
    }


def test_the_form_offers_inductor_with_its_own_options(opened: Opener) -> None:
    page = opened("?record=")
    describe(page, attributes=[attribute("sub.weight")], methods=["forward"], preserved=["sub.weight"], kind="exported")
    page.get_by_role("combobox", name="File or example").fill("/models/net.pt2")
    expect(page.get_by_role("tree")).to_be_visible()
    page.get_by_role("combobox", name="Backend").select_option("inductor")
    expect(page.get_by_role("tree")).to_be_hidden()
    expect(page.get_by_text("Convert with")).to_have_count(0)
    page.get_by_role("combobox", name="Mode of torch.compile").select_option("max-autotune")
    page.get_by_role("combobox", name="Sizes of the inputs").select_option("numbers always")
    page.get_by_role("checkbox", name="Compile anew").check()
    page.get_by_role("button", name="Record", exact=True).click()
    expect(page.get_by_text("Inductor compiles a model for its inputs: add the first one.")).to_be_visible()
    expect(page.get_by_role("button", name="Add an input")).to_be_focused()
    assert asked(page, "record") == []
    page.get_by_role("button", name="Add an input").click()
    words = shlex.split(page.get_by_label("The same as a command").inner_text())
    arguments = parse_command_line(words[1:])
    assert (arguments.backend, arguments.mode, arguments.dynamic) == ("inductor", "max-autotune", False)
    assert (arguments.force_disable_caches, arguments.max_autotune, arguments.preserved_attrs) == (True, None, None)
    page.get_by_role("button", name="Record", exact=True).click()
    page.wait_for_function("() => fake.asked.some((message) => message.type === 'record')")
    (message,) = asked(page, "record")
    assert shlex.split(message["call"]) == words
    assert (message["backend"], message["preserve"], message["via"]) == ("inductor", [], None)
    assert message["options"] == {
        "mode": "max-autotune",
        "dynamic": False,
        "max_autotune": None,
        "fullgraph": False,
        "force_disable_caches": True,
        "discard_parameters": False,
        "disabled_passes": [],
    }


def test_file_that_the_backend_cannot_read_is_refused_at_once(opened: Opener) -> None:
    page = opened("?record=/models/net.pt")
    field = page.get_by_role("combobox", name="File or example")
    expect(page.get_by_role("tree")).to_be_visible()
    page.get_by_role("combobox", name="Backend").select_option("inductor")
    expect(page.get_by_text("A TorchScript file cannot be compiled")).to_be_visible()
    expect(field).to_have_attribute("aria-invalid", "true")
    page.get_by_role("combobox", name="Backend").select_option("torchscript")
    expect(field).not_to_have_attribute("aria-invalid", "true")


def test_an_example_is_recorded_with_the_backend_chosen(opened: Opener) -> None:
    page = opened()
    page.get_by_role("combobox", name="Record examples with").select_option("inductor")
    page.get_by_role("button", name="Record counter").click()
    page.wait_for_function("() => fake.asked.some((message) => message.type === 'record')")
    (message,) = asked(page, "record")
    assert (message["backend"], message["call"]) == (
        "inductor",
        "freezer-ui record example:counter --backend inductor",
    )
    set_jobs(page, {"backend": "inductor", "message": "compiling: layout", "stage": "layout"})
    stages = page.get_by_role("list", name="Stages").get_by_role("listitem")
    expect(stages).to_have_count(8)
    expect(stages.and_(page.locator("[aria-current=step]"))).to_contain_text("layout")
    set_jobs(page, {"backend": "inductor", "message": "compiling: post_grad", "stage": "post_grad"})
    expect(stages.and_(page.locator("[aria-current=step]"))).to_contain_text("post_grad")
    assert serious_findings(page) == []
    assert too_wide(page) == []
    set_jobs(page, {"backend": "inductor"}, steps=2)
    expect(page.get_by_role("list", name="Stages")).to_be_hidden()


COMMANDS = [
    "freezer-ui record example:counter",
    "freezer-ui record model.pt --input 1x3 --input mask=1x3:bool --via trace --device cuda:0 --no-latency",
    "freezer-ui record model.pt --preserve a.b c --no-optimize-numerics --other-method encode --no-measure",
    "freezer-ui record 'a model.pt' --optimize-for-inference --no-numerics --seconds 2.5 --threads 1 --limit 90",
    "freezer-ui record example:counter --no-measure --no-values",
    "freezer-ui record example:counter --memory 4G",
    "freezer-ui record example:counter --limit 90 --memory 1500M",
    "freezer-ui record example:counter --backend inductor",
    "freezer-ui record m.pt2 --input 1x3 --backend inductor --mode max-autotune --no-dynamic --fresh-caches",
    "freezer-ui record m.pt2 --without constant_fold --check stale_weights --ablation",
    "freezer-ui record m.pt2 --backend inductor --dynamic --fullgraph --discard-parameters --no-max-autotune",
]


def test_the_form_shows_the_command_that_it_was_filled_from(opened: Opener) -> None:
    page = opened()
    shown = """(request) => FreezerDashboard.toCommand(
      request, dashboard.backend(request.backend), dashboard.channel.site)"""
    requests = [parse_recording_command(command) for command in COMMANDS]
    assert [page.evaluate(shown, form_values(request)) for request in requests if request] == COMMANDS


@pytest.mark.parametrize(
    "text",
    ["1x3", "1x3:bfloat16", "2x16:int64:0..30000", "int:3", "float:0.5", "bool:true", "@a b.pt", "mask=1:bool", "?!"],
)
def test_input_rows_keep_every_form(opened: Opener, text: str) -> None:
    page = opened()
    assert page.evaluate("(text) => FreezerDashboard.inputText(FreezerDashboard.inputRow(text))", text) == text


def test_wrong_inputs_are_marked_at_their_field_and_not_sent(opened: Opener) -> None:
    page = opened("?record=/models/a.pt")
    answer(page, "parse_input", "({ text }) => { throw new Error(`${text} is not a shape`); }")
    page.get_by_role("button", name="Add an input").click()
    page.get_by_role("textbox", name="Shape").fill("1xtwo")
    expect(page.get_by_text("1xtwo is not a shape")).to_be_visible()
    page.get_by_role("button", name="Record", exact=True).click()
    expect(page.get_by_role("textbox", name="Shape")).to_be_focused()
    assert asked(page, "record") == []


IDS = {
    "name": "ids",
    "type": "Tensor",
    "is_required": True,
    "default": None,
    "is_keyword": False,
    "input": "1x16:int64:0..100",
    "source": "operator",
    "note": "a guess from embedding, which uses it first",
}
MASK = IDS | {"name": "mask", "is_required": False, "default": "None", "input": None, "source": "", "note": ""}
SCALE = IDS | {"name": "scale", "type": "float", "input": None, "source": "", "note": ""}


def form_inputs(page: Page) -> list[str]:
    """The inputs that the form's command names."""
    words = shlex.split(page.get_by_label("The same as a command").inner_text())
    return list(parse_command_line(words[1:]).inputs)


def test_the_form_counts_the_weights_that_a_freeze_will(opened: Opener) -> None:
    page = opened("?record=")
    absent = attribute("attention.k_proj_weight") | {"type": "NoneType", "shape": None, "dtype": None, "nbytes": 0}
    tied = attribute("head.weight") | {"same_as": "words.weight"}
    mean = attribute("norm.running_mean", "buffer")
    describe(page, attributes=[attribute("words.weight"), absent, tied, mean], methods=["forward"])
    page.get_by_role("combobox", name="File or example").fill("/models/a.pt")
    expect(page.get_by_text("Small 2 weights and buffers, 96 B, method forward")).to_be_visible()


def test_the_form_shows_the_signature_and_never_overwrites_an_edit(opened: Opener) -> None:
    page = opened("?record=")
    describe(page, parameters=[IDS, MASK, SCALE])
    page.get_by_role("combobox", name="File or example").fill("/models/a.pt")
    ids = page.get_by_role("group", name="Input 1: ids")
    expect(ids).to_contain_text("a guess from embedding")
    expect(page.get_by_text("optional, None by default")).to_be_visible()
    assert form_inputs(page) == ["1x16:int64:0..100"]
    assert serious_findings(page) == []
    page.get_by_role("button", name="Give scale").click()
    expect(page.get_by_role("textbox", name="Value", exact=True)).to_be_focused()
    page.keyboard.type("0.5")
    assert form_inputs(page) == ["1x16:int64:0..100", "scale=float:0.5"]  # mask is left out, so scale goes by its name
    page.get_by_role("button", name="Give mask").click()
    page.get_by_role("textbox", name="Shape").last.fill("1x16")
    assert form_inputs(page) == ["1x16:int64:0..100", "1x16", "float:0.5"]
    page.get_by_role("button", name="Remove the input mask").click()
    ids.get_by_role("textbox", name="Shape").fill("2x8")
    expect(page.get_by_text("a guess from embedding")).to_have_count(0)
    # Another model takes other parameters: edits stay, an untouched suggestion goes.
    describe(page, parameters=[IDS | {"input": "1x3"}, IDS | {"name": "other", "input": "4x4"}])
    page.get_by_role("combobox", name="File or example").fill("/models/b.pt")
    expect(page.get_by_role("group", name="Input 2: other")).to_be_visible()
    assert form_inputs(page) == ["2x8:int64:0..100", "4x4", "scale=float:0.5"]


def test_a_failed_call_stands_at_its_field_with_its_fix(opened: Opener) -> None:
    page = opened("?record=")
    describe(page, parameters=[IDS, MASK])
    failed = """({ inputs }) => ({ output: "", duration_ns: 0, where: "in embedding, line 9 of net.py", error: "long",
        failure: inputs[0] === "2x3:int64" ? null : { message: "it is <b>wrong</b>", at: 0, parameter: "ids",
        fixes: [{ label: "Use 2x3", inputs: ["2x3:int64"] }] } })"""
    answer(page, "try", failed)
    page.get_by_role("combobox", name="File or example").fill("/models/a.pt")
    ids = page.get_by_role("group", name="Input 1: ids")
    expect(ids).to_contain_text("One call of the model fails: it is <b>wrong</b> (in embedding, line 9 of net.py).")
    page.get_by_role("button", name="Record", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="Recorded anyway, it is not measured")).to_be_visible()
    assert asked(page, "record") == []
    assert serious_findings(page) == []
    ids.get_by_role("button", name="Use 2x3").click()
    expect(page.get_by_role("button", name="Record anyway")).to_have_count(0)
    expect(page.get_by_text("It runs; output")).to_be_visible()
    expect(ids).not_to_contain_text("fails")
    ids.get_by_role("textbox", name="Below").fill("7")
    expect(ids).to_contain_text("One call of the model fails")
    page.get_by_role("button", name="Record", exact=True).click()
    page.get_by_role("button", name="Record anyway").click()
    page.wait_for_function("() => fake.asked.some((message) => message.type === 'record')")
    assert [message["inputs"] for message in asked(page, "record")] == [["2x3:int64:0..7"]]


def test_a_missing_argument_adds_its_row(opened: Opener) -> None:
    page = opened("?record=")
    describe(page, parameters=[IDS, SCALE])
    failed = """() => ({ output: "", duration_ns: 0, where: "", error: "", failure: {
        message: "forward() is missing scale", at: null, parameter: "scale", fixes: [] } })"""
    answer(page, "try", failed)
    page.get_by_role("combobox", name="File or example").fill("/models/a.pt")
    absent = page.locator(".fd-input-absent", has_text="scale")
    expect(absent).to_contain_text("forward() is missing scale")
    answer(page, "try", "() => { throw new Error('trying one call of it takes more than 60 s'); }")
    absent.get_by_role("button", name="Give scale").click()
    expect(page.get_by_role("textbox", name="Value", exact=True)).to_be_focused()
    page.keyboard.type("2")
    expect(page.get_by_text("takes more than 60 s")).to_be_visible()
    page.get_by_role("button", name="Record", exact=True).click()  # a call without an outcome holds nothing up
    page.wait_for_function("() => fake.asked.some((message) => message.type === 'record')")
    assert [message["inputs"] for message in asked(page, "record")] == [["1x16:int64:0..100", "float:2"]]


def test_no_call_is_tried_while_a_recording_runs_or_on_the_models_own_inputs(opened: Opener) -> None:
    page = opened("?record=")
    set_jobs(page, {"state": "running"}, steps=1)
    describe(page, parameters=[IDS])
    page.get_by_role("combobox", name="File or example").fill("/models/a.pt")
    expect(page.get_by_text("Not tried: a recording is running")).to_be_visible()
    describe(page, parameters=[IDS], brings_inputs=True, inputs=["1x4:int64"])
    page.get_by_role("combobox", name="File or example").fill("/models/b.pt")
    expect(page.get_by_role("button", name="Others")).to_be_visible()
    assert asked(page, "try") == []
    page.get_by_role("button", name="Try one call").click()
    expect(page.get_by_text("It runs; output 1×2 float32, 2 ms for the first call.")).to_be_visible()
    [message] = asked(page, "try")
    assert (message["model"], message["inputs"]) == ("/models/b.pt", [])


def test_a_form_without_a_model(opened: Opener) -> None:
    page = opened("?record=")
    page.get_by_role("button", name="Record", exact=True).click()
    expect(page.get_by_text("Say which model")).to_be_visible()
    expect(page.get_by_role("combobox", name="File or example")).to_be_focused()
    assert asked(page, "record") == []


def test_a_model_that_cannot_be_read(opened: Opener) -> None:
    page = opened("?record=")
    answer(page, "inspect", "() => { throw new Error('no code of this machine'); }")
    page.get_by_role("combobox", name="File or example").fill("package.module:factory")
    expect(page.get_by_text("no code of this machine")).to_be_visible()
    expect(page.get_by_role("combobox", name="File or example")).to_have_attribute("aria-invalid", "true")


def test_without_a_sandbox_a_file_is_opened_only_after_the_user_agrees(opened: Opener) -> None:
    page = opened("?record=")
    found = (
        '{ model: "/models/net.pt", problem: "there is no sandbox: <b>none</b>", danger: "A model file is a program" }'
    )
    answer(page, "sandbox", f"() => ({found})")
    page.get_by_role("combobox", name="File or example").fill("net.pt")
    question = page.get_by_role("alertdialog", name="No sandbox")
    expect(question).to_contain_text("A model file is a program. freezer-ui opens files in a sandbox, but there is no")
    expect(question).to_contain_text("<b>none</b>")
    assert asked(page, "inspect") == []
    assert serious_findings(page) == []
    question.get_by_role("button", name="Open this file without a sandbox").click()
    expect(page.get_by_text("method forward")).to_be_visible()
    assert asked(page, "inspect") == [
        {"type": "inspect", "model": "net.pt", "imports": [], "consent": "/models/net.pt"}
    ]
    page.get_by_role("button", name="Record", exact=True).click()
    page.wait_for_function("() => fake.asked.some((message) => message.type === 'record')")
    [sent] = asked(page, "record")
    assert (sent["model"], sent["consent"]) == ("net.pt", "/models/net.pt")


def test_the_form_takes_a_float_model_and_asks_before_it_opens_one_without_a_sandbox(opened: Opener) -> None:
    page = opened("?record=")
    page.get_by_role("combobox", name="File or example").fill("/models/net.pt2")
    expect(page.get_by_text("method forward")).to_be_visible()
    command = page.get_by_label("The same as a command")
    field = page.get_by_role("textbox", name="Float model")
    expect(page.get_by_role("button", name="Browse for the float model")).to_be_visible()
    answer(page, "sandbox", "() => ({ model: '/logs', problem: null, danger: '', existing: 'a log of TORCH_TRACE' })")
    field.fill("/logs")
    page.get_by_role("button", name="Record", exact=True).click()
    expect(page.get_by_text("This is a log of TORCH_TRACE: it is only read")).to_be_visible()
    expect(field).to_be_focused()
    assert asked(page, "record") == []
    answer(page, "sandbox", "() => ({ model: '/models/f.pt2', problem: 'there is none', danger: 'A program' })")
    field.fill("f.pt2")
    expect(command).to_have_text("freezer-ui record /models/net.pt2 --float-model f.pt2")
    field.blur()
    page.get_by_role("button", name="Open this file without a sandbox").click()
    expect(page.get_by_role("alertdialog")).to_have_count(0)
    assert serious_findings(page) == []
    page.get_by_role("button", name="Record", exact=True).click()
    page.wait_for_function("() => fake.asked.some((message) => message.type === 'record')")
    (sent,) = asked(page, "record")
    assert (sent["float_model"], sent["float_consent"]) == ("f.pt2", "/models/f.pt2")
    assert sent["call"] == "freezer-ui record /models/net.pt2 --float-model f.pt2"


def test_a_models_own_inputs_are_left_to_it(opened: Opener) -> None:
    page = opened("?record=")
    describe(page, brings_inputs=True, inputs=["1x4"], preserved=["sub.version"])
    page.get_by_role("combobox", name="File or example").fill("example:counter")
    expect(page.get_by_text("1x4", exact=True)).to_be_visible()
    expect(page.get_by_label("The same as a command")).to_have_text(
        "freezer-ui record example:counter --preserve sub.version"
    )
    page.get_by_role("button", name="Others").click()
    expect(page.get_by_role("textbox", name="Shape")).to_have_value("1x4")


def test_the_form_survives_reload_and_back(opened: Opener) -> None:
    page = opened("?record=example:counter")
    page.get_by_role("checkbox", name="Optimize for inference").check()
    page.reload()
    expect(page.get_by_role("checkbox", name="Optimize for inference")).to_be_checked()
    page.get_by_role("link", name="freezer-ui: all").click()
    page.go_back()
    expect(page.get_by_role("checkbox", name="Optimize for inference")).to_be_checked()


def test_the_tree_by_keyboard(opened: Opener) -> None:
    page = opened("?record=")
    describe(page, attributes=[attribute(f"layer{index // 50}.block{index}.weight") for index in range(2000)])
    page.get_by_role("combobox", name="File or example").fill("/models/large.pt")
    tree = page.get_by_role("tree")
    expect(tree).to_be_visible()
    tree.focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", " "):
        page.keyboard.press(key)
    expect(page.get_by_role("button", name="Do not preserve layer0.block0.weight")).to_be_visible()
    page.keyboard.press("End")
    expect(tree.get_by_role("treeitem").last).to_contain_text("layer39")
    assert tree.get_by_role("treeitem").count() < 100


# --- files


def test_choosing_a_file_of_the_server(opened: Opener) -> None:
    page = opened()
    answer(
        page,
        "list",
        """({ path }) => {
          const top = path === "/models";
          const entry = (name, kind, size_bytes) => ({ name, path: `${path}/${name}`, kind, size_bytes, modified: 0 });
          const above = [entry("old", "folder", null), entry("notes.txt", "other", 5)];
          const entries = top ? above : [entry("a.fztrace", "trace", 2048)];
          return { path, parent: top ? "/" : "/models", entries };
        }""",
    )
    page.keyboard.press("o")
    dialog = page.get_by_role("dialog", name="Open a file")
    expect(dialog.get_by_role("button", name="notes.txt")).to_be_disabled()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(dialog.get_by_text("2.00 KiB")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(re.escape("?trace=/models/old/a.fztrace")))


def test_a_folder_of_its_own_page(opened: Opener) -> None:
    page = opened("?folder=/models")
    expect(page.get_by_text("This folder is empty.")).to_be_visible()
    page.get_by_role("button", name="root folder").click()
    expect(page).to_have_url(f"{HOME}?folder=/")


def test_a_file_past_the_limit_is_not_sent(opened: Opener) -> None:
    page = opened()
    page.keyboard.press("o")
    page.get_by_label("File to upload").set_input_files(
        {"name": "large.pt", "mimeType": "application/octet-stream", "buffer": b"x" * 2000}
    )
    expect(page.get_by_role("alert")).to_contain_text("large.pt has 1.95 KiB; the server accepts at most 1 KiB")


# --- looks and accessibility


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("route", ["", f"?trace={TRACE}"])  # the others: `test_every_page_of_the_dashboard`
def test_accessibility(opened: Opener, page: Page, route: str, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    opened(route)
    if route != f"?trace={TRACE}":
        set_jobs(page, {"preview": "/p", "done": 1, "total": 3}, {"id": "2", "state": "crashed"}, steps=3)
    assert serious_findings(page) == []


@pytest.mark.parametrize("size", [(1280, 720), (2560, 1440), (390, 844)])
@pytest.mark.parametrize("route", ["", "?record=example:counter", "?job=1", "?folder=/models"])
def test_nothing_is_wider_than_the_window(opened: Opener, page: Page, route: str, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    opened(route)
    long = "a" * 120
    set_jobs(page, {"name": long, "message": long, "died_in": long}, {"id": "2", "state": "crashed"}, steps=3)
    assert too_wide(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


@pytest.mark.parametrize("size", [(1280, 720), (2560, 1440), (390, 844)])
def test_the_way_home_stands_beside_the_viewers_title(opened: Opener, page: Page, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    opened(f"?trace={TRACE}")
    expect(page.get_by_role("tab", name="Graph")).to_be_visible()
    home = page.get_by_role("link", name="All recordings and traces").bounding_box()
    title = page.get_by_role("heading", level=1).bounding_box()
    assert home is not None
    assert title is not None
    assert home["x"] + home["width"] <= title["x"]
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


RUNNING = {
    "phase": "Measuring latency",
    "detail": "round 3 of 60",
    "later": ["Comparing numbers", "Saving"],
    "left_s": 8.4,
    "done": 400,
    "total": 1000,
    "preview": "/p",
}
CANCELLING = "Cancelling; waiting for torch to finish the pass Inline of forward. Cancel again to end it now."
FAILED = {
    "state": "failed",
    "conversion": "scripted",
    "message": "The model cannot be scripted: functions can't take variable number of arguments, at line 3 of net.py.",
    "error": "NotSupportedError: Compiled functions can't take variable number of arguments",
    "log": ["line one", "line two"],
    "elapsed_s": 2.0,
}
STATES: dict[str, tuple[str, dict[str, Any] | None]] = {
    "home": ("", None),
    "home, recording": ("", RUNNING),
    "form": ("?record=example:counter", None),
    "form, empty": ("?record=", None),
    "job, starting": ("?job=1", {}),
    "job, running": ("?job=1", RUNNING),
    "job, cancelling": (
        "?job=1",
        RUNNING | {"cancelling": True, "message": CANCELLING},
    ),
    "job, waiting": ("?job=1", {"state": "waiting", "place": 1}),
    "job, not scripted": ("?job=1", FAILED),
    "job, crashed": ("?job=1", FAILED | {"state": "crashed", "conversion": None, "died_in": "Pass2", "trace": "/p"}),
    "job, unknown": ("?job=77", None),
    "folder": ("?folder=/models", None),
    "trace that cannot be read": ("?trace=/traces/broken.fztrace", None),
}


@pytest.mark.parametrize("name", STATES)
def test_every_page_of_the_dashboard(opened: Opener, page: Page, problems: list[str], name: str) -> None:
    route, job = STATES[name]
    opened(route)
    if job is not None:
        set_jobs(page, job, steps=3)
    wrong = list(layouts(page))
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        wrong += [f"{scheme}: {found}" for found in axe(page)]
    if "cannot be read" in name:
        problems.clear()  # the browser tells of the refused request
    assert wrong == [], "\n".join(wrong)


def test_unscriptable_model_shows_the_cause_and_the_remedy(opened: Opener, page: Page) -> None:
    opened("?job=1")
    set_jobs(page, FAILED | {"model": "/models/net.pt"})
    end = page.get_by_role("alert")
    expect(end.get_by_role("heading")).to_have_text("The model cannot be scripted")
    expect(end).to_contain_text("at line 3 of net.py. No freeze began.")
    expect(end).to_contain_text("NotSupportedError")
    expect(page.get_by_role("region", name="Log")).to_contain_text("line two")
    page.get_by_role("button", name="Trace it instead…").click()
    expect(page).to_have_url(re.compile("record="))
    expect(page.get_by_text("freezer-ui record /models/net.pt --via trace")).to_be_visible()


def test_code_that_cannot_be_scripted_is_traced_from_the_command_line(opened: Opener, page: Page) -> None:
    opened("?job=1")
    set_jobs(page, FAILED | {"model": "my.models:make", "name": "make"})
    told = page.locator(".fd-actions")
    expect(told).to_contain_text("Trace it instead, from the command line, which may import its code:")
    expect(told.locator("pre")).to_have_text("freezer-ui record my.models:make --via trace")
    expect(told.get_by_role("button")).to_have_text(["Copy"])  # none leads to the form, which refuses code


# --- names that somebody else chose


HOSTILE = {
    "long": "a" * 3_000,
    "lines": "first\nsecond\r\nthird\u2028fourth\x0bfifth",
    "bidi": "model\u202egpj.ecartzf\u2066\u202b",
    "combining": "e" + "\u0301" * 400,
    "wide": "漢字" * 300,
    "blank": " \u00a0\u200b",
    "markup": ATTACK,
    "tabs": "\t".join("abc" * 50),
}
# Texts of the lists of which a line holds but a few letters, and elements that lie over each other's places.
SQUEEZED = """() => {
  const texts = [...dashboard.root.querySelectorAll("main li *, dialog li *, .fd-toast *, .fd-upload *")]
    .filter((element) => !element.childElementCount && element.checkVisibility())
    .filter((element) => element.textContent.trim().length >= 6);
  const lines = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return new Set([...range.getClientRects()].map((rect) => Math.round(rect.top))).size;
  };
  return texts.map((element) => [element, lines(element)])
    .filter(([element, count]) => count > 2 && element.textContent.length / count < 8)
    .map(([element, count]) => `${element.className}: ${count} lines, ${element.textContent.slice(0, 30)}`);
}"""
TALLEST = """() => Math.max(0, ...[...dashboard.stage.querySelectorAll("main li")].map((row) => row.offsetHeight))"""


def _hostile_values(start: dict[str, Any]) -> None:
    known = start["library"]["recent"][0]
    recent = []
    for kind, text in HOSTILE.items():
        recent.append(known | {"path": f"/traces/{kind}/{text[:200]}.fztrace", "name": text})
        recent.append(known | {"path": f"/traces/{kind}", "backend": text, "torch": text, "created": text})
        recent.append(
            known | {"path": f"/traces/{kind}2", "name": text, "backend": text, "failed": text, "missing": True}
        )
        recent.append(known | {"path": f"/traces/{kind}3", "steps": 10**300, "nodes": 10**300})
    start["library"]["recent"] = recent


@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_no_name_squeezes_what_stands_beside_it(opened: Opener, page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    opened(change=_hostile_values)
    page.get_by_role("button", name=re.compile("Show .* more")).click()
    states = ["running", "waiting", "finished", "failed", "crashed", "cancelled"]
    jobs = [
        {
            "id": f"{kind}-{state}",
            "name": text,
            "model": text,
            "message": text,
            "died_in": text,
            "state": state,
            "place": 1,
        }
        for kind, text in HOSTILE.items()
        for state in states
    ]
    set_jobs(page, *jobs, steps=1)
    expect(page.get_by_role("region", name="Recordings").get_by_role("listitem")).to_have_count(len(jobs))
    assert page.evaluate(SQUEEZED) == []
    assert too_wide(page) == []
    assert page.evaluate(TALLEST) <= 200
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_no_file_name_squeezes_what_stands_beside_it(opened: Opener, page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    opened()
    entries = [
        {"name": text, "path": f"/models/{text}", "kind": kind, "size_bytes": 10**15, "modified": 10**9}
        for text in HOSTILE.values()
        for kind in ("folder", "trace", "model", "other")
    ]
    listing = {"path": "/" + "/".join(text[:200] for text in HOSTILE.values()), "parent": "/", "entries": entries}
    page.evaluate("(listing) => { fake.answers.list = () => listing; }", listing)
    page.evaluate("dashboard.go({ page: 'folder', path: '/x' })")
    expect(page.get_by_role("list", name="Files").get_by_role("listitem")).to_have_count(len(entries) + 1)
    for _ in range(2):
        assert page.evaluate(SQUEEZED) == []
        assert too_wide(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate("dashboard.go({ page: 'home' })")
        page.get_by_role("button", name="Open a file…").click()
        expect(page.get_by_role("list", name="Files").get_by_role("listitem")).to_have_count(len(entries) + 1)


def test_signs_that_turn_or_break_a_line_are_shown(opened: Opener) -> None:
    page = opened(change=_hostile_values)
    page.get_by_role("button", name=re.compile("Show .* more")).click()
    recent = page.get_by_role("region", name="Recent traces")
    expect(recent.get_by_role("link", name="model\\u202egpj.ecartzf\\u2066\\u202b", exact=True)).to_be_visible()
    expect(recent.get_by_role("link", name="first\\u000asecond", exact=False).first).to_be_visible()
    found = recent.evaluate("(part) => part.textContent")
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u2028\x00-\x1f]", found)


TOUR = "?trace=/traces/tour.fztrace"


def tour_box(page: Page) -> Any:
    return page.get_by_role("dialog", name=re.compile("^Tour, "))


def test_the_first_visit_of_a_trace_offers_a_tour_that_does_not_come_back(opened):
    page = opened(TOUR)
    box = tour_box(page)
    expect(box).to_be_focused()
    for at in range(1, 6):
        expect(box).to_contain_text(f"{at} of 5")
        expect(box).to_have_accessible_name(re.compile(f"^Tour, {at} of 5: "))
        inside = """box => { const [a, b] = [box.getBoundingClientRect(), document.documentElement];
          return a.left >= 0 && a.top >= 0 && a.right <= b.clientWidth && a.bottom <= b.clientHeight; }"""
        assert box.evaluate(inside)
        assert serious_findings(page) == []
        box.get_by_role("button", name="Done" if at == 5 else "Next").press("Enter")
    expect(box).to_have_count(0)
    expect(page.get_by_role("tab", name="Summary")).to_have_attribute("aria-selected", "true")
    page.reload()
    expect(page.get_by_role("tab", name="Graph")).to_be_visible()
    expect(box).to_have_count(0)


@pytest.mark.parametrize("width", [390, 1024])
def test_the_tour_is_left_by_esc_and_starts_again_from_the_sheet(page, opened, width):
    page.set_viewport_size({"width": width, "height": 720})
    opened(TOUR)
    box = tour_box(page)
    expect(box).to_be_focused()
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)
    page.keyboard.press("?")
    page.get_by_role("button", name="Take the tour").click()
    expect(box).to_contain_text("1 of 5")
    box.get_by_role("button", name="Next").click()
    expect(box).to_contain_text("2 of 5")
    box.get_by_role("button", name="Back").click()
    page.get_by_role("button", name="End the tour").click()
    expect(box).to_have_count(0)
    expect(page.locator(".fd-tour-ring")).to_have_count(0)
    page.keyboard.press("?")
    page.get_by_role("button", name="Take the tour").click()
    expect(box).to_contain_text("1 of 5")
    page.get_by_role("tab", name="Graph").click()  # whoever looks elsewhere has left the tour
    expect(box).to_have_count(0)
    expect(page.get_by_role("tab", name="Graph")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("button", name="More", exact=True)).to_be_visible()


def test_a_row_of_a_sweep_opens_its_trace(opened: Opener) -> None:
    page = opened("?sweep=/zoo")
    expect(page.get_by_role("heading", level=1)).to_have_text("zoo")
    expect(page.locator("main").get_by_role("status")).to_have_text("2 recordings, 1 not recorded, 1 not made yet")
    page.get_by_role("link", name="net", exact=True).click()
    expect(page).to_have_url(f"{HOME}?trace=/zoo/traces/net.fztrace")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("zoo")
    expect(page).to_have_url(f"{HOME}?sweep=/zoo")
    page.set_viewport_size({"width": 390, "height": 800})
    wide = too_wide(page)
    page.set_viewport_size({"width": 1280, "height": 720})
    assert wide == []


def test_charts_that_cannot_be_loaded_say_why_and_load_again_on_request(opened: Opener, problems: list[str]) -> None:
    page = opened(f"?trace={TRACE}#tab=charts")
    said = page.get_by_role("alert").filter(has_text="The charts cannot be shown. There is no trace small.fztrace.")
    expect(said).to_be_visible()
    with page.expect_request(lambda request: "trace/charts" in request.url):
        said.get_by_role("button", name="Try again").click()
    expect(said).to_be_visible()
    assert len(problems) == 2  # the browser notes each refusal
    problems.clear()


@pytest.mark.parametrize("width", [1920, 1440, 1024, 768, 390])
def test_the_list_shows_a_whole_verdict_and_all_facts_of_a_trace(opened: Opener, width: int) -> None:
    def change(start: dict[str, Any]) -> None:
        start["library"]["recent"][0]["verdict"] = (
            "All 32 weights and buffers are frozen; the effect on the time is not known (the rounds differ too much to "
            "tell, as on a busy machine); outputs within 7.2e-07 of eager."
        )

    page = opened(change=change)
    page.set_viewport_size({"width": width, "height": 900})
    cut = "(part) => [part.scrollHeight - part.clientHeight, part.scrollWidth - part.clientWidth]"
    for part in (".fd-verdict", ".fd-item-facts"):
        assert page.locator(part).first.evaluate(cut) == [0, 0]
    assert too_wide(page) == []
