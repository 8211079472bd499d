"""The table of versions: read from pytest's report, kept, and printed as the documentation has it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.version_table import (
    DOCUMENT,
    RESULTS,
    Row,
    counts,
    json_text,
    load_rows,
    markdown_text,
    node_ids,
    with_row,
)
from benchmarks.versions import RowError, earlier_row, interpreter

REPORT = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest" tests="5">
<testcase classname="tests.unit.test_a" name="test_passes[x &lt; y]" time="0.1"/>
<testcase classname="tests.unit.test_a" name="test_fails"><failure message="assert 1 == 2">…</failure></testcase>
<testcase classname="tests.unit.test_a" name="test_breaks"><error message="fixture">…</error></testcase>
<testcase classname="tests.unit.test_b" name="test_skips"><skipped message="no CUDA">…</skipped></testcase>
<testcase classname="tests.unit.test_b" name="test_skips_too"><skipped message="no CUDA">…</skipped></testcase>
</testsuite></testsuites>"""

ROW = Row(
    python="3.11.7",
    torch="2.6.0+cu124",
    passed=10,
    failed=("tests.unit.test_a::test_fails",),
    skipped=(("no CUDA", 2),),
    minutes=3.2,
    tests=("tests/unit",),
    commit="abc1234",
    date="2026-01-02",
)


def test_a_report_is_counted() -> None:
    failed = ("tests.unit.test_a::test_fails", "tests.unit.test_a::test_breaks")
    assert counts(REPORT) == (1, failed, (("no CUDA", 2),))


def test_rows_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "versions.json"
    assert load_rows(file) == ()
    file.write_text(json_text([ROW]), encoding="utf-8")
    assert load_rows(file) == (ROW,)


def test_a_row_replaces_that_of_the_same_versions_and_tests_and_no_other() -> None:
    newer, oldest = replace(ROW, torch="2.13.0+cpu"), replace(ROW, python="3.10.13")
    again = replace(ROW, torch="2.6.0+cpu", passed=11)
    assert with_row((newer, ROW), oldest) == (oldest, ROW, newer)
    assert with_row((newer, ROW), again) == (again, newer)
    elsewhere = replace(ROW, tests=("tests/torch",))
    assert with_row((ROW,), elsewhere) == (elsewhere, ROW)


def test_failed_tests_that_run_again_replace_their_results(tmp_path: Path) -> None:
    file = tmp_path / "versions.json"
    file.write_text(json_text([ROW]), encoding="utf-8")
    earlier = earlier_row("3.11.7", "2.6.0+cu124", ["tests/unit"], file)
    assert node_ids(earlier.failed) == ("tests/unit/test_a.py::test_fails",)
    repeat = replace(ROW, passed=0, failed=(), skipped=(("no CUDA", 1),), commit="def5678", minutes=0.1)
    assert earlier.repeated(repeat) == replace(ROW, failed=(), skipped=(("no CUDA", 3),), again="def5678")
    assert "| abc1234, failed tests again def5678 |" in markdown_text((earlier.repeated(repeat),))
    with pytest.raises(RowError, match="Leave out --failed"):
        earlier_row("3.11.7", "2.6.0", ["tests/torch"], file)


def test_a_row_has_its_note() -> None:
    text = markdown_text((replace(ROW, failed=(), skipped=(), note="Stopped by hand."),))
    assert text.endswith("\n## Python 3.11.7, torch 2.6.0+cu124, tests/unit\n\n- Stopped by hand.\n")


def test_a_row_of_many_files_names_each() -> None:
    files = tuple(f"tests/torch/test_{name}.py" for name in "abcd")
    text = markdown_text((replace(ROW, tests=files, failed=(), skipped=()),))
    assert "| 4 files or folders, named below |" in text
    assert text.endswith(
        "<details><summary>4 files or folders</summary>\n\n"
        "- `tests/torch`: test_a, test_b, test_c, test_d\n\n</details>\n"
    )


def test_version_table_lists_failures_and_reasons_of_skips() -> None:
    text = markdown_text((ROW,))
    assert "| 3.11.7 | 2.6.0+cu124 | 10 | 1 | 2 | 3 | `tests/unit` | abc1234 | 2026-01-02 |\n" in text
    assert text.endswith(
        "\n## Python 3.11.7, torch 2.6.0+cu124, tests/unit\n\n"
        "- 2 skipped: no CUDA\n\n"
        "<details><summary>1 failed</summary>\n\n- `tests.unit.test_a`: `test_fails`\n\n</details>\n"
    )


def test_the_documentation_shows_the_results() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == markdown_text(load_rows(RESULTS))


def test_missing_interpreter_is_reported() -> None:
    with pytest.raises(RowError, match=r"There is no Python 3\.99"):
        interpreter("3.99", ["no/such/python"])
