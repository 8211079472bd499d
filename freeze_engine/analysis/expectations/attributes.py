"""Expectations about the attributes that freezing preserves."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Final

from freeze_engine.analysis.attribute_counting import attribute_counts, is_counted
from freeze_engine.analysis.expectations.result import Finding, Outcome, counted, source_text
from freeze_engine.analysis.name_texts import listed
from freeze_engine.trace import AttributeFate, Trace

_ASKED_FOR: Final = ("requested", "ancestor_of_requested")


def none_preserved(trace: Trace, pattern: str | None) -> Finding:
    """Expects no attribute to be preserved.

    Args:
        trace: the recording.
        pattern: of the attributes that count, requested or not; ``None`` for all that the user did not ask to preserve.
    """
    name, wanted = (
        "no_preserved",
        f"none of {pattern} preserved" if pattern else "nothing preserved except by request",
    )
    meant = [fate for fate in trace.attributes if pattern is None or fnmatchcase(fate.path, pattern)]
    if not meant:
        return Finding(name, wanted, "cannot tell", _nothing_meant(trace, pattern), (), _close(trace, pattern))
    kept = _innermost(
        [fate for fate in meant if fate.fate == "preserved" and (pattern or fate.reason not in _ASKED_FOR)]
    )
    if not kept:
        return Finding(name, wanted, "ok", f"{_fates(meant)}.")
    evidence = tuple(line for fate in kept for line in _why(trace, fate))
    advice = tuple(dict.fromkeys(fate.advice for fate in kept if fate.advice))
    return Finding(name, wanted, "failed", f"{_are(len(kept))} preserved.", evidence, "; ".join(advice[:3]))


def preserved(trace: Trace, pattern: str) -> Finding:
    """Expects a pattern to match attributes, and all of these to be preserved.

    Args:
        trace: the recording.
        pattern: of their paths.
    """
    name, wanted = "expect_preserved", f"{pattern} preserved"
    meant = [fate for fate in trace.attributes if fnmatchcase(fate.path, pattern)]
    if not meant:
        outcome: Outcome = "failed" if trace.attributes else "cannot tell"
        return Finding(name, wanted, outcome, _nothing_meant(trace, pattern), (), _close(trace, pattern))
    lost = [fate for fate in meant if fate.fate != "preserved"]
    if not lost:
        return Finding(name, wanted, "ok", f"{_fates(meant)}.")
    evidence = tuple(line for fate in lost for line in _why(trace, fate))
    remedy = "Name what must stay in preserved_attrs." if trace.backend == "torchscript" else ""
    return Finding(name, wanted, "failed", f"{_are(len(lost))} not preserved.", evidence, remedy)


def _are(number: int) -> str:
    return f"{counted(number, 'attribute')} {'is' if number == 1 else 'are'}"


def _nothing_meant(trace: Trace, pattern: str | None) -> str:
    if not trace.attributes:
        return "The trace knows no attributes."
    return f"The module that was frozen has no attribute {pattern}."


def _close(trace: Trace, pattern: str | None) -> str:
    if not trace.is_recording and not trace.attributes:
        return "Record the freeze itself: a trace that was read from what it left does not have them."
    if not trace.attributes:
        return "Record the module itself: a function has none."
    close = get_close_matches(pattern or "", [fate.path for fate in trace.attributes], 3)
    return f"There is {' and '.join(close)}." if close else "freezer-ui stats lists what there is."


def _fates(fates: list[AttributeFate]) -> str:
    """Counts parameters and buffers by fate, and what else there is: submodules, flags and values."""
    counts = attribute_counts((fate.fate, is_counted(fate)) for fate in fates)
    if not counts.total:
        return f"{counted(len(fates), 'attribute')}: {_by_fate(counts.others)}"
    others = sum(number for _, number in counts.others)
    more = f"; and {counted(others, 'other attribute')}: {_by_fate(counts.others)}" if others else ""
    noun = "parameter or buffer" if counts.total == 1 else "parameters and buffers"
    return f"{counts.total} {noun}: {_by_fate(counts.fates)}{more}"


def _by_fate(counts: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{number} {fate}" for fate, number in counts)


def _innermost(fates: list[AttributeFate]) -> list[AttributeFate]:
    """Drops submodules that stay only because something inside them does."""
    paths = sorted(fate.path for fate in fates)

    def is_empty(path: str) -> bool:
        first = bisect_left(paths, f"{path}.")
        return first == len(paths) or not paths[first].startswith(f"{path}.")

    return [fate for fate in fates if fate.kind != "submodule" or is_empty(fate.path)]


def _why(trace: Trace, fate: AttributeFate) -> Iterator[str]:
    reason = f" ({fate.reason})" if fate.reason else ""
    yield f"{fate.path}: {fate.fate}{reason}"
    for evidence in fate.evidence[:1]:
        yield f"  {evidence.op + ': ' if evidence.op else ''}{evidence.fact}"
        place = source_text(trace, evidence.source)
        if place:
            yield f"  at {place}"
        if evidence.chain:
            yield f"  through {listed((f'%{link.value} ({link.op})' for link in evidence.chain), 12)}"
