"""Runs a real JupyterLab from this environment, and a Chromium to drive it."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from playwright.sync_api import Browser, Frame, Page

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120
"""Time limit of waits for a server, a kernel or torch's import, in s; they take seconds on a quiet machine."""


def until(condition: Callable[[], Any], what: str, patience_s: float = PATIENCE_S) -> Any:
    """Polls ``condition`` and returns its first true value."""
    end = time.monotonic() + patience_s
    while not (value := condition()):
        assert time.monotonic() < end, f"waited {patience_s} s in vain: {what}"
        time.sleep(0.1)
    return value


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab.

    Attributes:
        url: its address, with ``/`` at the end.
        token: admits a browser.
        folder: of its notebooks.
        runtime: folder of its kernels' connection files.
    """

    url: str
    token: str
    folder: Path
    runtime: Path

    def kernels(self) -> set[Path]:
        """Returns the connection files of the kernels started so far."""
        return set(self.runtime.glob("kernel-*.json"))


def jupyter_environment(folder: Path) -> dict[str, str]:
    """Returns an environment in which Jupyter reads and writes only inside ``folder``."""
    places = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    own = {name: str(folder / place) for name, place in places.items()}
    return {**os.environ, **own, "PYTHONPATH": str(ROOT), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("lab")
    served = folder / "notebooks"
    served.mkdir()
    token = "a-token-of-the-tests"
    options = (
        *("--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1", "--ServerApp.port=0"),
        *(f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={served}"),
        *("--LabApp.expose_app_in_browser=True", "--LabApp.news_url=", "--LabApp.extension_manager=readonly"),
    )
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options], env=jupyter_environment(folder), stdout=log, stderr=log
        )
        try:
            told = folder / "runtime" / f"jpserver-{server.pid}.json"
            until(lambda: told.exists() or server.poll() is not None, "JupyterLab's start")
            assert server.poll() is None, (folder / "log").read_text()
            yield Lab(json.loads(told.read_text())["url"], token, served, folder / "runtime")
        finally:
            server.terminate()
            server.wait(timeout=PATIENCE_S)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page with long time limits for a busy machine; it fails the test on an exception in any frame."""
    problems: list[str] = []
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE_S * 1000)
    opened = context.new_page()
    opened.on("pageerror", lambda error: problems.append(str(error)))
    yield opened
    context.close()
    assert problems == []


def views(page: Page) -> list[Frame]:
    """Waits until all frames of the page show a trace, and returns them in order."""
    elements = page.locator("iframe.freeze-frame")
    elements.first.wait_for(state="attached")
    frames = [element.content_frame() for element in elements.element_handles()]
    for frame in frames:
        assert frame is not None
        frame.locator(".fv-header").wait_for()
    return [frame for frame in frames if frame is not None]


class Kernel:
    """A second client of an open notebook's kernel."""

    def __init__(self, connection: Path) -> None:
        self._client = BlockingKernelClient(connection_file=str(connection))
        self._client.load_connection_file()
        self._client.start_channels()

    def value(self, expression: str) -> Any:
        """Returns the JSON-compatible value of an expression in the notebook's namespace."""
        text = f"__import__('json').dumps({expression})"
        reply = self._client.execute("", silent=True, user_expressions={"told": text}, reply=True, timeout=PATIENCE_S)
        told = reply["content"]["user_expressions"]["told"]
        assert told["status"] == "ok", told
        return json.loads(ast.literal_eval(told["data"]["text/plain"]))

    def run(self, code: str) -> dict[str, Any]:
        """Runs code in the kernel and returns the reply."""
        reply: dict[str, Any] = self._client.execute(code, reply=True, timeout=PATIENCE_S)["content"]
        return reply

    def close(self) -> None:
        """Disconnects from the kernel, which continues to run."""
        self._client.stop_channels()
