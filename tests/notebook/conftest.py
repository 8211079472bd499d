"""Runs a real JupyterLab from this environment, and a Chromium to drive it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.notebook.kernels import PATIENCE_S, until
from tests.notebook.lab import Lab, jupyter_environment


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
