"""Checks of the frozen module, and the effect of freezing on memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Check:
    """A check of the frozen module after the freeze, with its result.

    Attributes:
        name: of the check: ``stale_weights``, ``idempotence``, ``determinism``, ``round_trip``,
            ``attributes``.
        verdict: ``passed`` or ``failed``; ``unknown`` where it could not be run.
        message: one sentence: what was found, or why it could not be run.
        details: the evidence for the verdict, one line each.
    """

    name: str
    verdict: Literal["passed", "failed", "unknown"]
    message: str
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryLedger:
    """The effect of a freeze on memory, besides the bytes of constants that each step has.

    Attributes:
        peak_bytes: the most that was resident in the process during the freeze beyond what was before it, recording
            included; ``None`` where unknown.
        file_before_bytes: size of the module saved before the freeze, ``None`` where it does not save.
        file_after_bytes: size of the frozen module saved.
        saves: whether the frozen module, saved and loaded, runs and gives the same; ``None`` where it was not tried.
        message: the error of saving or loading it, or why it was not tried.
        step: index of the first step whose graph does not survive saving, as all after it; ``None`` where unknown.
    """

    peak_bytes: int | None = None
    file_before_bytes: int | None = None
    file_after_bytes: int | None = None
    saves: bool | None = None
    message: str = ""
    step: int | None = None
