"""The command line, ``freezer-ui``: one module per subcommand, each a thin shell over the recorder or the views."""

from __future__ import annotations

import signal

TYPE_CHECKING = False  # typing takes as long to import as all of this
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs ``freezer-ui``; installs the signal handlers before any slow import.

    Args:
        argv: the arguments, by default the process's own.

    Returns:
        The exit code; ``--help``, ``--version``, wrong arguments, and a script of ``freezer-ui run`` that exits raise
        `SystemExit`.
    """
    if argv is None and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Until the handlers are there, Ctrl-C ends the process without a traceback, as SIGTERM does.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from viewer.cli.signals import SIGNALS

    with SIGNALS.listening(lasts=argv is None):
        try:
            from viewer.cli.command_line import run

            return run(argv)
        except KeyboardInterrupt:  # during the imports, or a second one during the handling of the first
            from viewer.cli.terminal import remark

            remark(SIGNALS.ends())
            return SIGNALS.exit_code
