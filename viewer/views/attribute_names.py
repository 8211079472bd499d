"""Maps inputs and constants of an Inductor graph to the model's attributes that they are or hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import freeze_engine as fe
from freeze_engine import analysis

Names = tuple[Mapping[str, tuple[str, ...]], ...]
"""For each step, a value's name to the paths of the attributes that it is or holds."""


def attribute_names(trace: fe.Trace) -> Names:
    """Returns for each step the attributes that a value is or holds.

    If the log of the first step names an input's attribute, the constant of the same name has it as well. Any other
    constant holds the attributes whose fate locates them there, the largest first. TorchScript's own names are paths.

    Args:
        trace: the recording.

    Returns:
        One mapping for each step, from the name of a value to paths; steps of one method share theirs. It applies to
        inputs and constants only: before a fold, the node whose result becomes the constant has the same name.
    """
    if not trace.uses_inductor:
        return ({},) * len(trace.steps)
    inputs = analysis.input_attributes(trace)
    found: dict[str, dict[str, tuple[str, ...]]] = {method: {} for method in trace.methods}
    for fate in sorted(trace.attributes, key=lambda fate: (-(fate.nbytes or 0), fate.path)):
        for place in fate.locations:
            if place.method in found:
                names = found[place.method]
                names[place.value] = (*names.get(place.value, ()), fate.path)
    for method, told in inputs.items():
        found[method].update((name, (path,)) for name, path in told.items())
    return tuple(found[step.method] for step in trace.steps)


def renamed_names(trace: fe.Trace, renamed: fe.Trace) -> Names:
    """Returns the attribute names of a trace after `freeze_engine.diff_traces` has renamed its values.

    Args:
        trace: with its own names, from which the attributes follow.
        renamed: the same steps and nodes in the same order, as `freeze_engine.diff_traces` returns them.
    """
    found: list[Mapping[str, tuple[str, ...]]] = []
    for names, own, step in zip(attribute_names(trace), trace.steps, renamed.steps, strict=True):
        pairs = zip(_defined(own.graph), _defined(step.graph), strict=True) if names else ()
        found.append({new: names[old] for old, new in pairs if old in names})
    return tuple(found)


def _defined(graph: fe.GraphSnapshot) -> Iterator[str]:
    yield from (value.name for value in graph.inputs)
    yield from (value.name for node in graph.walk() for value in node.outputs)
