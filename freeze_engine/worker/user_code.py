"""Code that comes with the user's model, and runs when that is loaded or looked at."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from freeze_engine.errors import FreezerError, ModelSpecError


@contextlib.contextmanager
def code_of(model: str) -> Iterator[None]:
    """Marks that the user's code runs, so that its errors are separated from this package's.

    Args:
        model: the MODEL that brings it.

    Raises:
        ModelSpecError: it raised something, whatever that was.
    """
    try:
        yield
    except FreezerError:
        raise
    except (Exception, SystemExit) as error:  # code that is not ours may raise anything
        raise ModelSpecError(f"MODEL {model!r}: its own code raised {type(error).__name__}: {error}") from error
