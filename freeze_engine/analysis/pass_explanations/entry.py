"""Describes one pass of torch, and the reasons for which it changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from freeze_engine.analysis.pass_explanations.graph_facts import GraphFacts
from freeze_engine.trace import NearMiss, Step


@dataclass(frozen=True, slots=True)
class Occasion:
    """A pass that changed nothing, with what a reason may ask about it.

    Attributes:
        step: its step.
        graph: the graph that it left as it was.
        earlier: the steps of the same pass and method before it that rewrote something.
        misses: the near misses of the same pass and method.
    """

    step: Step
    graph: GraphFacts
    earlier: Sequence[Step] = ()
    misses: Sequence[NearMiss] = ()


#: Returns a sentence that says why a pass changed nothing, ``None`` where the graph does not prove any.
Reason = Callable[[Occasion], str | None]


@dataclass(frozen=True, slots=True)
class PassEntry:
    """One pass of torch.

    Attributes:
        does: what it does and when it fires, in one or two sentences.
        reason: why it changed nothing; ``None`` if no graph can prove that.
        title: what a group of patterns is for, in a few words, where torch only numbers it; empty otherwise.
    """

    does: str
    reason: Reason | None = None
    title: str = ""


def always(sentence: str) -> Reason:
    """Returns a reason that holds for every graph: the pass never changes one."""
    return lambda _: sentence
