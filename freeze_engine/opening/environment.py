"""The environment of a trace that was read from a file: unknown, unless the file names it."""

from __future__ import annotations

from typing import Final

from freeze_engine.trace import Environment

UNKNOWN: Final = "unknown"

UNKNOWN_ENVIRONMENT: Final = Environment(UNKNOWN, UNKNOWN, UNKNOWN, "", (), 0)
