"""Sweeps compared, checked against expectations and a baseline, and the outputs for CI."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import freeze_engine as fe
from freeze_engine import sweep
from freeze_engine.sweep import SweepRow, diff_sweeps
from tests.builders import small_trace
from tests.sweeps import failed_row, make_sweep, sweep_row
from viewer.cli import main
from viewer.text.check_outputs import CheckedSubject, check_markdown, github_annotations, junit_xml

ROOT = Path(__file__).parents[2]
SLOWER = {"latency_ns": 9.6e6, "latency_ns_low": 9.1e6, "latency_ns_high": 9.9e6}
SLOWER_RATIO = {"latency_ratio": 0.95, "latency_ratio_low": 0.91, "latency_ratio_high": 0.99}


def worse(**changes: Any) -> list[tuple[str, str]]:
    diff = diff_sweeps([sweep_row()], [sweep_row(**changes)])
    mirrored = diff_sweeps([sweep_row(**changes)], [sweep_row()])
    assert [change.kind for change in diff.worse] == [change.kind for change in mirrored.better]
    return [(change.kind, change.message) for change in diff.worse]


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, []),
        ({"status": "failed", "reason": "RuntimeError: no"}, [("freeze", "failed: RuntimeError: no")]),
        (
            {"max_abs_error": 0.5, "is_close": False},
            [("accuracy", "largest error 1.0e-06 → 5.0e-01, now past torch's tolerances")],
        ),
        ({"max_abs_error": 2e-6}, []),
        (
            {"frozen": 8, "preserved": 2, "preserved_names": ("b", "a")},
            [("attributes", "frozen before and not now: a, b")],
        ),
        ({"frozen": 9, "dropped": 2}, [("attributes", "frozen 10 → 9")]),
        ({"graph_breaks": 2, "notice_codes": ("graph_break",)}, [("graph_breaks", "graph breaks 0 → 2")]),
        (
            {**SLOWER, **SLOWER_RATIO},
            [("latency", "8.00 ms → 9.60 ms (1.20×), relative to before freezing: 0.80× → 0.95×")],
        ),
        (SLOWER, []),  # the machine was slower: the ratio within its run is the same
        (SLOWER_RATIO, []),
        ({**SLOWER, **SLOWER_RATIO, "device": "cuda:0"}, []),
        ({"bytes_after": 3010}, []),
        ({"bytes_after": 6000}, [("bytes", "2.93 KiB → 5.86 KiB after the freeze")]),
        ({"near_misses": 3}, [("near_misses", "near misses 0 → 3")]),
        ({"notice_codes": ("misfold",)}, [("notices", "new notices: misfold")]),
    ],
)
def test_each_kind_of_change_is_found_and_noise_is_not(changes: dict[str, Any], found: list[tuple[str, str]]) -> None:
    assert worse(**changes) == found


def test_worst_regression_comes_first() -> None:
    before = [sweep_row(name) for name in "abcd"]
    after = [
        sweep_row("a", near_misses=1),
        sweep_row("b", **SLOWER, **SLOWER_RATIO),
        failed_row("c"),
        sweep_row("d", max_abs_error=1.0, is_close=False, notice_codes=("misfold",)),
    ]
    found = [(change.after.model, change.kind) for change in diff_sweeps(before, after).worse]
    assert found == [("c", "freeze"), ("d", "accuracy"), ("b", "latency"), ("a", "near_misses"), ("d", "notices")]


def test_rows_go_together_by_name_or_as_the_only_ones_of_their_subject() -> None:
    old, new = sweep_row(environment="2.12"), sweep_row(environment="2.13")
    assert diff_sweeps([old], [new]).pairs == ((old, new),)
    assert diff_sweeps([old, new], [old, new]).pairs == ((old, old), (new, new))
    other = sweep_row(environment="2.14")
    diff = diff_sweeps([old, new], [other])
    assert (diff.pairs, diff.gone, diff.new) == ((), (old, new), (other,))


def folders(tmp_path: Path, before: list[SweepRow], after: list[SweepRow]) -> tuple[str, str]:
    names = ("old", "new")
    return tuple(  # type: ignore[return-value]  # two
        str(make_sweep(tmp_path / name, *rows)) for name, rows in zip(names, (before, after), strict=True)
    )


def test_the_diff_of_two_sweeps_exits_with_one_if_something_is_worse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = folders(tmp_path, [sweep_row("a"), sweep_row("b")], [sweep_row("a"), failed_row("b")])
    assert main(["diff", old, new]) == 1
    text = capsys.readouterr().out
    assert text == (
        "worse: the freeze fails\n"
        "  b · default · torchscript: failed: RuntimeError: it cannot be frozen\n"
        "2 recordings compared: 1 worse, 0 better, 0 only in the first, 0 only in the second\n"
    )
    assert main(["diff", new, old, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [change["kind"] for change in document["better"]] == ["freeze"]


def test_a_sweep_is_checked_without_expectations_for_its_failures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = str(make_sweep(tmp_path / "new", sweep_row("a"), failed_row("b")))
    assert main(["check", new]) == 1
    assert capsys.readouterr().out == (
        "b · default · torchscript\n"
        "  failed: the freeze comes to its end\n"
        "    Failed: RuntimeError: it cannot be frozen.\n"
        "1 of 2 recordings meets all expectations\n"
    )


def test_a_freeze_that_failed_in_the_baseline_too_is_counted_as_that_and_is_no_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = folders(tmp_path, [failed_row("b"), failed_row("c")], [sweep_row("a"), failed_row("b"), sweep_row("c")])
    junit = tmp_path / "junit.xml"
    assert main(["check", new, "--baseline", old, "--junit", str(junit)]) == 0
    text = "2 of 3 recordings meet all expectations; 1 failed to freeze, as in the baseline"
    assert capsys.readouterr().out == f"{text}\n"
    (suite,) = ElementTree.parse(junit).getroot()
    assert (suite.attrib["failures"], suite.attrib["skipped"]) == ("0", "1")
    (skipped,) = suite.findall("./testcase[@classname='b']/skipped")
    assert skipped.attrib["message"] == "failed in the baseline, too: Failed: RuntimeError: it cannot be frozen."
    assert main(["check", new, "--baseline", old, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [each["failed_before"] for each in document["recordings"]] == [False, True, False]


def test_a_damaged_trace_is_named_beside_the_answers_for_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_sweep(tmp_path / "out", sweep_row("a"), sweep_row("b"))
    damaged = folder / sweep.read_sweep(folder).rows[0].trace
    damaged.write_bytes(damaged.read_bytes()[:100])
    assert main(["check", str(folder), "--expect-folded", "conv_bn"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["a · default · torchscript", "  cannot tell: the trace can be read"]
    assert str(damaged) in lines[2]
    assert lines[-1] == "1 of 2 recordings meets all expectations"


def test_each_trace_of_a_sweep_meets_the_expectations_or_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(make_sweep(tmp_path / "out", sweep_row("a")))
    assert main(["check", folder, "--expect-folded", "conv_bn"]) == 0
    assert main(["check", folder, "--expect-folded", "conv_add", "--json"]) == 1
    document = json.loads(capsys.readouterr().out.partition("\n")[2])
    assert [(each["recording"], each["ok"]) for each in document["recordings"]] == [
        ("a · default · torchscript", False)
    ]
    (tmp_path / "out" / sweep.read_sweep(tmp_path / "out").rows[0].trace).unlink()
    assert main(["check", folder, "--expect-folded", "conv_bn"]) == 1


def test_only_watched_changes_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = folders(tmp_path, [sweep_row("a"), sweep_row("b")], [sweep_row("a", near_misses=4)])
    assert main(["check", new, "--baseline", old, "--expect", "accuracy,latency"]) == 0
    assert main(["check", new, "--baseline", old]) == 1
    text = capsys.readouterr().out
    assert "failed: near misses no worse than in the baseline\n    Near misses 0 → 4." in text
    assert "b · default · torchscript\n  cannot tell: it is recorded, as in the baseline" in text
    with pytest.raises(SystemExit):
        main(["check", new, "--baseline", old, "--expect", "latencies"])
    assert "Did you mean latency?" in capsys.readouterr().err


def test_expectations_of_sweeps_are_refused_for_traces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fe.save(small_trace(), tmp_path / "a.fztrace")
    assert main(["check", str(tmp_path / "a.fztrace"), "--baseline", str(tmp_path)]) == 2
    folder = str(make_sweep(tmp_path / "out", sweep_row("a")))
    assert main(["check", folder, "--expect", "latency"]) == 2
    assert "name it with --baseline" in capsys.readouterr().err


def test_recordings_that_are_missing_are_no_success(tmp_path: Path) -> None:
    folder = make_sweep(tmp_path / "out", sweep_row("a"), sweep_row("b"))
    (folder / "rows" / f"{sweep_row('b').key}.json").unlink()
    checked = sweep.check_sweep(sweep.read_sweep(folder), fe.Expectations())
    assert [(each.row.label, bool(each.failures)) for each in checked] == [
        ("a · default · torchscript", False),
        ("b · default · torchscript", True),
    ]


def subjects(name: str = "net") -> tuple[CheckedSubject, ...]:
    failed = fe.Finding("freeze", "the freeze comes to its end", "failed", "It did not: 5 < 6 & \x1b[1m@team ]]>.")
    passed = replace(failed, outcome="ok")
    return CheckedSubject(name, "plain · inductor", (failed, passed), 1.5), CheckedSubject("b", "", (passed,))


def test_junit_has_a_case_for_each_recording() -> None:
    suite = ElementTree.fromstring(junit_xml(subjects(), "Freezing zoo"))[0]
    assert suite.attrib == {"name": "Freezing zoo", "tests": "2", "failures": "1", "errors": "0", "skipped": "0"}
    first, second = suite
    assert first.attrib == {"classname": "net", "name": "plain · inductor", "time": "1.500"}
    assert first[0].attrib == {"message": "the freeze comes to its end", "type": "expectation"}
    assert "5 < 6 & \\x1b[1m@team" in str(first[0].text)
    assert (second.attrib["name"], len(second)) == ("b", 0)


def test_an_annotation_of_github_is_one_line_that_no_name_can_end() -> None:
    (text,) = github_annotations(subjects("a:b,c\n::warning::x%"))
    assert "\n" not in text
    assert text.startswith("error title=freeze of a%3Ab%2Cc%0A%3A%3Awarning%3A%3Ax%25 · plain · inductor::failed: the")


def test_the_markdown_shows_names_literally() -> None:
    text = check_markdown(subjects("<b>|net|"), "Freezing zoo")
    assert text.splitlines()[:3] == ["### Freezing zoo", "", "**1 of 2 recordings meets all expectations**"]
    assert "&lt;b&gt;\\|net\\|" in text
    assert "@&#8203;team" in text


def test_the_outputs_for_ci_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    folder = str(make_sweep(tmp_path / "out", failed_row("a")))
    files = [tmp_path / "junit.xml", tmp_path / "check.md"]
    words = ["check", folder, "--junit", str(files[0]), "--markdown", str(files[1]), "--github"]
    assert main(words) == 1
    assert "::error title=freeze of a · default · torchscript::" in capsys.readouterr().out
    assert ElementTree.parse(files[0]).getroot().tag == "testsuites"
    assert files[1].read_text() == (tmp_path / "summary.md").read_text()
    fe.save(small_trace(), tmp_path / "a.fztrace")
    trace = ["check", str(tmp_path / "a.fztrace"), "--expect-folded", "conv_bn", "--junit", str(files[0])]
    assert main(trace) == 0
    assert 'tests="1"' in files[0].read_text()


def test_the_action_runs_as_a_script(tmp_path: Path) -> None:
    """The steps of the action, with what GitHub puts into the environment."""
    yaml = pytest.importorskip("yaml")
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    record, check = (
        next(step for step in action["runs"]["steps"] if step["name"] == name) for name in ("Record", "Check")
    )
    folder = make_sweep(tmp_path / "out", sweep_row("a"))
    programs = tmp_path / "bin"
    programs.mkdir()
    # Stands for the sweep, whose freezes partly fail.
    (programs / "python").write_text(
        f'#!/bin/bash\necho "$@" >> {tmp_path}/calls\n[ "$3" = sweep ] && exit 3\nexec {sys.executable} "$@"\n'
    )
    (programs / "python").chmod(0o755)
    given = {"SWEEP": "models.toml", "OUTPUT": str(folder), "BASELINE": str(folder), "EXPECT": "latency", "MORE": ""}
    for step, more in ((record, "--jobs 2"), (check, "")):
        environment = {**os.environ, **given, "MORE": more, "PATH": f"{programs}:{os.environ['PATH']}"}
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
            cwd=ROOT,
            env=environment,
            check=False,
            capture_output=True,
            timeout=280,
        )
        assert done.returncode == 0, done.stderr.decode()
    assert (tmp_path / "calls").read_text().splitlines() == [
        f"-m viewer.cli sweep models.toml -o {folder} --jobs 2",
        f"-m viewer.cli check {folder} --baseline {folder} --expect latency --junit {folder}/junit.xml --github",
    ]
    assert (folder / "junit.xml").is_file()
    assert {name for step in (record, check) for name in step["env"]} == {*given}
