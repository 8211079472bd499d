"""Actions against measured harm: outputs past tolerance, and passes that cost time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from freeze_engine.analysis.detectability import detection
from freeze_engine.analysis.error_breakdown import AddedError, error_split
from freeze_engine.analysis.expectations.result import step_text
from freeze_engine.analysis.number_texts import error_text, ratio_text
from freeze_engine.analysis.step_metrics import LatencyChange, StepMetrics
from freeze_engine.analysis.summary.action import Action
from freeze_engine.analysis.summary.facts import ErrorFact
from freeze_engine.analysis.summary.sentence import ratio_words
from freeze_engine.analysis.summary.times import BEFORE, TimeFact
from freeze_engine.trace import Interval, Payoff, Step, Trace

#: Stages whose passes ``--without`` can disable.
_OPTIONAL: Final = {
    "torchscript": ("optimize_frozen_graph", "optimize_for_inference"),
    "inductor": ("joint_graph", "freezing_passes", "post_grad"),
    "aotinductor": (),
}
_BISECT: Final = "Find the fold that does it with freezer-ui bisect --check accuracy."


def disable_fix(trace: Trace, step: Step) -> str:
    """Returns the command-line options that disable the passes of a step, empty if torch offers no way."""
    if step.stage not in _OPTIONAL[trace.backend]:
        return ""
    return f"Record with {' '.join(f'--without {name}' for name in step.passes)}."


def tolerance_actions(trace: Trace, errors: Sequence[ErrorFact]) -> Iterator[Action]:
    """Yields an action for each method whose outputs are past torch's tolerances, and a pass did that.

    Args:
        trace: the recording.
        errors: of its frozen methods.
    """
    growth = {each.step: each for each in reversed(tuple(_added(trace)))}  # the first of each step counts
    for fact in errors:
        if fact.step is None:
            continue
        step = trace.steps[fact.step]
        added = growth.get(step.index)
        grown = f" ({error_text(added.before)} → {error_text(added.after)})" if added is not None else ""
        evidence = f"{step_text(step)} is the first step past torch's tolerances against {fact.reference}{grown}."
        fix = _misfold_fix(trace, step) or disable_fix(trace, step) or _BISECT
        title = "Bring the outputs back within tolerance"
        gain = _gain_without(trace, step)
        yield Action("correct", title, _capital(evidence), fix, gain, fact.max_abs, step=step.index)


def _added(trace: Trace) -> Iterator[AddedError]:
    for split in error_split(trace):
        yield from split.added


def _misfold_fix(trace: Trace, step: Step) -> str:
    """Returns the remedy of a fold that is known to be wrong, empty if there is none."""
    for notice in trace.notices:
        if notice.code == "misfold" and notice.step == step.index and trace.backend == "torchscript":
            return notice.message.rpartition(". ")[2]
    return ""


def _gain_without(trace: Trace, step: Step) -> str:
    """Returns the effect of leaving the pass out, as measured by the ablation."""
    found = next((each for each in trace.ablation if each.name in step.passes and each.error is None), None)
    if found is None or found.close_without is None or found.max_abs_without is None:
        return "the error without this pass was not measured (--ablation measures it)"
    where = "within tolerance" if found.close_without else "still past tolerance"
    smallest = detection(trace).of_pass
    cost = "".join(f"; {_inverted(payoff.ratio, payoff.verdict, smallest(payoff))}" for payoff in found.latency)
    return f"outputs {where} without it, error {error_text(found.max_abs_without)}{cost}"


def slower_actions(trace: Trace, metrics: Sequence[StepMetrics], times: Sequence[TimeFact]) -> Iterator[Action]:
    """Yields the passes that cost time measurably, and freezing as a whole if it did.

    Args:
        trace: the recording.
        metrics: result of `freeze_engine.analysis.step_metrics.step_metrics` for it.
        times: of the frozen methods.
    """
    for fact in times:
        if fact.claim == "slower":
            yield _whole(trace, fact)
    proven = {name for name, _ in _costs(trace)}
    for name, payoff in _costs(trace):
        step = next((step for step in trace.steps if step.changed and name in step.passes), None)
        if step is not None:
            against = f"with it the model takes {ratio_text(payoff.ratio, 'without it')} on {payoff.device}"
            yield _slow_pass(trace, step, against, payoff.ratio, _inverted(payoff.ratio, payoff.verdict))
    if trace.uses_inductor:
        return  # its steps run operator by operator: their times say nothing about the compiled code
    for change in (change for entry in metrics for change in entry.latency_changes):
        step = trace.steps[change.step]
        if change.ratio.low > 1 and not proven & set(step.passes) and disable_fix(trace, step):
            gain = f"{_inverted(change.ratio, 'slower')} at this step; --ablation measures it for the whole freeze"
            yield _slow_pass(trace, step, _change_text(change), change.ratio, gain)


def _whole(trace: Trace, fact: TimeFact) -> Action:
    title = "Use the model as it was before freezing" if fact.against == BEFORE else "Compile without freezing"
    evidence = f"Frozen, {fact.method} takes {ratio_text(fact.ratio, fact.against)} on {fact.device}."
    fix = "Leave freezing off on this device, or leave out the passes that cost time (freezer-ui record --ablation)."
    return Action("faster", title, evidence, fix, _inverted(fact.ratio, fact.claim), _share(fact.ratio))


def _costs(trace: Trace) -> Iterator[tuple[str, Payoff]]:
    for contribution in trace.ablation:
        for payoff in contribution.latency:
            if payoff.verdict == "slower" and contribution.error is None:
                yield contribution.name, payoff


def _slow_pass(trace: Trace, step: Step, against: str, ratio: Interval, gain: str) -> Action:
    return Action(
        "faster",
        f"Leave out {step.name}",
        _capital(f"{step_text(step)}: {against}."),
        disable_fix(trace, step),
        gain,
        _share(ratio),
        step=step.index,
    )


def _change_text(change: LatencyChange) -> str:
    return f"the graph takes {ratio_text(change.ratio, f'step {change.since}')} on {change.device}"


def _share(ratio: Interval) -> float:
    return 1 - 1 / ratio.value


def _inverted(ratio: Interval, claim: str, smallest: float = math.inf) -> str:
    """Describes the opposite of a ratio: the effect of undoing what it measures; without one, what would have shown."""
    if claim not in ("faster", "slower"):
        return ratio_words(ratio, claim, smallest)
    opposite = Interval(1 / ratio.value, 1 / ratio.high, 1 / ratio.low)
    return ratio_words(opposite, "faster" if claim == "slower" else "slower", smallest)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
