"""What this room exports, beyond what `freeze_engine` itself does, and the modules that define it."""

from .model_explorer import (
    model_explorer_graphs as model_explorer_graphs,
)
