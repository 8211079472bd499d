"""What is known of the machine where something was made that is only read here: nothing, unless it says so."""

from __future__ import annotations

from typing import Final

from freeze_engine.trace import Environment

UNKNOWN: Final = "unknown"

UNKNOWN_ENVIRONMENT: Final = Environment(UNKNOWN, UNKNOWN, UNKNOWN, "", (), 0)
