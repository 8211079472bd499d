"""Converts pytest's reports of runs under several Pythons and torches to JSON and Markdown."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "versions.json"
DOCUMENT = ROOT / "docs" / "versions.md"

_INTRODUCTION = """\
# Versions

`python -m benchmarks.versions` makes this page. For each row it sets up an environment, installs the project with its
`test` extra and that torch, without the pins of `constraints.txt`, and runs the tests on a clean checkout of the
commit. A row says nothing about tests that it does not name. A test is skipped if the version lacks something that it
needs; the reasons below say how many tests each skips.

"""
_FEW = 3
_HEADING = """\
| Python | torch | passed | failed | skipped | minutes | tests | commit | date |
|---|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One run of the suite.

    Attributes:
        python: full version of the interpreter.
        torch: full version, with its build (``2.6.0+cu124``).
        passed: number of tests.
        failed: names of the tests that failed or whose fixtures failed.
        skipped: each reason, with the number of skipped tests.
        minutes: duration of the tests, without the installation.
        tests: test paths given to pytest.
        commit: of the project.
        date: of the run, as ``2026-01-31``.
        again: commit at which the tests that had failed were run again; empty if they were not.
        note: what a reader of the row should know, such as why tests failed.
    """

    python: str
    torch: str
    passed: int
    failed: tuple[str, ...]
    skipped: tuple[tuple[str, int], ...]
    minutes: float
    tests: tuple[str, ...]
    commit: str
    date: str
    again: str = ""
    note: str = ""

    @property
    def place(self) -> tuple[str, str, tuple[str, ...]]:
        """Key of the row: a later run of the same tests under the same versions replaces it."""
        return self.python, self.torch.partition("+")[0], self.tests

    def repeated(self, repeat: Row) -> Row:
        """Returns the row with the results of a later run of the tests that had failed.

        Args:
            repeat: that run.
        """
        skipped = Counter(dict(self.skipped)) + Counter(dict(repeat.skipped))
        return replace(
            self,
            passed=self.passed + repeat.passed,
            failed=repeat.failed,
            skipped=tuple(sorted(skipped.items())),
            again=repeat.commit,
        )


def counts(report: str) -> tuple[int, tuple[str, ...], tuple[tuple[str, int], ...]]:
    """Returns the number of passed tests, the failed ones, and the reasons of skips, from pytest's JUnit report.

    Args:
        report: the XML text of ``--junit-xml``.
    """
    passed, failed, skipped = 0, [], Counter[str]()
    for case in ElementTree.fromstring(report).iter("testcase"):
        kinds = {outcome.tag: outcome for outcome in case}
        if kinds.keys() & {"failure", "error"}:
            failed.append(f"{case.get('classname')}::{case.get('name')}")
        elif "skipped" in kinds:
            skipped[kinds["skipped"].get("message") or "no reason given"] += 1
        else:
            passed += 1
    return passed, tuple(dict.fromkeys(failed)), tuple(sorted(skipped.items()))


def load_rows(file: Path = RESULTS) -> tuple[Row, ...]:
    """Returns the rows of earlier runs."""
    if not file.is_file():
        return ()
    found = json.loads(file.read_text(encoding="utf-8"))
    return tuple(
        Row(
            **{
                **row,
                "failed": tuple(row["failed"]),
                "skipped": tuple((reason, number) for reason, number in row["skipped"]),
                "tests": tuple(row["tests"]),
            }
        )
        for row in found
    )


def with_row(rows: Iterable[Row], new: Row) -> tuple[Row, ...]:
    """Returns the rows in order of their versions; the new one replaces an older one of the same place."""
    kept = {row.place: row for row in rows} | {new.place: new}
    return tuple(sorted(kept.values(), key=lambda row: (_numbers(row.python), _numbers(row.place[1]), row.tests)))


def json_text(rows: Iterable[Row]) -> str:
    """Returns the text of the JSON file."""
    return json.dumps([asdict(row) for row in rows], indent=1) + "\n"


def markdown_text(rows: tuple[Row, ...]) -> str:
    """Returns the page: the table, then the failed and skipped tests of each row."""
    if not rows:
        return _INTRODUCTION + "No version has been run by this command yet.\n"
    return _INTRODUCTION + _HEADING + "".join(map(_line, rows)) + "".join(map(_details, rows))


def _line(row: Row) -> str:
    skipped = sum(number for _, number in row.skipped)
    tests = ", ".join(f"`{name}`" for name in row.tests)
    if len(row.tests) > _FEW:
        tests = f"{len(row.tests)} files or folders, named below"
    commit = f"{row.commit}, failed tests again {row.again}" if row.again else row.commit
    cells = (row.python, row.torch, row.passed, len(row.failed), skipped, f"{row.minutes:.0f}", tests)
    return f"| {' | '.join(map(str, cells))} | {commit} | {row.date} |\n"


def _details(row: Row) -> str:
    if not (row.failed or row.skipped or row.note or len(row.tests) > _FEW):
        return ""
    tests = _folded(f"{len(row.tests)} files or folders", _by_folder(row.tests)) if len(row.tests) > _FEW else ""
    where = f", {row.tests[0]}" if len(row.tests) == 1 else ""
    note = f"- {row.note}\n" if row.note else ""
    failed = _folded(f"{len(row.failed)} failed", _by_module(row.failed)) if row.failed else ""
    skipped = "".join(f"- {number} skipped: {reason}\n" for reason, number in row.skipped)
    return f"\n## Python {row.python}, torch {row.torch}{where}\n\n{note}{skipped}{failed}{tests}"


def _folded(title: str, lines: Iterable[str]) -> str:
    """Returns a list that the reader opens."""
    listed = "".join(f"- {line}\n" for line in lines)
    return f"\n<details><summary>{title}</summary>\n\n{listed}\n</details>\n"


def _by_folder(paths: Iterable[str]) -> list[str]:
    folders: dict[str, list[str]] = {}
    for path in paths:
        folders.setdefault(str(Path(path).parent), []).append(Path(path).stem)
    return [f"`{folder}`: {', '.join(names)}" for folder, names in sorted(folders.items())]


def _by_module(failed: Iterable[str]) -> list[str]:
    modules: dict[str, list[str]] = {}
    for name in failed:
        module, _, test = name.partition("::")
        modules.setdefault(module, []).append(test)
    return [f"`{module}`: {', '.join(f'`{test}`' for test in tests)}" for module, tests in sorted(modules.items())]


def node_ids(names: Iterable[str]) -> tuple[str, ...]:
    """Returns pytest's names of tests, as its command line takes them, from those of a report.

    Args:
        names: as `counts` returns them (``tests.unit.test_a::test_b[1]``).
    """
    parts = (name.partition("::") for name in names)
    return tuple(f"{module.replace('.', '/')}.py::{test}" for module, _, test in parts)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))
