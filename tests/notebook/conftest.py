"""JupyterLab itself, served from this environment, and a Chromium to drive it."""

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
"""How long to wait for what takes seconds on a quiet machine: a server, a kernel, torch's import."""


def until(condition: Callable[[], Any], what: str, patience_s: float = PATIENCE_S) -> Any:
    """Returns the first true value of ``condition``, asked again and again."""
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
        token: what lets a browser in.
        folder: the notebooks it serves.
        runtime: where its kernels' connection files are.
    """

    url: str
    token: str
    folder: Path
    runtime: Path

    def kernels(self) -> set[Path]:
        """The connection files of the kernels that were started so far."""
        return set(self.runtime.glob("kernel-*.json"))


def jupyter_environment(folder: Path) -> dict[str, str]:
    """An environment in which Jupyter reads and writes nothing outside of ``folder``."""
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
    """A page that waits long for what a busy machine does slowly, and tolerates no exception in any frame."""
    problems: list[str] = []
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE_S * 1000)
    opened = context.new_page()
    opened.on("pageerror", lambda error: problems.append(str(error)))
    yield opened
    context.close()
    assert problems == []


def views(page: Page) -> list[Frame]:
    """The frames of the page that show a trace, in its order, once all of them do."""
    elements = page.locator("iframe.freeze-frame")
    elements.first.wait_for(state="attached")
    frames = [element.content_frame() for element in elements.element_handles()]
    for frame in frames:
        assert frame is not None
        frame.locator(".fv-header").wait_for()
    return [frame for frame in frames if frame is not None]


class Kernel:
    """Asks the kernel of an open notebook, as a second client beside the notebook."""

    def __init__(self, connection: Path) -> None:
        self._client = BlockingKernelClient(connection_file=str(connection))
        self._client.load_connection_file()
        self._client.start_channels()

    def value(self, expression: str) -> Any:
        """The value of an expression in the notebook's namespace; it must be one that JSON has."""
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
        """Lets the kernel live on."""
        self._client.stop_channels()
