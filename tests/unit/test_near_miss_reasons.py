"""The documents list every reason that a near miss can have, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: The position of the reason among the arguments, by what is called.
_PLACES = {"Obstacle": 0, "NearMiss": 4}


def reasons(source: str) -> Iterator[str]:
    """Yields the reasons that a module writes out."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _PLACES:
            for each in ast.walk(node.args[_PLACES[node.func.id]]):
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    yield each.value


def documented() -> set[str]:
    text = (ROOT / "docs" / "trace-format.md").read_text(encoding="utf-8")
    table = text.partition("\n| reason | obstacle |\n")[2].partition("\n\n")[0]
    return {word for line in table.splitlines()[1:] for word in re.findall(r"`(\w+)`", line.split("|")[1])}


def test_reasons_are_found_in_both_branches_of_a_condition() -> None:
    source = 'Obstacle("a" if seen else "b", "detail"); NearMiss(step, kind, node, neighbour, "c", detail)'
    assert set(reasons(source)) == {"a", "b", "c"}


def test_every_reason_of_a_near_miss_is_documented() -> None:
    modules = (ROOT / "freeze_engine" / "backends").rglob("*.py")
    written = {reason for path in modules for reason in reasons(path.read_text(encoding="utf-8"))}
    assert len(written) >= 20
    assert documented() == written
