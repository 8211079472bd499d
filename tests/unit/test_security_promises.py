"""Every promise of the document on security names tests, and these exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def promises() -> list[str]:
    """The rows of the table of promises."""
    table = TEXT.partition("## What is promised")[2].partition("\n## ")[0]
    return [line for line in table.splitlines() if line.startswith("| **")]


def names_in(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_there_are_promises() -> None:
    assert len(promises()) >= 10


@pytest.mark.parametrize("row", promises(), ids=lambda row: row.split("**")[1][:60])
def test_a_promise_names_tests_that_exist(row: str) -> None:
    named = _TEST.findall(row)
    assert named
    assert [(file, name) for file, name in named if name not in names_in(file)] == []
