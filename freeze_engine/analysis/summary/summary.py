"""Summarizes a trace."""

from __future__ import annotations

from dataclasses import dataclass

from freeze_engine.analysis.step_metrics import StepMetrics, step_metrics
from freeze_engine.analysis.summary.action import Action
from freeze_engine.analysis.summary.actions import actions
from freeze_engine.analysis.summary.facts import ErrorFact, FrozenFact, KeptFact, error_facts, frozen_fact, kept_facts
from freeze_engine.analysis.summary.passes import PassEffects, main_pass, pass_effects
from freeze_engine.analysis.summary.sentence import sentence
from freeze_engine.analysis.summary.times import TimeFact, time_facts
from freeze_engine.errors import shortened
from freeze_engine.trace import Trace


@dataclass(frozen=True, slots=True)
class Summary:
    """The answer that a trace gives, in parts.

    Attributes:
        sentence: the verdict in plain English, made of the facts below; it also says what is not known.
        frozen: what became of the weights and buffers, ``None`` if unknown.
        kept: those that stay, grouped by reason and line.
        times: time per call of each frozen method, one per device; empty if not measured.
        errors: numeric error of each frozen method; empty if not compared.
        actions: what the user could change, the most useful first; at most three.
        passes: the passes that moved something, in order.
        main_step: index of the step that mattered most, ``None`` if none did.
    """

    sentence: str
    frozen: FrozenFact | None
    kept: tuple[KeptFact, ...]
    times: tuple[TimeFact, ...]
    errors: tuple[ErrorFact, ...]
    actions: tuple[Action, ...]
    passes: tuple[PassEffects, ...]
    main_step: int | None


def summarize(trace: Trace, metrics: tuple[StepMetrics, ...] | None = None) -> Summary:
    """Summarizes a trace.

    Args:
        trace: the recording; also an empty one, or one whose freeze failed.
        metrics: result of `freeze_engine.analysis.step_metrics.step_metrics` for it; computed by default.
    """
    known = step_metrics(trace) if metrics is None else metrics
    frozen, kept = frozen_fact(trace), kept_facts(trace)
    times, errors = time_facts(trace), error_facts(trace)
    passes = pass_effects(trace, known)
    return Summary(
        sentence=shortened(sentence(trace, frozen, kept, times, errors)),
        frozen=frozen,
        kept=kept,
        times=times,
        errors=errors,
        actions=actions(trace, known, times, errors),
        passes=passes,
        main_step=main_pass(trace, passes),
    )
