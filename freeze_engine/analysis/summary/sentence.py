"""The verdict of a summary as one sentence in plain English, made of proven facts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Final

from freeze_engine.analysis.check_facts import check_outcome
from freeze_engine.analysis.detectability import tells_nothing, unseen_text
from freeze_engine.analysis.failures import failure_kind, failure_title
from freeze_engine.analysis.missing_measurements import unmeasured, why_absent
from freeze_engine.analysis.name_texts import listed
from freeze_engine.analysis.number_texts import error_text, percent_text
from freeze_engine.analysis.refused_inputs import plain_refusal
from freeze_engine.analysis.summary.facts import ErrorFact, FrozenFact, KeptFact
from freeze_engine.analysis.summary.packed import packed_text
from freeze_engine.analysis.summary.read_sentence import read_sentence
from freeze_engine.analysis.summary.times import BEFORE, TimeFact
from freeze_engine.trace import Failure, Interval, SourceRef, Trace
from freeze_engine.trace.baselines import EAGER

_MOST_RESULTS: Final = 4
_NOT_KNOWN: Final = "the effect on the time is not known"
#: By `KeptFact.manner`.
_LESS_SURE: Final = {
    "assumed": "because torch assumes that {place} may write {it}",
    "around": "because {place} assigns the submodule that {it} {is_or_are} read from",
}
_REASONS: Final = {
    "requested": "because preserved_attrs names {it}",
    "ancestor_of_requested": "because preserved_attrs names a part of {it}",
    "set_in_method": "because {place} assigns {it}",
    "mutated_in_place": "because {place} writes {it}",
    "aliases_preserved": "because {it} {shares} memory with an attribute that stays",
    "module_preserved": "because the submodule around {it} stays",
    "not_constant": "because torch has no constant of {its} type",
    "shared_class": "because another module of the same class keeps {it}",
    "unresolved_path": "because torch could not follow how {place} reads {it}",
    "interface": "because the model reaches {it} through an interface type",
    "mutated_input": "because {place} writes {it}",
    "aliases_output": "because an output shares memory with {it}",
    "not_a_parameter": "because torch got {it} as an input, not as a parameter",
    "read_live": "because Python code around the graph reads {it} at every call",
    "outside_graphs": "because no graph contains {it}",
    "unknown": "for a reason that the recording does not show",
}


def sentence(
    trace: Trace,
    frozen: FrozenFact | None,
    kept: Sequence[KeptFact],
    times: Sequence[TimeFact],
    errors: Sequence[ErrorFact],
) -> str:
    """Returns the verdict as one sentence, two for a failed recording. It also says what is not known, and why.

    Args:
        trace: the recording.
        frozen, kept, times, errors: its facts.
    """
    if not trace.is_recording:
        return read_sentence(trace)
    if not trace.steps and trace.failure is None:
        known = trace.attributes[0].evidence if trace.attributes else ()
        return f"Nothing was frozen: {known[0].fact if known else 'this recording has no pass'}."
    facts = list(
        filter(
            None,
            [
                *_frozen_texts(trace, frozen),
                _constant_before(trace, frozen),
                *measured_texts(trace, times, errors),
                _kept(kept),
                _checks(trace),
            ],
        )
    )
    said = "; ".join(facts)
    if trace.failure is None:
        return f"{said[:1].upper()}{said[1:]}."
    failed = f"{failure_title(trace.failure)}{_cause(trace.failure)}."
    if frozen is None:
        return f"{failed} {_until(trace)}; what became of the weights and buffers is not known."
    return f"{failed} {said[:1].upper()}{said[1:]}."


def measured_texts(trace: Trace, times: Sequence[TimeFact], errors: Sequence[ErrorFact]) -> Iterator[str]:
    """Yields what was measured of the result, and what was not, with the cause."""
    if not times and not errors:
        no_time, no_error = why_absent(trace, "latency"), why_absent(trace, "numerics")
        if no_time == no_error:
            yield f"time and outputs not measured: {no_time}"
            return
    if times:
        yield from _time_texts(times)
    else:
        yield f"time not measured: {_why(trace, 'latency')}"
    if errors:
        yield from _error_texts(trace, errors)
    else:
        yield f"outputs not compared with eager: {_why(trace, 'numerics')}"


def _time_texts(times: Sequence[TimeFact]) -> Iterator[str]:
    """Yields the times, of many only some: slower ones come first, then faster ones."""
    order = ("slower", "faster")
    if len(times) > _MOST_RESULTS:
        times = sorted(times, key=lambda fact: order.index(fact.claim) if fact.claim in order else len(order))
    several = len({fact.method for fact in times}) > 1, len({fact.device for fact in times}) > 1
    yield from (_time(fact, *several) for fact in times[:_MOST_RESULTS])
    if rest := times[_MOST_RESULTS:]:
        slower = sum(fact.claim == "slower" for fact in rest)
        yield _of_rest(len(rest), "time", slower, "slower")


def _error_texts(trace: Trace, errors: Sequence[ErrorFact]) -> Iterator[str]:
    """Yields the errors of the outputs, of many methods only some: those past the tolerances come first."""
    if len(errors) > _MOST_RESULTS:
        errors = sorted(errors, key=lambda fact: fact.is_close)
    yield from (_error(trace, fact, len(errors) > 1) for fact in errors[:_MOST_RESULTS])
    if rest := errors[_MOST_RESULTS:]:
        differ = sum(not fact.is_close for fact in rest)
        yield _of_rest(len(rest), "method", differ, "past torch's tolerances")


def _of_rest(count: int, noun: str, worse: int, word: str) -> str:
    """Says how many results the sentence leaves out, and how many of them are bad."""
    return f"{count} more {noun}{'' if count == 1 else 's'}, {worse or 'none'} of them {word}"


def _why(trace: Trace, kind: str) -> str:
    steps = trace.steps
    if kind == "latency" and any(step.latency for step in steps):
        return "the final graph could not be timed, or no pass changed it"
    if kind == "numerics" and any(each.error is None for step in steps for each in step.numerics):
        return "the final graph could not be run"
    refused = [each.error for step in steps for each in step.numerics if each.error is not None]
    found = unmeasured(trace)
    if kind == "numerics" and refused and (found is None or kind not in found.kinds):
        return f"every comparison failed ({plain_refusal(refused[-1])})"
    return why_absent(trace, "latency" if kind == "latency" else "numerics")


def ratio_words(ratio: Interval, claim: str, smallest: float) -> str:
    """Returns a time ratio in words (``8% less time per call (6 to 10%)``)."""
    if tells_nothing(claim, smallest):
        why = unseen_text(smallest) if math.isfinite(smallest) else "too few rounds"
        return f"{_NOT_KNOWN} ({why})"
    if claim not in ("faster", "slower"):
        return f"no measurable difference in time ({unseen_text(smallest)})"
    if ratio.value > 2 or not math.isfinite(ratio.value):
        return f"{ratio.value:.1f} times the time per call ({ratio.low:.1f} to {ratio.high:.1f})"
    bounds = sorted((abs(1 - ratio.low), abs(1 - ratio.high)))
    low, high = (percent_text(bound) for bound in bounds)
    word = "less" if claim == "faster" else "more"
    return f"{percent_text(abs(1 - ratio.value))}% {word} time per call ({low} to {high}%)"


def place_text(source: SourceRef) -> str:
    """Returns a line of the source in words (``line 32 of model.py``)."""
    return f"line {source.line} of {PurePath(source.file.replace(chr(92), '/')).name}"


def _frozen_texts(trace: Trace, fact: FrozenFact | None) -> Iterator[str]:
    """Yields what became of the weights; those of quantised layers may be in objects of torch's classes only."""
    packed = "" if fact is None else packed_text(trace)
    if not packed:
        yield _frozen(fact)
    elif fact is not None and fact.total:
        yield _frozen(fact)
        yield f"other weights are in {packed}"
    else:
        yield f"the model's weights are in {packed}"


def _constant_before(trace: Trace, fact: FrozenFact | None) -> str:
    """Says how many tensors were constants before, such as those of a module that was frozen already."""
    if fact is None or fact.total or trace.uses_inductor or not trace.steps:
        return ""
    graphs = [trace.method_steps(method)[0].graph for method in trace.methods]
    count = sum(node.constant is not None and node.constant.is_tensor for graph in graphs for node in graph.walk())
    if not count:
        return ""
    return "1 tensor was a constant from the start" if count == 1 else f"{count} tensors were constants from the start"


def _frozen(fact: FrozenFact | None) -> str:
    if fact is None:
        return "what became of the weights and buffers is not known"
    if not fact.total:
        return "the model has no weights or buffers"
    unused = f" ({fact.dropped} unused {'one is' if fact.dropped == 1 else 'ones are'} removed)" if fact.dropped else ""
    nouns = "weights and buffers in use" if unused else "weights and buffers"
    if not fact.frozen and fact.total == 1:
        return f"the only weight or buffer is {'unused and removed' if unused else 'not frozen'}"
    if not fact.frozen:
        return f"none of the {fact.total} weights and buffers is frozen{unused}"
    if not fact.preserved:
        what = f"all {fact.frozen} {nouns} are" if fact.frozen > 1 else "the only weight or buffer in use is"
        return f"{what} frozen{unused}"
    return f"{fact.frozen} of {fact.total} weights and buffers {'is' if fact.frozen == 1 else 'are'} frozen{unused}"


def _time(fact: TimeFact, methods: bool, devices: bool) -> str:
    """Returns a time in words.

    Args:
        fact: the time.
        methods, devices: whether there are several.
    """
    of = f" of {fact.method}" if methods else ""
    on = f" on {fact.device}" if devices or fact.device != "cpu" else ""
    against = f" than {fact.against}" if fact.claim in ("faster", "slower") and fact.ratio.value <= 2 else ""
    if fact.ratio.value > 2 and fact.claim == "slower":
        against = " of eager" if fact.against == EAGER else f", compared with {fact.against}"
    words = ratio_words(fact.ratio, fact.claim, fact.smallest)
    head, _, interval = words.partition(" (")
    if head == _NOT_KNOWN:
        return f"the effect on the time{of}{on} is not known ({interval}"
    if fact.claim not in ("faster", "slower") and fact.against != BEFORE:
        against = f" from {'eager' if fact.against == EAGER else f'the model {fact.against}'}"
    return f"{head}{against}{of}{on} ({interval}"


def _error(trace: Trace, fact: ErrorFact, several: bool) -> str:
    outputs = f"outputs of {fact.method}" if several else "outputs"
    if fact.is_identical:
        return f"{outputs} identical to {fact.reference}"
    if fact.is_close:
        return f"{outputs} within {error_text(fact.max_abs)} of {fact.reference}"
    since = "" if fact.step is None else f" since step {fact.step}, {trace.steps[fact.step].name}"
    return f"{outputs} differ from {fact.reference} by up to {error_text(fact.max_abs)}, past torch's tolerances{since}"


def _kept(kept: Sequence[KeptFact]) -> str:
    if not kept:
        return ""
    count = sum(len(fact.paths) for fact in kept)
    kinds = {fact.kind for fact in kept}
    noun = kinds.pop() if len(kinds) == 1 else "attribute"
    first = kept[0]
    if count == 1:
        return f"1 {noun} stays {reason_text(first, 'it')}"
    if len(kept) == 1:
        return f"{count} {noun}s stay {reason_text(first, 'them')}"
    if len(first.paths) > 1:
        return f"{count} {noun}s stay, {len(first.paths)} of them {reason_text(first, 'them')}"
    return f"{count} {noun}s stay, {first.paths[0]} {reason_text(first, 'it')}"


def reason_text(fact: KeptFact, it: str) -> str:
    """Returns why attributes stay (``because line 32 of model.py writes it``).

    Args:
        fact: the attributes.
        it: ``it`` or ``them``.
    """
    place = place_text(fact.source) if fact.source is not None else "a method"
    several = it == "them"
    if fact.reason == "aliases_preserved" or fact.manner == "around":
        it = "they" if several else "it"
    words = _LESS_SURE.get(fact.manner) or _REASONS.get(fact.reason, _REASONS["unknown"])
    return words.format(
        it=it,
        its="their" if several else "its",
        is_or_are="are" if several else "is",
        shares="share" if several else "shares",
        place=place,
    )


def _checks(trace: Trace) -> str:
    failed = [check.name.replace("_", " ") for check in trace.checks if check_outcome(check) == "failed"]
    if not failed:
        return ""
    return f"the check {failed[0]!r} failed" if len(failed) == 1 else f"the checks {listed(failed)} failed"


def _cause(failure: Failure) -> str:
    first = failure.message.strip().partition("\n")[0].rstrip(".")
    return f": {first}" if first and failure_kind(failure) == "failed" else ""


def _until(trace: Trace) -> str:
    passes = [step for step in trace.steps if step.stage != "input"]
    if not passes:
        return "No pass was recorded before it"
    changed = sum(step.changed for step in passes)
    count = "1 pass was" if len(passes) == 1 else f"{len(passes)} passes were"
    return f"Until then {count} recorded, of which {changed or 'none'} changed the graph"
