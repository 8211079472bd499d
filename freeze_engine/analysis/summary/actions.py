"""The actions that would bring most: from kept attributes, missed folds, times, errors and notices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from freeze_engine.analysis.attribute_counting import held_bytes
from freeze_engine.analysis.expectations.result import counted, step_nodes
from freeze_engine.analysis.failures import failure_kind, failure_title
from freeze_engine.analysis.known_failures import known_failure
from freeze_engine.analysis.missing_measurements import unmeasured
from freeze_engine.analysis.name_texts import alike_listed
from freeze_engine.analysis.number_texts import bytes_text
from freeze_engine.analysis.step_metrics import StepMetrics
from freeze_engine.analysis.summary.action import AIMS, Action
from freeze_engine.analysis.summary.facts import ErrorFact, KeptFact, deciding_source, manner
from freeze_engine.analysis.summary.measured_actions import slower_actions, tolerance_actions
from freeze_engine.analysis.summary.notice_actions import notice_actions
from freeze_engine.analysis.summary.sentence import reason_text
from freeze_engine.analysis.summary.times import TimeFact
from freeze_engine.trace import AttributeFate, NearMiss, Node, Trace

MOST: Final = 3
"""Largest number of actions in a summary."""

#: Attributes that torch itself gives to each scripted module.
_TORCHS_OWN: Final = ("training", "_is_full_backward_hook")
_TIME_UNKNOWN: Final = "the effect on time is not known"
_SAVING_UNKNOWN: Final = "how much it would save is not known"
_NEXT_TO_NOTHING: Final = 1000
"""A gain of fewer bytes than this part of the weights comes last, of a model that is not small it is left out."""
_LARGE: Final = 2**20
"""Bytes of the weights of a model that is not small."""
#: Reasons of near misses that users merge themselves, since torch folds no such thing.
_MERGED_BY_HAND: Final = ("no_such_fold", "before_conv", "before_linear")
_OPERATIONS: Final = {"bn": "batch norm", "mul": "multiplication", "add": "addition", "sub": "subtraction"}
_COMPUTATIONS: Final = {"conv": "convolution", "bn": "batch norm before it"}
_LIMITS: Final = {"time limit": "--limit", "memory limit": "--memory"}


def actions(
    trace: Trace, metrics: Sequence[StepMetrics], times: Sequence[TimeFact], errors: Sequence[ErrorFact]
) -> tuple[Action, ...]:
    """Returns the actions that would bring most, at most `MOST`: correct outputs first, then time, then bytes.

    Args:
        trace: the recording.
        metrics: result of `freeze_engine.analysis.step_metrics.step_metrics` for it.
        times, errors: facts of its summary.
    """
    if not trace.steps:
        return (*_failed(trace), *_kept(trace))[:MOST]
    found = (
        *_failed(trace),
        *tolerance_actions(trace, errors),
        *slower_actions(trace, metrics, times),
        *notice_actions(trace, frozenset(fact.step for fact in errors if fact.step is not None)),
        *_kept(trace),
        *_missed(trace),
        *_unmeasured(trace),
    )
    weights = sum(held_bytes(trace).values())
    found = tuple(each for each in found if weights < _LARGE or not _is_next_to_nothing(each, weights))
    return tuple(sorted(found, key=lambda action: _rank(action, weights)))[:MOST]


def _rank(action: Action, weights: int) -> tuple[bool, int, float]:
    """Returns the key to sort by."""
    return _is_next_to_nothing(action, weights), AIMS.index(action.aim), -action.size


def _is_next_to_nothing(action: Action, weights: int) -> bool:
    """Returns whether an action would gain few bytes beside those of the weights."""
    return action.aim == "smaller" and action.size * _NEXT_TO_NOTHING < weights and action.gain != _SAVING_UNKNOWN


def _failed(trace: Trace) -> Iterator[Action]:
    failure = trace.failure
    if failure is None:
        return
    if option := _LIMITS.get(failure_kind(failure)):
        fix = f"Record again with a larger {option}."
        gain = "the recording would go on; how much it needs is not known"
        yield Action("finish", "Raise the limit", f"{failure_title(failure)}.", fix, gain, step=failure.step)
    elif known := known_failure(failure.message):
        evidence = f"{failure_title(failure)}: {failure.message.strip().partition(chr(10))[0]}"
        gain = "torch would freeze the module; what else it would meet is not known"
        yield Action("finish", known.title, evidence, known.remedy, gain, step=failure.step)


def _kept(trace: Trace) -> Iterator[Action]:
    anew = any(notice.code == "compiled_anew" for notice in trace.notices)
    groups: dict[tuple[object, ...], list[AttributeFate]] = {}
    for fate in trace.attributes:
        if fate.fate != "preserved" or not fate.advice or fate.kind == "submodule":
            continue
        if fate.path.rpartition(".")[2] in _TORCHS_OWN:
            continue
        if anew and fate.reason == "set_in_method":  # the notice has the same fix
            continue
        generic = fate.advice.replace(repr(fate.path), "")
        groups.setdefault((fate.reason, deciding_source(fate), generic), []).append(fate)
    held = held_bytes(trace)
    for fates in groups.values():
        yield _freeing(trace, sorted(fates, key=lambda fate: (-held[fate.path], fate.path)), held)


def _freeing(trace: Trace, fates: Sequence[AttributeFate], held: dict[str, int]) -> Action:
    first = fates[0]
    nbytes = sum(held[fate.path] for fate in fates)
    source = deciding_source(first)
    line = trace.source_line(source) if source is not None else None
    code = f": {line.strip()}" if line else ""
    kept = ((first.path,), "attribute", first.reason or "unknown", source, nbytes)
    reason = KeptFact(*kept, is_requested=False, manner=manner(first))
    fact = f" ({first.evidence[0].fact})" if first.evidence else ""
    what = bytes_text(nbytes) if nbytes else counted(len(fates), "value")
    return Action(
        "smaller",
        f"Let {alike_listed(fate.path for fate in fates)} freeze",
        f"{first.path} stays {reason_text(reason, 'it')}{code}{fact}",
        _sentence(first.advice),
        f"{what} would become constant; {_TIME_UNKNOWN}",
        nbytes,
        step=first.step,
        node=next((each.node for each in first.evidence if each.node and each.step == first.step), "") or "",
        attribute=first.path,
        source=source,
    )


def _missed(trace: Trace) -> Iterator[Action]:
    groups: dict[tuple[str, str], list[NearMiss]] = {}
    for miss in trace.near_misses:
        if miss.advice:
            groups.setdefault((miss.kind, miss.reason), []).append(miss)
    nodes: dict[int, dict[str, Node]] = {}
    for misses in groups.values():
        first, *_ = misses = sorted(misses, key=lambda miss: -(miss.saved_bytes or 0))
        if first.step not in nodes:
            nodes[first.step] = step_nodes(trace, trace.steps[first.step])
        yield _folding(misses, nodes[first.step].get(first.node))


def _folding(misses: Sequence[NearMiss], node: Node | None) -> Action:
    first = misses[0]
    source = node.source if node is not None else None
    more = f" {counted(len(misses) - 1, 'more fold')} did not happen for the same reason." if len(misses) > 1 else ""
    saved = sum(miss.saved_bytes or 0 for miss in misses)
    gain = f"each call would read and write {bytes_text(saved)} less; {_TIME_UNKNOWN}"
    times = f" at {len(misses)} places" if len(misses) > 1 else ""
    action = Action(
        "smaller",
        f"{'Merge' if first.reason in _MERGED_BY_HAND else 'Let torch fold'} {_fold_words(first.kind)}{times}",
        f"{first.detail}{more}",
        _sentence(first.advice),
        gain if saved else _SAVING_UNKNOWN,
        saved,
        step=first.step,
        node=first.node,
        source=source,
    )
    if (first.kind, first.reason) == ("dropout", "training_mode"):
        title = f"Stop the dropout in the frozen model{times}"
        return replace(action, aim="correct", title=title, gain="the same outputs at each call")
    return action


def _fold_words(kind: str) -> str:
    if kind == "concat_linear":
        return "linears of the same input into one"
    into, _, operation = kind.partition("_")
    if operation not in _OPERATIONS:
        return kind.replace("_", " ")
    return f"the {_OPERATIONS[operation]} into the {_COMPUTATIONS.get(into, into)}"


def _unmeasured(trace: Trace) -> Iterable[Action]:
    found = unmeasured(trace)
    if found is None or not found.remedy:
        return ()
    gain = "the effect on time and outputs would be known"
    return (Action("known", "Record with measurements", f"{_sentence(str(found))}", found.remedy, gain),)


def _sentence(text: str) -> str:
    """Returns a text with a capital and a full stop."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
