"""The dashboard's only page, and the scripts and styles that it loads, all from this server.

Of Bokeh and Panel it loads Panel's main script and the three of Bokeh that it needs.
"""

from __future__ import annotations

import hashlib
from functools import cache
from http import HTTPStatus
from typing import Any, Final

from bokeh import __version__ as bokeh_version
from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from panel import __version__ as panel_version

from viewer.assets import read_asset
from viewer.dashboard.handlers_base import JsonHandler

_ASSETS: Final = {
    "dashboard.js": ("text/javascript; charset=utf-8", ("bundles/dashboard.js",)),
    "start.js": ("text/javascript; charset=utf-8", ("bundles/dashboard_start.js",)),
    "dashboard.css": ("text/css; charset=utf-8", ("viewer/viewer.css", "dashboard/dashboard.css", "sweep/sweep.css")),
}
_LIBRARIES: Final = (
    ("static/js/bokeh.min.js", bokeh_version),
    ("static/js/bokeh-widgets.min.js", bokeh_version),  # Panel's script needs both
    ("static/js/bokeh-tables.min.js", bokeh_version),
    ("static/extensions/panel/panel.min.js", panel_version),
)


def page_template() -> Template:
    """Returns the template that Panel renders: of Panel's variables it uses the session's token and the root."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, loader=FunctionLoader(read_asset))
    return environment.get_template("dashboard/page.html")


def page_variables() -> dict[str, Any]:
    """Returns the template's other variables: addresses that change with their content."""
    return {
        "scripts": [
            *(f"{path}?v={version}" for path, version in _LIBRARIES),
            _address("dashboard.js"),
            _address("start.js"),
        ],
        "style": _address("dashboard.css"),
    }


class AssetHandler(JsonHandler):
    """Serves the project's own scripts and styles, each kind as one file."""

    def get(self, name: str) -> None:
        """Writes one of them; the browser may cache it for good, for its address changes with its content."""
        if name not in _ASSETS:
            self.refuse(HTTPStatus.NOT_FOUND, f"There is no {name} here.")
            return
        self.set_header("Content-Type", _ASSETS[name][0])
        self.set_header("Cache-Control", "private, max-age=31536000, immutable")
        self.finish(_content(name))


@cache
def _content(name: str) -> bytes:
    return "\n".join(read_asset(part) for part in _ASSETS[name][1]).encode()


def _address(name: str) -> str:
    return f"assets/{name}?v={hashlib.sha256(_content(name)).hexdigest()[:16]}"
