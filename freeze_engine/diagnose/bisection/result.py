"""The result of a bisection, as plain data."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from freeze_engine.trace import SourceRef, Trace

Verdict = Literal["good", "bad", "untestable"]
FORWARD = "forward"
Ran = Literal["to_its_end", "raised", "died", "hung"]
"""How the run of a candidate ended."""
Ending = Literal["found", "nothing_found", "broken_before", "inconclusive"]


@dataclass(frozen=True, slots=True)
class Probe:
    """One candidate that was checked.

    Attributes:
        candidate: its name: a step, or a step with some of its rewrites.
        step: index of the step, ``None`` if it is no step of the trace.
        verdict: of the criterion; ``untestable`` if it could not run.
        detail: the evidence for the verdict, in one line.
    """

    candidate: str
    step: int | None
    verdict: Verdict
    detail: str


@dataclass(frozen=True, slots=True)
class GuiltyRewrite:
    """One of the rewrites that together break the criterion.

    Attributes:
        kind: ``conv_bn``, …
        nodes: the consumed nodes as torch prints them, constants left out.
        attributes: paths of the attributes whose values went into it.
        modules: paths of the submodules that the nodes come from.
        sources: the user's source lines of the nodes.
    """

    kind: str
    nodes: tuple[str, ...]
    attributes: tuple[str, ...]
    modules: tuple[str, ...]
    sources: tuple[SourceRef, ...]


@dataclass(frozen=True, slots=True)
class Culprit:
    """The first step that breaks the criterion.

    Attributes:
        step: its index in the trace, ``None`` for what comes after the last step that can be run: code generation.
        stage, name, method, round: of the step; the method is the one whose graph it left, and for Inductor names
            the graph of several.
        last_good: index of the last step before it that passes the criterion.
        suspects: names of the steps after the last good one that could not be tested separately; its own name
            included.
        rewrites: the fewest rewrites of the step that were found to break it; empty where it cannot be run in
            part, or does none.
        rewrites_of_step: how many rewrites the step does in all.
        note: further facts about the rewrites: that others break it as well, or why none could be singled out.
    """

    step: int | None
    stage: str
    name: str
    method: str
    round: int | None
    last_good: int
    suspects: tuple[str, ...]
    rewrites: tuple[GuiltyRewrite, ...] = ()
    rewrites_of_step: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A script that reproduces the fault with torch alone.

    Attributes:
        script: the script.
        files: the files that it reads, beside it.
        is_reduced: whether it holds only the nodes that are involved, and not the whole model.
        reproduces: whether it was run, in a process of its own, and showed the fault.
        output: the last lines that it printed.
    """

    script: Path
    files: tuple[Path, ...]
    is_reduced: bool
    reproduces: bool
    output: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bisection:
    """The result of a search for the culprit.

    Attributes:
        ending: ``found``; ``nothing_found`` where the criterion never fails; ``broken_before`` where it fails before
            anything was frozen; ``inconclusive`` where nothing could be tested, or the criterion contradicts itself.
        criterion: what a candidate must meet, in words.
        message: what was found, in a few sentences.
        probes: every candidate that was checked, in order.
        culprit: where one was found.
        notes: further facts, such as a step that is good again after a bad one.
        reproduction: the script, if it was requested and could be written.
        trace: the freeze that was searched; not part of the JSON.
    """

    ending: Ending
    criterion: str
    message: str
    probes: tuple[Probe, ...]
    culprit: Culprit | None
    notes: tuple[str, ...]
    reproduction: Reproduction | None
    trace: Trace = field(repr=False)


def bisection_json(found: Bisection) -> str:
    """Returns a bisection as JSON, without its trace."""
    shown: dict[str, Any] = {
        "ending": found.ending,
        "criterion": found.criterion,
        "message": found.message,
        "model": found.trace.name,
        "backend": found.trace.backend,
        "torch": found.trace.environment.torch,
        "culprit": None if found.culprit is None else asdict(found.culprit),
        "notes": found.notes,
        "probes": [asdict(probe) for probe in found.probes],
        "reproduction": None if found.reproduction is None else asdict(found.reproduction),
    }
    return json.dumps(shown, indent=2, default=str) + "\n"
