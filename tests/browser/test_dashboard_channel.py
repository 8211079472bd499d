"""The way from the page to the server and back: the real server, with a page that only listens."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import torch
from playwright.sync_api import Browser, Page, Route, expect

import freeze_engine as fe
from tests.browser.chromium import PATIENCE_MS
from tests.builders import small_trace
from tests.dashboard import RunningServer, running_server

# Stands for the page of frontend/dashboard/: keeps its channel, and every value that comes.
LISTENER = """
var FreezerDashboard = {
  mount(root, channel) {
    window.channel = channel;
    window.news = { jobs: [], library: [], site: [] };
    for (const name of Object.keys(news)) channel.on(name, (value) => news[name].push(value));
    window.inShadow = root.getRootNode() instanceof ShadowRoot;
    window.lost = null;
    channel.closed.then((text) => { window.lost = text; });
    root.textContent = "mounted";
  },
};
"""
IS_RECENT = "(path) => channel.library.recent.some((entry) => entry.path === path)"
RECORD = {
    "type": "record",
    "model": "example:counter",
    "inputs": [],
    "backend": "torchscript",
    "via": None,
    "options": {},
    "device": None,
    "measure": None,
    "limit_s": None,
    "preserve": [],
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("channel"), "--jobs", "2") as running:
        yield running


@pytest.fixture
def listener(page: Page, server: RunningServer) -> Iterator[Page]:
    """A page that listens; each recording of its test ends with it, and is taken off the list."""
    yield _opened(page, server.link)
    for id_ in page.evaluate("channel.jobs.map((job) => job.id)"):
        _ended(page, id_)
        _ask(page, type="dismiss", job=id_)
    page.wait_for_function("() => channel.jobs.length === 0")


def _opened(page: Page, link: str) -> Page:
    def answer(route: Route) -> None:
        route.fulfill(body=LISTENER, content_type="text/javascript")

    page.route("**/assets/dashboard.js*", answer)
    page.goto(link)
    page.get_by_text("mounted").wait_for()
    page.evaluate("channel.connected")
    return page


def _ask(page: Page, **message: Any) -> Any:
    return page.evaluate("(message) => channel.ask(message)", message)


def _refused(page: Page, **message: Any) -> str:
    text = page.evaluate("(message) => channel.ask(message).then(() => null, (error) => error.message)", message)
    assert text is not None
    return str(text)


def _recording(page: Page, **fields: Any) -> str:
    """Returns the id of a new one, which is in the list; the answer that names it may come before."""
    id_: str = _ask(page, **(RECORD | fields))["job"]
    page.wait_for_function("(id) => channel.jobs.some((job) => job.id === id)", arg=id_)
    return id_


def _job(page: Page, id_: str) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate("(id) => channel.jobs.find((job) => job.id === id)", id_)
    return found


def _ended(page: Page, id_: str) -> dict[str, Any]:
    """Waits for the end of a recording, and until its trace is one of the recent ones, if there is one."""
    page.wait_for_function("(id) => channel.jobs.some((job) => job.id === id && job.state !== 'running')", arg=id_)
    ended = _job(page, id_)
    if ended["trace"] is not None:
        page.wait_for_function(IS_RECENT, arg=ended["trace"])
    return ended


def test_the_page_gets_its_root_and_values(listener: Page, server: RunningServer) -> None:
    assert listener.evaluate("inShadow")
    site = listener.evaluate("channel.site")
    assert (site["backends"][0]["id"], site["home"], site["start"]) == ("torchscript", str(server.folder), None)
    assert site["torch"] == torch.__version__
    examples = listener.evaluate("channel.library.examples.map((example) => example.name)")
    assert examples == list(fe.EXAMPLES)
    assert listener.evaluate("channel.jobs") == []
    assert listener.get_by_text("Opening the dashboard").count() == 0
    assert "token" not in urlsplit(listener.url).query


def test_the_page_is_complete_before_its_session_and_what_it_asks_meanwhile_is_answered_then(
    page: Page, server: RunningServer
) -> None:
    held: list[Route] = []
    page.route("**/session", lambda route: held.append(route))
    page.goto(server.link)
    examples = page.get_by_role("heading", name="Examples")
    expect(examples).to_be_visible()
    page.get_by_role("button", name="Open a file").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    (server.folder / "folder-of-this-test").mkdir()
    page.wait_for_function(
        "() => performance.getEntriesByType('resource').some((one) => one.name.includes('panel.min.js'))"
    )
    (request,) = held
    request.continue_()
    expect(dialog.get_by_text("folder-of-this-test")).to_be_visible()


def test_a_page_without_a_session_says_so(page: Page, server: RunningServer, problems: list[str]) -> None:
    page.route("**/session", lambda route: route.fulfill(status=500, json={"error": "no session for this test"}))
    page.goto(server.link)
    expect(page.get_by_role("alert")).to_contain_text("The connection to freezer-ui is lost")
    assert any("no session for this test" in problem for problem in problems)
    problems.clear()


def test_nothing_is_asked_of_another_machine(page: Page, server: RunningServer) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.startswith("http") else None)
    page.on("websocket", lambda websocket: asked.append(websocket.url))
    _opened(page, server.link)
    assert {urlsplit(url).netloc for url in asked} == {f"127.0.0.1:{server.port}"}
    assert any(url.startswith("ws://") for url in asked)


def test_addresses_lead_to_the_server(listener: Page, server: RunningServer) -> None:
    address = listener.evaluate("channel.url('trace/data', { path: '/a b&c' })")
    assert address == f"http://127.0.0.1:{server.port}/trace/data?path=%2Fa+b%26c"


def test_questions_are_answered_and_refused(listener: Page) -> None:
    assert _ask(listener, type="parse_input", text="1x3")["says"] == "float32 1×3, standard normal"
    assert "is not a shape" in _refused(listener, type="parse_input", text="x")
    assert "There is no message of type" in _refused(listener, type="eval")
    assert "is Python code of this machine, which this page may not run" in _refused(
        listener, **(RECORD | {"model": "os:getcwd"})
    )


def test_a_recording_is_followed_from_every_tab(
    listener: Page, browser: Browser, server: RunningServer, tmp_path: Path
) -> None:
    context = browser.new_context()
    context.set_default_timeout(PATIENCE_MS)
    other = _opened(context.new_page(), server.link)
    job = _recording(listener, measure={"seconds": 1})
    ended = _ended(listener, job)
    assert (ended["state"], ended["error"], ended["name"]) == ("finished", None, "counter")
    assert [step["index"] for step in ended["steps"]] == list(range(len(ended["steps"])))
    assert ended["preview"] == ended["trace"]
    told = "(id) => news.jobs.flat().filter((job) => job.id === id).map((job) => job.steps.length)"
    counts = listener.evaluate(told, job)
    assert len(counts) > 2
    assert counts == sorted(counts)
    assert _ended(other, job)["steps"] == ended["steps"]
    context.close()
    status = listener.evaluate(
        "(path) => fetch(channel.url('trace/data', { path })).then((r) => r.status)", ended["trace"]
    )
    assert status == 200
    _ask(listener, type="dismiss", job=job)
    listener.wait_for_function("(id) => !channel.jobs.some((job) => job.id === id)", arg=job)


def test_cancelling_one_recording_leaves_the_other_running(listener: Page, server: RunningServer) -> None:
    slow = {"model": "example:resnet50", "measure": {"seconds": 900}}  # longer than this waits for its end
    first, second = _recording(listener, **slow), _recording(listener, **slow)
    assert "still runs" in _refused(listener, type="dismiss", job=first)
    _ask(listener, type="cancel", job=first)
    assert _ended(listener, first)["state"] == "cancelled"
    assert _job(listener, second)["state"] == "running"
    _ask(listener, type="cancel", job=second)
    assert _ended(listener, second)["state"] == "cancelled"


def test_the_page_stays_responsive_while_a_model_is_recorded(listener: Page) -> None:
    job = _recording(listener, model="example:resnet50", measure={"seconds": 900})  # longer than this waits for its end
    answers = 0
    while answers <= 10 or _job(listener, job)["preview"] is None:
        _ask(listener, type="parse_input", text="1x3")
        answers += 1
        assert _job(listener, job)["state"] == "running"
    _ask(listener, type="cancel", job=job)
    assert _ended(listener, job)["state"] == "cancelled"


def test_a_model_is_inspected_for_all_tabs(listener: Page) -> None:
    summary = _ask(listener, type="inspect", model="example:preserved_version")
    assert (summary["name"], summary["preserved"]) == ("preserved_version", ["sub.version"])
    assert "sub.version" in [attribute["path"] for attribute in summary["attributes"]]
    listener.wait_for_function("() => channel.site.devices !== null")
    assert "cpu" in listener.evaluate("channel.site.devices")


def test_a_file_is_uploaded_and_recorded(listener: Page, server: RunningServer) -> None:
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(torch.nn.Linear(3, 2).eval()), buffer)
    upload = """async (bytes) => {
      const body = new Blob([new Uint8Array(bytes)]);
      const address = channel.url("upload", { name: "my net.pt", page: channel.page });
      const response = await fetch(address, { method: "PUT", body });
      return { status: response.status, ...(await response.json()) };
    }"""
    reply = listener.evaluate(upload, list(buffer.getvalue()))
    assert (reply["status"], reply["kind"]) == (200, "torchscript")
    ended = _ended(listener, _recording(listener, model=reply["path"], inputs=["1x3"]))
    assert (ended["state"], ended["name"]) == ("finished", "my_net")
    assert Path(ended["trace"]).parent == server.recordings


def test_traces_are_opened_listed_and_forgotten(listener: Page, tmp_path: Path) -> None:
    path = tmp_path / "small.fztrace"
    fe.save(small_trace(), path)
    assert [entry["kind"] for entry in _ask(listener, type="list", path=str(tmp_path))["entries"]] == ["trace"]
    assert _ask(listener, type="open", path=str(path)) == {"trace": str(path), "name": small_trace().name}
    listener.wait_for_function("(path) => channel.library.recent[0]?.path === path", arg=str(path))
    _ask(listener, type="forget", path=str(path))
    listener.wait_for_function("(path) => channel.library.recent.every((entry) => entry.path !== path)", arg=str(path))


def test_lost_connection_shows_a_message(page: Page, problems: list[str], tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        _opened(page, server.link)
        code, told = server.ended()
    assert (code, "Traceback" in told) == (0, False), told
    page.wait_for_function("() => lost !== null")
    assert page.evaluate("lost") == "The connection to the server is lost."
    assert "connection to the server is lost" in _refused(page, type="list", path="/")
    problems.clear()  # the browser itself tells of the broken connection


def test_without_the_token_there_is_a_page_that_asks_for_it(
    page: Page, server: RunningServer, problems: list[str]
) -> None:
    page.route("**/assets/dashboard.js*", lambda route: route.fulfill(body=LISTENER, content_type="text/javascript"))
    page.goto(f"http://127.0.0.1:{server.port}/?folder=%2Ftmp")
    assert page.get_by_role("heading").inner_text() == "This dashboard does not know you yet"
    page.get_by_label("Token").fill("not it")
    page.get_by_role("button", name="Open").click()
    expect(page.locator("main")).to_contain_text("not this server's token")
    page.get_by_label("Token").fill(server.token)
    page.keyboard.press("Enter")
    page.get_by_text("mounted").wait_for()
    expect(page).to_have_url(re.compile(r"/\?folder=%2Ftmp$"))
    assert [text for text in problems if "403" not in text] == []
    problems.clear()
