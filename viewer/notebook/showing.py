"""`viewer.show`: the interactive view of a trace, from a cell."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import freeze_engine as fe
from viewer.notebook.output import HEIGHT

if TYPE_CHECKING:
    from viewer.notebook.view import View


def show(
    recorded: fe.Trace | fe.Recording,
    *,
    step: int | None = None,
    selected: str | None = None,
    state: Mapping[str, Any] | None = None,
    height: int = HEIGHT,
) -> View:
    """Shows a trace below the running cell, tied to the handle that is returned.

    Args:
        recorded: a trace or a recording.
        step: index of the step to open at.
        selected: id of the node to select.
        state: anything else to begin with, as in ``View.state`` (``{"tab": "attributes"}``).
        height: of the view, in CSS pixels; its lower edge can be dragged.

    Returns:
        The handle: ``view.step``, ``view.selected`` and ``view.state`` follow the page and move it.

    Raises:
        FreezerError: no notebook runs this, the ``notebook`` extra is not installed, or the trace lacks what to show.
    """
    if not isinstance(recorded, (fe.Trace, fe.Recording)):
        raise fe.FreezerError(f"show() takes a trace or a recording, not a {type(recorded).__name__}")
    if isinstance(height, bool) or not isinstance(height, int) or height <= 0:
        raise fe.FreezerError(f"height={height!r} is no height: give CSS pixels, as in height={HEIGHT}")
    _need_kernel()
    try:
        from viewer.notebook.view import View
    except ModuleNotFoundError as error:
        raise fe.FreezerError(
            f"viewer.show needs {error.name}, which is not installed: pip install 'freezer-ui[notebook]'"
        ) from error
    start = dict(state or {})
    if step is not None:
        start["step"] = step
    if selected is not None:
        start["node"] = selected
    trace = recorded if isinstance(recorded, fe.Trace) else recorded.trace
    view = View(trace, start, height)
    view.show()
    return view


def _need_kernel() -> None:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if getattr(shell, "kernel", None) is None:
        raise fe.FreezerError(
            "viewer.show works in a notebook, and no notebook's kernel runs this: write the same page as a file with "
            "viewer.report.write_report(trace, 'report.html'), or with `freezer-ui report` from a trace file"
        )
