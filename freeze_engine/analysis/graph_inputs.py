"""Maps the inputs of Inductor's graphs to attributes.

The graph uses ``arg1_1``, the user ``projection.bias``. The name stays when freezing makes a constant of the
input, so it identifies the constant as well.
"""

from __future__ import annotations

from freeze_engine.trace import Trace


def input_attributes(trace: Trace) -> dict[str, dict[str, str]]:
    """Returns the attributes behind the inputs of a trace's graphs.

    Args:
        trace: of either backend; TorchScript's inputs are none.

    Returns:
        For each method the name of an input to the path of the attribute; of two inputs that are one attribute, the
        first.
    """
    paths = {fate.path for fate in trace.attributes if fate.fate != "dropped"}
    found: dict[str, dict[str, str]] = {}
    for method in trace.methods if trace.uses_inductor else ():
        first = trace.method_steps(method)[0]
        names: dict[str, str] = {}
        for each in first.inputs:
            if each.attribute in paths:
                names.setdefault(each.attribute, each.name)
        found[method] = {name: path for path, name in names.items()}
    return found
