"""The candidates of a criterion: the model as it is after some of the passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from freeze_engine.diagnose.bisection.repro import Recipe
from freeze_engine.diagnose.bisection.result import FORWARD, Culprit
from freeze_engine.measure.candidate import Candidate
from freeze_engine.requests.inputs import Inputs
from freeze_engine.trace import Step

Save = Callable[[Path], Inputs]
"""Writes a candidate to a file, and returns what to call it with once it is loaded."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """The model after some of the passes.

    Attributes:
        step: index of the last of them, ``None`` for the whole freeze where that is more than its steps.
        name: its name in a sentence.
        candidate: makes the candidate; that may run a pass that crashes.
        save: how it is written to a file.
    """

    step: int | None
    name: str
    candidate: Callable[[], Candidate]
    save: Save


class Prefixes(Protocol):
    """All prefixes of one callable of a recorded freeze."""

    method: str
    """The method of the module that is called."""
    suffix: str
    """The suffix of a saved candidate's file name."""
    goes_on: bool
    """Whether a step can be done in part, and the steps after it be run."""

    def whole(self) -> tuple[Prefix, ...]:
        """Returns those that end with a whole pass and can be run, in order; the first is before any pass."""

    def has_parts(self, step: Step) -> bool:
        """Returns whether the rewrites of a step can be applied one by one."""

    def partial(self, step: Step, done: frozenset[int], end: Step) -> Prefix:
        """Returns a prefix in which only some of the rewrites of a step are done.

        Args:
            step: a step for which `has_parts` holds.
            done: positions in `Step.rewrites` of those that are done.
            end: the last step; a later one only where the prefixes go on.
        """

    def recipes(self, culprit: Culprit, guilty: Sequence[int], inputs: Inputs, whole: bool) -> Iterator[Recipe]:
        """Yields ways to show a fault with torch alone, the smallest first.

        Args:
            culprit: what is to blame.
            guilty: positions of the rewrites of its step that are.
            inputs: that show the fault.
            whole: whether nothing but a whole model can show it.
        """


def partial_name(step: Step, done: frozenset[int], end: Step) -> str:
    """Returns what a step with some of its rewrites, gone on with to another, is called in a sentence."""
    name = _partial_name(step, done)
    return name if end is step else f"{step_name(end)} after {name}"


def _partial_name(step: Step, done: frozenset[int]) -> str:
    count = len(step.rewrites)
    if not done:
        return f"{step_name(step)} with none of its rewrites"
    spans: list[list[int]] = []
    for number in sorted(done):
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    listed = ", ".join(str(low + 1) if low == high else f"{low + 1}-{high + 1}" for low, high in spans)
    return f"{step_name(step)} with rewrite{'s' if len(done) > 1 else ''} {listed} of {count}"


def step_name(step: Step) -> str:
    """Returns the name of a step in a sentence."""
    return f"step {step.index} ({step.name}{turn_text(step.round)}){method_text(step.method)}"


def turn_text(number: int | None) -> str:
    """Returns how a sentence goes on after the name of a pass, where that runs in rounds."""
    return f", round {number}" if number else ""


def method_text(method: str) -> str:
    """Returns how a sentence goes on after a step, where that is not of ``forward``, or not of its first graph."""
    return "" if method == FORWARD else f" of {method}"
