"""What this room exports, beyond what `freeze_engine` itself does, and the modules that define it."""

from .temporary_folders import (
    temporary_folder as temporary_folder,
)
from .whole_file import (
    write_files as write_files,
)
