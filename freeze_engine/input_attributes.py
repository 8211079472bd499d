"""Which attribute an input of an Inductor graph is: the lines of a step's log that say so, written and read.

The graph speaks of ``arg1_1``, the user of ``projection.bias``. The name stays when freezing makes a constant of the
input, so that it tells what the constant is as well.
"""

from __future__ import annotations

import re
from typing import Final

from freeze_engine.trace import Trace

_LINE: Final = re.compile(r"%(\S+) is (.+)")
_ARGUMENT: Final = "the argument "


def input_line(name: str, label: str, *, is_attribute: bool) -> str:
    """Returns the line that says what an input is.

    Args:
        name: of the graph's input.
        label: path of the attribute, or what the user calls the argument.
        is_attribute: whether it is an attribute.
    """
    return f"%{name} is {label if is_attribute else _ARGUMENT + label}"


def input_attributes(trace: Trace) -> dict[str, dict[str, str]]:
    """Returns which attributes the inputs of a trace's graphs are.

    Args:
        trace: of either backend; TorchScript's inputs are none.

    Returns:
        For each method the name of an input to the path of the attribute. Of two inputs that go by one path the first
        counts: parameters come before arguments, which older traces tell apart by nothing else.
    """
    if trace.backend != "inductor":
        return {}
    paths = {fate.path for fate in trace.attributes if fate.fate != "dropped"}
    found: dict[str, dict[str, str]] = {}
    for step in trace.steps:
        if step.method in found:
            continue
        names: dict[str, str] = {}
        for line in step.log:
            told = _LINE.fullmatch(line)
            if told and told[2] in paths:
                names.setdefault(told[2], told[1])
        found[step.method] = {name: path for path, name in names.items()}
    return found
