"""The HTML report: a trace as one file that opens from disk and loads nothing from the network.

All text that a model controls (names, string constants, source text) is packed as base64 of zlib; the browser unpacks
it and inserts it as text. The page's own scripts are packed too, which makes it a third smaller. The page's policy runs
only scripts with a listed hash, so that even injected markup could not run.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from bokeh.resources import INLINE
from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup

import freeze_engine as fe
from freeze_engine import process
from viewer.assets import read_asset
from viewer.page import comparison_data, trace_data

PROGRAM: Final = "bundles/viewer.js"
"""The viewer's program, as an asset."""

_PROGRAM: Final = "program"
_STYLE: Final = "style"
_BOKEH: Final = "bokeh"


@dataclass(frozen=True, slots=True)
class Embedding:
    """Options of a page inside another one, in a frame.

    Attributes:
        id: identifies it in its messages to the page around it; empty for no messages.
        state: initial state, as in ``frontend/viewer/state.js``; missing keys have the report's defaults.
    """

    id: str = ""
    state: Mapping[str, Any] = field(default_factory=dict)


def render_report(trace: fe.Trace, embedding: Embedding | None = None) -> str:
    """Renders a trace as one HTML page.

    Args:
        trace: the recording; also an empty one, or one whose freeze failed.
        embedding: for a page inside another one, which has no address of its own to keep its state in. It includes
            BokehJS, most of its size, and charts only for a trace with measurements.

    Returns:
        The page's text; equal arguments give equal text.
    """
    return trace_page(trace_data(trace, charted=embedding is None or is_measured(trace)), embedding)


def trace_page(data: Mapping[str, Any], embedding: Embedding | None = None) -> str:
    """Renders the page of a trace from the result of `viewer.page.trace_data`."""
    return _page(f"{data['view']['name'] or 'unnamed model'} – freeze report", data, embedding)


def render_comparison(first: fe.Trace, second: fe.Trace, embedding: Embedding | None = None) -> str:
    """Renders two traces side by side as one HTML page.

    Args:
        first: the trace called A.
        second: the trace called B.
        embedding: for a page inside another one, as in `render_report`.

    Returns:
        The page's text; equal arguments give equal text.
    """
    return comparison_page(comparison_data(first, second), embedding)


def comparison_page(data: Mapping[str, Any], embedding: Embedding | None = None) -> str:
    """Renders the page of two traces from the result of `viewer.page.comparison_data`."""
    measured = any(step["latency"] or step["numerics"] for step in data["view"]["steps"])
    charts = data["charts"] if embedding is None or measured else None
    return _page(f"{data['view']['name']} – two freezes", {**data, "charts": charts}, embedding)


def write_report(trace: fe.Trace, path: str | os.PathLike[str]) -> None:
    """Writes a trace's report atomically.

    Args:
        trace: the recording.
        path: the file to write; an existing one is replaced.

    Raises:
        FreezerError: the folder is missing or cannot be written.
    """
    write_page(lambda: render_report(trace), Path(path))


def write_comparison(first: fe.Trace, second: fe.Trace, path: str | os.PathLike[str]) -> None:
    """Writes the page of two traces side by side atomically.

    Args:
        first: the trace called A.
        second: the trace called B.
        path: the file to write; an existing one is replaced.

    Raises:
        FreezerError: the folder is missing or cannot be written.
    """
    write_page(lambda: render_comparison(first, second), Path(path))


def packed_page(title: str, data: Mapping[str, Any], program: str, style: str, start: str) -> str:
    """Renders a page that carries its data and its program, and loads nothing.

    Args:
        title: of the page.
        data: for the program.
        program: a script.
        style: its style sheet.
        start: a script that unpacks the others.
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _template().render(
        title=title,
        policy=_policy(start, program),
        style=Markup(read_asset("report.css")),
        payloads={"data": _packed(text), _PROGRAM: _packed(program), _STYLE: _packed(style)},
        start=Markup(start),
    )


def write_page(render: Callable[[], str], target: Path) -> None:
    """Writes a page, whole or not at all.

    Args:
        render: returns its text.
        target: the file; an existing one is replaced.

    Raises:
        FreezerError: the folder is missing or cannot be written.
    """
    if not target.parent.is_dir():
        raise fe.FreezerError(f"cannot write the report {target}: there is no folder {target.parent}; make it first")
    text = render()
    try:
        process.write_files({target: text.encode()})
    except OSError as error:
        raise fe.FreezerError(f"cannot write the report {target}: {error.strerror}; choose another place") from error


def is_measured(trace: fe.Trace) -> bool:
    """Returns whether a trace has measurements, so that an embedded page includes BokehJS for its charts."""
    return any(step.latency or step.numerics for step in trace.steps)


def _page(title: str, data: Mapping[str, Any], embedding: Embedding | None) -> str:
    charted = data["charts"] is not None
    text = json.dumps(
        {**data, "embedding": _embedded(embedding)}, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    start = read_asset("bundles/report_start.js")
    parts = (_PROGRAM, _STYLE, _BOKEH) if charted else (_PROGRAM, _STYLE)
    return _template().render(
        title=title,
        policy=_policy(start, _part(_PROGRAM), *([_part(_BOKEH)] if charted else [])),
        style=Markup(read_asset("report.css")),
        payloads={"trace": _packed(text), **{name: _packed_part(name) for name in parts}},
        start=Markup(start),
    )


def _template() -> Template:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, loader=FunctionLoader(read_asset), keep_trailing_newline=True
    )
    return environment.get_template("report.html")


def _policy(*scripts: str) -> str:
    hashes = " ".join(f"'sha256-{_base64(hashlib.sha256(script.encode()).digest())}'" for script in scripts)
    return (
        "default-src 'none'; "
        f"script-src {hashes}; "
        "worker-src blob:; "  # the graph's layout
        "style-src 'unsafe-inline'; "  # our own, and styles set by BokehJS and the views
        "img-src data: blob:; "
        "font-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _embedded(embedding: Embedding | None) -> dict[str, Any] | None:
    return None if embedding is None else {"id": embedding.id, "state": dict(embedding.state)}


@cache
def _part(name: str) -> str:
    """Returns a part that is the same in every page: our scripts, our styles, or the parts of BokehJS for figures."""
    if name == _PROGRAM:
        return read_asset(PROGRAM)
    if name == _STYLE:
        return read_asset("viewer/viewer.css")
    return "\n".join(INLINE.clone(components=["bokeh"]).js_raw)  # no widgets, tables, WebGL, MathJax


@cache
def _packed_part(name: str) -> str:
    return _packed(_part(name))


def _packed(text: str) -> str:
    return _base64(zlib.compress(text.encode(), 9))


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
