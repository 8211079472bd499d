"""The dashboard's only page, and the scripts and styles that it loads, all from this server and without Panel.

The page starts with the values that its session would send, and connects to the session later. Of Bokeh and Panel it
loads Panel's main script and the three of Bokeh that this one needs; the server finds these files without importing
either package.
"""

from __future__ import annotations

import hashlib
from functools import cache
from http import HTTPStatus
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from freeze_engine import FreezerError
from viewer.assets import read_asset
from viewer.dashboard.folder_listing import page_path
from viewer.dashboard.handlers_base import JsonHandler, page
from viewer.dashboard.server_info import installed_version
from viewer.dashboard.server_state import State

_SCRIPT: Final = "text/javascript; charset=utf-8"
_ASSETS: Final = {
    "dashboard.js": (_SCRIPT, ("bundles/dashboard.js",)),
    "start.js": (_SCRIPT, ("bundles/dashboard_start.js",)),
    "dashboard.css": ("text/css; charset=utf-8", ("viewer/viewer.css", "dashboard/dashboard.css", "sweep/sweep.css")),
}
_LIBRARIES: Final = {
    "bokeh.min.js": ("bokeh", "server/static/js/bokeh.min.js"),
    "bokeh-widgets.min.js": ("bokeh", "server/static/js/bokeh-widgets.min.js"),
    "bokeh-tables.min.js": ("bokeh", "server/static/js/bokeh-tables.min.js"),
    "panel.min.js": ("panel", "dist/panel.min.js"),
}
"""Package and path of each script, in the order in which the page runs them."""


class PageHandler(JsonHandler):
    """``/``: the page, whatever it shows."""

    def initialize(self, state: State) -> None:
        """Takes the state that all sessions share."""
        self._state = state

    def get(self) -> None:
        """Writes the page, and starts to render the traces that its scripts will request."""
        start = {"values": self._state.view(), "libraries": [_library_address(name) for name in _LIBRARIES]}
        scripts = [_address("dashboard.js"), _address("start.js")]
        self.finish(page("page.html", scripts=scripts, style=_address("dashboard.css"), start=start))
        if paths := self._traces():
            self._state.prepare(paths)

    def _traces(self) -> tuple[Path, ...]:
        """Returns the traces that the address names: one, or two side by side."""
        named = [self.get_query_argument(name, "") for name in ("compare", "with")]
        given = named if all(named) else [self.get_query_argument("trace", "")]
        try:
            return tuple(page_path(text) for text in given if text)
        except FreezerError:
            return ()  # the page requests it again, and shows the error


class AssetHandler(JsonHandler):
    """Serves the page's scripts and styles."""

    def get(self, name: str) -> None:
        """Writes one of them; the browser may cache it for good, for its address changes with its content."""
        if name in _ASSETS:
            content_type, content = _ASSETS[name][0], _content(name)
        elif name in _LIBRARIES:
            content_type, content = _SCRIPT, _library(name)
        else:
            self.refuse(HTTPStatus.NOT_FOUND, f"There is no {name} here.")
            return
        self.set_header("Content-Type", content_type)
        self.set_header("Cache-Control", "private, max-age=31536000, immutable")
        self.finish(content)


@cache
def _content(name: str) -> bytes:
    return "\n".join(read_asset(part) for part in _ASSETS[name][1]).encode()


def _library(name: str) -> bytes:
    package, path = _LIBRARIES[name]
    return (_folder(package) / path).read_bytes()


@cache
def _folder(package: str) -> Path:
    """Returns a package's folder without importing it."""
    spec = find_spec(package)
    assert spec is not None, package  # a dependency of this one
    assert spec.origin is not None, package
    return Path(spec.origin).parent


def _address(name: str) -> str:
    return f"assets/{name}?v={hashlib.sha256(_content(name)).hexdigest()[:16]}"


def _library_address(name: str) -> str:
    return f"assets/{name}?v={installed_version(_LIBRARIES[name][0])}"
