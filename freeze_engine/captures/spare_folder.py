"""The folder that takes the traces that cannot be written where the user asked for them."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

_MODE = 0o700


def spare_folder(began_ns: int) -> Path:
    """Returns the path of the spare folder of a run, which all its processes share; it need not exist.

    Args:
        began_ns: when the run began.
    """
    return Path(tempfile.gettempdir()) / f"freezer-traces-{began_ns}"


def made_spare_folder(began_ns: int) -> Path:
    """Makes the spare folder of a run, for this user only.

    Args:
        began_ns: when the run began.

    Raises:
        OSError: it cannot be made, or is somebody else's.
    """
    folder = spare_folder(began_ns)
    folder.mkdir(_MODE, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or (hasattr(os, "geteuid") and status.st_uid != os.geteuid()):
        raise FileExistsError(f"{folder} is not a folder of this user")
    return folder
