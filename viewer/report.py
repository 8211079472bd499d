"""The HTML report: a trace as one file that opens from disk and asks the network for nothing.

Everything that a model can smuggle in (names, string constants, source text) travels packed, as base64 of zlib, is
unpacked in the browser and enters the page as text. The page's policy runs only the scripts that are named by their
hash, so that even markup that slipped through could not run.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bokeh.resources import INLINE
from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup

import freeze_engine as fe
from viewer import graph_data
from viewer.assets import read_asset
from viewer.charts import chart_items
from viewer.view_models import view_data

VIEWER_SCRIPTS: Final = (
    "dom.js",
    "trace_model.js",
    "state.js",
    "passes.js",
    "details.js",
    "attributes.js",
    "ir.js",
    "graph_panel.js",
    "panels.js",
    "charts.js",
    "chrome.js",
    "app.js",
)
"""Files of ``static/viewer/`` that make up the viewer, in the order to load them, after the graph view's."""

_BOKEH: Final = "bokeh"


def render_report(trace: fe.Trace) -> str:
    """Returns a trace as one HTML page.

    Args:
        trace: the recording; also an empty one, or one whose freeze failed.

    Returns:
        The page's text; equal traces give equal text.
    """
    scripts = [read_asset(name) for name in script_names()]
    style = read_asset("report.css") + read_asset("viewer/viewer.css")
    data = {"view": view_data(trace), "graph": graph_data.graph_data(trace), "charts": chart_items(trace)}
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _template().render(
        title=f"{trace.name or 'unnamed model'} – freeze report",
        policy=_policy(scripts),
        style=Markup(style),
        payloads={"trace": _packed(text), _BOKEH: _packed(_bokeh_script())},
        scripts=[Markup(script) for script in scripts],
    )


def write_report(trace: fe.Trace, path: str | os.PathLike[str]) -> None:
    """Writes a trace's report, whole or not at all.

    Args:
        trace: the recording.
        path: the file to write; an existing one is replaced.

    Raises:
        FreezerError: the folder is missing or cannot be written.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise fe.FreezerError(f"cannot write the report {target}: there is no folder {target.parent}; make it first")
    text = render_report(trace)
    try:
        _write_whole(target, text)
    except OSError as error:
        raise fe.FreezerError(f"cannot write the report {target}: {error.strerror}; choose another place") from error


def script_names() -> tuple[str, ...]:
    """Returns the assets that make up the page's program, in the order to load them."""
    return (*graph_data.SCRIPTS, *(f"viewer/{name}" for name in VIEWER_SCRIPTS), "report.js")


def _template() -> Template:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, loader=FunctionLoader(read_asset), keep_trailing_newline=True
    )
    return environment.get_template("report.html")


def _policy(scripts: Sequence[str]) -> str:
    hashes = " ".join(f"'sha256-{_base64(hashlib.sha256(script.encode()).digest())}'" for script in scripts)
    return (
        "default-src 'none'; "
        f"script-src {hashes} blob:; "  # blob: BokehJS, unpacked
        "worker-src blob:; "  # the graph's layout
        "style-src 'unsafe-inline'; "  # ours, and those that BokehJS and the views set
        "img-src data: blob:; "
        "font-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _bokeh_script() -> str:
    """Returns BokehJS with what figures need, and without widgets, tables, WebGL and MathJax."""
    return "\n".join(INLINE.clone(components=[_BOKEH]).js_raw)


def _packed(text: str) -> str:
    return _base64(zlib.compress(text.encode(), 9))


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _write_whole(target: Path, text: str) -> None:
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    scratch = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        scratch.chmod(0o666 & ~umask)  # mkstemp makes private files; a report is meant to be handed on
        scratch.replace(target)
    finally:
        scratch.unlink(missing_ok=True)
