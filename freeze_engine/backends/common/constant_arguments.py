"""Reads the numbers and words that a graph passes to an operator as constants."""

from __future__ import annotations

import re
from typing import Final

from freeze_engine.backends.common.use_def import UseDef
from freeze_engine.trace import Node

_NUMBER: Final = re.compile(r"-?\d+")
_EMPTY: Final = re.compile(r"annotate\(List\[\w+\], \[\]\)")


def constant_text(graph: UseDef, node: Node, place: int) -> str | None:
    """Returns a constant argument as torch prints it, ``None`` if it is no constant or has no value."""
    definer = graph.definers.get(node.inputs[place]) if place < len(node.inputs) else None
    text = definer.attribute("value") if definer is not None and definer.op == "prim::Constant" else None
    return "[]" if text is not None and _EMPTY.fullmatch(text) else text


def constant_integer(graph: UseDef, value: str) -> int | None:
    """Returns the whole number that a value is, ``None`` if it is no such constant."""
    definer = graph.definers.get(value)
    text = (definer.attribute("value") or "") if definer is not None and definer.op == "prim::Constant" else ""
    return int(text) if _NUMBER.fullmatch(text) else None


def constant_integers(graph: UseDef, node: Node, place: int) -> tuple[int, ...] | None:
    """Returns the whole numbers of a constant argument, one or a list of them; ``None`` if it is no such constant."""
    text = constant_text(graph, node, place)
    if text is not None:
        return tuple(map(int, _NUMBER.findall(text))) if set(text) <= set("0123456789-, []") else None
    made = graph.definers.get(node.inputs[place]) if place < len(node.inputs) else None
    if made is None or made.op != "prim::ListConstruct":
        return None
    found = [constant_integer(graph, name) for name in made.inputs]
    known = tuple(each for each in found if each is not None)
    return known if len(known) == len(found) else None


def constant_floats(graph: UseDef, node: Node, place: int) -> tuple[float, ...] | None:
    """Returns the numbers of a constant argument, one or a list of them; ``None`` if it is no such constant."""
    text = constant_text(graph, node, place)
    if text is None or not set(text) <= set("0123456789.-, []e"):
        return None
    return tuple(float(each) for each in text.strip("[]").split(",") if each.strip())
