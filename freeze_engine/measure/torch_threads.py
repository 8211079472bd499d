"""The number of threads that torch uses for one operator."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch

SETTING = "measure_threads"
"""Name of the setting that holds the requested number in a trace."""


@contextlib.contextmanager
def intra_op_threads(count: int | None) -> Iterator[None]:
    """Runs the body with ``count`` threads, then restores the number; ``None`` leaves it unchanged."""
    before = torch.get_num_threads()
    if count is None or count == before:
        yield
        return
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
