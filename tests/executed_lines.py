"""Counts the lines of Python that run: a measure of work that no machine's speed or load changes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def counted_lines() -> Iterator[list[int]]:
    """Counts the lines that run in the block, those of comprehensions once for each turn."""
    found = [0]

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        found[0] += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield found
    finally:
        sys.settrace(before)
