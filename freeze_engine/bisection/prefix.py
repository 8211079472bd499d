"""What is put to a check: the model as it is after some of the passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from freeze_engine.inputs import Inputs
from freeze_engine.measure.candidate import Candidate
from freeze_engine.trace import Step

Save = Callable[[Path], Inputs]
"""Writes a candidate to a file, and returns what to call it with once it is loaded."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """The model after some of the passes.

    Attributes:
        step: index of the last of them, ``None`` for the whole freeze where that is more than its steps.
        name: what it is called in a sentence.
        candidate: how it is run.
        save: how it is written to a file.
    """

    step: int | None
    name: str
    candidate: Candidate
    save: Save


class Prefixes(Protocol):
    """All prefixes of one recorded freeze."""

    suffix: str
    """What a saved candidate's file name ends with."""

    def whole(self) -> tuple[Prefix, ...]:
        """Returns those that end with a whole pass and can be run, in order; the first is before any pass."""

    def has_parts(self, step: Step) -> bool:
        """Whether the rewrites of a step can be done one by one."""

    def partial(self, step: Step, done: frozenset[int]) -> Prefix:
        """Returns the prefix that ends with some of the rewrites of a step.

        Args:
            step: a step for which `has_parts` holds.
            done: positions in `Step.rewrites` of those that are done.
        """


def step_name(step: Step) -> str:
    """Returns what a step is called in a sentence."""
    turn = f", round {step.round}" if step.round else ""
    return f"step {step.index} ({step.name}{turn})"
