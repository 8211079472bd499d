"""The command line, ``freezer-ui``: one module per subcommand, each a thin shell over what it shows or records."""

from __future__ import annotations

from viewer.cli.main import main

__all__ = ["main"]
