"""Small files that exist already when a test opens them; `tests.existing.make` made them with torch 2.13."""

from __future__ import annotations

import gzip
from pathlib import Path

FOLDER = Path(__file__).parent
FROZEN = FOLDER / "frozen.pt"
"""A frozen TorchScript file, its batch norm not folded."""

COMPILE_DEBUG = FOLDER / "compile_debug.zip"
"""A folder of ``TORCH_COMPILE_DEBUG``, packed."""


def unpacked_log(name: str, folder: Path) -> Path:
    """Returns a log of ``TORCH_TRACE`` in a folder, named as torch names it.

    Args:
        name: ``frozen``, ``plain``, ``hit``, ``breaks`` or ``failed``.
        folder: where to put it.
    """
    path = folder / f"dedicated_log_torch_trace_{name}.log"
    path.write_bytes(gzip.decompress((FOLDER / f"{name}.log.gz").read_bytes()))
    return path
