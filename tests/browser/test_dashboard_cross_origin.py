"""A page of another local origin, in the browser that is logged in, reads, changes, starts and embeds nothing."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext

import freeze_engine as fe
from tests.builders import small_trace
from tests.live_server import TOKEN, LiveServer, live_server

# Tries everything that a page can do to another origin, on every route; keeps what worked.
ATTACK = """async ({ host, paths }) => {
  const won = [];
  const limited = (promise) => Promise.race([promise, new Promise((resolve) => setTimeout(resolve, 5000))]);
  const ended = (made) => new Promise((resolve) => {
    for (const name of ["load", "error"]) made.addEventListener(name, () => resolve(name));
  });
  const element = async (tag, url, attributes) => {
    const made = Object.assign(document.createElement(tag), attributes);
    const what = ended(made);
    document.body.append(made);
    if ((await limited(what)) === "load" && tag !== "iframe") won.push(`${tag} ${url}`);
    if (made.contentDocument?.body?.textContent) won.push(`iframe ${url}`);
    made.remove();
  };
  const ask = async (url, method, mode) => {
    const body = method === "POST" || method === "PUT" ? "x" : undefined;
    const answer = await fetch(url, { mode, method, body, credentials: "include" }).catch(() => null);
    if (answer && (answer.ok || (await answer.text()))) won.push(`${mode} ${method} ${url}`);
  };
  const socket = (url) => new Promise((resolve) => {
    const made = new WebSocket(url.replace("http", "ws"), ["bokeh", "x"]);
    made.onopen = () => resolve(won.push(`websocket ${url}`));
    made.onerror = resolve;
  });
  const attack = (url) => {
    const asked = ["GET", "HEAD", "POST", "PUT", "DELETE"].flatMap((method) =>
      ["cors", "no-cors"].map((mode) => ask(url, method, mode)));
    const put = [["img", { src: url }], ["script", { src: url }], ["script", { src: url, type: "module" }],
      ["link", { rel: "stylesheet", href: url }], ["iframe", { src: url }], ["object", { data: url }]];
    navigator.sendBeacon(url, "x");
    return Promise.all([...asked, ...put.map(([tag, given]) => element(tag, url, given)), limited(socket(url))]);
  };
  await Promise.all(paths.map((path) => attack(`http://${host}${path}`)));
  return won;
}"""
# A window and a form leave the page; what they get, its own origin may not look into.
WINDOW = """async (url) => {
  const opened = window.open(url);
  await new Promise((resolve) => setTimeout(resolve, 0));
  try { return opened?.document?.body?.textContent ? "read" : "closed off"; } catch { return "closed off"; }
}"""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><link rel=icon href=data:,><title>evil</title><body>")

    def log_message(self, format: str, *values: Any) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveServer]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "uploads").mkdir()
    fe.save(small_trace(), tmp_path / "small.fztrace")
    with live_server(tmp_path / "uploads") as running:
        yield running


@pytest.fixture
def evil() -> Iterator[int]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Quiet) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running.server_address[1]
        running.shutdown()
        thread.join()


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_page_of_another_origin_gets_nothing(
    context: BrowserContext, server: LiveServer, evil: int, tmp_path: Path, name: str
) -> None:
    trace = tmp_path / "small.fztrace"
    page = context.new_page()
    page.goto(f"http://{server.host}/?token={TOKEN}")
    page.get_by_text("Examples").first.wait_for()
    page.locator("html[data-session=open]").wait_for(state="attached")  # from now on nothing on the page changes
    own = page.evaluate("(url) => fetch(url).then((answer) => answer.status)", f"/trace/data?path={trace}")
    assert own == 200  # it is logged in

    paths = [pattern.removesuffix("$").replace("/?", "/") for pattern in server.server.patterns]
    paths = [path.partition("(")[0] for path in paths]
    paths += ["/assets/bokeh.min.js", "/assets/dashboard.js", "/assets/dashboard.css", "/upload?name=x.pt&page=x"]
    paths += [f"/trace/{what}?path={trace}" for what in ("data", "file", "report")]
    attacker = context.new_page()
    attacker.goto(f"http://{name}:{evil}/")
    before = page.evaluate("document.body.textContent")
    assert attacker.evaluate(ATTACK, {"host": server.host, "paths": sorted(set(paths))}) == []
    assert attacker.evaluate(WINDOW, f"http://{server.host}/") == "closed off"
    attacker.evaluate(
        """(action) => {
          const form = Object.assign(document.createElement("form"), { action, method: "post", enctype: "text/plain" });
          document.body.append(form);
          form.submit();
        }""",
        f"http://{server.host}/upload?name=x.pt",
    )
    attacker.get_by_text("another site's page").wait_for()
    assert list(server.folder.iterdir()) == []
    assert server.inside(lambda: server.server.state.jobs.rows()) == []
    assert page.evaluate("document.body.textContent") == before
    assert server.faults() == []
    for opened in context.pages:
        opened.close()
    context.clear_cookies()
