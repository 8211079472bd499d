"""A measured trace in which no ratio claims anything, and the verdicts of a text that lack the size of a difference."""

from __future__ import annotations

import re
from dataclasses import replace

import freeze_engine as fe
from freeze_engine.trace import Claim, Latency
from tests.builders import small_trace

NOTHING: Claim = "no measurable difference"
SIZED = re.compile(r"would have shown|less than \d+%|too few rounds|too noisy|differ too much to tell")


def unclaimed() -> fe.Trace:
    """Returns a measured trace in which no ratio claims anything."""
    trace = small_trace()

    def without(latency: Latency) -> Latency:
        return replace(
            latency,
            verdict="baseline" if latency.ratio is None else NOTHING,
            previous=latency.ratio,
            change=None if latency.ratio is None else NOTHING,
        )

    return replace(
        trace,
        steps=tuple(replace(step, latency=tuple(map(without, step.latency))) for step in trace.steps),
        baselines=tuple(replace(one, latency=tuple(map(without, one.latency))) for one in trace.baselines),
        ablation=tuple(
            replace(one, latency=tuple(replace(each, verdict=NOTHING) for each in one.latency))
            for one in trace.ablation
        ),
    )


def bare_in_text(text: str) -> list[str]:
    found = re.finditer(rf"{NOTHING}|not measurable|latency measurably|beyond the intervals", text)
    passages = (" ".join(re.sub("<[^>]*>", " ", text[match.start() : match.start() + 120]).split()) for match in found)
    return [passage for passage in passages if not SIZED.search(passage)]
