"""The view inside pages that are not JupyterLab's: foreign policies, origins without a name, other marks of a theme."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from playwright.sync_api import Frame, Page

from tests.builders import small_trace
from tests.notebook.kernels import until
from tests.notebook.lab import views
from viewer.assets import read_asset
from viewer.notebook import trace_html
from viewer.report import Embedding

# As in VS Code's notebooks: inline scripts may run, but none from a blob.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; child-src https: data: blob:"
# A model as anywidget hands it to `initialize`.
MODEL = """
const listeners = [];
const values = { view_id: "a-name", state: { step: 4 } };
globalThis.saved = [];
globalThis.model = {
  get: (name) => values[name],
  set(name, value) { values[name] = value; for (const run of listeners) run(); },
  save_changes: () => saved.push(values.state),
  on: (event, run) => listeners.push(run),
  off: (event, run) => listeners.splice(listeners.indexOf(run), 1),
};
"""


def host(body: str = "", link: str = "") -> str:
    """A page around one output; its script starts the link, as the kernel's front end does."""
    output = trace_html(small_trace(), embedding=Embedding("a-name", {"step": 4}))
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    return f"<!doctype html><meta charset=utf-8>{policy}<body {body}>{output}<script type=module>{link}</script>"


def linked() -> str:
    run = r"globalThis.stop = \1.initialize({ model });"
    script, found = re.subn(r"export \{\s*(\w+) as default\s*\};", run, read_asset("bundles/notebook_link.js"))
    assert found == 1
    return f"{MODEL}{script}"


def step_of(frame: Frame) -> Any:
    return frame.evaluate("viewer.state().step")


@pytest.mark.parametrize(
    ("body", "theme"),
    [
        ('data-vscode-theme-kind="vscode-dark"', "dark"),
        ('data-vscode-theme-kind="vscode-light"', "light"),
        ('data-vscode-theme-kind="vscode-high-contrast"', "dark"),
        ('data-vscode-theme-kind="vscode-high-contrast-light"', "light"),
        ('data-jp-theme-light="false"', "dark"),
        ("", "dark"),
    ],
)
def test_the_theme_of_the_page_around(page: Page, body: str, theme: str) -> None:
    page.emulate_media(color_scheme="light" if body and theme == "dark" else "dark")
    page.set_content(host(body))
    (frame,) = views(page)
    assert frame.evaluate("viewer.theme()") == theme


def test_the_charts_need_no_script_from_a_blob(page: Page) -> None:
    page.set_content(host())
    (frame,) = views(page)
    frame.get_by_role("tab", name="Charts").click()
    until(lambda: frame.locator(".fv-chart canvas").count() >= 4, "the charts")


@pytest.mark.parametrize("sandbox", [None, "allow-scripts"])
def test_the_link_needs_no_origin(page: Page, sandbox: str | None) -> None:
    around = "" if sandbox is None else f'sandbox="{sandbox}"'
    inside = html.escape(host(link=linked()))
    page.set_content(f'<iframe id="outer" {around} style="width: 100%; height: 800px" srcdoc="{inside}"></iframe>')
    element = page.locator("#outer").element_handle()
    assert element is not None
    outer = element.content_frame()
    assert outer is not None
    if sandbox:
        assert outer.evaluate("self.origin") == "null"
    inner = outer.locator("iframe.freeze-frame").element_handle().content_frame()
    assert inner is not None
    inner.locator(".fv-header").wait_for()
    until(lambda: outer.evaluate("model.get('state').tab") == "graph", "the model has the whole state")

    inner.evaluate("viewer.setStep(6)")
    until(lambda: outer.evaluate("model.get('state').step") == 6, "the model follows")
    assert outer.evaluate("saved.at(-1).step") == 6

    outer.evaluate("model.set('state', { step: 8, node: 'yes', unheard: 1 })")
    until(lambda: step_of(inner) == 8, "the page follows")
    until(lambda: outer.evaluate("model.get('state').tab") == "graph", "the model has the whole state again")
    state = outer.evaluate("model.get('state')")
    assert (state["step"], state["node"], "unheard" in state) == (8, "yes", False)

    # Messages of others are passed over, also those that only look like ours.
    for message in ("{ freezer: 1, id: 'another', type: 'restore', state: { step: 2 } }", "null", "'restore'"):
        outer.evaluate(f"document.querySelector('iframe').contentWindow.postMessage({message}, '*')")
    inner.evaluate("window.postMessage({ freezer: 1, id: 'a-name', type: 'restore', state: { step: 2 } }, '*')")
    outer.evaluate("stop()")
    inner.evaluate("viewer.setStep(0)")
    inner.evaluate("new Promise((resolve) => setTimeout(resolve, 200))")
    assert step_of(inner) == 0
    assert outer.evaluate("model.get('state').step") == 8
