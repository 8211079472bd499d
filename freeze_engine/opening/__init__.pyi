"""What this room exports, beyond what `freeze_engine` itself does, and the modules that define it."""

from .existing import (
    existing_kind as existing_kind,
    open_existing as open_existing,
)
