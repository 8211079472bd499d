"""The exceptions this project raises; torch's own always pass through unchanged."""

from __future__ import annotations


class FreezerError(Exception):
    """Base of every error raised here: its message says what, where, and what to do."""


class TraceFileError(FreezerError):
    """A trace file is missing, truncated, corrupted, foreign, or from a newer version."""


class InvalidTraceError(FreezerError):
    """A trace breaks a rule of the data model (duplicate ids, undefined uses, broken chains)."""


class ModelSpecError(FreezerError):
    """A MODEL or ``--input`` given on the command line cannot be turned into a module or a tensor."""


class UnsupportedTorchError(FreezerError):
    """The installed torch lacks a private name that a recording needs."""


class SandboxError(FreezerError):
    """Opening somebody else's model needs a sandbox, and there is none."""


class CrashError(FreezerError):
    """A child process that isolates a task has died, or its error cannot be passed on in another way."""


class MeasureError(FreezerError):
    """The requested measurement cannot be made (no inputs, unknown device)."""
