"""What this room exports, beyond what `freeze_engine` itself does, and the modules that define it."""

from .process_recorder import (
    ProcessRecorder as ProcessRecorder,
    SavedTrace as SavedTrace,
    recorded_process as recorded_process,
)
