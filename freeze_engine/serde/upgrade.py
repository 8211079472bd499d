"""Moves data that older schema versions wrote into texts to the fields of newer versions."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from freeze_engine.trace import GraphInput, Step, Trace

_INPUT: Final = re.compile(r"%(?P<name>\S+) is (?P<argument>the argument )?(?P<label>.+)")

_RENAMED_OPTIONS: Final = {"without": "disabled_passes"}
"""Options that versions up to 7 wrote with an earlier name."""


def upgraded(trace: Trace, version: int) -> Trace:
    """Returns a trace of an older version as one of this version.

    Args:
        trace: as decoded; its newer fields have their defaults.
        version: of the schema it was written with.
    """
    trace = _with_option_names(trace)
    if version >= 3:
        return trace
    paths = {fate.path for fate in trace.attributes if fate.fate != "dropped"}
    steps = (_with_passes(step) for step in trace.steps)
    if trace.uses_inductor:
        steps = (_with_inputs(step, paths) for step in steps)
    return replace(trace, steps=tuple(steps))


def _with_option_names(trace: Trace) -> Trace:
    """Gives renamed options their names of today, so that two names of one are no difference of two traces."""
    options = tuple((_RENAMED_OPTIONS.get(name, name), value) for name, value in trace.options)
    return trace if options == trace.options else replace(trace, options=options)


def _with_passes(step: Step) -> Step:
    """Splits a step's name, in which versions 1 and 2 joined the names of several passes."""
    names = tuple(filter(None, step.name.split(", "))) or (step.name,)
    return step if names == step.passes else replace(step, passes=names)


def _with_inputs(step: Step, paths: set[str]) -> Step:
    """Moves the lines about the inputs of a step's graph out of its log.

    Of two inputs with one path the first is the attribute: parameters come before arguments, which version 1 kept
    apart by nothing else.
    """
    names = {value.name for value in step.graph.inputs}
    found: list[GraphInput] = []
    kept: list[str] = []
    for line in step.log:
        match = _INPUT.fullmatch(line)
        if match is None or match["name"] not in names:
            kept.append(line)
            continue
        label = match["label"]
        known = {each.attribute for each in found}
        is_attribute = match["argument"] is None and label in paths and label not in known
        found.append(GraphInput(match["name"], *((label, "") if is_attribute else ("", label))))
        names.discard(match["name"])
    return replace(step, log=tuple(kept), inputs=tuple(found)) if found else step
