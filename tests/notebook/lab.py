"""A running JupyterLab: its address, its environment, and the traces that its pages show."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Frame, Page

from tests.notebook.kernels import ROOT


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


def views(page: Page) -> list[Frame]:
    """Waits until all frames of the page show a trace, and returns them in order."""
    elements = page.locator("iframe.freeze-frame")
    elements.first.wait_for(state="attached")
    frames = [element.content_frame() for element in elements.element_handles()]
    for frame in frames:
        assert frame is not None
        frame.locator(".fv-header").wait_for()
    return [frame for frame in frames if frame is not None]
