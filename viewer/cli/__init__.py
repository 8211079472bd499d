"""The command line, ``freezer-ui``: one module per subcommand, each a thin shell over what it shows or records."""

from __future__ import annotations

from collections.abc import Sequence

from viewer.cli.signals import SIGNALS

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs ``freezer-ui``; signals are taken before anything is imported that takes time.

    Args:
        argv: the arguments, by default the process's own.

    Returns:
        The exit code; `SystemExit` is raised for ``--help``, ``--version``, wrong arguments, and by a script of
        ``freezer-ui run`` that exits.
    """
    with SIGNALS.listening(lasts=argv is None):
        try:
            from viewer.cli.command_line import run

            return run(argv)
        except KeyboardInterrupt:  # while modules were imported, or once more while this one was told
            from viewer.cli.terminal import remark

            remark(SIGNALS.ends())
            return SIGNALS.exit_code
