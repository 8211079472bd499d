"""Silences torch's deprecation of TorchScript where it is no news."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator


@contextlib.contextmanager
def undeprecated() -> Iterator[None]:
    """Silences torch's deprecation of TorchScript in the block, for calls of this package and not the user's.

    Up to torch 2.13 that is a ``DeprecationWarning``, which few see; from 2.14 on a ``FutureWarning``, which all do.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r".*torch\.jit\..* is deprecated")
        yield
