"""`viewer.show` and `viewer.compare`: the interactive view of a trace, or of two, from a cell."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import freeze_engine as fe
from viewer.notebook.html_output import HEIGHT

if TYPE_CHECKING:
    from viewer.notebook.content import ViewContent
    from viewer.notebook.view import View


def show(
    recorded: fe.Trace | fe.Recording,
    *,
    step: int | None = None,
    selected: str | None = None,
    state: Mapping[str, Any] | None = None,
    height: int = HEIGHT,
) -> View:
    """Shows a trace below the running cell, connected to the returned handle.

    Args:
        recorded: a trace or a recording.
        step: index of the step to open at.
        selected: id of the node to select.
        state: other initial values, as in ``View.state`` (``{"tab": "attributes"}``).
        height: of the view, in CSS pixels; its lower edge can be dragged.

    Returns:
        The handle: ``view.step``, ``view.selected`` and ``view.state`` follow the page and move it.

    Raises:
        FreezerError: this is not a notebook's kernel, the ``notebook`` extra is not installed, or the trace lacks the
            step or node.
    """
    trace = _trace(recorded, "show")
    _need(height, "show", "write_report(trace, 'report.html'), or with `freezer-ui report` from a trace file")
    from viewer.notebook.content import one_trace

    return _shown(one_trace(trace), step, selected, state, height)


def compare(
    first: fe.Trace | fe.Recording,
    second: fe.Trace | fe.Recording,
    *,
    step: int | None = None,
    selected: str | None = None,
    state: Mapping[str, Any] | None = None,
    height: int = HEIGHT,
) -> View:
    """Shows two traces side by side below the running cell, connected to the returned handle.

    Args:
        first: the trace called A, or a recording.
        second: the trace called B.
        step: index of the step of B to open at, by default the first pass whose graphs differ.
        selected: id of the node to select.
        state: other initial values, as in ``View.state``; its ``step`` counts B's steps after those of A.
        height: of the view, in CSS pixels; its lower edge can be dragged.

    Returns:
        The handle, as from `show`: ``view.step`` is the step of B.

    Raises:
        FreezerError: this is not a notebook's kernel, the ``notebook`` extra is not installed, or a trace lacks the
            step or node.
    """
    before, after = _trace(first, "compare"), _trace(second, "compare")
    _need(height, "compare", "write_comparison(first, second, 'comparison.html')")
    from viewer.notebook.content import two_traces

    return _shown(two_traces(before, after), step, selected, state, height)


def _trace(recorded: object, function: str) -> fe.Trace:
    if not isinstance(recorded, (fe.Trace, fe.Recording)):
        raise fe.FreezerError(f"{function}() takes a trace or a recording, not a {type(recorded).__name__}")
    return recorded if isinstance(recorded, fe.Trace) else recorded.trace


def _need(height: object, function: str, instead: str) -> None:
    """Checks the height, that a notebook's kernel runs this, and that the extra is installed.

    Args:
        height: as given.
        function: name of the calling function.
        instead: call that writes the same page as a file.
    """
    if isinstance(height, bool) or not isinstance(height, int) or height <= 0:
        raise fe.FreezerError(f"height={height!r} is not a height: give CSS pixels, as in height={HEIGHT}")
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if getattr(shell, "kernel", None) is None:
        raise fe.FreezerError(
            f"viewer.{function} works in a notebook, and no notebook's kernel runs this: write the same page as a file "
            f"with viewer.report.{instead}"
        )
    try:
        import viewer.notebook.view  # noqa: F401
    except ModuleNotFoundError as error:
        raise fe.FreezerError(
            f"viewer.{function} needs {error.name}, which is not installed: pip install 'freezer-ui[notebook]'"
        ) from error


def _shown(
    subject: ViewContent, step: int | None, selected: str | None, state: Mapping[str, Any] | None, height: int
) -> View:
    from viewer.notebook.view import View

    start = dict(state or {})
    if step is not None:
        start["step"] = subject.check(step)
    if selected is not None:
        start["node"] = selected
    view = View(subject, start, height)
    view.show()
    return view
