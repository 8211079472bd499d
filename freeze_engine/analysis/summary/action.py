"""One thing that the user could change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from freeze_engine.trace import SourceRef

Aim = Literal["finish", "correct", "faster", "once", "smaller", "known"]
AIMS: Final[tuple[Aim, ...]] = ("finish", "correct", "faster", "once", "smaller", "known")
"""What an action aims at, the most urgent first: a finished freeze, correct outputs, less time, fewer compiles, more
constants and less memory traffic, more measurements."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that the user could change, with its evidence, its fix, and what it would bring.

    Attributes:
        aim: its kind.
        title: a short imperative.
        evidence: the facts of the trace behind it.
        fix: what to change.
        gain: what that would bring; says so if it is not known.
        size: of the gain, to order actions of one aim: the share of time saved, or bytes.
        step: index of the step to look at, ``None`` for none.
        node: id of the node to look at, in that step's graph or the one before it; empty for none.
        attribute: path of the attribute to look at, empty for none.
        source: the user's line, ``None`` if unknown.
    """

    aim: Aim
    title: str
    evidence: str
    fix: str
    gain: str
    size: float = 0.0
    step: int | None = None
    node: str = ""
    attribute: str = ""
    source: SourceRef | None = None
