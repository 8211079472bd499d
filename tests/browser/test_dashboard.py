"""The dashboard as users have it: the real server, real recordings, a real browser."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import torch
from playwright.sync_api import Locator, Page, Request, expect

from tests.browser.accessibility import serious_findings
from tests.browser.record_form import came, switch_measuring_off, watch_for
from tests.warm_workers import WARM_COMMAND

SLOW_MS = 300_000  # torch is imported by each recording, on a machine that may be busy
MAIN = Path(__file__).parents[2]

Opener = Callable[..., Page]


class Halves(torch.nn.Module):
    """Saved as TorchScript by the tests."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.div(self.linear(x), 2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The server's working folder, with two models: one that can be frozen, and one in training mode."""
    folder = tmp_path_factory.mktemp("models")
    scripted = torch.jit.script(Halves())
    torch.jit.save(scripted, folder / "training.pt")
    torch.jit.save(scripted.eval(), folder / "halves.pt")
    return folder


@pytest.fixture(scope="module")
def link(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The link that a server printed; it ends with the module, cleanly, by the signal of Ctrl-C."""
    places = {f"XDG_{kind}_HOME": str(tmp_path_factory.mktemp(kind)) for kind in ("STATE", "DATA", "CACHE", "CONFIG")}
    command = [sys.executable, "-c", WARM_COMMAND, "--no-browser"]
    environment = os.environ | places | {"PYTHONPATH": str(MAIN), "PYTHONUNBUFFERED": "1"}
    server = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    with server:
        yield server.stdout.readline().strip()
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=300) in (0, 130)


@pytest.fixture
def opened(page: Page, link: str) -> Opener:
    """Opens the dashboard at a route, signed in by the printed link; no request may go anywhere else."""
    server = urlsplit(link).netloc
    foreign: list[str] = []

    def note(request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob") and address.netloc != server:
            foreign.append(request.url)

    page.on("request", note)

    def open_page(route: str = "") -> Page:
        page.goto(link)
        expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=SLOW_MS)
        assert "token" not in page.url
        if route:
            page.goto(f"http://{server}/{route}")
            expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=SLOW_MS)
        assert foreign == []
        return page

    return open_page


@pytest.fixture(scope="module")
def recorded() -> dict[str, str]:
    """Routes of traces that a test has recorded, by the example's name."""
    return {}


@pytest.fixture
def trace(opened: Opener, recorded: dict[str, str]) -> Callable[..., Page]:
    """Opens the trace of an example, recorded without measuring the first time it is asked for."""

    def open_trace(example: str = "counter", fragment: str = "#tab=graph") -> Page:
        if example not in recorded:
            page = record(opened(), f"example:{example}")
            recorded[example] = urlsplit(address(page)).query
        page = opened(f"?{recorded[example]}{fragment}")
        expect(page.get_by_role("tab", name="Graph")).to_be_visible(timeout=SLOW_MS)
        return page

    return open_trace


def address(page: Page) -> str:
    """Where the page is; playwright itself learns of it a moment later."""
    return str(page.evaluate("location.href"))


def form(page: Page, model: str) -> None:
    """Goes to the form for a model, and waits until it has been looked at."""
    page.keyboard.press("n")
    page.get_by_role("combobox", name="File or example").fill(model)
    expect(page.get_by_role("tree")).to_be_visible(timeout=SLOW_MS)


def record(page: Page, model: str) -> Page:
    """Records a model without measuring, and waits for the viewer."""
    form(page, model)
    switch_measuring_off(page)
    page.get_by_role("button", name="Record", exact=True).click()
    expect(page.get_by_role("tab", name="Graph")).to_be_visible(timeout=SLOW_MS)
    return page


def chosen_pass(page: Page) -> Locator:
    return page.get_by_role("listbox", name="Passes").get_by_role("option", selected=True)


def test_home_shows_the_examples(opened: Opener) -> None:
    page = opened()
    names = page.get_by_role("region", name="Examples").get_by_role("heading", level=3)
    expect(names.filter(has_text="resnet18")).to_have_count(1)
    expect(page.get_by_role("button", name="Record counter")).to_be_visible()


def test_record_an_example_to_the_end(opened: Opener) -> None:
    page = opened()
    form(page, "example:parallel_linears")
    page.get_by_role("spinbutton", name="Seconds for latencies").fill("4")  # time to see the steps before the viewer
    visited: list[str] = []
    page.on("framenavigated", lambda frame: visited.append(frame.url))
    watch_for(page, "[aria-label='Recorded steps'] .fd-step")
    page.get_by_role("button", name="Record", exact=True).click()
    expect(page).to_have_url(re.compile(r"\?trace=.*parallel_linears.*fztrace"), timeout=SLOW_MS)
    assert any("?job=" in url for url in visited)
    assert came(page)
    expect(page).to_have_title("parallel_linears · freezer-ui", timeout=SLOW_MS)
    page.get_by_role("tab", name="Graph").click()
    expect(page.get_by_role("option", name="PropagateAttributes").first).to_be_visible()
    page.get_by_role("link", name="All recordings and traces").click()
    recent = page.get_by_role("region", name="Recent traces")
    expect(recent.get_by_role("link", name="parallel_linears")).to_be_visible()
    expect(page.get_by_role("region", name="Recordings").get_by_text("finished")).to_be_visible()


def test_a_line_of_source_shows_its_nodes_and_is_kept_in_the_address(trace: Callable[..., Page]) -> None:
    page = trace("counter", "#tab=source")
    line = page.locator(".fv-line-known:not(.fv-line-gone)").first
    line.hover(timeout=SLOW_MS)
    expect(page.locator(".fv-line-facts")).to_contain_text("Passes that touched it")
    line.click()
    expect(line).to_have_attribute("aria-selected", "true")
    assert "line=" in urlsplit(address(page)).fragment
    page.get_by_role("tab", name="Graph", exact=True).click()
    expect(page.get_by_role("tabpanel", name="Graph", exact=True).locator(".fg-legend")).to_contain_text("line")


def test_compile_an_example_with_inductor(opened: Opener) -> None:
    page = opened()
    form(page, "halves.pt")
    page.get_by_role("combobox", name="Backend").select_option("inductor")
    expect(page.get_by_text("A TorchScript file cannot be compiled")).to_be_visible()
    page.get_by_role("combobox", name="File or example").fill("example:counter")
    expect(page.get_by_text("method forward")).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("combobox", name="Sizes of the inputs").select_option("numbers always")
    page.get_by_role("checkbox", name="Compile anew").check()
    switch_measuring_off(page)
    shown, values = page.get_by_label("The same as a command"), page.get_by_role("checkbox", name="Values of weights")
    values.uncheck()
    expect(shown).to_contain_text("--no-measure --no-values")
    values.check()
    command = shown.inner_text()
    assert command == "freezer-ui record example:counter --backend inductor --no-dynamic --fresh-caches --no-measure"
    watch_for(page, ".fd-step")
    page.get_by_role("button", name="Record", exact=True).click()
    page.get_by_role("tab", name="Graph").click(timeout=SLOW_MS)
    assert came(page)  # while it still compiled
    expect(page.get_by_role("option", name="replace_params_with_constants")).to_be_visible()
    page.get_by_role("tab", name="Environment").click()
    expect(page.get_by_text(command, exact=True)).to_be_visible()


def test_cancel_a_recording(opened: Opener) -> None:
    page = opened()
    page.get_by_role("link", name="Options for resnet18").click()
    page.get_by_role("spinbutton", name="Seconds for latencies").fill("900")  # longer than all of this takes
    page.get_by_role("button", name="Record", exact=True).click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible(timeout=SLOW_MS)
    page.keyboard.press("x")
    expect(page.get_by_role("region", name="Result")).to_contain_text("Cancelled", timeout=SLOW_MS)
    expect(page).to_have_url(re.compile(r"\?job="))
    page.get_by_role("button", name="Try again with changes…").click()
    expect(page.get_by_role("combobox", name="File or example")).to_have_value("example:resnet18")


def test_the_page_stays_responsive_while_recording(opened: Opener) -> None:
    page = opened()
    form(page, "example:resnet18")
    page.get_by_role("spinbutton", name="Seconds for latencies").fill("900")  # longer than all of this takes
    page.get_by_role("button", name="Record", exact=True).click()
    expect(page.locator(".fd-step").first).to_be_visible(timeout=SLOW_MS)
    page.keyboard.press("Escape")
    expect(page.get_by_title("Recording goes on")).to_be_visible()
    page.get_by_role("button", name="Open a file…").click()
    expect(page.get_by_role("button", name="halves.pt")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Cancel resnet18").click()
    expect(page.get_by_title("Recording goes on")).to_be_hidden(timeout=SLOW_MS)


def test_walk_passes_by_keyboard(trace: Callable[..., Page]) -> None:
    page = trace()
    chosen = chosen_pass(page)
    before = chosen.inner_text()
    page.keyboard.press("ArrowDown")
    expect(chosen).not_to_have_text(before)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("f")
    expect(chosen).not_to_have_text(before)
    page.keyboard.press("2")
    expect(page.get_by_role("tab", name="Attributes")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys and signs")).to_be_visible()


def test_deep_link_round_trip(trace: Callable[..., Page]) -> None:
    page = trace()
    page.keyboard.press("f")
    page.get_by_role("tab", name="IR diff").click()
    expect(page).to_have_url(re.compile("tab=ir"))
    place, chosen = address(page), chosen_pass(page).inner_text()
    page.goto("about:blank")
    page.goto(place)
    expect(page.get_by_role("tab", name="IR diff")).to_have_attribute("aria-selected", "true", timeout=SLOW_MS)
    expect(chosen_pass(page)).to_have_text(chosen, use_inner_text=True)
    assert address(page) == place


def test_from_an_attribute_to_its_write_and_its_source(trace: Callable[..., Page]) -> None:
    page = trace(fragment="#tab=attributes")
    page.get_by_role("row").filter(has_text="preserved").filter(has_text="total").first.click()
    details = page.get_by_role("complementary", name="Details")
    expect(details).to_contain_text("total")
    write = details.get_by_role("link", name=re.compile("aten::|prim::SetAttr")).first
    write.click()
    expect(details.locator(".fv-source-here")).to_contain_text("self.")
    expect(page).to_have_url(re.compile("node="))


def test_search_in_the_graph(trace: Callable[..., Page]) -> None:
    page = trace()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search nodes")).to_be_focused()
    page.keyboard.type("aten::")
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary", name="Details")).to_contain_text("aten::")


def test_charts_are_drawn_by_the_bokeh_of_the_page(opened: Opener) -> None:
    page = record(opened(), "example:counter")
    page.get_by_role("tab", name="Charts").click()
    expect(page.locator(".bk-Figure canvas").first).to_be_visible(timeout=SLOW_MS)


def test_upload_a_model_and_record_it(opened: Opener, folder: Path) -> None:
    page = opened()
    page.keyboard.press("o")
    page.get_by_label("File to upload").set_input_files(folder / "halves.pt")
    expect(page).to_have_url(re.compile(r"\?record=.*halves.*\.pt"), timeout=SLOW_MS)
    expect(page.get_by_role("tree")).to_be_visible(timeout=SLOW_MS)
    row = page.get_by_role("group", name="Input 1: x")
    expect(row).to_contain_text("a guess from linear, which uses it first")
    shape = row.get_by_role("textbox", name="Shape")
    expect(shape).to_have_value("1x4")
    shape.fill("3x5")
    expect(row).to_contain_text("(3x5 and 4x2) (in linear, line ", timeout=SLOW_MS)
    row.get_by_role("button", name="Use 3x4").click()
    expect(page.get_by_text("float32 3×4, standard normal")).to_be_visible()
    page.get_by_role("tree").focus()
    page.get_by_role("searchbox", name="Search attributes").fill("bias")
    page.get_by_role("treeitem", name="bias").click()
    page.get_by_role("checkbox", name="Latency").uncheck()
    page.get_by_role("button", name="Record", exact=True).click()
    expect(page.get_by_role("tab", name="Attributes")).to_be_visible(timeout=SLOW_MS)
    page.keyboard.press("2")
    expect(page.get_by_role("row").filter(has_text="linear.bias")).to_contain_text("preserved")


def test_a_factory_is_refused(opened: Opener) -> None:
    page = opened()
    page.keyboard.press("n")
    page.get_by_role("combobox", name="File or example").fill("os:getcwd")
    expect(page.get_by_text("which this page may not run")).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("button", name="Record", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="which this page may not run")).to_be_visible()


def test_a_failed_freeze_says_which_pass_and_why(opened: Opener) -> None:
    page = opened()
    page.keyboard.press("n")
    page.get_by_role("combobox", name="File or example").fill("training.pt")
    page.get_by_role("button", name="Record", exact=True).click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The freeze failed in torch.jit.freeze", timeout=SLOW_MS)
    expect(alert).to_contain_text("Please call .eval() on your module before freezing.")
    page.get_by_role("link", name="Open what was recorded").click()
    expect(page.get_by_role("alert")).to_contain_text("The freeze failed", timeout=SLOW_MS)


def test_wrong_input_is_marked_at_its_row(opened: Opener) -> None:
    page = opened()
    form(page, "halves.pt")
    page.get_by_role("textbox", name="Shape").fill("1xtwo")
    expect(page.get_by_text("is not a shape")).to_be_visible()


def test_two_traces_side_by_side(trace: Callable[..., Page], recorded: dict[str, str]) -> None:
    trace("counter")
    page = trace("preserved_version")
    paths = [recorded[name].removeprefix("trace=") for name in ("counter", "preserved_version")]
    page.goto(f"{page.url.partition('?')[0]}?compare={paths[0]}&with={paths[1]}")
    expect(page.get_by_role("tablist")).to_be_visible(timeout=SLOW_MS)


def test_download_and_report(trace: Callable[..., Page], tmp_path: Path) -> None:
    page = trace()
    for label, magic in (("Download trace", b"\x89FZT"), ("Export report", b"<!doctype html>")):
        page.get_by_role("button", name="Actions").click()
        with page.expect_download(timeout=SLOW_MS) as download:
            page.get_by_role("menuitem", name=label).click()
        download.value.save_as(tmp_path / label)
        assert (tmp_path / label).read_bytes().startswith(magic)


@pytest.mark.parametrize("size", [(1280, 720), (2560, 1440), (390, 844)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_looks(opened: Opener, page: Page, size: tuple[int, int], scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    opened()
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    background = page.locator(".fd").evaluate("(element) => getComputedStyle(element).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 28)"}[scheme]


# Every page in both themes: test_dashboard_pages.py, without a server.
@pytest.mark.parametrize(("kind", "scheme"), [("home", "light"), ("form", "dark"), ("job", "light"), ("trace", "dark")])
def test_accessibility(opened: Opener, trace: Callable[..., Page], page: Page, kind: str, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    if kind == "trace":
        trace()
    elif kind == "form":
        form(opened(), "halves.pt")
    else:
        opened("?job=1" if kind == "job" else "")
    assert serious_findings(page) == []
