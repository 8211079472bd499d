"""What this room exports, beyond what `freeze_engine` itself does, and the modules that define it."""

from .garbage import (
    collection_paused as collection_paused,
)
from .posix import (
    END_SIGNALS as END_SIGNALS,
    IS_POSIX as IS_POSIX,
    open_file_limit as open_file_limit,
    require_posix as require_posix,
    set_open_file_limit as set_open_file_limit,
    try_lock as try_lock,
)
from .temporary_folders import (
    temporary_folder as temporary_folder,
)
from .whole_file import (
    write_files as write_files,
)
