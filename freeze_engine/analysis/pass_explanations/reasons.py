"""Reasons that passes of both backends share."""

from __future__ import annotations

from freeze_engine.analysis.pass_explanations.entry import Occasion, Reason

ONLY_READS = "It never changes the graph."


def lacks(**kinds: tuple[str, ...]) -> Reason:
    """Returns a reason for a pass that needs an operator of each of several kinds.

    Args:
        **kinds: the operators of each kind, by its name in the singular, ``_`` for a space (``batch_norm``); the last
            kind is the one that the pass removes.
    """
    folded = list(kinds)[-1]

    def reason(occasion: Occasion) -> str | None:
        missing = [name for name, ops in kinds.items() if not occasion.graph.has(*ops)]
        if not missing:
            return None
        words = " and no ".join(name.replace("_", " ") for name in missing)
        removed = _removed_before(occasion) if missing == [folded] else ""
        return f"No {words} is left: {removed}." if removed else f"The graph has no {words}."

    return reason


def has_none_of(words: str, *ops: str) -> Reason:
    """Returns a reason for a pass that needs one of some operators.

    Args:
        words: names them, for a sentence (``a view or a permute``).
        *ops: the operators.
    """
    return lambda occasion: None if occasion.graph.has(*ops) else f"The graph has no {words}."


def first_of(*reasons: Reason) -> Reason:
    """Returns a reason that tries several, in order."""

    def reason(occasion: Occasion) -> str | None:
        return next((sentence for each in reasons if (sentence := each(occasion))), None)

    return reason


def near_misses(occasion: Occasion) -> str | None:
    """Points to the near misses of the pass, which name the condition of torch that failed."""
    count = len(occasion.misses)
    if not count:
        return None
    places = {miss.step for miss in occasion.misses}
    where = "" if places == {occasion.step.index} else f" of step {max(places)}"
    return f"The near miss{where} says why." if count == 1 else f"The {count} near misses{where} say why."


def no_repeats(occasion: Occasion) -> str | None:
    """No two nodes compute the same."""
    return None if occasion.graph.repeats else "No two nodes apply the same operator to the same inputs."


def nothing_from_constants(occasion: Occasion) -> str | None:
    """No node reads constants only."""
    return None if occasion.graph.computes_from_constants else "No node reads constants only."


def _removed_before(occasion: Occasion) -> str:
    """Returns how many earlier runs of the pass removed (``step 15 removed 20``), empty if none did."""
    done = [(step.index, len(step.rewrites)) for step in occasion.earlier if step.rewrites]
    if not done:
        return ""
    count = sum(number for _, number in done)
    places = [str(index) for index, _ in done]
    where = f"step {places[0]}" if len(places) == 1 else f"steps {', '.join(places[:-1])} and {places[-1]}"
    return f"{where} removed {count}"
