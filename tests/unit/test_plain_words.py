"""No label that puzzles a reader who meets the tool for the first time comes back."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from freeze_engine.analysis import ratio_short_text, ratio_text
from freeze_engine.trace import Interval

ROOT = Path(__file__).parents[2]
OLD = (
    "within 0 of eager",
    "once inlined",
    "Folds that can change the numbers",
    "Into TorchScript by",
    "as the model needs it",
    "It is frozen in a process of its own",
    "Leave out passes",
    "Settings that matter",
    "survives saving",
    "No eager module was given: the scripted one",
    "Nothing that was preserved reads it",
    "Its value stands as a constant",
    "Where it is now",
    "What paid off",
    "What moved the numbers",
    "resident beyond what was",
    ", of which {changed} changed something",
    "as soon as torch lets it",
    "once torch lets it",
    "(green) or slower (red)",
)
SOURCES = [
    *(ROOT / "viewer").rglob("*.py"),
    *(ROOT / "freeze_engine").rglob("*.py"),
    *(each for each in (ROOT / "frontend").rglob("*.js") if "node_modules" not in each.parts),
    *(ROOT / "static").glob("*.html"),
]


def test_no_source_has_an_old_label() -> None:
    assert len(SOURCES) > 300
    found = [(path.name, label) for path in SOURCES for label in OLD if label in path.read_text()]
    assert found == []


@pytest.mark.parametrize(
    ("ratio", "than", "text", "short"),
    [
        ((0.88, 0.84, 0.92), "", "12% less time (8 to 16%)", "−12%"),
        ((0.88, 0.84, 0.92), "step 0", "12% less time than step 0 (8 to 16%)", "−12%"),
        ((1.3, 1.2, 1.4), "", "30% more time (20 to 40%)", "+30%"),
        ((0.97, 0.93, 1.01), "", "3% less time (7% less to 1% more)", "−3%"),
        ((1.004, 1.001, 1.007), "", "0.4% more time (0.1 to 0.7%)", "+0.4%"),
        ((3.1, 3.0, 3.25), "A", "3.1 times the time of A (3.0 to 3.2)", "3.1×"),
        ((1.0, 1.0, 1.0), "", "0% more time (0 to 0%)", "+0%"),
        ((1.5, 0.5, float("inf")), "", "50% more time (50% less to inf% more)", "+50%"),
        ((float("inf"), 2.0, float("inf")), "", "inf times the time (2.0 to inf)", "inf×"),
    ],
)
def test_ratio_is_written_in_percent(ratio: tuple[float, float, float], than: str, text: str, short: str) -> None:
    interval = Interval(*ratio)
    assert ratio_text(interval, than) == text
    assert ratio_short_text(interval) == short


#: Beginnings and phrases of test names without a subject, or without a result.
VAGUE = re.compile(
    r"^test_(?:it|what|who|that|which|how|why|where)_|_(?:is|are|be)_told(?:_|$)|_asked_for(?:_|$)|_(?:is|are)_said$"
)


def test_names_of_tests_have_a_subject_and_a_result() -> None:
    trees = [ast.parse(path.read_text()) for path in (ROOT / "tests").rglob("test_*.py")]
    names = [node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert len(names) > 2000
    assert [name for name in names if VAGUE.search(name)] == []
