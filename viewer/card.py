"""The card of a trace: one picture to send, with the verdict and what was before and after."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from jinja2 import Environment, FunctionLoader, StrictUndefined

import freeze_engine as fe
from freeze_engine import analysis
from viewer.assets import read_asset
from viewer.text.printable import printable
from viewer.views.overview import operation_counts

WIDTH_PX: Final = 1200
HEIGHT_PX: Final = 630
_BAR_PX: Final = 720.0
_INK: Final = "#1b2027"
_GOOD: Final = "#00697a"
_BAD: Final = "#b02345"
_MUTED: Final = "#5b6573"
_ACCENT: Final = "#1f5fbf"
_PALE: Final = "#b9c4d4"
_NAME_LETTERS: Final = 48
#: Sizes of the sentence in px, letters of a line, and lines that fit, the largest first.
_SIZES: Final = ((30, 66, 5), (24, 84, 7), (19, 106, 9))


@dataclass(frozen=True, slots=True)
class Fact:
    """A figure on the card."""

    label: str
    value: str
    fill: str = _INK


def card_svg(trace: fe.Trace) -> str:
    """Draws the card of a trace.

    Args:
        trace: the recording; also an empty one, or one whose freeze failed.

    Returns:
        An SVG of 1200 × 630 px that loads nothing; equal traces give equal text.
    """
    summary = fe.summarize(trace)
    size, lines = _wrapped(printable(summary.sentence))
    template = Environment(autoescape=True, undefined=StrictUndefined, loader=FunctionLoader(read_asset))
    return template.get_template("card.svg").render(
        name=_clipped(printable(trace.name or "unnamed model"), _NAME_LETTERS),
        sentence=printable(summary.sentence),
        made=printable(_made(trace)),
        tone=_tone(trace, summary),
        lines=lines,
        size=size,
        step=round(1.36 * size),
        bars=_bars(trace),
        facts=list(_facts(summary)),
        seal=f"freezer-ui{f' · {printable(trace.created[:10])}' if trace.created else ''}",
    )


def _made(trace: fe.Trace) -> str:
    if not trace.is_recording:
        return f"read from {analysis.ORIGINS[trace.origin]}"
    return f"frozen by {trace.backend}, torch {trace.environment.torch}"


def _tone(trace: fe.Trace, summary: fe.Summary) -> str:
    wrong = any(not fact.is_close for fact in summary.errors)
    return _BAD if wrong or trace.failure is not None else _ACCENT


def _wrapped(text: str) -> tuple[int, list[str]]:
    """Returns the largest size in px at which a text fits, and its lines; the smallest size cuts what does not fit."""
    for size, letters, most in _SIZES:
        lines = textwrap.wrap(text, letters)
        if len(lines) <= most:
            return size, lines
    return size, [*lines[: most - 1], f"{lines[most - 1][: letters - 1]}…"]


def _clipped(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def _bars(trace: fe.Trace) -> list[dict[str, Any]]:
    counts = operation_counts(trace, fe.step_metrics(trace)) if trace.steps else None
    if counts is None:
        return []
    most = max(*counts, 1)
    labels = (("before", _PALE), ("after", _ACCENT))
    return [
        {"label": label, "fill": fill, "width": round(_BAR_PX * count / most), "text": f"{count} operations"}
        for (label, fill), count in zip(labels, counts, strict=True)
    ]


def _facts(summary: fe.Summary) -> Iterator[Fact]:
    frozen = summary.frozen
    yield Fact("weights and buffers frozen", _frozen(frozen))
    yield Fact("kept as attributes", "unknown" if frozen is None else str(frozen.preserved))
    yield _time(summary)
    yield _outputs(summary)


def _frozen(frozen: analysis.FrozenFact | None) -> str:
    if frozen is None:
        return "unknown"
    return f"{frozen.frozen} of {frozen.total}" if frozen.total else "the model has none"


def _time(summary: fe.Summary) -> Fact:
    if not summary.times:
        return Fact("time per call", "not measured", _MUTED)
    fact = summary.times[0]
    if fact.claim not in ("faster", "slower"):
        is_unknown = analysis.tells_nothing(fact.claim, fact.smallest)
        return Fact("time per call", "too noisy to tell" if is_unknown else "no difference found")
    words = analysis.ratio_words(fact.ratio, fact.claim, fact.smallest)
    return Fact("time per call", words.partition(" time")[0].removesuffix(" times the"), _fill(fact.claim == "faster"))


def _outputs(summary: fe.Summary) -> Fact:
    if not summary.errors:
        return Fact("outputs against eager", "not compared", _MUTED)
    worst = max(summary.errors, key=lambda fact: (not fact.is_close, fact.max_abs))
    if worst.is_identical:
        return Fact("outputs against eager", "identical", _GOOD)
    how = "within" if worst.is_close else "off by"
    return Fact("outputs against eager", f"{how} {analysis.error_text(worst.max_abs)}", _fill(worst.is_close))


def _fill(is_good: bool) -> str:
    return _GOOD if is_good else _BAD
