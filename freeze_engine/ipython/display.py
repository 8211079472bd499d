"""Makes IPython display traces with the installed viewer, and adds ``%%freeze_trace``.

This package knows no viewer. A viewer registers a function from a trace to HTML as an entry point of
the group that `GROUP` names.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from freeze_engine.session import Recording
    from freeze_engine.trace import Trace

GROUP = "freeze_engine.display"


def register() -> None:
    """Registers the displays if IPython is running."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None:
        load_ipython_extension(shell)


def load_ipython_extension(shell: Any) -> None:
    """Loads the extension for ``%load_ext freeze_engine``; importing the package does the same.

    Args:
        shell: the running ``InteractiveShell``.
    """
    from freeze_engine.ipython import magic  # needs IPython, which nothing else here does

    shell.register_magic_function(magic.freeze_trace, "cell", magic.NAME)
    formatter: Any = shell.display_formatter.formatters["text/html"]
    formatter.for_type_by_name("freeze_engine.trace.steps", "Trace", html_of)
    formatter.for_type_by_name("freeze_engine.session", "Recording", _recording_html)


def html_of(trace: Trace) -> str | None:
    """Returns the installed viewer's HTML of a trace, ``None`` without a viewer: IPython then shows plain text."""
    from importlib.metadata import entry_points  # not needed before, and slow to import

    for entry in entry_points(group=GROUP):
        shown: str = entry.load()(trace)
        return shown
    return None


def _recording_html(recording: Recording) -> str | None:
    return html_of(recording.trace)
