"""Names the cause of a process's death from its exit code."""

from __future__ import annotations

import signal
from typing import Final

#: Exit code of a process that can no longer reach its caller.
DEAF: Final = 121


def cause_of(exit_code: int) -> tuple[str, str]:
    """Returns type and message of a death.

    Args:
        exit_code: negative for a signal, as `subprocess` has it.
    """
    if exit_code == DEAF:
        return "closed descriptors", "the model closed descriptors that are not its own, so it could not be recorded"
    if exit_code >= 0:
        return f"exit code {exit_code}", f"the process ended by itself, with exit code {exit_code}"
    try:
        name, described = signal.Signals(-exit_code).name, signal.strsignal(-exit_code) or "no more is known"
    except ValueError:
        name, described = f"signal {-exit_code}", "no more is known"
    hint = "; the system does that where memory runs out" if name == "SIGKILL" else ""
    return name, f"the process was ended by {name} ({described.lower()}{hint})"
