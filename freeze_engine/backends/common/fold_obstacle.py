"""The condition that kept a fold from happening, as both backends report it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A condition that fails: `NearMiss.reason`, ``detail`` and ``advice``."""

    reason: str
    detail: str
    advice: str = ""
